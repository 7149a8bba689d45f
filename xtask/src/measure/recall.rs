//! MEA-10: how much of the evidence for a question stands among the first ten results.

mod data;
mod meaning;
mod ranks;

use std::path::PathBuf;

use clap::Args;
use limpid_model::Embedder;
use serde_json::{Value, json};

use self::data::Conversation;
use self::meaning::Meanings;
use self::ranks::{Plain, Ranked};
use super::Table;
use super::program::block_on;

/// Results that count.
const FIRST: usize = 10;

/// The conversations on which the weights of meaning were chosen, half of the questions; the others only report.
const CHOSEN_ON: [&str; 3] = ["26", "30", "41"];

/// What recall is measured on.
#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// A folder of conversations: files with `turns` and `questions`
    #[arg(long)]
    data: PathBuf,
    /// A server of embeddings in OpenAI's form, to measure what meaning adds: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    embeddings: Option<String>,
    /// The model that it serves
    #[arg(long, value_name = "NAME", default_value = "all-MiniLM-L6-v2")]
    model: String,
}

/// Sums over questions.
#[derive(Clone, Copy, Default)]
struct Sums {
    questions: usize,
    bm25: f64,
    limpid: f64,
    meaning: f64,
    fused: f64,
}

/// Ranks every question of the conversations in a folder, with an embedder by meaning too; the second value is what
/// `--json` prints.
pub(crate) fn measure(Recall { data, embeddings, model }: &Recall) -> Result<(Table, Value), String> {
    let embedder = embeddings.as_ref().map(|url| meaning::embedder(url, model)).transpose()?;
    let conversations = Conversation::read_all(data)?;
    let meanings = embedder.as_deref().map(|embedder| block_on(meanings(embedder, &conversations))).transpose()?;
    let (mut chosen_on, mut others) = (Sums::default(), Sums::default());
    for (at, conversation) in conversations.iter().enumerate() {
        let sums = if CHOSEN_ON.contains(&conversation.name.as_str()) { &mut chosen_on } else { &mut others };
        sums.take(conversation, meanings.as_ref().and_then(|meanings| meanings.get(at)))?;
    }
    let all = chosen_on.plus(others);
    if all.questions == 0 {
        return Err(format!("{} holds no conversation with questions", data.display()));
    }
    let model = embedder.is_some().then_some(model.as_str());
    let groups = [("the weights of meaning were chosen on", chosen_on), ("only measured", others), ("all", all)];
    let mut answer = all.as_json(model);
    answer["only_measured"] = others.as_json(model);
    let groups: Vec<_> = groups.into_iter().filter(|(_, sums)| sums.questions > 0).collect();
    Ok((table(conversations.len(), &groups, model), answer))
}

fn table(conversations: usize, groups: &[(&str, Sums)], model: Option<&str>) -> Table {
    let model = model.map_or_else(String::new, |model| {
        format!(
            " Meaning is the likeness of {model}'s embeddings, alone and added to the rank of words; they are of what \
             was said without who said it, as those of the index are. Their weights were chosen on the conversations \
             {}, and the others were looked at once they stood; the weights of words were chosen with all at hand.",
            CHOSEN_ON.join(", ")
        )
    });
    Table {
        title: "MEA-10 Recall of memory and history search",
        how: format!(
            "The questions of {conversations} long conversations, each as it stands as the query, every turn one \
             passage, \"now\" the last session, no feedback; the share of a question's evidence turns among the first \
             {FIRST} results, averaged over the questions. BM25 is SQLite's full text search with its Porter \
             tokenizer, words joined by OR.{model}"
        ),
        target: "≥ 0.74 without any model, on conversations not used for tuning",
        head: vec![
            "conversations",
            "questions",
            "BM25",
            "Limpid without a model",
            "meaning alone",
            "words and meaning",
        ],
        rows: groups.iter().map(|(name, sums)| sums.row(name, !model.is_empty())).collect(),
    }
}

/// What the turns and questions of each conversation mean.
async fn meanings(embedder: &dyn Embedder, conversations: &[Conversation]) -> Result<Vec<Meanings>, String> {
    let mut meanings = Vec::new();
    for conversation in conversations {
        let turns: Vec<&str> = conversation.turns.iter().map(|turn| turn.text.as_str()).collect();
        let questions: Vec<&str> = conversation.asked().map(|question| question.text.as_str()).collect();
        meanings.push(Meanings::new(embedder, &turns, &questions).await?);
    }
    Ok(meanings)
}

impl Sums {
    fn take(&mut self, conversation: &Conversation, meanings: Option<&Meanings>) -> Result<(), String> {
        let plain = Plain::new(&conversation.turns).map_err(|error| error.to_string())?;
        let ranked = Ranked::new(&conversation.turns);
        for (at, question) in conversation.asked().enumerate() {
            self.questions += 1;
            if let Some(likeness) = meanings.map(|meanings| meanings.likeness(at)) {
                self.meaning += question.found(&ranked.alike(&likeness));
                self.fused += question.found(&ranked.fused(&question.text, &likeness));
            }
            self.bm25 += question.found(&plain.first(&question.text).map_err(|error| error.to_string())?);
            self.limpid += question.found(&ranked.fused(&question.text, &[]));
        }
        Ok(())
    }

    fn plus(self, other: Self) -> Self {
        Self {
            questions: self.questions + other.questions,
            bm25: self.bm25 + other.bm25,
            limpid: self.limpid + other.limpid,
            meaning: self.meaning + other.meaning,
            fused: self.fused + other.fused,
        }
    }

    /// A sum as the mean over questions, to three places.
    fn share(&self, sum: f64) -> f64 {
        (sum / self.questions.max(1) as f64 * 1000.0).round() / 1000.0
    }

    fn row(&self, name: &str, has_meaning: bool) -> Vec<String> {
        let shown = |sum: f64| format!("{:.3}", self.share(sum));
        let seen = |sum: f64| if has_meaning { shown(sum) } else { "not measured".to_owned() };
        let (words, meaning) = ([self.bm25, self.limpid].map(shown), [self.meaning, self.fused].map(seen));
        [name.to_owned(), self.questions.to_string()].into_iter().chain(words).chain(meaning).collect()
    }

    fn as_json(&self, model: Option<&str>) -> Value {
        let seen = |sum: f64| model.map(|_| self.share(sum));
        json!({
            "questions": self.questions,
            "bm25": self.share(self.bm25),
            "limpid": self.share(self.limpid),
            "meaning": seen(self.meaning),
            "fused": seen(self.fused),
            "model": model,
        })
    }
}
