//! The addresses that the owner typed, and which of them may be fetched beside a stranger's text.

use std::collections::BTreeSet;

/// The addresses that the owner typed in a conversation, message by message in their order, and which were fetched since.
///
/// Beside a stranger's text and something private, which address is fetched next must say nothing of what was read. So at
/// any moment there is one at most: of the newest message that has addresses the first one that was not fetched since.
/// Those of earlier messages have had their turn. What is left to choose is how far to go in that message.
///
/// ```
/// use limpid_core::policy::TypedAddresses;
/// let mut typed = TypedAddresses::default();
/// typed.message(["https://a.test".to_owned(), "https://b.test".to_owned()]);
/// assert!(typed.is_next("https://a.test") && !typed.is_next("https://b.test"));
/// typed.fetched("https://a.test");
/// assert!(typed.is_next("https://b.test") && !typed.is_next("https://a.test"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedAddresses {
    /// Those of every message.
    typed: BTreeSet<String>,
    /// Those of the newest message that has any which were not fetched since, in their order.
    left: Vec<String>,
}

impl TypedAddresses {
    /// The owner typed a message with these addresses, in their normal form.
    pub fn message(&mut self, addresses: impl IntoIterator<Item = String>) {
        let addresses: Vec<String> = addresses.into_iter().collect();
        // "Go on" means what was typed before.
        if !addresses.is_empty() {
            self.typed.extend(addresses.iter().cloned());
            self.left = addresses;
        }
    }

    /// An address was asked for, whatever came of it. A call that sent nothing counts for none: else the model could pass addresses over.
    pub fn fetched(&mut self, address: &str) {
        self.left.retain(|left| left != address);
    }

    /// Whether the owner typed an address, fetched or not.
    pub fn contains(&self, address: &str) -> bool {
        self.typed.contains(address)
    }

    /// Whether an address is the next one.
    pub fn is_next(&self, address: &str) -> bool {
        self.left.first().is_some_and(|next| next == address)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(messages: &[&[&str]]) -> TypedAddresses {
        let mut typed = TypedAddresses::default();
        for message in messages {
            typed.message(message.iter().map(|&address| address.to_owned()));
        }
        typed
    }

    // SEC-067 SEC-069
    #[test]
    fn a_later_message_ends_what_earlier_ones_named_and_typing_again_begins_anew() {
        let mut addresses = typed(&[&["a", "b"], &[], &["c", "a"], &[]]);
        assert!(addresses.is_next("c") && !addresses.is_next("a") && !addresses.is_next("b"));
        addresses.fetched("c");
        assert!(addresses.is_next("a") && !addresses.is_next("b") && !addresses.is_next("c"));
        addresses.fetched("a");
        assert!(!addresses.is_next("a") && !addresses.is_next("b") && addresses.contains("b"));
        addresses.message(["b".to_owned()]);
        assert!(addresses.is_next("b"));
        assert!(!TypedAddresses::default().is_next("a"));
    }

    /// Of addresses that were typed one by one and never fetched, any subset would say a bit of what was read for each of them.
    // SEC-067 SEC-069
    #[test]
    fn what_many_messages_named_is_no_choice() {
        let addresses = typed(&[&["a"], &["b"], &["c"]]);
        let next: Vec<&str> = ["a", "b", "c"].into_iter().filter(|address| addresses.is_next(address)).collect();
        assert_eq!(next, ["c"], "the newest one can be read although the others never were");
    }

    proptest! {
        // SEC-067 SEC-069
        #[test]
        fn whatever_the_model_asks_for_there_are_no_more_outcomes_than_addresses_and_one(
            lengths in prop::collection::vec(0_usize..4, 1..4),
            asked in prop::collection::vec((0_usize..12, any::<bool>()), 0..40),
        ) {
            let name = |message: usize, at: usize| format!("{message}/{at}");
            let of_message = |message: usize| (0..lengths[message]).map(move |at| name(message, at));
            let mut addresses = TypedAddresses::default();
            for message in 0..lengths.len() {
                addresses.message(of_message(message));
            }
            let mut left = Vec::new();
            // Some calls cannot run: they send nothing, and what is next stays so.
            for (one, can_run) in asked {
                let all = (0..lengths.len()).flat_map(of_message);
                prop_assert!(all.filter(|address| addresses.is_next(address)).count() <= 1);
                let address = name(one % 4, one / 4);
                let is_next = addresses.is_next(&address);
                if is_next && can_run {
                    addresses.fetched(&address);
                    left.push(address.clone());
                }
                prop_assert_eq!(addresses.is_next(&address), is_next && !can_run);
            }
            // What leaves is the beginning of one list, so for n addresses one of n + 1 outcomes.
            let newest = (0..lengths.len()).rev().find(|&message| lengths[message] > 0);
            let list: Vec<String> = newest.into_iter().flat_map(of_message).collect();
            prop_assert!(list.starts_with(&left), "{left:?} of {list:?}");
        }
    }
}
