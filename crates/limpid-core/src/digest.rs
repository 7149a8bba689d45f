//! What stands in a conversation's window in place of messages that left it.
//!
//! A conversation's messages are never changed. What a model sees of them is a [`WindowView`]: which messages are hidden
//! behind digests, the request that began the work, and how long a shown message may be.

use std::fmt;

use crate::id::MessageId;
use crate::message::Message;
use crate::trust::Trust;

/// How much of its source a digest still tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DigestLevel {
    /// Several digests in one.
    Merged,
    /// A line.
    Line,
    /// A few sentences.
    Short,
    /// As it was written.
    Full,
}

impl DigestLevel {
    /// The level's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Line => "1",
            Self::Short => "2",
            Self::Full => "3",
        }
    }

    /// Tokens that a digest of this level may have.
    pub const fn max_tokens(self) -> usize {
        match self {
            Self::Full => 500,
            Self::Short => 200,
            Self::Line => 50,
            Self::Merged => 400,
        }
    }

    /// Reads a level's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Merged, Self::Line, Self::Short, Self::Full].into_iter().find(|level| level.as_str() == word)
    }
}

impl fmt::Display for DigestLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that stands for a stretch of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// How much it still tells.
    pub level: DigestLevel,
    /// The first message that it stands for.
    pub first: MessageId,
    /// The last one; ranges of two digests never meet.
    pub last: MessageId,
    /// Its size by the counter of the model that it was made for.
    pub tokens: u32,
    /// The compaction that made it, from 1.
    pub compaction: u32,
    /// What it says.
    pub text: String,
    /// The least trusted label of what it was made from.
    pub trust: Trust,
}

impl Digest {
    /// Its name. Ranges never meet, so no two digests of a conversation share one, and an aged one keeps it.
    pub fn id(&self) -> String {
        format!("d{}-{}", self.first, self.last)
    }
}

/// The request that began the work, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The message.
    pub message: MessageId,
    /// What is shown of it: all, or head and tail.
    pub text: String,
    /// Who wrote it.
    pub trust: Trust,
}

/// How long a shown message may be, in characters: what is shown of it depends on nothing but itself, so it is the same
/// whatever a provider's counts say of tokens later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The last message that this holds for; later ones are whole, so that a prefix that was sent stays.
    pub through: MessageId,
    /// Characters of a tool's result.
    pub results: u32,
    /// Characters of any other message.
    pub texts: u32,
}

/// What a model sees of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowView {
    /// Compactions so far.
    pub compactions: u32,
    /// The last message that digests stand for; none before the first compaction.
    pub through: Option<MessageId>,
    /// The request that began the work, once it is no longer among the shown messages.
    pub pin: Option<Pin>,
    /// Digests, oldest first.
    pub digests: Vec<Digest>,
    /// The message that began the work and the characters that it always has: it is shortened no further.
    pub request: Option<(MessageId, u32)>,
    /// What is shown as head and tail.
    pub shortened: Option<Shortened>,
    /// Whether a tool's result that is shown as head and tail says how to read on in it.
    pub reads_on: bool,
    /// Messages that are not shown and no digest stands for, first and last of each stretch: what a restore left behind.
    pub hidden: Vec<(MessageId, MessageId)>,
}

impl WindowView {
    /// Whether a message is shown as such.
    pub fn shows(&self, id: MessageId) -> bool {
        self.through.is_none_or(|through| id > through) && !self.hides(id)
    }

    /// Whether the person went back to a moment before a message.
    pub fn hides(&self, id: MessageId) -> bool {
        self.hidden.iter().any(|(first, last)| (*first..=*last).contains(&id))
    }

    /// Characters that a message may have, when that is limited.
    pub fn limit_of(&self, id: MessageId, is_result: bool) -> Option<u32> {
        let shortened = self.shortened.filter(|shortened| id <= shortened.through)?;
        let limit = if is_result { shortened.results } else { shortened.texts };
        let at_least = self.request.filter(|(request, _)| *request == id).map_or(0, |(_, characters)| characters);
        Some(limit.max(at_least))
    }
}

/// A stored message with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number.
    pub id: MessageId,
    /// The message.
    pub message: Message,
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-092 OLLM-102
    #[test]
    fn what_is_shortened_has_its_limit_and_the_request_that_began_the_work_no_less_than_its_share() {
        let shortened = Some(Shortened { through: MessageId(9), results: 30, texts: 50 });
        let view = WindowView { shortened, request: Some((MessageId(3), 80)), ..WindowView::default() };
        let limits = |id: i64| [false, true].map(|is_result| view.limit_of(MessageId(id), is_result));
        assert_eq!(
            [2, 3, 9, 10].map(limits),
            [[Some(50), Some(30)], [Some(80), Some(80)], [Some(50), Some(30)], [None, None],]
        );
        let small = WindowView { request: Some((MessageId(3), 20)), ..view };
        assert_eq!(small.limit_of(MessageId(3), false), Some(50));
        assert_eq!(WindowView::default().limit_of(MessageId(3), false), None);
    }
}
