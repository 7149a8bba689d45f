//! What is before each message of a prompt, as a hash: some providers take state back only behind exactly what they made
//! it behind.

use sha2::{Digest, Sha256};

use super::tag;
use crate::prompt::{Loading, Prompt, PromptMessage};

/// The hash of declared tools and of the messages so far.
struct Prefix([u8; 32]);

impl Prefix {
    fn of_tools(prompt: &Prompt) -> Self {
        let mut hash = Sha256::new();
        for tool in prompt.declarations() {
            field(&mut hash, &tool.declaration());
            if tool.loading != Loading::Always {
                field(&mut hash, Loading::Found.as_str());
            }
        }
        Self(hash.finalize().into())
    }

    fn add(&mut self, message: &PromptMessage) {
        let mut hash = Sha256::new();
        hash.update(self.0);
        field(&mut hash, message.role().as_str());
        field(&mut hash, &message.text);
        for call in &message.calls {
            [&call.id, &call.name, &call.arguments].into_iter().for_each(|text| field(&mut hash, text));
        }
        field(&mut hash, message.call_id.as_deref().unwrap_or_default());
        message.loads.iter().for_each(|name| field(&mut hash, name));
        message.state.iter().for_each(|state| field(&mut hash, state.json()));
        self.0 = hash.finalize().into();
    }

    fn hex(&self) -> String {
        tag::hex(&self.0[..16])
    }
}

fn field(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

/// Leaves out state that the model would refuse. Where no tools are declared, calls become plain text, and what belongs
/// to them has no place. With `bound`, what was made behind another prefix is left out too, and so is everything that was
/// made behind it.
pub(super) fn leave_out_state(messages: &mut [PromptMessage], prompt: &Prompt, bound: bool) {
    if messages.iter().all(|message| message.state.is_empty()) {
        return;
    }
    let mut prefix = Prefix::of_tools(prompt);
    for message in messages {
        let here = prefix.hex();
        let is_elsewhere = bound && message.state.iter().any(|state| state.input.after.as_deref() != Some(&*here));
        if is_elsewhere || (prompt.tools().is_empty() && !message.calls.is_empty()) {
            message.state.clear();
        }
        prefix.add(message);
    }
}

/// The hash of everything that a model reads of a prompt: 32 hexadecimal digits. It is
/// [`StateInput::after`](crate::inputs::StateInput::after) of the reply.
pub fn prefix(prompt: &Prompt) -> String {
    let mut prefix = Prefix::of_tools(prompt);
    prompt.messages.iter().for_each(|message| prefix.add(message));
    prefix.hex()
}
