//! What changes from call to call, and what is known of the model's window.

use std::sync::Arc;

use limpid_core::policy::{AddressOrigin, Effect, Grant, OwnersWords, TypedAddresses};
use limpid_core::{ConversationId, Labelled, Trust};

/// What changes from call to call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The conversation that it is made in, if in one.
    pub conversation: Option<ConversationId>,
    /// Who wrote the least trusted text in the model's window.
    pub trust: Trust,
    /// What the owner allowed for the rest of the conversation.
    pub grants: Vec<Grant>,
    /// What is known of the model's window besides.
    pub window: WindowFacts,
    /// Whether the turn holds a reserved right to exactly this call.
    pub reserved: bool,
    /// The addresses that the turn has asked for, in their normal form, as often as it did.
    pub fetched: Vec<String>,
    /// What the window shows of the owner's that they did not type in the conversation; looked for only where a worker can be told.
    pub owners_words: Arc<OwnersWords>,
}

/// What a tainted turn is judged by besides its label. In a clean one nothing of it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowFacts {
    /// Whether something is in the window that is private to the owner.
    pub is_private: bool,
    /// The addresses that the owner typed, in their normal form.
    pub named: TypedAddresses,
    /// A link that a right names which the owner reserved, in its normal form.
    pub link: Option<String>,
    /// The addresses that stand in what was read in this turn, in their normal form; looked for only where nothing private is.
    pub read: Vec<String>,
}

impl WindowFacts {
    /// A window of which nothing is known: it is private, and no right names an address.
    pub fn unknown() -> Self {
        Self { is_private: true, named: TypedAddresses::default(), link: None, read: Vec::new() }
    }
}

impl CallContext {
    /// A call of somebody who wrote down what to do, with nothing allowed beforehand.
    pub fn of(trust: Trust) -> Self {
        Self {
            conversation: None,
            trust,
            grants: Vec::new(),
            window: WindowFacts::unknown(),
            reserved: false,
            fetched: Vec::new(),
            owners_words: Arc::default(),
        }
    }

    /// Says that an address was asked for, or is being asked for.
    pub fn note_fetch(&mut self, address: &str) {
        self.window.named.fetched(address);
        self.fetched.push(address.to_owned());
    }

    /// How often the address of a fetch was asked for before.
    pub(super) fn times_fetched(&self, effect: &Effect) -> usize {
        let Effect::Fetch(Some(address)) = effect else { return 0 };
        self.fetched.iter().filter(|fetched| *fetched == address).count()
    }

    /// How the address of a fetch came about.
    pub(super) fn address_origin(&self, effect: &Effect) -> AddressOrigin {
        let Effect::Fetch(Some(address)) = effect else { return AddressOrigin::Composed };
        if self.window.link.as_ref() == Some(address) {
            AddressOrigin::Reserved
        } else if self.window.named.is_next(address) {
            AddressOrigin::Typed
        } else if self.window.named.contains(address) {
            AddressOrigin::TypedElsewhere
        } else if self.window.read.contains(address) {
            AddressOrigin::Read
        } else {
            AddressOrigin::Composed
        }
    }

    /// Words of the call: they have the label of what the model had read.
    pub(crate) fn words<T>(&self, words: T) -> Labelled<T> {
        Labelled::new(words, self.trust)
    }
}
