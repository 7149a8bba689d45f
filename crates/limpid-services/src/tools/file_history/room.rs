//! Room for what one program made.

use limpid_store::FileContent;

/// How much the history takes of the files that one program made where prompts quote files. A program may make very many, and all of them
/// wait for the owner, whether the history has them or not.
pub(super) struct Room {
    rows: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { rows: 1_000, bytes: 16 * 1024 * 1024 }
    }
}

impl Room {
    /// Takes a row, if there is one.
    pub(super) fn has_row(&mut self) -> bool {
        let left = self.rows > 0;
        self.rows = self.rows.saturating_sub(1);
        left
    }

    /// A content with its text as far as there is room, else with its hash alone.
    pub(super) fn keep(&mut self, content: Option<FileContent>) -> Option<FileContent> {
        let content = content?;
        let bytes = content.text.as_ref().map_or(0, String::len);
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Some(content)
            }
            None => Some(FileContent::bytes(content.hash)),
        }
    }
}

#[cfg(test)]
mod tests {
    use limpid_store::FileHash;

    use super::*;

    // SEC-085 SEC-093
    #[test]
    fn of_what_a_program_made_as_much_is_written_down_as_there_is_room_for() {
        let mut room = Room { rows: 2, bytes: 10 };
        let kept = ["seven..", "four", "abc", "d"].map(|text| room.keep(Some(FileContent::text(text))).unwrap());
        assert_eq!(kept[1], FileContent::bytes(FileHash::of(b"four")));
        assert_eq!(kept.map(|content| content.text.is_some()), [true, false, true, false]);
        assert_eq!([0; 4].map(|_| room.has_row()), [true, true, false, false]);
        assert_eq!(room.keep(None), None);
    }
}
