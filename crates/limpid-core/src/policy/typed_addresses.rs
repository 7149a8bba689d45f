//! The addresses that the owner typed, and which of them may be fetched beside a stranger's text.

/// The addresses that the owner typed in a conversation, message by message in their order, and which were fetched since.
///
/// Beside a stranger's text and something private, which address is fetched next must say nothing of what was read. So it is
/// the next of a message's, once each time it is typed; and once an address of a later message was fetched, those of earlier
/// messages have had their turn. What is left to choose is how far to go.
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
pub struct TypedAddresses(Vec<Vec<TypedAddress>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct TypedAddress {
    address: String,
    was_fetched: bool,
}

impl TypedAddresses {
    /// The owner typed a message with these addresses, in their normal form.
    pub fn message(&mut self, addresses: impl IntoIterator<Item = String>) {
        let typed = |address| TypedAddress { address, was_fetched: false };
        self.0.push(addresses.into_iter().map(typed).collect());
    }

    /// An address was asked for, whatever came of it. A call that sent nothing counts for none: else the model could pass addresses over.
    pub fn fetched(&mut self, address: &str) {
        for typed in self.0.iter_mut().flatten().filter(|typed| typed.address == address) {
            typed.was_fetched = true;
        }
    }

    /// Whether the owner typed an address, fetched or not.
    pub fn contains(&self, address: &str) -> bool {
        self.0.iter().flatten().any(|typed| typed.address == address)
    }

    /// Whether an address is the next of a message's.
    pub fn is_next(&self, address: &str) -> bool {
        let began = |message: &[TypedAddress]| message.iter().any(|typed| typed.was_fetched);
        let newest_begun = self.0.iter().rposition(|message| began(message)).unwrap_or(0);
        let next = |message: &[TypedAddress]| {
            message.iter().find(|typed| !typed.was_fetched).is_some_and(|typed| typed.address == address)
        };
        self.0[newest_begun.min(self.0.len())..].iter().any(|message| next(message))
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
        let mut addresses = typed(&[&["a", "b"], &[], &["c", "a"]]);
        assert!(addresses.is_next("a") && addresses.is_next("c") && !addresses.is_next("b"));
        addresses.fetched("c");
        assert!(addresses.is_next("a") && !addresses.is_next("b") && !addresses.is_next("c"));
        addresses.fetched("a");
        assert!(!addresses.is_next("a") && !addresses.is_next("b") && addresses.contains("b"));
        addresses.message(["b".to_owned()]);
        assert!(addresses.is_next("b"));
        assert!(!TypedAddresses::default().is_next("a"));
    }

    proptest! {
        // SEC-067 SEC-069
        #[test]
        fn whatever_the_model_asks_for_what_leaves_is_the_beginning_of_each_message(
            lengths in prop::collection::vec(0_usize..4, 1..4),
            asked in prop::collection::vec((0_usize..12, any::<bool>()), 0..40),
        ) {
            let name = |message: usize, at: usize| format!("{message}/{at}");
            let mut addresses = TypedAddresses::default();
            for (message, length) in lengths.iter().enumerate() {
                addresses.message((0..*length).map(|at| name(message, at)));
            }
            let mut left = Vec::new();
            // Some calls cannot run: they send nothing, and what is next stays so.
            for (one, can_run) in asked {
                let address = name(one % 4, one / 4);
                let is_next = addresses.is_next(&address);
                if is_next && can_run {
                    addresses.fetched(&address);
                    left.push(address.clone());
                }
                prop_assert_eq!(addresses.is_next(&address), is_next && !can_run);
            }
            let mut in_order = left.clone();
            in_order.sort();
            in_order.dedup();
            prop_assert_eq!(&left, &in_order);
            for (message, length) in lengths.iter().enumerate() {
                let of_it = (0..*length).take_while(|&at| left.contains(&name(message, at))).count();
                let all = (0..*length).filter(|&at| left.contains(&name(message, at))).count();
                prop_assert_eq!(of_it, all);
            }
        }
    }
}
