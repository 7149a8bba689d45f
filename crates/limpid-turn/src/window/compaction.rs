//! A compaction, from its first question to the new view.
//!
//! It is a plain value: [`Compaction::next`] says what to ask a model or what came of it, [`Compaction::answer`] takes
//! the answer. Nothing that is shown changes before the view that comes out is stored.

use limpid_core::compaction::CompactionStyle;
use limpid_core::{Digest, DigestLevel, Entry, Labelled, MessageId, Trust, WindowView};

use super::pinned::pin;
use super::task::{Ask, Made, Next, Task};
use super::{Count, ageing, check, mechanical, quote, room, shown, turns};

/// Calls of a model that one compaction makes at most.
const CALLS: u32 = 3;

/// Tokens that a summary may have however short its source is: a few sentences. Nine tenths of two short messages would
/// cut every good summary off.
const LEAST: usize = 120;

/// A compaction under way.
#[derive(Clone, Debug)]
pub struct Compaction {
    task: Task,
    /// The messages that leave, as they were typed.
    parts: Vec<Vec<Entry>>,
    /// The summaries of parts that are there.
    texts: Vec<Labelled<String>>,
    kept: Vec<Entry>,
    digests: Vec<Digest>,
    merging: Option<usize>,
    /// Whether a model was asked to merge two digests: at most once.
    has_merged: bool,
    calls: u32,
    retried: bool,
    steps: Vec<String>,
    is_over: bool,
}

impl Compaction {
    /// Begins one; none when nothing can leave and nothing that is shown can be shortened.
    pub fn start(task: Task, count: Count<'_>) -> Option<Self> {
        let visible: Vec<Entry> = task.entries.iter().filter(|entry| task.view.shows(entry.id)).cloned().collect();
        let room = match task.settings.style {
            CompactionStyle::Digests if !task.is_forced => task.budget.recent,
            CompactionStyle::Digests => 0,
            CompactionStyle::Summary => 0,
        };
        let shown: Vec<Entry> = shown::shown(&task.view, &visible);
        let at = turns::cut(&shown, room, task.settings.keep_messages, count);
        let (leaving, kept) = visible.split_at(at);
        if leaving.is_empty() && turns::sizes(&shown, count) <= task.budget.recent {
            return None;
        }
        let leaving: Vec<Entry> = leaving.iter().map(|entry| quote::as_typed(entry, &task.typed)).collect();
        let is_long = task.settings.split_over.is_some_and(|most| leaving.len() > most);
        let parts = match turns::middle(&leaving).filter(|_| is_long) {
            _ if leaving.is_empty() => Vec::new(),
            Some(middle) => vec![leaving[..middle].to_vec(), leaving[middle..].to_vec()],
            None => vec![leaving],
        };
        Some(Self {
            kept: kept.to_vec(),
            digests: task.view.digests.clone(),
            task,
            parts,
            texts: Vec::new(),
            merging: None,
            has_merged: false,
            calls: 0,
            retried: false,
            steps: Vec::new(),
            is_over: false,
        })
    }

    /// What is to be asked next, or what came of it all.
    pub fn next(&mut self, count: Count<'_>) -> Next {
        while !self.is_over {
            if let Some(part) = self.parts.get(self.texts.len()) {
                if self.calls < CALLS {
                    return Next::Ask(self.summarize(part, count));
                }
                let text = self.mechanical(part, count);
                self.texts.push(text);
                self.steps.push("the digest was made without a model".to_owned());
                continue;
            }
            if let Some(ask) = self.merge(count) {
                return Next::Ask(ask);
            }
            self.is_over = true;
        }
        Next::Done(Box::new(self.finish(count)))
    }

    /// Takes an answer, with the label of everything that was sent for it, or why there is none. `instruction` is the text of
    /// the question without what it quotes.
    pub fn answer(&mut self, answer: Result<Labelled<&str>, &str>, instruction: &str, count: Count<'_>) {
        self.calls += 1;
        let source = self.source(count);
        let source = if self.merging.is_some() { source } else { source.max(LEAST * 10 / 9) };
        let checked = match answer {
            Ok(answer) => {
                let (text, trust) = answer.into_parts();
                let checked = check::check(text, instruction, source, count);
                checked.map(|text| Labelled::new(text, trust)).map_err(|rejected| rejected.to_string())
            }
            Err(error) => Err(error.to_owned()),
        };
        let cap = self.cap(count);
        let checked = checked.map(|answer| answer.map(|text| shown::shorten(&text, cap, count)));
        if let Err(why) = &checked {
            self.steps.push(why.clone());
        }
        if self.parts.get(self.texts.len()).is_some() {
            self.take_part(checked.ok(), count);
        } else {
            self.take_merge(checked.ok(), count);
        }
    }

