//! A command that is typed in a chat app: it is carried out or refused in words, also in a thread that nobody knows any more.

use limpid_runtime::commands::{OTHERS_READ, is_known_command};
use limpid_runtime::{ConversationChoice, Input};

use super::bound::{Thread, key_of};
use super::error::ApiError;
use super::state::Api;
use super::tokens::ApiToken;

/// The command whose own reply says who reads a conversation.
const GROUP: &str = "group";

/// Carries out a command, or says what of the line is a message. From here on the thread is the one that the next message goes to.
///
/// # Errors
/// When the command fails, or there is no command or skill of that name.
pub(super) async fn command(api: &Api, program: &ApiToken, thread: &mut Thread, line: &str) -> Result<Input, ApiError> {
    let agent = &api.page.agent;
    // What is set in a thread is to hold for it, so it has a conversation from here on.
    let is_unknown = thread.conversation == ConversationChoice::New && thread.before.is_some();
    if is_unknown && is_known_command(line) {
        thread.make_for_others(api, program).await?;
        let made = agent.directory().find_or_create(&thread.conversation).await?;
        thread.conversation = ConversationChoice::Id(made.id);
    }
    let mut input = agent.command(&thread.conversation, line).await?;
    if let Input::Reply(reply) = &mut input {
        if let Some(next) = reply.conversation.clone() {
            agent.directory().note_program(&next, &key_of(program)).await?;
            let next = ConversationChoice::Id(next);
            if next != thread.conversation {
                *thread = Thread { conversation: next, before: None, others_read: false, ..*thread };
            }
        }
        if thread.others_read && reply.command != GROUP {
            reply.text = format!("{}\n\n{OTHERS_READ}", reply.text);
        }
    }
    Ok(input)
}
