//! Rules about the files of a workspace: which of them a prompt quotes and why the others stay out, which daily notes
//! are recent, and where a long file may be cut.

use jiff::ToSpan;
use jiff::civil::Date;

use crate::agent_file::{self, AGENT_FILE as AGENT};
pub use crate::front_matter::split_front_matter;
use crate::inputs::{TimeInfo, WorkspaceFile};
use crate::profile::shipped_template;

/// The older names for the agent's definition that AGENT.md wins over.
const OLDER: [&str; 2] = ["AGENTS.md", "IDENTITY.md"];

/// Days whose notes are recent: today and the two before.
const RECENT_DAYS: i32 = 3;

/// What becomes of one file of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse<'a> {
    /// The prompt quotes this text: the contents without front matter and without white space at the end.
    Quoted(&'a str),
    /// Nothing but white space is there.
    Blank,
    /// The file of that name wins over it.
    ShadowedBy(&'static str),
    /// Nobody has edited the shipped template.
    Unedited,
    /// The profile does not quote a file of that name.
    Unused,
}

/// What becomes of each file: those of `order` that exist first and in that order, then the others as they come.
pub fn file_uses<'a>(files: &'a [WorkspaceFile], order: &[String]) -> Vec<(&'a str, FileUse<'a>)> {
    let named = |name: &String| files.iter().find(|file| file.name == *name);
    let has_agent =
        order.iter().any(|name| name == AGENT) && files.iter().any(|file| file.name == AGENT && !is_blank(file));
    let quoted = order.iter().filter_map(named).map(|file| (file.name.as_str(), file_use(file, has_agent)));
    let unused = files.iter().filter(|file| !order.contains(&file.name));
    quoted.chain(unused.map(|file| (file.name.as_str(), FileUse::Unused))).collect()
}

fn file_use(file: &WorkspaceFile, has_agent: bool) -> FileUse<'_> {
    if has_agent && OLDER.contains(&file.name.as_str()) {
        return FileUse::ShadowedBy(AGENT);
    }
    if is_unedited(&file.name, &file.content) {
        return FileUse::Unedited;
    }
    let text = if file.name == AGENT { agent_file::body(&file.content) } else { &file.content };
    match text.trim_end() {
        "" => FileUse::Blank,
        text => FileUse::Quoted(text),
    }
}

fn is_blank(file: &WorkspaceFile) -> bool {
    file.content.trim().is_empty()
}

/// Whether a file still is the template that ships under its name for the owner to fill in, whatever its line endings. As
/// long as nobody has, it says nothing.
pub fn is_unedited(name: &str, content: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    shipped_template(name).is_some_and(|template| plain(template) == plain(content))
}

/// The dates whose notes are recent, newest first: `2026-02-17`, in the user's zone. None when the time is unreadable.
pub fn recent_days(time: &TimeInfo) -> Option<Vec<String>> {
    let today: Date = time.local.get(..10)?.parse().ok()?;
    let days = (0..RECENT_DAYS).filter_map(|back| today.checked_sub(back.days()).ok());
    Some(days.map(|day| day.to_string()).collect())
}

/// Where the note of a day stands in the workspace: `memory/202602/20260217.md` for `2026-02-17`.
pub fn note_path(date: &str) -> String {
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    let month: String = digits.chars().take(6).collect();
    format!("memory/{month}/{digits}.md")
}

/// The day of a note that stands at such a path, as `2026-02-17`; none for any other path.
pub fn note_date(path: &str) -> Option<String> {
    let digits = path.rsplit('/').next()?.strip_suffix(".md")?;
    let date = Date::strptime("%Y%m%d", digits).ok()?.to_string();
    (note_path(&date) == path).then_some(date)
}

/// A text in pieces at whose borders it may be cut, in order; joined by newlines they are the text again. A piece is a
/// line with the blank lines and headings before it, so that no cut leaves a heading with nothing under it.
pub fn pieces(text: &str) -> Vec<&str> {
    let text = text.trim_end();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split('\n') {
        at += line.len();
        if !line.trim().is_empty() && !line.starts_with('#') {
            pieces.extend(text.get(start..at));
            start = at + 1;
        }
        at += 1;
    }
    pieces.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    pieces
}