    fn take_part(&mut self, text: Option<Labelled<String>>, count: Count<'_>) {
        // A retry must not take the call that the other half or a merge needs.
        let needed = (self.parts.len() - self.texts.len() - 1) as u32 + u32::from(self.parts.len() > 1);
        if text.is_none() && !self.retried && self.calls + needed < CALLS {
            self.retried = true;
            return;
        }
        self.retried = false;
        let at = self.texts.len();
        let text = text.unwrap_or_else(|| {
            self.steps.push("the digest was made without a model".to_owned());
            self.mechanical(&self.parts[at], count)
        });
        let left_out = quote::left_out(&self.parts[at], self.too_large(), count);
        self.texts.push(if left_out.is_empty() { text } else { text.map(|text| format!("{text}\n{left_out}")) });
    }

    fn take_merge(&mut self, text: Option<Labelled<String>>, count: Count<'_>) {
        match (self.task.settings.style, self.merging.take()) {
            (CompactionStyle::Digests, Some(at)) => self.join(at, text, count),
            _ => {
                let text = text.unwrap_or_else(|| {
                    self.steps.push("the halves were put together without a model".to_owned());
                    let halves: Vec<&str> = self.texts.iter().map(|text| text.value().as_str()).collect();
                    Labelled::new(halves.join("\n"), self.trust())
                });
                self.texts = vec![text.join(self.trust())];
                self.parts = vec![self.parts.concat()];
            }
        }
    }

    fn summarize(&self, part: &[Entry], count: Count<'_>) -> Ask {
        let existing = self.existing();
        let quoted = existing.as_ref().map_or(0, |text| count(text.value()));
        let limit = self.too_large();
        let messages = quote::messages(part, self.task.budget.request.saturating_sub(quoted), limit, count);
        Ask::Summarize { existing, messages, cap: self.cap(count) }
    }

    /// The summary that the one of the next part is to take in.
    fn existing(&self) -> Option<Labelled<String>> {
        let takes_in = self.task.settings.style == CompactionStyle::Summary && self.texts.is_empty();
        let texts: Vec<&str> = self.task.view.digests.iter().map(|digest| digest.text.as_str()).collect();
        (takes_in && !texts.is_empty()).then(|| Labelled::new(texts.join("\n"), trust_of(&self.task.view.digests)))
    }

    /// The label of the least trusted text that the summaries are made from.
    fn trust(&self) -> Trust {
        let made = self.texts.iter().map(Labelled::trust);
        self.parts.iter().map(|part| of_entries(part)).chain(made).fold(trust_of(&self.task.view.digests), Trust::join)
    }

    /// Tokens over which a message is left out of a summary; no limit where head and tail are quoted.
    fn too_large(&self) -> usize {
        match self.task.settings.style {
            CompactionStyle::Summary => self.task.budget.request / 2,
            CompactionStyle::Digests => usize::MAX,
        }
    }

    fn mechanical(&self, part: &[Entry], count: Count<'_>) -> Labelled<String> {
        let (cap, trust) = (self.cap(count), of_entries(part));
        match (self.task.settings.style, self.existing()) {
            (CompactionStyle::Summary, Some(existing)) => {
                let trust = trust.join(existing.trust());
                Labelled::new(mechanical::tenth(Some(existing.value()), part, cap, count), trust)
            }
            (CompactionStyle::Summary, None) => Labelled::new(mechanical::tenth(None, part, cap, count), trust),
            (CompactionStyle::Digests, _) => Labelled::new(mechanical::digest(None, part, cap, count), trust),
        }
    }

    /// The merge that is due, put off to a model while there are calls left and done at once otherwise.
    fn merge(&mut self, count: Count<'_>) -> Option<Ask> {
        if self.task.settings.style == CompactionStyle::Summary {
            if self.texts.len() < 2 {
                return None;
            }
            let half = |at: usize| self.texts[at].clone().join(self.trust());
            let ask = Ask::Merge { first: half(0), second: half(1), cap: self.cap(count) };
            if self.calls < CALLS {
                return Some(ask);
            }
            self.take_merge(None, count);
            return None;
        }
        self.take_digest(count);
        while let Some(at) = self.due() {
            if self.calls < CALLS && !self.has_merged {
                (self.merging, self.has_merged) = (Some(at), true);
                let text = |digest: &Digest| Labelled::new(digest.text.clone(), digest.trust);
                let (first, second) = (text(&self.digests[at]), text(&self.digests[at + 1]));
                return Some(Ask::Merge { first, second, cap: self.cap(count) });
            }
            self.join(at, None, count);
        }
        None
    }

