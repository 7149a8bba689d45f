//! Conversations with questions, as files hold them.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Turns of one conversation, and the questions about it.
pub(super) struct Conversation {
    /// The file's name without its ending.
    pub(super) name: String,
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Question>,
}

pub(super) struct Turn {
    pub(super) id: String,
    pub(super) session: i64,
    /// When its session began, in milliseconds since 1970, as the people's clocks showed it.
    pub(super) said_ms: Option<i64>,
    pub(super) speaker: String,
    /// What was said, with the caption of a picture.
    pub(super) text: String,
}

pub(super) struct Question {
    pub(super) text: String,
    /// Ids of the turns that answer it.
    pub(super) evidence: Vec<String>,
}

impl Conversation {
    /// Those of all files of a folder, in the order of their names.
    pub(super) fn read_all(folder: &Path) -> Result<Vec<Self>, String> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        files.sort();
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Result<Self, String> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let read = fs::read_to_string(file).map_err(|error| error.to_string());
        read.and_then(|text| Self::parse(&name, &text)).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The questions that some turn answers.
    pub(super) fn asked(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| !question.evidence.is_empty())
    }

    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let data: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let list = |name: &str| data[name].as_array().ok_or_else(|| format!("`{name}` is no list"));
        Ok(Self {
            name: name.to_owned(),
            turns: list("turns")?.iter().map(Turn::parse).collect::<Result<_, _>>()?,
            questions: list("questions")?.iter().map(Question::parse).collect::<Result<_, _>>()?,
        })
    }
}

impl Turn {
    fn parse(value: &Value) -> Result<Self, String> {
        let said = word(value, "text")?;
        let image = value["image"].as_str().map(|image| format!(" {image}")).unwrap_or_default();
        let session = value["session"].as_i64().ok_or("a turn without `session`")?;
        let said_ms = value["time"].as_str().and_then(time_ms);
        Ok(Self { id: word(value, "id")?, session, said_ms, speaker: word(value, "speaker")?, text: said + &image })
    }
}

impl Question {
    /// The share of its evidence that is among these turns.
    pub(super) fn found(&self, first: &[String]) -> f64 {
        let found = self.evidence.iter().filter(|id| first.contains(id)).count();
        found as f64 / self.evidence.len() as f64
    }

    fn parse(value: &Value) -> Result<Self, String> {
        let ids = value["evidence"].as_array().into_iter().flatten();
        let evidence = ids.filter_map(|id| Some(id.as_str()?.to_owned())).collect();
        Ok(Self { text: word(value, "question")?, evidence })
    }
}

/// Reads `1:56 pm on 8 May, 2023`.
fn time_ms(text: &str) -> Option<i64> {
    let parsed = jiff::fmt::strtime::parse("%I:%M %p on %d %B, %Y", text).ok()?;
    let at = parsed.to_datetime().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(at.timestamp().as_millisecond())
}

fn word(value: &Value, name: &str) -> Result<String, String> {
    value[name].as_str().map(str::to_owned).ok_or_else(|| format!("an entry without `{name}`: {value}"))
}
