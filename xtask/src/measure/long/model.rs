//! The model of a simulated conversation: it answers at any length, calls a tool, works at a goal, and summarises badly.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use limpid_core::{FailureClass, Role, UsableWindow, WindowSize};
use limpid_model::{ModelCall, ModelCard, ModelError};
use limpid_testkit::Said;
use tokio::sync::Notify;

/// What the model makes its goal when the person asks for it.
pub(super) const GOAL: &str = "Raise the lantern to 41 metres";

/// What it decides for good.
pub(super) const LOCKED: &str = "Granite only, never brick";

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

/// The moment in which a program is killed: the next time that it waits for a summary. And when nothing will come, and
/// how long that was waited for.
#[derive(Debug, Default)]
pub(super) struct Trap {
    is_set: AtomicBool,
    sprung: Notify,
    silent: Notify,
    /// Milliseconds since a message was asked about last.
    waited: AtomicU64,
    /// Those that passed before the requests about the newest message.
    held_up: AtomicU64,
}

impl Trap {
    pub(super) fn set(&self, is_set: bool) {
        self.is_set.store(is_set, Ordering::SeqCst);
    }

    /// Waits until the program waits for a summary.
    pub(super) async fn sprung(&self) {
        self.sprung.notified().await;
    }

    /// Waits until the model says nothing.
    pub(super) async fn silent(&self) {
        self.silent.notified().await;
    }

    /// Notes that so many milliseconds passed in vain.
    pub(super) fn wait(&self, milliseconds: u64) {
        self.waited.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// Milliseconds that the newest message was held up. They are told by the requests that came after them, so that it
    /// does not matter who runs first on a busy machine once an answer is there.
    pub(super) fn held_up(&self) -> u64 {
        self.held_up.swap(0, Ordering::SeqCst)
    }

    fn is_asked(&self) {
        self.held_up.fetch_add(self.waited.swap(0, Ordering::SeqCst), Ordering::SeqCst);
    }

    fn springs(&self) -> bool {
        let springs = self.is_set.swap(false, Ordering::SeqCst);
        if springs {
            self.sprung.notify_one();
        }
        springs
    }
}

/// What is known of the model.
pub(super) fn card(window: u32) -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        window: Some(WindowSize(window)),
        usable_window: Some(UsableWindow::default_for(WindowSize(window))),
        ..ModelCard::default()
    }
}

/// Whether a request is one for a summary.
pub(super) fn is_summary(path: &str) -> bool {
    matches!(path, "summarize" | "merge-summaries" | "state-snapshot")
}

/// What it says. The person's words say how: `#answer N`, `#call N`, `#goal`, `#work N`.
pub(super) fn answer(summariser: Summariser, trap: &Trap, call: &ModelCall) -> Said {
    if is_summary(call.prompt.path()) {
        // A note is asked for within a turn, a summary between two.
        let springs = call.prompt.path() != "state-snapshot" && trap.springs();
        if springs {
            return Said::Silence;
        }
        let said = summariser.say(call);
        if matches!(said, Said::Silence) {
            trap.silent.notify_one();
        }
        return said;
    }
    trap.is_asked();
    let messages = call.prompt.messages();
    let newest = messages.iter().rev().find(|message| message.role() == Role::User);
    let text = newest.map_or("", |message| message.text());
    let number = |word: &str| {
        let rest = text.rsplit_once(word)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()
    };
    let was_called = messages.last().is_some_and(|message| message.role() == Role::Tool);
    if let Some(size) = number("#call ").filter(|_| !was_called && !call.prompt.offered().is_empty()) {
        return Said::Calls(vec![("dump".to_owned(), format!(r#"{{"characters":{size}}}"#))]);
    }
    let mut said = words(number("#answer ").unwrap_or(60));
    if text.contains("#goal") {
        said.push_str(&format!("\n[GOAL] {GOAL}\n[CHECKPOINT] Light the lamp\n[DECISION] {LOCKED} - LOCKED"));
    }
    if let Some(course) = number("#work ") {
        said.push_str(&format!("\n[ARTIFACT] Created stones/course{course}.md\n[NEXT] Light the lamp"));
    }
    Said::Text(said)
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
