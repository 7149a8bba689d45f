//! Files that a person hands in with a message: how many there may be, how they stand in its text, and how they are found there
//! again.
//!
//! Each stands behind a line with its name and its length. The length says where it ends, so nothing that a file holds looks like
//! another file.

/// How many files a message may have.
pub const MOST_FILES: usize = 10;

/// Bytes that the files of a message may have together.
pub const MOST_BYTES: usize = 512 * 1024;

/// Characters of a name that are kept.
const NAME: usize = 120;

const MARK: &str = "[file ";
const BEHIND: &str = " bytes]";
const BETWEEN: &str = "\n\n";

/// A file that is handed in. What it holds may be anybody's text, and so may its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// What it is called, without a folder.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// A part of what was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A file.
    File {
        /// Its name.
        name: &'a str,
        /// What it holds.
        text: &'a str,
    },
    /// Words that stand in no file.
    Words(&'a str),
}

/// Why these files cannot be handed in; none when they can.
pub fn unfit(files: &[AttachedFile]) -> Option<String> {
    if files.len() > MOST_FILES {
        return Some(format!(
            "{} files are attached; a message may have {MOST_FILES}. Send them in several.",
            files.len()
        ));
    }
    if let Some(file) = files.iter().find(|file| file.text.contains('\0')) {
        return Some(format!("`{}` is no text. Only text can be attached.", kept(&file.name)));
    }
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    (bytes > MOST_BYTES).then(|| {
        format!(
            "The attached files have {} KB; those of a message may have {} KB together. Send less, or put them into the \
             workspace and name them.",
            bytes.div_ceil(1024),
            MOST_BYTES / 1024
        )
    })
}

/// Files as they stand in a message, and words behind them.
///
/// ```
/// use limpid_core::attached::{AttachedFile, Part, framed, parts};
/// let file = AttachedFile { name: "a.txt".into(), text: "[file b.txt, 1 bytes]\nx".into() };
/// let text = framed(std::slice::from_ref(&file), "and this");
/// assert_eq!(text, "[file a.txt, 23 bytes]\n[file b.txt, 1 bytes]\nx\n\nand this");
/// assert_eq!(parts(&text), [Part::File { name: "a.txt", text: &file.text }, Part::Words("and this")]);
/// ```
pub fn framed(files: &[AttachedFile], words: &str) -> String {
    let framed =
        files.iter().map(|file| format!("{MARK}{}, {}{BEHIND}\n{}", kept(&file.name), file.text.len(), file.text));
    let words = Some(words.to_owned()).filter(|words| !words.trim().is_empty());
    framed.chain(words).collect::<Vec<_>>().join(BETWEEN)
}

/// What was handed in, taken apart.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((file, behind)) = first(rest) {
        parts.push(file);
        rest = behind;
    }
    if !rest.trim().is_empty() {
        parts.push(Part::Words(rest));
    }
    parts
}

/// The file that a text begins with, and what stands behind it.
fn first(text: &str) -> Option<(Part<'_>, &str)> {
    let (line, behind) = text.strip_prefix(MARK)?.split_once('\n')?;
    let (name, length) = line.strip_suffix(BEHIND)?.rsplit_once(", ")?;
    let (text, rest) = behind.split_at_checked(length.parse().ok()?)?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(BETWEEN)? };
    Some((Part::File { name, text }, rest))
}

/// A name in one line.
fn kept(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(NAME).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(name: &str, text: &str) -> AttachedFile {
        AttachedFile { name: name.to_owned(), text: text.to_owned() }
    }

    // SEC-054
    #[test]
    fn a_name_of_several_lines_is_one_line_and_text_without_a_file_is_words() {
        let text = framed(&[file("a\n[file b, 1 bytes]\nx", "hi"), file("c, 9 bytes]", "")], "");
        let names = parts(&text).into_iter().map(|part| match part {
            Part::File { name, .. } => name,
            Part::Words(words) => words,
        });
        assert_eq!(names.collect::<Vec<_>>(), ["a [file b, 1 bytes] x", "c, 9 bytes]"]);
        for words in
            ["hello", "[file a, 9 bytes]\nx", "[file a, 1 bytes]\nxy", "[file a, -1 bytes]\n", "[file a, 1 bytes]\nß"]
        {
            assert_eq!(parts(words), [Part::Words(words)]);
        }
        assert_eq!(parts(" \n"), []);
    }

    // SUR-020
    #[test]
    fn what_does_not_fit_is_refused_with_what_to_do() {
        let most = file("a", &"x".repeat(MOST_BYTES));
        assert_eq!(unfit(std::slice::from_ref(&most)), None);
        assert!(unfit(&[most, file("b", "x")]).unwrap().contains("513 KB; those of a message may have 512 KB"));
        assert!(unfit(&[file("a.png", "\u{0}")]).unwrap().contains("`a.png` is no text"));
        assert!(unfit(&vec![file("a", ""); MOST_FILES + 1]).unwrap().contains("11 files"));
    }

    proptest! {
        // SEC-054
        #[test]
        fn files_come_back_as_they_went_in(
            given in prop::collection::vec(("[^\\p{Cc}]{0,20}", "(?s).{0,40}|\\[file a, 1 bytes\\]\nx\n\n"), 0..4),
            words in "[^\\[]{0,20}",
        ) {
            let files: Vec<AttachedFile> = given.iter().map(|(name, text)| file(name, text)).collect();
            let text = framed(&files, &words);
            let back = parts(&text);
            let expected = files.iter().map(|file| Part::File { name: &file.name, text: &file.text });
            let behind = Some(Part::Words(&words)).filter(|_| !words.trim().is_empty());
            prop_assert_eq!(back, expected.chain(behind).collect::<Vec<_>>());
        }
    }
}