/// MEMORY.md as prompts quote it: nothing when it is blank or unedited.
pub(crate) fn long_term(content: Option<&str>) -> &str {
    content.filter(|text| !is_unedited("MEMORY.md", text)).map_or("", str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> WorkspaceFile {
        WorkspaceFile { name: name.to_owned(), content: content.to_owned() }
    }

    fn order() -> Vec<String> {
        ["AGENT.md", "AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md"].map(str::to_owned).to_vec()
    }

    fn at(local: &str) -> Vec<String> {
        recent_days(&TimeInfo { local: local.to_owned(), ..TimeInfo::default() }).unwrap_or_default()
    }

    // PICO-008 PICO-009 PICO-024 PICO-025
    #[test]
    fn each_file_is_quoted_or_has_a_reason_not_to_be() {
        let files = [
            file("TOOLS.md", "cameras"),
            file("IDENTITY.md", "Nala"),
            file("USER.md", "# User\n"),
            file("SOUL.md", "  \n\t\n"),
            file("AGENTS.md", "Old rules."),
            file("AGENT.md", "---\nname: n\n---\n\nNew rules. \n\n"),
        ];
        assert_eq!(
            file_uses(&files, &order()),
            [
                ("AGENT.md", FileUse::Quoted("New rules.")),
                ("AGENTS.md", FileUse::ShadowedBy("AGENT.md")),
                ("SOUL.md", FileUse::Blank),
                ("USER.md", FileUse::Quoted("# User")),
                ("IDENTITY.md", FileUse::ShadowedBy("AGENT.md")),
                ("TOOLS.md", FileUse::Unused),
            ]
        );
    }

    // PICO-009 PICO-024
    #[test]
    fn a_blank_agent_file_shadows_nothing() {
        let files = [file("AGENT.md", " \n"), file("AGENTS.md", "Rules.")];
        let uses = file_uses(&files, &order());
        assert_eq!(uses, [("AGENT.md", FileUse::Blank), ("AGENTS.md", FileUse::Quoted("Rules."))]);
    }

    // PICO-025
    #[test]
    fn a_template_is_unedited_until_a_word_changes() {
        for name in ["USER.md", "MEMORY.md"] {
            let template = shipped_template(name).unwrap();
            assert!(is_unedited(name, template));
            assert!(is_unedited(name, &template.replace('\n', "\r\n")), "line endings are no edit");
            assert!(!is_unedited(name, &format!("{template}- Ada\n")));
            assert!(!is_unedited("SOUL.md", template), "only under its own name");
        }
        assert_eq!(long_term(shipped_template("MEMORY.md")), "");
        assert_eq!(long_term(Some("Likes oolong. \n")), "Likes oolong.");
    }

    // PICO-024
    #[test]
    fn front_matter_is_split_off() {
        assert_eq!(split_front_matter("---\nname: n\n---\n\nbody\n"), (Some("name: n\n"), "body\n"));
        assert_eq!(split_front_matter("\u{feff}---\r\nname: n\r\n---\r\nbody"), (Some("name: n\r\n"), "body"));
        assert_eq!(split_front_matter("---\n: [broken\n---\nbody"), (Some(": [broken\n"), "body"));
        assert_eq!(split_front_matter("---\nname: n\n---"), (Some("name: n\n"), ""));
        for none in ["", "---", "---\nname: n\nno end", "body\n---\nname: n\n---\n", "--- \u{feff}x\n---\n"] {
            assert_eq!(split_front_matter(none), (None, none));
        }
    }

    // PICO-020 PICO-021
    #[test]
    fn recent_days_are_today_and_the_two_before_in_the_users_zone() {
        assert_eq!(at("2026-02-17T14:30:00+01:00"), ["2026-02-17", "2026-02-16", "2026-02-15"]);
        assert_eq!(at("2026-03-01T00:00:00+01:00"), ["2026-03-01", "2026-02-28", "2026-02-27"], "from midnight on");
        assert_eq!(at("2026-02-28T23:59:59+01:00"), ["2026-02-28", "2026-02-27", "2026-02-26"], "up to midnight");
        assert_eq!(at("2026-03-29T23:30:00+02:00"), ["2026-03-29", "2026-03-28", "2026-03-27"], "a day of 23 hours");
        assert_eq!(at("2026-10-26T00:10:00+01:00"), ["2026-10-26", "2026-10-25", "2026-10-24"], "a day of 25 hours");
        assert_eq!(at("soon"), Vec::<String>::new());
        assert_eq!(at("2026-13-01T00:00:00Z"), Vec::<String>::new());
    }

    // PICO-020
    #[test]
    fn a_note_stands_in_the_folder_of_its_month() {
        assert_eq!(note_path("2026-02-17"), "memory/202602/20260217.md");
    }

    // PICO-020 PICO-027
    #[test]
    fn pieces_add_up_to_the_text_and_no_heading_ends_one_alone() {
        let text = "\n# Likes\n\nOolong.\nRain.\n\n## Since 2020\nCats.\n\n";
        assert_eq!(pieces(text), ["\n# Likes\n\nOolong.", "Rain.", "\n## Since 2020\nCats."]);
        for text in ["", "one", "\n", "a\n\n\nb", "# a", "a\n# b", "a\r\nb\r\n\r\nc", "\u{1F99E}\n\n# é\n"] {
            assert_eq!(pieces(text).join("\n"), text.trim_end(), "{text:?}");
        }
    }
}
