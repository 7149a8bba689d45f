//! Why something failed with a server. Words of the server's are a stranger's.

use std::time::Duration;

use limpid_core::{Labelled, Sentence, Trust, sentence};

/// Characters of a server's words that an error repeats.
const SAID: usize = 500;

/// Bytes of a right that a command repeats.
const SCOPE: usize = 200;

const SAID_LAST: &str = "; it said: ";
const REFUSED: &str = " answered with an error: ";
const ASKS: &str = " wants this to be asked first: ";

/// What stands right before the words of a server that is connected. They may be long, so a terminal shows them apart from ours.
pub const SERVER_SAYS: [&str; 3] = [SAID_LAST, REFUSED, ASKS];

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpError {
    /// It cannot be started or reached; the words are the system's.
    Unreachable(String),
    /// No connection came about; the words are the server's.
    NoConnection(String),
    /// It wants to know who is there.
    NeedsLogin,
    /// The login lacks rights that it wants to see; the words are its own.
    NeedsScopes(Vec<String>),
    /// A login came to nothing; the words are of whoever grants access.
    NoLogin(String),
    /// There was no answer in time.
    Silent(Duration),
    /// It ended, or closed the connection; with the last of what it wrote to its standard error.
    Gone(String),
    /// It refused; the words are its own.
    Refused(String),
    /// It answered something that is no answer to the question.
    Unreadable,
    /// It wants something to be asked of the owner first.
    WantsInput(String),
}

impl McpError {
    /// Whether the connection is of no more use.
    pub fn is_of_connection(&self) -> bool {
        !matches!(self, Self::Silent(_) | Self::Refused(_) | Self::NeedsScopes(_) | Self::WantsInput(_))
    }

    /// The sentence for the model and the owner. `server` is the owner's name for the server.
    pub fn sentence(&self, server: &str) -> Sentence {
        let name = || Labelled::new(server.to_owned(), Trust::Owner);
        let theirs = |words: &str| Labelled::outside(plain(words, SAID));
        match self {
            Self::Unreachable(why) => {
                sentence!("the MCP server `{}` cannot be started or reached: {}", name(), theirs(why))
            }
            Self::NoConnection(why) => sentence!("no connection to the MCP server `{}`: {}", name(), theirs(why)),
            Self::NeedsLogin => sentence!(
                "the MCP server `{}` refuses access; log in with `limpid mcp login {}`, or set token_env",
                name(),
                name()
            ),
            Self::NeedsScopes(scopes) if scopes.iter().all(|scope| is_plain_scope(scope)) => {
                let words: String = scopes.iter().map(|scope| format!(" --scope {scope}")).collect();
                sentence!(
                    "the login at the MCP server `{}` lacks rights for this; to grant them: limpid mcp login {}{}",
                    name(),
                    name(),
                    Labelled::outside(words)
                )
            }
            Self::NeedsScopes(scopes) => sentence!(
                "the login at the MCP server `{}` lacks rights for this: {}",
                name(),
                theirs(&scopes.join(" "))
            ),
            Self::NoLogin(why) => sentence!("the login at the MCP server `{}` failed: {}", name(), theirs(why)),
            Self::Silent(time) => {
                sentence!("the MCP server `{}` did not answer within {} s", name(), time.as_secs_f64())
            }
            Self::Gone(said) if said.trim().is_empty() => {
                sentence!("the MCP server `{}` ended or closed the connection", name())
            }
            Self::Gone(said) => {
                sentence!("the MCP server `{}` ended or closed the connection{}{}", name(), SAID_LAST, theirs(said))
            }
            Self::Refused(why) => sentence!("the MCP server `{}`{}{}", name(), REFUSED, theirs(why)),
            Self::Unreadable => sentence!("the MCP server `{}` gave an answer that cannot be read", name()),
            Self::WantsInput(what) => sentence!("the MCP server `{}`{}{}", name(), ASKS, theirs(what)),
        }
    }
}

/// Whether a right may stand in a command that the owner copies: their shell reads nothing else in it.
fn is_plain_scope(scope: &str) -> bool {
    let starts_plain = scope.starts_with(|c: char| c.is_ascii_alphanumeric());
    starts_plain && scope.len() <= SCOPE && scope.chars().all(|c| c.is_ascii_alphanumeric() || "._:/+-".contains(c))
}

/// Words on one line, without what would steer a terminal, and not longer than so many characters.
pub(crate) fn plain(words: &str, most: usize) -> String {
    let mut text = String::new();
    for word in words.split_whitespace() {
        let word = word.chars().filter(|c| !c.is_control()).take(most);
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(word);
        if text.len() > most * 4 {
            break;
        }
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-034
    #[test]
    fn rights_that_a_server_asks_for_stand_in_a_command_only_when_a_shell_reads_nothing_in_them() {
        let said = |scopes: &[&str]| {
            let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            McpError::NeedsScopes(scopes).sentence("desk").text().to_owned()
        };
        let grant = "the login at the MCP server `desk` lacks rights for this; to grant them: limpid mcp login desk";
        assert_eq!(
            said(&["mcp:read", "https://desk.example/write"]),
            format!("{grant} --scope mcp:read --scope https://desk.example/write")
        );
        for hostile in ["a;reboot", "$(reboot)", "`reboot`", "a|b", "--client-id", "a\nb", "", "ä"] {
            let said = said(&["mcp:read", hostile]);
            assert!(!said.contains("limpid mcp login"), "{said}");
        }
    }
}
