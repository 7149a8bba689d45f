//! Views as JSON text; the form stands here alone (ARC-002).

use limpid_core::{Digest, DigestLevel, MessageId, Pin, Shortened, Trust, WindowView};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct View {
    compactions: u32,
    through: Option<i64>,
    pin: Option<PinRow>,
    digests: Vec<DigestRow>,
    request: Option<(i64, u32)>,
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
        request: view.request.map(|(id, tokens)| (id.0, tokens)),
        shortened: view.shortened.map(|short| (short.through.0, short.results, short.texts)),
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
    let pin = |row: PinRow| {
        Ok::<_, String>(Pin { message: MessageId(row.message), text: row.text, trust: trust(&row.trust)? })
    };
    Ok(WindowView {
        compactions: row.compactions,
        through: row.through.map(MessageId),
        pin: row.pin.map(pin).transpose()?,
        digests: row.digests.into_iter().map(digest).collect::<Result<_, _>>()?,
        request: row.request.map(|(id, tokens)| (MessageId(id), tokens)),
        shortened: row.shortened.map(|(through, results, texts)| Shortened {
            through: MessageId(through),
            results,
            texts,
        }),
        reads_on: row.reads_on,
        hidden: row.hidden.into_iter().map(|(first, last)| (MessageId(first), MessageId(last))).collect(),
    })
}
