//! The model of a simulated conversation: it answers at any length, calls a tool, and summarises badly.

use limpid_core::{FailureClass, Role, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{ModelCall, ModelCard, ModelError};
use limpid_testkit::Said;

/// In which way summaries are bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summariser {
    /// It says nothing.
    Empty,
    /// It repeats its instruction.
    Echoing,
    /// It says more than it was given.
    Larger,
    /// It never ends.
    Slow,
    /// It fails.
    Failing,
    /// It says something and keeps nothing.
    Forgetting,
}

impl Summariser {
    pub(super) const ALL: [Self; 6] =
        [Self::Empty, Self::Echoing, Self::Larger, Self::Slow, Self::Failing, Self::Forgetting];

    fn say(self, call: &ModelCall) -> Said {
        let asked = || call.prompt.messages().last().map(|message| message.text().to_owned()).unwrap_or_default();
        match self {
            Self::Empty => Said::Text("\n".to_owned()),
            Self::Echoing => Said::Text(asked()),
            Self::Larger => Said::Text(asked().chars().rev().cycle().take(asked().len() * 2).collect()),
            Self::Slow => Said::Silence,
            Self::Failing => Said::Error(ModelError::new(FailureClass::Server, "the provider is down")),
            Self::Forgetting => Said::Text("They talked about a number of things for a while.".to_owned()),
        }
    }
}

/// Whether a conversation at this window calls tools: their declarations take more than the smallest windows have.
pub(super) const fn has_tools(window: u32) -> bool {
    window >= 16_384
}

/// What is known of the model.
pub(super) fn card(window: u32) -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        local: false,
        window: Some(WindowSize(window)),
        usable_window: Some(UsableWindow::default_for(WindowSize(window))),
        tools: if has_tools(window) { ToolProtocol::Native } else { ToolProtocol::None },
        thinking: false,
        vision: false,
        price: None,
    }
}

/// What it says. The person's words say how: `answer N` or `call N`.
pub(super) fn answer(summariser: Summariser, call: &ModelCall) -> Said {
    if matches!(call.prompt.path(), "summarize" | "merge-summaries") {
        return summariser.say(call);
    }
    let messages = call.prompt.messages();
    let newest = messages.iter().rev().find(|message| message.role() == Role::User);
    let text = newest.map_or("", |message| message.text());
    let number = |word: &str| {
        let rest = text.rsplit_once(word)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()
    };
    let was_called = messages.last().is_some_and(|message| message.role() == Role::Tool);
    match number("#call ") {
        Some(size) if !was_called && !call.prompt.offered().is_empty() => {
            Said::Calls(vec![("dump".to_owned(), format!(r#"{{"characters":{size}}}"#))])
        }
        _ => Said::Text(words(number("#answer ").unwrap_or(60))),
    }
}

/// About so many tokens of an answer.
fn words(tokens: usize) -> String {
    let mut text = String::from("Done.\n");
    while text.len() < tokens * 4 {
        text.push_str("so it goes on, ");
    }
    text.truncate(tokens.max(3) * 4);
    text
}
