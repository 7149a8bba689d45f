//! How the fields of the inputs are laid out in JSON: texts of the conversation beside their labels, not inside of them.

use limpid_core::Trust;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HistoryMessage, Quoted, SummarizeInput, TrustName};

/// Makes [`Inputs`](super::Inputs) and its JSON form of one list of fields with their defaults.
macro_rules! inputs {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(from = "Flat", into = "Flat")]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
            /// Summary of what compaction took out of the conversation.
            pub summary: Option<Quoted>,
            /// The newest message of the person, as they wrote it.
            pub user: Option<Quoted>,
            /// What a summarising call reads.
            pub summarize: SummarizeInput,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* summary: None, user: None, summarize: SummarizeInput::default() }
            }
        }

        $(#[$about])*
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields, rename = "Inputs")]
        pub(crate) struct Flat {
            $($(#[$doc])* $field: $type,)*
            /// Summary of what compaction took out of the conversation.
            summary: Option<String>,
            /// Who wrote the texts that were summarised; the least trusted of them.
            summary_trust: TrustName,
            /// The newest message of the person, as they wrote it.
            user_message: String,
            /// Who wrote `user_message`.
            user_trust: TrustName,
            /// What a summarising call reads.
            summarize: flat::FlatSummarize,
        }

        impl Default for Flat {
            fn default() -> Self {
                $name::default().into()
            }
        }

        impl From<Flat> for $name {
            fn from(flat: Flat) -> Self {
                let said = !flat.user_message.is_empty() || flat.user_trust != TrustName::File;
                Self {
                    $($field: flat.$field,)*
                    summary: flat.summary.map(|text| Quoted { text, trust: flat.summary_trust }),
                    user: said.then_some(Quoted { text: flat.user_message, trust: flat.user_trust }),
                    summarize: flat.summarize.labelled(flat.summary_trust),
                }
            }
        }

        impl From<$name> for Flat {
            fn from(inputs: $name) -> Self {
                let summary_trust = flat::summary_trust(&inputs.summary, &inputs.summarize);
                let user = inputs.user.unwrap_or_else(|| Quoted { text: String::new(), trust: TrustName::File });
                Self {
                    $($field: inputs.$field,)*
                    summary: inputs.summary.map(|summary| summary.text),
                    summary_trust,
                    user_message: user.text,
                    user_trust: user.trust,
                    summarize: inputs.summarize.into(),
                }
            }
        }
    };
}

pub(super) use inputs;

/// What a summarising call reads. Its summaries have the label `summary_trust`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename = "SummarizeInput")]
pub(super) struct FlatSummarize {
    /// The summary so far.
    existing: Option<String>,
    /// The messages to summarise.
    messages: Vec<HistoryMessage>,
    /// The first of two summaries to merge.
    first: Option<String>,
    /// The second of two summaries to merge.
    second: Option<String>,
}

impl FlatSummarize {
    pub(super) fn labelled(self, trust: TrustName) -> SummarizeInput {
        let summary = |text: Option<String>| text.map(|text| Quoted { text, trust });
        SummarizeInput {
            existing: summary(self.existing),
            messages: self.messages,
            first: summary(self.first),
            second: summary(self.second),
        }
    }
}

impl From<SummarizeInput> for FlatSummarize {
    fn from(summarize: SummarizeInput) -> Self {
        let text = |summary: Option<Quoted>| summary.map(|summary| summary.text);
        Self {
            existing: text(summarize.existing),
            messages: summarize.messages,
            first: text(summarize.first),
            second: text(summarize.second),
        }
    }
}

/// The label of the least trusted of all summaries.
pub(super) fn summary_trust(summary: &Option<Quoted>, summarize: &SummarizeInput) -> TrustName {
    let summaries = [summary, &summarize.existing, &summarize.first, &summarize.second];
    let labels = summaries.into_iter().flatten().map(|summary| Trust::from(summary.trust));
    labels.reduce(Trust::join).map_or(TrustName::File, TrustName::from)
}