    /// Puts the new digest behind the aged ones, once.
    fn take_digest(&mut self, count: Count<'_>) {
        let compaction = self.task.view.compactions + 1;
        let Some((text, part)) = self.texts.pop().zip(self.parts.pop()) else { return };
        ageing::age_all(&mut self.digests, compaction, count);
        self.digests.extend(digest_of(text, &part, compaction, count));
    }

    fn due(&self) -> Option<usize> {
        let compaction = self.task.view.compactions + 1;
        let too_many = self.digests.len() > self.task.most_digests.max(1);
        let due = self.digests.iter().position(|digest| ageing::is_due(digest, compaction));
        let at = if too_many { Some(0) } else { due };
        at.map(|at| at.min(self.digests.len().saturating_sub(2))).filter(|_| self.digests.len() > 1)
    }

    fn join(&mut self, at: usize, text: Option<Labelled<String>>, count: Count<'_>) {
        let newer = self.digests.remove(at + 1);
        let older = &mut self.digests[at];
        *older = ageing::merged(older, &newer, text, self.task.budget.digests, count);
        self.steps.push(format!("two digests became {}", older.id()));
    }

    /// Tokens that the next text may have.
    fn cap(&self, count: Count<'_>) -> usize {
        let most = match self.merging {
            Some(_) => DigestLevel::Merged.max_tokens(),
            None => self.task.settings.summary_tokens,
        };
        let source = self.source(count) * 9 / 10;
        let source = if self.merging.is_some() { source } else { source.max(LEAST) };
        most.min(self.task.budget.digests).min(source)
    }

    /// Tokens of what the next text stands for.
    fn source(&self, count: Count<'_>) -> usize {
        match (self.parts.get(self.texts.len()), self.merging) {
            (Some(part), _) => turns::sizes(part, count) + self.existing().map_or(0, |text| count(text.value())),
            (None, Some(at)) => self.digests[at..].iter().take(2).map(|digest| digest.tokens as usize).sum(),
            (None, None) => self.texts.iter().map(|text| count(text.value())).sum(),
        }
    }

    fn finish(&mut self, count: Count<'_>) -> Made {
        let view = &self.task.view;
        let mut new = WindowView { compactions: view.compactions + 1, ..view.clone() };
        let visible: Vec<MessageId> =
            self.task.entries.iter().map(|entry| entry.id).filter(|id| view.shows(*id)).collect();
        let leaving = &visible[..visible.len().saturating_sub(self.kept.len())];
        if let Some(last) = leaving.last() {
            new.through = Some(*last);
            self.steps.insert(0, format!("{} messages became a digest", leaving.len()));
        }
        let budget = self.task.budget;
        new.digests = match self.task.settings.style {
            CompactionStyle::Digests => std::mem::take(&mut self.digests),
            CompactionStyle::Summary => self.summary(count).into_iter().collect(),
        };
        room::fit_digests(&mut new.digests, budget.digests, count);
        new.pin = pin(&self.task, new.through, count);
        if let Some(shortened) = room::shorten_kept(&new, &self.kept, &budget, count) {
            self.steps.push(format!("shown messages have at most {} characters each", shortened.texts));
            new.shortened = Some(shortened);
        }
        Made { view: new, steps: std::mem::take(&mut self.steps) }
    }

    /// The one summary of everything that is not shown.
    fn summary(&mut self, count: Count<'_>) -> Option<Digest> {
        let view = &self.task.view;
        let Some((text, part)) = self.texts.pop().zip(self.parts.pop()) else { return view.digests.first().cloned() };
        let mut digest = digest_of(text, &part, view.compactions + 1, count)?;
        if let Some(earlier) = view.digests.first() {
            digest.first = earlier.first;
        }
        digest.trust = view.digests.iter().fold(digest.trust, |trust, earlier| trust.join(earlier.trust));
        Some(digest)
    }
}

/// The label of the least trusted text that digests were made from.
pub(super) fn trust_of(digests: &[Digest]) -> Trust {
    digests.iter().map(|digest| digest.trust).fold(Trust::Owner, Trust::join)
}

/// The label of the least trusted of some messages.
pub(super) fn of_entries(entries: &[Entry]) -> Trust {
    entries.iter().map(|entry| entry.message.trust_of_all()).fold(Trust::Owner, Trust::join)
}

fn digest_of(text: Labelled<String>, part: &[Entry], compaction: u32, count: Count<'_>) -> Option<Digest> {
    let (first, last) = part.first().zip(part.last())?;
    let (text, trust) = text.join(of_entries(part)).into_parts();
    Some(Digest {
        level: DigestLevel::Full,
        first: first.id,
        last: last.id,
        tokens: count(&text) as u32,
        compaction,
        text,
        trust,
    })
}

#[cfg(test)]
mod tests;
