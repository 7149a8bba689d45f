//! Whether there is anything that a model should be asked about.

/// The line below which HEARTBEAT.md holds its tasks.
const MARKER: &str = "Add your heartbeat tasks below this line:";

/// What a run would look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Whether items wait that no run has taken in.
    pub items: bool,
    /// Whether a standing item is due: an addition, an unfinished line of the checklist, the owner's own opening. They are
    /// about the world and not about their own text, so each run that is due asks them again.
    pub asked: bool,
    /// Stands for the promotion candidates and the failing accounts, which are news once. Empty when there are none.
    pub standing: String,
    /// What the owner's own check said, when there is one.
    pub check: Option<bool>,
}

impl News {
    /// Whether a model is asked: `quiet` stands for what stood there at the last quiet run. The owner's own check has the
    /// last word.
    pub fn is_new(&self, quiet: Option<&str>) -> bool {
        let standing = !self.standing.is_empty() && quiet != Some(self.standing.as_str());
        self.check.unwrap_or(self.items || self.asked || standing)
    }
}

/// Whether a checklist holds a task: a line below the marker, or anywhere without one, that is no heading, no comment,
/// no rule and no ticked box.
///
/// ```
/// use limpid_core::heartbeat::news::has_tasks;
/// assert!(has_tasks("# Tasks\n- Look at the disk\n"));
/// assert!(!has_tasks("# Tasks\n<!-- none\nyet -->\n- [x] done\n"));
/// ```
pub fn has_tasks(checklist: &str) -> bool {
    let list = checklist.split_once(MARKER).map_or(checklist, |(_, below)| below);
    without_comments(list).lines().any(is_task)
}

/// The tasks of a checklist, a line each.
///
/// ```
/// use limpid_core::heartbeat::news::tasks;
/// assert_eq!(tasks("# Tasks\n- Look at the disk\n- [x] done\n"), ["- Look at the disk"]);
/// ```
pub fn tasks(checklist: &str) -> Vec<String> {
    let list = checklist.split_once(MARKER).map_or(checklist, |(_, below)| below);
    without_comments(list).lines().filter(|line| is_task(line)).map(|line| line.trim().to_owned()).collect()
}

/// A checklist without the tasks that are not wanted; empty when none is.
pub fn with_tasks(checklist: &str, wanted: impl Fn(&str) -> bool) -> String {
    let all = tasks(checklist);
    match all.iter().filter(|task| wanted(task)).count() {
        0 => String::new(),
        count if count == all.len() => checklist.to_owned(),
        _ => {
            let (above, list) = match checklist.split_once(MARKER) {
                Some((above, below)) => (format!("{above}{MARKER}"), below),
                None => (String::new(), checklist),
            };
            let list = without_comments(list);
            let kept = list.split_inclusive('\n').filter(|line| !is_task(line) || wanted(line.trim()));
            above + &kept.collect::<String>()
        }
    }
}

fn is_task(line: &str) -> bool {
    let line = line.trim();
    let ticked = ["- [x]", "* [x]", "+ [x]"];
    let start: String = line.chars().take(5).collect::<String>().to_lowercase();
    let is_rule = line.chars().all(|c| "-*_= ".contains(c));
    !line.starts_with('#') && !is_rule && !ticked.contains(&start.as_str())
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    // LES-030 PICO-072
    #[test]
    fn lists_without_a_task() {
        let none = [
            "",
            " \n\t\n",
            "# Heartbeat Check List\n\n## Examples\n\n- Look at the mail\n\n---\n\nAdd your heartbeat tasks below this line:\n",
            "# List\n<!-- - Look at the mail\n- and the disk -->\n---\n",
            "- [x] Look at the mail\n* [X] and the disk\n",
            "<!-- never closed\n- task",
        ];
        for text in none {
            assert!(!has_tasks(text), "{text}");
        }
        let some = [
            "- Look at the mail",
            "Look",
            "- [ ] Look",
            "1. Look",
            "x\nAdd your heartbeat tasks below this line:\n- y",
        ];
        for text in some {
            assert!(has_tasks(text), "{text}");
        }
    }

    // LES-030 LES-040
    #[test]
    fn a_model_is_asked_about_news_only() {
        let news = |items, standing: &str, check| News { items, standing: standing.to_owned(), check, asked: false };
        let rows = [
            (news(false, "", None), None, false),
            (news(true, "", None), None, true),
            (news(true, "a", None), Some("a"), true),
            (news(false, "a", None), None, true),
            (news(false, "a", None), Some("a"), false),
            (news(false, "b", None), Some("a"), true),
            (news(false, "", None), Some("a"), false),
            (news(true, "b", Some(false)), Some("a"), false),
            (news(false, "", Some(true)), None, true),
        ];
        for (news, quiet, expected) in rows {
            assert_eq!(news.is_new(quiet), expected, "{news:?} after {quiet:?}");
        }
        // What stands is asked at every run, unless the owner's own check says no.
        let asked = News { asked: true, ..News::default() };
        assert!(asked.is_new(None) && asked.is_new(Some("")));
        assert!(!News { check: Some(false), ..asked }.is_new(None));
    }

    // LES-030 PICO-072
    #[test]
    fn tasks_that_are_not_wanted_are_left_out() {
        let list = "# List\n- a\n<!-- - b -->\n- c\n";
        assert_eq!(with_tasks(list, |_| true), list);
        assert_eq!(with_tasks(list, |_| false), "");
        assert_eq!(with_tasks(list, |task| task == "- c"), "# List\n\n- c\n");
        let template = format!("- example\n{MARKER}\n- a\n- c\n");
        assert_eq!(tasks(&template), ["- a", "- c"]);
        assert_eq!(with_tasks(&template, |task| task == "- a"), format!("- example\n{MARKER}\n- a\n"));
    }
}
