//! Views as JSON text; the form stands here alone.

use limpid_core::{Digest, DigestLevel, MessageId, Pin, Shortened, Trust, WindowView};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct View {
    compactions: u32,
    through: Option<i64>,
    pin: Option<PinRow>,
    digests: Vec<DigestRow>,
    /// In characters.
    began: Option<(i64, u32)>,
    /// In characters.
    cut: Option<(i64, u32, u32)>,
    /// As `began`, in tokens: versions before 0.2 wrote this.
    #[serde(skip_serializing)]
    request: Option<(i64, u32)>,
    /// As `cut`, in tokens: versions before 0.2 wrote this.
    #[serde(skip_serializing)]
    shortened: Option<(i64, u32, u32)>,
    reads_on: bool,
    hidden: Vec<(i64, i64)>,
}

#[derive(Serialize, Deserialize)]
struct PinRow {
    message: i64,
    text: String,
    trust: String,
}

#[derive(Serialize, Deserialize)]
struct DigestRow {
    level: String,
    first: i64,
    last: i64,
    tokens: u32,
    compaction: u32,
    text: String,
    trust: String,
}

/// A view as text.
pub(super) fn to_json(view: &WindowView) -> String {
    let digest = |digest: &Digest| DigestRow {
        level: digest.level.as_str().to_owned(),
        first: digest.first.0,
        last: digest.last.0,
        tokens: digest.tokens,
        compaction: digest.compaction,
        text: digest.text.clone(),
        trust: digest.trust.as_str().to_owned(),
    };
    let row = View {
        compactions: view.compactions,
        through: view.through.map(|id| id.0),
        pin: view.pin.as_ref().map(|pin| PinRow {
            message: pin.message.0,
            text: pin.text.clone(),
            trust: pin.trust.as_str().to_owned(),
        }),
        digests: view.digests.iter().map(digest).collect(),
        began: view.request.map(|(id, characters)| (id.0, characters)),
        cut: view.shortened.map(|short| (short.through.0, short.results, short.texts)),
        request: None,
        shortened: None,
        reads_on: view.reads_on,
        hidden: view.hidden.iter().map(|(first, last)| (first.0, last.0)).collect(),
    };
    // Plain data with text keys always serialises.
    serde_json::to_string(&row).unwrap_or_default()
}

/// Reads a view.
pub(super) fn from_json(text: &str) -> Result<WindowView, String> {
    let row: View = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let trust = |word: &str| word.parse::<Trust>().map_err(|error| error.to_string());
    let digest = |row: DigestRow| {
        Ok::<_, String>(Digest {
            level: DigestLevel::parse(&row.level).ok_or_else(|| format!("level `{}` is not known", row.level))?,
            first: MessageId(row.first),
            last: MessageId(row.last),
            tokens: row.tokens,
            compaction: row.compaction,
            text: row.text,
            trust: trust(&row.trust)?,
        })
    };
    let old_cut = |(through, results, texts)| (through, characters(results), characters(texts));
    let cut = row.cut.or_else(|| row.shortened.map(old_cut));
    let request = row.began.or_else(|| row.request.map(|(id, tokens)| (id, characters(tokens))));
    let pin = |row: PinRow| {
        Ok::<_, String>(Pin { message: MessageId(row.message), text: row.text, trust: trust(&row.trust)? })
    };
    Ok(WindowView {
        compactions: row.compactions,
        through: row.through.map(MessageId),
        pin: row.pin.map(pin).transpose()?,
        digests: row.digests.into_iter().map(digest).collect::<Result<_, _>>()?,
        request: request.map(|(id, characters)| (MessageId(id), characters)),
        shortened: cut.map(|(through, results, texts)| Shortened { through: MessageId(through), results, texts }),
        reads_on: row.reads_on,
        hidden: row.hidden.into_iter().map(|(first, last)| (MessageId(first), MessageId(last))).collect(),
    })
}

/// About as many characters as so many tokens have.
fn characters(tokens: u32) -> u32 {
    tokens.saturating_mul(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-093 OLLM-102
    #[test]
    fn a_view_that_was_kept_in_tokens_is_read_in_characters_and_one_in_characters_as_it_is() {
        let old = r#"{"compactions":2,"request":[1,80],"shortened":[9,30,4294967295]}"#;
        let read = from_json(old).unwrap();
        assert_eq!(read.request, Some((MessageId(1), 320)));
        let shortened = Shortened { through: MessageId(9), results: 120, texts: u32::MAX };
        assert_eq!(read.shortened, Some(shortened));
        assert_eq!(from_json(&to_json(&read)).unwrap(), read);
    }
}
