//! `[notify]`: where the owner is told that something reached a conversation.

use super::by_hand;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where the owner is told. Nothing set: on the desktop, where there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotifyConfig {
    /// The address of a topic of an ntfy server: `https://ntfy.sh/my-topic`.
    #[schemars(extend("x-by-hand" = by_hand::KEYS))]
    pub ntfy: Option<String>,
    /// The environment variable that holds the token of that server. Default: none is sent.
    #[schemars(extend("x-by-hand" = by_hand::KEYS))]
    pub ntfy_token_env: Option<String>,
    /// The address of a page that shows a conversation, with `{conversation}` in the place of its id: what a notification
    /// opens. Default: it opens nothing.
    pub link: Option<String>,
    /// A program and its arguments; it reads a JSON object with `id`, `title`, `body` and `link`. Empty: none.
    #[schemars(extend("x-by-hand" = by_hand::PROGRAMS))]
    pub command: Vec<String>,
    /// Whether the desktop of this machine shows it. Default: where the program runs in a desktop session.
    pub desktop: Option<bool>,
    /// Whom the service behind a browser may write to when something is wrong with the notices: `mailto:ada@example.com`.
    /// Some services take none without.
    pub web_push_contact: Option<String>,
}
