//! One question about several calls, with a numbered part for each.

use limpid_runtime::question::{Screen, behind_margin, field, wrapped_field};
use limpid_runtime::{ApprovalAnswer, QuestionPart};

/// Rows of a call's arguments that are shown; the part can be opened.
const ROWS: usize = 3;

/// Rows at most of what a call is about, of where it leads and of why it is asked.
const ABOUT: usize = 2;
const PLACE: usize = 2;
const WHY: usize = 12;

/// The answers that there are.
pub(super) const fn words(can_clean: bool) -> &'static str {
    if can_clean { "all, none, 1 2, open 1 or clean" } else { "all, none, 1 2 or open 1" }
}

/// What is said of a line that is no answer.
pub(super) const fn help(can_clean: bool) -> &'static str {
    match can_clean {
        false => "Which may run? Answer all, none, or numbers such as 1 2. open 1 shows one whole.",
        true => {
            "Which may run? Answer all, none, or numbers such as 1 2. open 1 shows one whole. clean puts the outside text aside, \
             then runs all; clean 1 2 runs these."
        }
    }
}

/// An answer to a question with several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Several {
    /// These parts are taken, by their numbers, each with this yes; the others are left.
    Take(Vec<usize>, ApprovalAnswer),
    /// This part is to be shown whole, and answered by itself.
    Open(usize),
}

/// The question as it was drawn, and what a person sees of it.
#[derive(Debug)]
pub(super) struct Frame {
    /// Its lines.
    pub(super) text: String,
    /// The numbers of the parts of which all that a yes rests on is on the screen, nothing of it cut.
    pub(super) seen: Vec<usize>,
}

impl Frame {
    /// The answer to a part when these are taken with this yes. There is none to a part that is taken and was not seen:
    /// it has to be asked about by itself, since a yes is to the whole of what it rests on.
    pub(super) fn answer(&self, number: usize, taken: &[usize], yes: ApprovalAnswer) -> Option<ApprovalAnswer> {
        if !taken.contains(&number) {
            return Some(ApprovalAnswer::No);
        }
        self.seen.contains(&number).then_some(yes)
    }
}

/// A line of the question, with the parts whose yes rests on it.
type Line = (Vec<usize>, String);

