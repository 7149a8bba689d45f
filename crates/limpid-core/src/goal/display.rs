//! A reply as a person sees it when marker lines are hidden; what is stored keeps them.

use super::scan::{Line, Scanner};

/// Takes marker lines out of a reply that arrives in pieces, and passes everything else on as early as it can.
#[derive(Clone, Debug, Default)]
pub struct WithoutMarkers {
    scanner: Scanner,
    /// Bytes of the line that is not over that were passed on.
    passed: usize,
}

impl WithoutMarkers {
    /// Takes in a piece and gives what can be shown.
    pub fn push(&mut self, piece: &str) -> String {
        let lines = self.scanner.push(piece);
        let mut shown = self.show(lines);
        if let Some(text) = self.scanner.certain_text() {
            shown.push_str(&text[self.passed..]);
            self.passed = text.len();
        }
        shown
    }

    /// The reply is over; gives what is left to show.
    pub fn finish(mut self) -> String {
        let lines = std::mem::take(&mut self.scanner).finish();
        self.show(lines)
    }

    fn show(&mut self, lines: Vec<Line>) -> String {
        let mut shown = String::new();
        for line in lines {
            let passed = std::mem::take(&mut self.passed);
            if !matches!(line.marker, Some(Ok(_))) {
                shown.push_str(&line.text[passed..]);
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-085
    #[test]
    fn marker_lines_are_hidden_in_pieces_of_any_size() {
        let reply = "I did it.\n[CHECKPOINT] Draw - COMPLETED\n- **[next]** Write\n```\n[GOAL] code\n```\nuse `a\n[GOAL] x\nb` it\n[CHECKPOINT] X - DONE\n[link] é\n[NEXT] Last";
        let wanted =
            "I did it.\n```\n[GOAL] code\n```\nuse `a\n[GOAL] x\nb` it\n[CHECKPOINT] X - DONE\n[link] é\n".to_owned();
        for size in 1..reply.len() {
            let mut display = WithoutMarkers::default();
            let chars: Vec<char> = reply.chars().collect();
            let mut shown: String =
                chars.chunks(size).map(|piece| display.push(&piece.iter().collect::<String>())).collect();
            shown.push_str(&display.finish());
            assert_eq!(shown, wanted, "pieces of {size}");
        }
    }

    // OLLM-085
    #[test]
    fn plain_text_is_not_held_back() {
        let mut display = WithoutMarkers::default();
        assert_eq!([display.push("Hel"), display.push("lo, "), display.push("[GO")], ["Hel", "lo, ", "[GO"]);
        assert_eq!([display.push("\n["), display.push("GOAL] x"), display.finish()], ["\n", "", ""]);
        let mut display = WithoutMarkers::default();
        assert_eq!(
            [display.push("* \t\t\t\t\t\t\t\t\t\t\t\t"), display.push("[GOAL]: x"), display.finish()],
            ["", "", ""]
        );
    }
}
