//! The key of a file: its path as a text, whatever bytes its names have. No two files have one key, and each key leads back to its file.

use std::path::{Path, PathBuf};

/// What stands before the two digits of a byte that is no text. No path has it, so one that is text is its own key.
const BYTE: char = '\0';

/// The key of a path.
pub fn file_key(path: &Path) -> String {
    spelled(path, &BYTE.to_string())
}

/// The path of a key.
pub fn path_of_key(key: &str) -> PathBuf {
    let mut parts = key.split(BYTE);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = |digits| u8::from_str_radix(digits, 16).ok();
        match part.split_at_checked(2).and_then(|(digits, rest)| Some((byte(digits)?, rest))) {
            Some((byte, rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            // It is no key of a file, and leads to none.
            None => return PathBuf::from(key),
        }
    }
    path_of(bytes, key)
}

/// A path as people are told it: a byte of it that is no text reads as `\xff`.
pub fn shown_path(path: &Path) -> String {
    spelled(path, r"\x")
}

fn spelled(path: &Path, before_byte: &str) -> String {
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|byte| format!("{before_byte}{byte:02x}")));
    }
    text
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>, _key: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>, key: &str) -> PathBuf {
    String::from_utf8(bytes).unwrap_or_else(|_| key.to_owned()).into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    // SEC-061
    #[test]
    fn each_path_has_a_key_of_its_own_that_leads_back_to_it() {
        let names: [&[u8]; 8] = [
            b"/ws/tea.md",
            "/ws/K\u{f6}ln \u{fffd}.md".as_bytes(),
            br"/ws/\xff.py",
            b"/ws/\xff.py",
            b"/ws/\xfe.py",
            b"/ws/\xffff.py",
            b"/ws/\xe2\x82/\xc3",
            b"/w\xe9/tea.md",
        ];
        let paths = names.map(|name| Path::new(OsStr::from_bytes(name)));
        let keys: std::collections::BTreeSet<String> = paths.iter().map(|path| file_key(path)).collect();
        assert_eq!(keys.len(), paths.len());
        for path in paths {
            assert_eq!(path_of_key(&file_key(path)), path);
            assert!(path.to_str().is_none_or(|text| file_key(path) == text && shown_path(path) == text));
        }
        assert_eq!(shown_path(paths[3]), r"/ws/\xff.py");
        assert_eq!(path_of_key("/ws/\0zz"), Path::new("/ws/\0zz"));
    }
}
