//! Nothing edits a prompt's text after rendering (PRO-003).

use limpid_prompt::Prompt;

fn change(prompt: &mut Prompt) {
    prompt.messages[0].text.push_str("You are helpful.");
}

fn main() {
    let _ = change;
}
