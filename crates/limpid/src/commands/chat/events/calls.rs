//! The lines of a turn's calls: one where a call begins, and one for what came of it.

use limpid_core::CallId;
use limpid_runtime::error_of;

use crate::output;

/// Letters of a line's words, and of a call that stands before what came of it.
const MOST: usize = 120;
const MOST_OF_CALL: usize = 60;

/// Calls whose results have not come yet.
#[derive(Debug, Default)]
pub(super) struct Calls {
    running: Vec<(CallId, String)>,
    /// The one whose line was printed last, if nothing of another call came after it.
    newest: Option<CallId>,
}

impl Calls {
    /// The line of a call that begins.
    pub(super) fn started(&mut self, id: &CallId, name: &str, arguments: &str) -> String {
        self.running.push((id.clone(), short(name, arguments)));
        self.newest = Some(id.clone());
        format!("→ {} {}", output::shown_line(name), shortened(arguments, MOST))
    }

    /// The line of what came of a call. It names the call unless it stands right below the call's own line.
    pub(super) fn done(&mut self, id: &CallId, result: &str) -> String {
        let call = self.running.iter().position(|(one, _)| one == id).map(|at| self.running.remove(at).1);
        let is_below = self.newest.take().as_ref() == Some(id);
        let call = call.filter(|_| !is_below).map_or_else(String::new, |call| format!("{call}: "));
        match error_of(result) {
            Some(error) => format!("✗ {call}{}", shortened(&error, MOST)),
            None => format!("← {call}{}", shortened(result, MOST)),
        }
    }

    /// The line of a call that never began.
    pub(super) fn refused(&mut self, name: &str, arguments: &str, result: &str) -> String {
        self.newest = None;
        let why = error_of(result);
        format!("✗ {}: {}", short(name, arguments), shortened(why.as_deref().unwrap_or(result), MOST))
    }
}

/// A call in a few words.
fn short(name: &str, arguments: &str) -> String {
    output::shown_line(&shortened(&format!("{name} {arguments}"), MOST_OF_CALL))
}

/// One line of at most so many letters.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most { line } else { line.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_call_names_it_where_others_stand_between() {
        let mut calls = Calls::default();
        let ids = ["a", "b", "c"].map(CallId::new);
        assert_eq!(calls.started(&ids[0], "exec", "{\"command\": \"ls\"}"), "→ exec {\"command\": \"ls\"}");
        assert_eq!(calls.done(&ids[0], "notes.md"), "← notes.md", "right below its call");

        calls.started(&ids[1], "exec", "{\"command\": \"make\"}");
        calls.started(&ids[2], "read_file", "{\"path\": \"notes.md\"}");
        assert_eq!(calls.done(&ids[1], "built"), "← exec {\"command\": \"make\"}: built");
        assert_eq!(calls.done(&ids[2], "tea"), "← read_file {\"path\": \"notes.md\"}: tea");
        assert_eq!(calls.done(&ids[2], "tea"), "← tea", "one that nobody saw begin");
    }

    #[test]
    fn a_refused_call_says_what_it_was() {
        let mut calls = Calls::default();
        let refused = calls.refused("exec", "{\"command\": \"rm -r /\"}", "the owner said no\nto it");
        assert_eq!(refused, "✗ exec {\"command\": \"rm -r /\"}: the owner said no to it");
        let long = calls.refused("exec\n", &"x".repeat(200), "no");
        assert_eq!(long, format!("✗ exec {}…: no", "x".repeat(MOST_OF_CALL - 6)));
    }
}
