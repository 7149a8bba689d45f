//! MEA-10: how much of the evidence for a question stands among the first ten results.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use limpid_core::recall::{Corpus, Passage, Place, query_words, rank_passages, text_words};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::Table;

/// Results that count.
const FIRST: usize = 10;

/// Turns of one conversation, and the questions about it.
struct Conversation {
    turns: Vec<Turn>,
    questions: Vec<Question>,
}

struct Turn {
    id: String,
    session: i64,
    /// When its session began, in milliseconds since 1970, as the people's clocks showed it.
    said_ms: Option<i64>,
    speaker: String,
    /// What was said, with the caption of a picture.
    text: String,
}

struct Question {
    text: String,
    /// Ids of the turns that answer it.
    evidence: Vec<String>,
}

/// Sums over questions.
#[derive(Default)]
struct Sums {
    questions: usize,
    bm25: f64,
    limpid: f64,
}

/// Ranks every question of the conversations in a folder; the second value is what `--json` prints.
pub(crate) fn measure(data: &Path) -> Result<(Table, Value), String> {
    let mut sums = Sums::default();
    let mut files: Vec<_> = fs::read_dir(data)
        .map_err(|error| format!("{}: {error}", data.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    for file in &files {
        let read = fs::read_to_string(file).map_err(|error| error.to_string());
        let conversation = read.and_then(|text| Conversation::parse(&text));
        sums.take(&conversation.map_err(|error| format!("{}: {error}", file.display()))?)?;
    }
    if sums.questions == 0 {
        return Err(format!("{} holds no conversation with questions", data.display()));
    }
    let share = |sum: f64| (sum / sums.questions as f64 * 1000.0).round() / 1000.0;
    let (bm25, limpid) = (share(sums.bm25), share(sums.limpid));
    let table = Table {
        title: "MEA-10 Recall of memory and history search",
        how: format!(
            "The questions of {} long conversations, each as it stands as the query, every turn one passage, \"now\" \
             the last session, no feedback; the share of a question's evidence turns among the first {FIRST} results, \
             averaged over {} questions. BM25 is SQLite's full text search with its Porter tokenizer, words joined by \
             OR.",
            files.len(),
            sums.questions
        ),
        target: "≥ 0.74 without any model, on conversations not used for tuning",
        head: vec!["questions", "BM25", "Limpid without a model"],
        rows: vec![vec![sums.questions.to_string(), format!("{bm25:.3}"), format!("{limpid:.3}")]],
    };
    Ok((table, json!({ "questions": sums.questions, "bm25": bm25, "limpid": limpid, "fused": null })))
}

impl Sums {
    fn take(&mut self, conversation: &Conversation) -> Result<(), String> {
        let plain = Plain::new(&conversation.turns).map_err(|error| error.to_string())?;
        let ranked = Ranked::new(&conversation.turns);
        for question in conversation.questions.iter().filter(|question| !question.evidence.is_empty()) {
            self.questions += 1;
            self.bm25 += question.found(&plain.first(&question.text).map_err(|error| error.to_string())?);
            self.limpid += question.found(&ranked.first(&question.text));
        }
        Ok(())
    }
}

impl Question {
    fn found(&self, first: &[String]) -> f64 {
        let found = self.evidence.iter().filter(|id| first.contains(id)).count();
        found as f64 / self.evidence.len() as f64
    }
}

/// SQLite's own rank.
struct Plain(Connection);

impl Plain {
    fn new(turns: &[Turn]) -> rusqlite::Result<Self> {
        let sql = Connection::open_in_memory()?;
        sql.execute_batch("CREATE VIRTUAL TABLE turn USING fts5 (id UNINDEXED, text, tokenize = 'porter')")?;
        for turn in turns {
            sql.execute("INSERT INTO turn VALUES (?, ?)", (&turn.id, &turn.text))?;
        }
        Ok(Self(sql))
    }

    fn first(&self, question: &str) -> rusqlite::Result<Vec<String>> {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let query = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let mut statement = self.0.prepare_cached("SELECT id FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT ?")?;
        statement.query_map((query, FIRST as i64), |row| row.get(0))?.collect()
    }
}

/// The rank of memory and history search.
struct Ranked {
    passages: Vec<Passage<String>>,
    holding: HashMap<String, u64>,
    words: u64,
    /// The last session.
    now_ms: i64,
}

impl Ranked {
    fn new(turns: &[Turn]) -> Self {
        let passage = |(at, turn): (usize, &Turn)| Passage {
            words: text_words(&turn.text),
            place: Some(Place { session: turn.session, position: at as i64 }),
            speaker: text_words(&turn.speaker),
            said_ms: turn.said_ms,
            touched_ms: turn.said_ms.unwrap_or_default(),
            order: at as i64,
            ..Passage::new(turn.id.clone())
        };
        let passages: Vec<_> = turns.iter().enumerate().map(passage).collect();
        let mut holding: HashMap<String, u64> = HashMap::new();
        for passage in &passages {
            let mut words = passage.words.clone();
            words.sort();
            words.dedup();
            words.into_iter().for_each(|word| *holding.entry(word).or_default() += 1);
        }
        Self {
            words: passages.iter().map(|passage| passage.words.len() as u64).sum(),
            now_ms: turns.iter().filter_map(|turn| turn.said_ms).max().unwrap_or_default(),
            holding,
            passages,
        }
    }

    fn first(&self, question: &str) -> Vec<String> {
        let holding = query_words(question).into_iter().map(|word| {
            let count = self.holding.get(&word).copied().unwrap_or_default();
            (word, count)
        });
        let corpus = Corpus { documents: self.passages.len() as u64, words: self.words, holding: holding.collect() };
        let ranked = rank_passages(&corpus, self.passages.clone(), self.now_ms);
        ranked.into_iter().take(FIRST).map(|ranked| ranked.item).collect()
    }
}

impl Conversation {
    fn parse(text: &str) -> Result<Self, String> {
        let data: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let list = |name: &str| data[name].as_array().ok_or_else(|| format!("`{name}` is no list"));
        Ok(Self {
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
