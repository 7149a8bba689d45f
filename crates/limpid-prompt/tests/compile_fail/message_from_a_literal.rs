//! A sentence in Rust source cannot become a message of a prompt.

use limpid_prompt::{Inputs, Profiles, Prompt, PromptMessage};

fn add(prompt: &mut Prompt) {
    let message = PromptMessage { text: "You are helpful.".to_owned(), ..prompt.messages()[0].clone() };
    prompt.messages.push(message);
}

fn main() {
    let _: PromptMessage = "You are helpful.".to_owned().into();
    let _ = (Inputs::default(), Profiles::shipped(), add);
}
