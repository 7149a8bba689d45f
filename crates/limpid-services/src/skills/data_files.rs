//! Kinds of files that hold data only. Of these alone a skill from elsewhere may have some that nobody can read.
//!
//! A language finds what it loads by the ending of a name, and knows it by its bytes: both have to say that a file is of such a kind.

/// One kind.
struct Kind {
    /// How names of such files end.
    endings: &'static [&'static str],
    /// What such files begin with.
    begins: &'static [&'static [u8]],
    /// What stands in them besides, wherever.
    holds: &'static [u8],
}

const KINDS: [Kind; 10] = [
    Kind { endings: &["png"], begins: &[b"\x89PNG\r\n\x1a\n"], holds: b"" },
    Kind { endings: &["jpg", "jpeg"], begins: &[b"\xff\xd8\xff"], holds: b"" },
    Kind { endings: &["gif"], begins: &[b"GIF87a", b"GIF89a"], holds: b"" },
    Kind { endings: &["webp"], begins: &[b"RIFF"], holds: b"WEBP" },
    Kind { endings: &["pdf"], begins: &[b"%PDF-"], holds: b"" },
    Kind { endings: &["ttf", "otf"], begins: &[b"\0\x01\0\0", b"true", b"OTTO"], holds: b"" },
    Kind { endings: &["woff"], begins: &[b"wOFF"], holds: b"" },
    Kind { endings: &["woff2"], begins: &[b"wOF2"], holds: b"" },
    Kind { endings: &["docx", "xlsx", "pptx"], begins: &[b"PK\x03\x04"], holds: b"[Content_Types].xml" },
    Kind { endings: &["odt", "ods", "odp"], begins: &[b"PK\x03\x04"], holds: b"application/vnd.oasis.opendocument" },
];

/// The part of an archive that Python runs, also where the archive stands at the end of a picture. Names are never packed.
const RUN_BY_PYTHON: &[u8] = b"__main__";

/// Whether a file of this path and these bytes holds data only.
pub(super) fn is_data(path: &str, bytes: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, ending)) = name.rsplit_once('.') else { return false };
    let ending = ending.to_ascii_lowercase();
    let is_of = |kind: &Kind| {
        kind.endings.contains(&ending.as_str())
            && kind.begins.iter().any(|begin| bytes.starts_with(begin))
            && holds(bytes, kind.holds)
    };
    KINDS.iter().any(is_of) && !holds(bytes, RUN_BY_PYTHON)
}

/// The endings of such files, for whoever is told.
pub(super) fn endings() -> String {
    KINDS.iter().flat_map(|kind| kind.endings).copied().collect::<Vec<_>>().join(", ")
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-024
    #[test]
    fn a_file_is_data_by_its_name_and_by_its_bytes() {
        let data: [(&str, &[u8]); 6] = [
            ("logo.png", b"\x89PNG\r\n\x1a\n\0"),
            ("assets/photo.JPG", b"\xff\xd8\xff\xe0\0"),
            ("a.webp", b"RIFF\0\0\0\0WEBP"),
            ("a.otf", b"OTTO\0"),
            ("letter.docx", b"PK\x03\x04\0\0[Content_Types].xml"),
            ("letter.odt", b"PK\x03\x04\0\0mimetypeapplication/vnd.oasis.opendocument.text"),
        ];
        for (path, bytes) in data {
            assert!(is_data(path, bytes), "{path}");
        }
        let code: [(&str, &[u8]); 9] = [
            ("words.cpython-311.pyc", b"\xa7\r\r\n\0"),
            ("words.so", b"\x7fELF\0"),
            ("logo.png", b"\x7fELF\0"),
            // A picture by its bytes, a program by its name.
            ("logo.js", b"GIF89a/*\0*/=1;run()"),
            ("png", b"\x89PNG\r\n\x1a\n\0"),
            ("a.png/words", b"\x89PNG\r\n\x1a\n\0"),
            ("tools.zip", b"PK\x03\x04\0\0[Content_Types].xml"),
            ("letter.docx", b"PK\x03\x04\0\0words.py"),
            // Python runs the archive behind it.
            ("logo.png", b"\x89PNG\r\n\x1a\n\0PK\x03\x04\0\0__main__.py"),
        ];
        for (path, bytes) in code {
            assert!(!is_data(path, bytes), "{path}");
        }
    }
}
