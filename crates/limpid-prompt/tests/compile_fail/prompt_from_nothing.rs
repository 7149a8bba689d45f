//! Nobody but the engine makes a prompt, and nobody gets one to change (OLLM-001).

use limpid_prompt::{Prompt, PromptMessage};

fn made() -> Prompt {
    Prompt::default()
}

fn written(prompt: &mut Prompt) -> &mut [PromptMessage] {
    prompt.messages()
}

fn main() {
    let _ = (made, written);
}
