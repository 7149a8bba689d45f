//! Reads little-endian values and never past the end of the file.

use std::io::{Read, Seek, SeekFrom};

use super::error::GgufError;

/// The longest text of a header: chat templates have a few thousand bytes.
const MAX_TEXT: u64 = 16 << 20;

/// A source whose length is known and whose position is counted.
pub(super) struct Reader<R> {
    source: R,
    position: u64,
    length: u64,
}

impl<R: Read + Seek> Reader<R> {
    pub(super) fn new(mut source: R) -> Result<Self, GgufError> {
        let length = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        Ok(Self { source, position: 0, length })
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn seek(&mut self, to: u64) -> Result<(), GgufError> {
        self.source.seek(SeekFrom::Start(to))?;
        self.position = to;
        Ok(())
    }

    pub(super) fn fill(&mut self, buffer: &mut [u8], what: &str) -> Result<(), GgufError> {
        self.advance(buffer.len() as u64, what)?;
        Ok(self.source.read_exact(buffer)?)
    }

    pub(super) fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], GgufError> {
        let mut buffer = [0; N];
        self.fill(&mut buffer, what)?;
        Ok(buffer)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, GgufError> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, GgufError> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    /// Reads a number of things that take at least `width` bytes each, and checks that so many can follow.
    pub(super) fn count(&mut self, what: &str, width: u64) -> Result<u64, GgufError> {
        let count = self.u64(what)?;
        let needs = count.saturating_mul(width).saturating_add(self.position);
        if needs > self.length {
            return Err(self.truncated(what, needs));
        }
        Ok(count)
    }

    /// Reads a text; bytes that are no UTF-8 are replaced, since vocabularies hold pieces of characters.
    pub(super) fn text(&mut self, what: &str) -> Result<String, GgufError> {
        let length = self.count(what, 1)?;
        if length > MAX_TEXT {
            return Err(GgufError::Malformed(format!("{what} has {length} bytes")));
        }
        let mut buffer = vec![0; length as usize];
        self.fill(&mut buffer, what)?;
        Ok(String::from_utf8(buffer).unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()))
    }

    pub(super) fn skip_text(&mut self, what: &str) -> Result<(), GgufError> {
        let length = self.count(what, 1)?;
        self.skip(length, what)
    }

    pub(super) fn skip(&mut self, bytes: u64, what: &str) -> Result<(), GgufError> {
        self.advance(bytes, what)?;
        let step = i64::try_from(bytes).map_err(|_| self.truncated(what, bytes))?;
        Ok(self.source.seek_relative(step)?)
    }

    pub(super) fn truncated(&self, what: &str, needs: u64) -> GgufError {
        GgufError::Truncated { what: what.to_owned(), needs, has: self.length }
    }

    fn advance(&mut self, bytes: u64, what: &str) -> Result<(), GgufError> {
        let end = self.position.saturating_add(bytes);
        if end > self.length {
            return Err(self.truncated(what, end));
        }
        self.position = end;
        Ok(())
    }
}
