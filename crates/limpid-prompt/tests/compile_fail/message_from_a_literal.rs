//! A sentence in Rust source cannot become a message of a prompt.

use limpid_prompt::{Prompt, PromptMessage};

fn message(prompt: &Prompt) -> PromptMessage {
    PromptMessage { text: "You are helpful.".to_owned(), ..prompt.messages()[0].clone() }
}

fn main() {
    let _ = message;
}