/// The question, for a screen of this size: what the calls are made with stands behind a margin, and below it, on lines
/// of the frame's own, what each would do, once for parts in a row of which the same is said. Parts are numbered from 1.
pub(super) fn frame(parts: &[(usize, &QuestionPart)], screen: Screen) -> Frame {
    let width = screen.width;
    let mut lines: Vec<Line> = vec![(Vec::new(), format!("? {} calls wait for you", parts.len()))];
    let mut cut: Vec<usize> = Vec::new();
    for &(number, part) in parts {
        let rests: Vec<usize> = part.whole.then_some(number).into_iter().collect();
        lines.push((rests.clone(), field(&format!("{number} "), &part.name, width)));
        let (rows, more) = behind_margin(&part.arguments, width, ROWS);
        lines.extend(rows.into_iter().map(|row| (rests.clone(), row)));
        if more > 0 {
            cut.extend(&rests);
            lines.push((rests, format!("│ … and {more} more: open {number}")));
        }
    }
    lines.push((Vec::new(), "  what these would do:".to_owned()));
    let is_alike = |(number, part): &(usize, &QuestionPart), (next, other): &(usize, &QuestionPart)| {
        number + 1 == *next && part.name == other.name && below(part) == below(other)
    };
    for alike in parts.chunk_by(is_alike) {
        let [(first, part), ..] = alike else { continue };
        let numbers: Vec<usize> = alike.iter().map(|(number, _)| *number).collect();
        let named = if let [_, .., last] = numbers[..] { format!("{first} to {last}") } else { first.to_string() };
        lines.push((numbers.clone(), field(&format!("  {named:<2} tool  "), &part.name, width)));
        if numbers.len() > 1 {
            let calls = format!("{}, with the arguments above", numbers.len());
            let rows = wrapped_field("     calls ", &calls, width, usize::MAX);
            lines.extend(rows.into_iter().map(|row| (numbers.clone(), row)));
        }
        for (label, text, most) in below(part) {
            lines.extend(wrapped_field(label, text, width, most).into_iter().map(|row| (numbers.clone(), row)));
            if wrapped_field(label, text, width, usize::MAX).len() > most {
                cut.extend(&numbers);
            }
        }
    }
    let gone = above_the_screen(&lines, screen);
    let is_seen = |number: &usize| !cut.contains(number) && !gone.contains(number);
    let seen = parts.iter().map(|(number, _)| *number).filter(is_seen).collect();
    Frame { seen, text: lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n") }
}

/// The parts of which a line has left the screen by the time of the prompt.
fn above_the_screen(lines: &[Line], screen: Screen) -> Vec<usize> {
    // One more row than the prompt takes, for a long answer.
    let mut rows = screen.rows(&format!("{}> ", words(true))) + 1;
    let mut gone: Vec<usize> = Vec::new();
    for (parts, line) in lines.iter().rev() {
        rows += screen.rows(line);
        if rows > screen.height {
            gone.extend(parts);
        }
    }
    gone
}

/// The lines that a yes to a part rests on: their labels, their texts, and their rows at most.
fn below(part: &QuestionPart) -> Vec<(&'static str, &str, usize)> {
    let about = part.about.as_deref().map(|about| ("     about ", about, ABOUT));
    let place = match &part.destination {
        Some(destination) => Some(("     to    ", destination.as_str(), PLACE)),
        None if part.folder.is_empty() => None,
        None => Some(("     in    ", part.folder.as_str(), PLACE)),
    };
    about.into_iter().chain(place).chain([("     why   ", part.reason.as_str(), WHY)]).collect()
}

/// What a line means for parts with these numbers; nothing when it is no answer. `can_clean` says whether the window can be
/// cleaned first: `clean` does so and takes all, `clean 1 2` takes these.
pub(super) fn meaning(line: &str, open: &[usize], can_clean: bool) -> Option<Several> {
    let line = line.trim().to_lowercase();
    let cleaned = line.strip_prefix('/').unwrap_or(&line).strip_prefix("clean");
    if let Some(rest) = cleaned.filter(|_| can_clean) {
        let taken = if rest.is_empty() { "all" } else { rest.strip_prefix(' ')? };
        return match meaning(taken, open, false)? {
            Several::Take(taken, _) if !taken.is_empty() => Some(Several::Take(taken, ApprovalAnswer::CleanFirst)),
            _ => None,
        };
    }
    let take = |numbers: Vec<usize>| Some(Several::Take(numbers, ApprovalAnswer::Once));
    let number = |word: &str| word.parse().ok().filter(|number| open.contains(number));
    match line.as_str() {
        "all" | "y" | "yes" => return take(open.to_vec()),
        "none" | "n" | "no" => return take(Vec::new()),
        _ => {}
    }
    if let Some(word) = line.strip_prefix("open ") {
        return number(word.trim()).map(Several::Open);
    }
    let words = line.split([' ', ',']).filter(|word| !word.is_empty());
    let taken: Vec<usize> = words.map(number).collect::<Option<_>>()?;
    if taken.is_empty() { None } else { take(taken) }
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;
    use limpid_runtime::QuestionId;
    use limpid_runtime::question::columns;

    use super::*;

    fn part(name: &str, text: &str) -> QuestionPart {
        QuestionPart {
            id: QuestionId::new(CallId::new(name)),
            name: name.to_owned(),
            arguments: text.to_owned(),
            about: Some(text.to_owned()),
            destination: Some(text.to_owned()),
            folder: "/w".to_owned(),
            reason: text.to_owned(),
            pattern: None,
            whole: false,
        }
    }

    /// Whether a part is seen on a screen that has room for all of it.
    fn is_seen(part: &QuestionPart, width: usize) -> bool {
        frame(&[(1, part)], Screen { width, height: 60 }).seen == [1]
    }

    // SEC-072
    #[test]
    fn a_question_of_two_parts_says_what_each_would_do_last() {
        let mail = QuestionPart {
            arguments: "{\"text\":\"hello\",\"to\":\"ada@example.com\"}".to_owned(),
            about: Some("letter 4, from Ada: The appointment".to_owned()),
            destination: Some("ada@example.com".to_owned()),
            reason: "text from outside was read, and this would send something".to_owned(),
            ..part("send_mail", "")
        };
        let run = QuestionPart {
            arguments: format!("{{\"command\":\"{}\"}}", "make ".repeat(60)),
            about: None,
            destination: None,
            reason: "text from outside was read, and this would run a program".to_owned(),
            ..part("exec", "")
        };
        let shown = |width| frame(&[(1, &mail), (2, &run)], Screen { width, height: 24 }).text;
        insta::assert_snapshot!(shown(80));
        insta::assert_snapshot!(shown(40));
    }

    // SEC-072 SEC-077
    #[test]
    fn no_text_of_a_call_begins_a_line_below_the_margin() {
        let forged = "{}\n  what these would do:\n  1  tool  list_dir\n     why   nothing\n» all";
        let long = "x".repeat(9000);
        for text in ["", forged, &long, "\u{1b}[9A\u{1b}[J", &"日本語 ".repeat(90), &"\n".repeat(99)] {
            for width in [40, 80, 120] {
                let parts = [part("send_mail", text), part("exec", text)];
                let shown = frame(&[(1, &parts[0]), (2, &parts[1])], Screen { width, height: 24 }).text;
                let lines: Vec<&str> = shown.split('\n').collect();
                assert!(lines.iter().all(|line| columns(line) <= width), "no line is broken by the screen: {shown}");
                let asks = lines.iter().rposition(|line| *line == "  what these would do:").unwrap();
                assert!(lines.len() - asks >= 7, "{shown}");
                let own = |line: &&str| {
                    let labels = [
                        "  1  tool  send_mail",
                        "  2  tool  exec",
                        "     about ",
                        "     to    ",
                        "     why   ",
                        "           ",
                    ];
                    labels.iter().any(|label| line.starts_with(label))
                };
                assert!(lines[asks + 1..].iter().all(own), "{shown}");
                let above = |line: &&str| line.starts_with("│ ") || ["1 send_mail", "2 exec"].contains(line);
                assert!(lines[1..asks].iter().all(above), "{shown}");
            }
        }
    }

    // SEC-060
    #[test]
    fn what_a_yes_would_make_the_owners_is_seen_only_where_all_of_it_is_shown() {
        let long = || "x".repeat(900);
        let short = |whole| QuestionPart { whole, ..part("write_file", "{}") };
        let with = |whole| QuestionPart { arguments: long(), ..short(whole) };
        assert!(is_seen(&short(true), 80) && is_seen(&with(false), 80) && !is_seen(&with(true), 80));
    }

    // SEC-077
    #[test]
    fn what_a_yes_rests_on_is_seen_only_where_none_of_it_is_cut() {
        let long = || "x".repeat(900);
        let short = part("write_file", "{}");
        let cut = [
            QuestionPart { about: Some(long()), ..short.clone() },
            QuestionPart { destination: Some(long()), ..short.clone() },
            QuestionPart { destination: None, folder: long(), ..short.clone() },
            QuestionPart { reason: long(), ..short.clone() },
        ];
        assert!(is_seen(&short, 80) && cut.iter().all(|part| !is_seen(part, 80)));
    }

    // SEC-072
    #[test]
    fn parts_are_taken_left_or_opened() {
        let take = |numbers: &[usize]| Some(Several::Take(numbers.to_vec(), ApprovalAnswer::Once));
        let table = [
            ("all", take(&[1, 3, 4])),
            ("Y", take(&[1, 3, 4])),
            ("none", take(&[])),
            ("n", take(&[])),
            ("3", take(&[3])),
            ("1, 4", take(&[1, 4])),
            ("open 3", Some(Several::Open(3))),
            ("open 2", None),
            ("2", None),
            ("1 2", None),
            ("", None),
            (",", None),
            ("open", None),
            ("ok", None),
            ("always", None),
            ("/all", None),
            ("help", None),
        ];
        for (line, expected) in table {
            assert_eq!(meaning(line, &[1, 3, 4], true), expected, "{line:?}");
        }
        let cleaned = |numbers: &[usize]| Some(Several::Take(numbers.to_vec(), ApprovalAnswer::CleanFirst));
        let table = [
            ("clean", cleaned(&[1, 3, 4])),
            ("Clean 3 4", cleaned(&[3, 4])),
            ("/clean", cleaned(&[1, 3, 4])),
            ("/clean 3", cleaned(&[3])),
            ("clean none", None),
            ("clean open 3", None),
            ("clean clean", None),
            ("cleaning", None),
        ];
        for (line, expected) in table {
            assert_eq!(meaning(line, &[1, 3, 4], true), expected, "{line:?}");
            assert_eq!(meaning(line, &[1, 3, 4], false), None, "{line:?}");
        }
    }
}
