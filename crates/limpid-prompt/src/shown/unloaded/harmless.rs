//! What may stay in a text that is drawn: elements and languages of blocks of code of which nothing is fetched.

/// Elements that change how words look, and names of types in programs, which are no elements.
const HARMLESS: &[&str] = &[
    "b", "br", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "strong", "sub", "sup", "u",
    "var", "wbr", "any", "bool", "char", "double", "f32", "f64", "float", "i32", "i64", "int", "k", "number", "str",
    "string", "t", "u32", "u64", "u8", "usize",
];

/// Bytes of the longest harmless element, from its `<` to its `>`: an end with a blank and a slash.
const LONGEST: usize = "</ />".len() + longest_name();

const fn longest_name() -> usize {
    let (mut longest, mut at) = (0, 0);
    while at < HARMLESS.len() {
        if HARMLESS[at].len() > longest {
            longest = HARMLESS[at].len();
        }
        at += 1;
    }
    longest
}

/// Languages of blocks of code that are shown as text. Others may be drawn: diagrams, pages, charts.
const LANGUAGES: &[&str] = &[
    "asm",
    "awk",
    "bash",
    "bat",
    "c",
    "c#",
    "c++",
    "cfg",
    "clojure",
    "cmake",
    "conf",
    "console",
    "cpp",
    "cs",
    "csharp",
    "css",
    "csv",
    "dart",
    "diff",
    "docker",
    "dockerfile",
    "elixir",
    "erlang",
    "fish",
    "fortran",
    "go",
    "graphql",
    "groovy",
    "h",
    "haskell",
    "hcl",
    "hs",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsonc",
    "jsonl",
    "jsx",
    "julia",
    "kotlin",
    "kt",
    "log",
    "lua",
    "make",
    "makefile",
    "matlab",
    "nginx",
    "nim",
    "nix",
    "ocaml",
    "patch",
    "perl",
    "php",
    "plaintext",
    "powershell",
    "proto",
    "py",
    "python",
    "r",
    "rb",
    "rs",
    "ruby",
    "rust",
    "scala",
    "sh",
    "shell",
    "sql",
    "swift",
    "text",
    "toml",
    "ts",
    "tsx",
    "txt",
    "typescript",
    "vim",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// Whether a block of code in this language is shown as text.
pub(super) fn is_shown_as_text(language: &str) -> bool {
    LANGUAGES.contains(&language.to_ascii_lowercase().as_str())
}

/// Whether a letter behind `<` makes an element of it, or a comment.
pub(super) fn begins_element(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '/' | '!' | '?')
}

/// Whether what begins so is a harmless element, or may become one.
pub(super) fn may_be_harmless(element: &str) -> bool {
    if element.len() > LONGEST {
        return false;
    }
    let element = element.to_ascii_lowercase();
    let inner = element.strip_prefix('<').unwrap_or(&element);
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let end = inner.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let (name, end) = inner.split_at(end);
    match end {
        "" => HARMLESS.iter().any(|known| known.starts_with(name)),
        ">" | "/" | "/>" | " " | " /" | " />" => HARMLESS.contains(&name),
        _ => false,
    }
}

/// JSON in which the same is written as it writes letters, so that it stays the same value.
pub(in crate::shown) fn unloaded_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 8);
    let mut before = '\0';
    for (at, letter) in json.char_indices() {
        let rest = &json[at + letter.len_utf8()..];
        let is_element = letter == '<' && rest.chars().next().is_some_and(begins_element);
        // No further than a harmless one goes, or a text of nothing but beginnings is searched to its end at each of them.
        let end = || rest.bytes().take(LONGEST).position(|byte| byte == b'>');
        let is_harmless = || end().is_some_and(|end| may_be_harmless(&json[at..at + end + 2]));
        match letter {
            '[' if before == '!' => out.push_str("\\u005b"),
            '<' if is_element && !is_harmless() => out.push_str("\\u003c"),
            letter => out.push(letter),
        }
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn a_text_of_beginnings_is_read_once() {
        let began = std::time::Instant::now();
        for beginning in ["<a", "<b", "</b", "<b ", "<!"] {
            let json = format!("\"{}>\"", beginning.repeat(200_000));
            let written = unloaded_json(&json).matches("u003c").count();
            assert!(written >= 199_999, "{beginning}: {written}");
        }
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }

    // SEC-093
    #[test]
    fn every_harmless_element_is_within_the_limit() {
        for name in HARMLESS {
            for end in [">", "/>", " />"] {
                for element in [format!("<{name}{end}"), format!("</{name}{end}")] {
                    assert!(element.len() <= LONGEST, "{element}");
                    let json = format!("\"{element}{element}\"");
                    assert_eq!(unloaded_json(&json), json);
                }
            }
        }
        assert!(!may_be_harmless(&format!("<b{}>", " ".repeat(LONGEST))));
    }
}
