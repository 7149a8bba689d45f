//! What the owner is told, and what of it is for them alone.

use limpid_core::Sentence;
use limpid_store::{Audience, DraftId};

/// What the owner is told without having asked. It is made of sentences, so that no plain string becomes the owner's words by being
/// told, and it says what others may read of it, so that nobody who tells it has to look who reads the conversation.
#[derive(Clone, Debug)]
pub struct Announcement {
    for_all: Words,
    for_owner: Option<Words>,
    /// The draft that it tells of.
    pub(super) draft: Option<DraftId>,
}

#[derive(Clone, Debug)]
struct Words {
    title: Sentence,
    text: Sentence,
}

impl Announcement {
    /// One that whoever reads its conversation may read.
    pub const fn new(title: Sentence, text: Sentence) -> Self {
        Self { for_all: Words { title, text }, for_owner: None, draft: None }
    }

    /// The same, with these words in its place where the owner alone reads the conversation: what a call came to and whom it
    /// concerns may be private.
    #[must_use]
    pub fn for_owner_alone(self, title: Sentence, text: Sentence) -> Self {
        Self { for_owner: Some(Words { title, text }), ..self }
    }

    /// The same, which tells of a draft: screens draw the draft itself in the place of the words that name it.
    #[must_use]
    pub fn of_draft(self, draft: DraftId) -> Self {
        Self { draft: Some(draft), ..self }
    }

    /// Its title and its text for whoever reads a conversation; of one that is not known, it is not known who that is.
    pub(super) fn words_for(self, audience: Option<Audience>) -> (Sentence, Sentence) {
        let Self { for_all, for_owner, .. } = self;
        let Words { title, text } = for_owner.filter(|_| audience == Some(Audience::Owner)).unwrap_or(for_all);
        (title, text)
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::{Labelled, Trust, sentence};

    use super::*;

    // SEC-065 PICO-029
    #[test]
    fn what_is_for_the_owner_alone_is_said_where_nobody_else_reads() {
        let result = Labelled::outside("4711");
        let told = Announcement::new("A draft".into(), "Draft 1 was sent.".into())
            .for_owner_alone("A letter".into(), sentence!("Draft 1 was sent: {}", result));
        let said = |audience| {
            let (title, text) = told.clone().words_for(audience);
            (title.into_text(), text.into_parts())
        };
        let whole = ("A letter".to_owned(), ("Draft 1 was sent: 4711".to_owned(), Trust::Outside));
        assert_eq!(said(Some(Audience::Owner)), whole);
        let short = ("A draft".to_owned(), ("Draft 1 was sent.".to_owned(), Trust::Owner));
        for audience in [Some(Audience::Group), Some(Audience::Strangers), None] {
            assert_eq!(said(audience), short, "{audience:?}");
        }
        let alike = Announcement::new("A limit".into(), "It is reached.".into());
        assert_eq!(alike.words_for(Some(Audience::Owner)).1.text(), "It is reached.");
    }
}
