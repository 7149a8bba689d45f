//! Cuts a stream of bytes into frames: server-sent events, or lines.

/// A reply may have so many bytes between two frames; beyond it is no reply but a flood.
pub(crate) const MAX_FRAME: usize = 16 * 1024 * 1024;

/// Bytes in, payloads out; where the bytes were cut makes no difference.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    kind: Kind,
    line: Vec<u8>,
    /// A carriage return ended the last line, so a newline right after it belongs to that end.
    after_return: bool,
    data: Option<String>,
    /// Nothing but a byte-order mark may stand before the first line.
    first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Events,
    Lines,
    Whole,
}

/// A frame that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Frames {
    /// Server-sent events: a payload is the `data` of one event.
    pub(crate) fn events() -> Self {
        Self { kind: Kind::Events, line: Vec::new(), after_return: false, data: None, first: true }
    }

    /// Lines: a payload is a line that is not blank.
    pub(crate) fn lines() -> Self {
        Self { kind: Kind::Lines, ..Self::events() }
    }

    /// One document: the payload is everything.
    pub(crate) fn whole() -> Self {
        Self { kind: Kind::Whole, ..Self::events() }
    }

    /// Takes the next bytes and returns the payloads that are whole.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        if self.kind == Kind::Whole {
            self.line.extend_from_slice(bytes);
            return self.check().map(|()| Vec::new());
        }
        let mut payloads = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            payloads.extend(self.end_line(&line));
        }
        self.check().map(|()| payloads)
    }

    /// What is left at the end of the stream, if it may be whole; an event without its blank line counts, since some
    /// servers leave it out.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        match self.kind {
            Kind::Whole => Some(String::from_utf8_lossy(&line).into_owned()),
            Kind::Lines => self.end_line(&line),
            Kind::Events => {
                self.end_line(&line);
                self.data.take()
            }
        }
    }

    fn check(&self) -> Result<(), TooLong> {
        let size = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if size > MAX_FRAME { Err(TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(line);
        let text = if std::mem::take(&mut self.first) { text.trim_start_matches('\u{feff}') } else { &text };
        if self.kind == Kind::Lines {
            return (!text.trim().is_empty()).then(|| text.to_owned());
        }
        if text.is_empty() {
            return self.data.take();
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(mut frames: Frames, chunks: &[&[u8]]) -> Vec<String> {
        let mut payloads: Vec<String> = chunks.iter().flat_map(|chunk| frames.feed(chunk).unwrap()).collect();
        payloads.extend(frames.finish());
        payloads
    }

    const STREAM: &str =
        "\u{feff}: hi\r\n\r\nevent: x\ndata: {\"é\":1}\n\ndata:a\rdata: b\r\rid: 3\n\n: c\n\ndata: [DONE]";

    #[test]
    fn comments_names_and_ids_are_no_payloads() {
        assert_eq!(all(Frames::events(), &[STREAM.as_bytes()]), ["{\"é\":1}", "a\nb", "[DONE]"]);
        assert_eq!(all(Frames::lines(), &[b"{}\r\n\r\n \n[1]"]), ["{}", "[1]"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        assert_eq!(Frames::events().feed(&vec![b'x'; MAX_FRAME + 1]), Err(TooLong));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_payloads(cuts in proptest::collection::vec(0usize..STREAM.len(), 0..8)) {
            let mut borders = cuts;
            borders.extend([0, STREAM.len()]);
            borders.sort_unstable();
            let chunks: Vec<&[u8]> = borders.windows(2).map(|pair| &STREAM.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(all(Frames::events(), &chunks), all(Frames::events(), &[STREAM.as_bytes()]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            all(Frames::events(), &[&bytes]);
            all(Frames::lines(), &[&bytes]);
        }
    }
}
