//! Known secrets are taken out of replies on their way, and names of tools are cut that no tool has, so that what is stored is what
//! was shown.

use limpid_config::{Redactor, StreamRedactor};
use limpid_model::ModelEvent;

/// Bytes of the longest name that a tool may be called by, and how many of a longer one are kept.
const MOST_NAME: usize = 128;
const KEPT_NAME: usize = 64;

/// A reply on its way.
#[derive(Clone, Default)]
pub(crate) struct Cleaned {
    redactor: Redactor,
    text: StreamRedactor,
    reasoning: StreamRedactor,
}

impl Cleaned {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        let stream = StreamRedactor::new(redactor);
        Self { redactor: redactor.clone(), text: stream.clone(), reasoning: stream }
    }

    /// What may be given out when this came. Before a call or the end, everything that was held is.
    pub(crate) fn take(&mut self, event: ModelEvent) -> Vec<ModelEvent> {
        match event {
            ModelEvent::Text(text) => spoken(self.text.take(&text), ModelEvent::Text),
            ModelEvent::Reasoning(text) => spoken(self.reasoning.take(&text), ModelEvent::Reasoning),
            ModelEvent::Call(mut call) => {
                call.arguments = self.redactor.clean(call.arguments);
                call.name = bounded(call.name);
                self.rest().into_iter().chain([ModelEvent::Call(call)]).collect()
            }
            ModelEvent::Usage(_) | ModelEvent::Charged(_) | ModelEvent::Model(_) | ModelEvent::Searched => vec![event],
            // State is sent back unchanged or not at all, so nothing is taken out of it.
            ModelEvent::Stretch | ModelEvent::State(_) | ModelEvent::End(_) => {
                self.rest().into_iter().chain([event]).collect()
            }
        }
    }

    /// What is still held when nothing more comes.
    pub(crate) fn rest(&mut self) -> Vec<ModelEvent> {
        let reasoning = spoken(self.reasoning.rest(), ModelEvent::Reasoning);
        reasoning.into_iter().chain(spoken(self.text.rest(), ModelEvent::Text)).collect()
    }
}

/// A name of a tool, or the beginning of what is none. The mark at its end stands in no tool's name, so the call is refused as one
/// of an unknown tool.
fn bounded(mut name: String) -> String {
    if name.len() > MOST_NAME {
        name.truncate(name.floor_char_boundary(KEPT_NAME));
        name.push('…');
        // The room of what was cut goes too.
        name.shrink_to_fit();
    }
    name
}

fn spoken(text: String, event: fn(String) -> ModelEvent) -> Vec<ModelEvent> {
    if text.is_empty() { Vec::new() } else { vec![event(text)] }
}

#[cfg(test)]
mod tests {

    use limpid_config::Environment;

    use super::*;

    fn two() -> Redactor {
        let variables = [("OPENAI_API_KEY", "sk-9f3kX2mQ7vB4tL8w"), ("HOUSE_KEY", "sk-9f3kX2mQ7vB4tL8w-house")];
        Redactor::new(&Environment::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))), &[])
    }

    // SEC-032
    #[test]
    fn what_is_learned_later_is_known_to_whoever_was_there_before() {
        let redactor = two();
        let mut reply = Cleaned::new(&redactor);
        redactor.clone().learn("me@example.com", "ya29.a0AfH6SMBx1y2z3");
        assert_eq!(redactor.clean("ya29.a0AfH6SMBx1y2z3".to_owned()), "[secret me@example.com]");
        let mut events = reply.take(ModelEvent::Text("it is ya29.a0Af".into()));
        events.extend(reply.take(ModelEvent::Text("H6SMBx1y2z3.\n".into())));
        let expected = [ModelEvent::Text("it is ".into()), ModelEvent::Text("[secret me@example.com].\n".into())];
        assert_eq!(events, expected);
    }

    // SEC-032
    #[test]
    fn what_was_held_back_comes_before_a_call_and_at_the_end() {
        let text = |text: &str| ModelEvent::Text(text.to_owned());
        let reasoning = |text: &str| ModelEvent::Reasoning(text.to_owned());
        let mut reply = Cleaned::new(&two());
        assert_eq!(reply.take(text("sk-9f3kX")), []);
        assert_eq!(reply.take(reasoning("sk-9")), []);
        let call = ModelEvent::Call(limpid_core::ToolCall {
            id: limpid_core::CallId::new("a"),
            name: "clock".to_owned(),
            arguments: "{\"key\":\"sk-9f3kX2mQ7vB4tL8w\"}".to_owned(),
        });
        let events = reply.take(call);
        assert_eq!(events[..2], [reasoning("sk-9"), text("sk-9f3kX")]);
        assert!(matches!(&events[2], ModelEvent::Call(call) if call.arguments.contains("[secret OPENAI_API_KEY]")));
        assert_eq!(reply.take(text("sk-9f3kX2mQ7vB4tL8w")), []);
        assert_eq!(reply.rest(), [text("[secret OPENAI_API_KEY]")]);
        assert_eq!(reply.rest(), []);
    }

    // SEC-090
    #[test]
    fn of_a_name_that_no_tool_has_a_beginning_is_kept() {
        let named = |name: String| {
            let (id, arguments) = (limpid_core::CallId::new("a"), "{}".to_owned());
            let mut events = Cleaned::default().take(ModelEvent::Call(limpid_core::ToolCall { id, name, arguments }));
            let Some(ModelEvent::Call(call)) = events.pop() else { panic!("{events:?}") };
            call.name
        };
        assert_eq!(named("a".repeat(128)), "a".repeat(128));
        assert_eq!(named("a".repeat(129)), format!("{}…", "a".repeat(64)));
        // A letter is kept whole or not at all, however long the name is.
        assert_eq!(named("€".repeat(1_000_000)), format!("{}…", "€".repeat(21)));
    }

    // SEC-032
    #[test]
    fn text_that_begins_no_secret_is_not_held_back() {
        let mut cleaned = Cleaned::new(&two());
        assert_eq!(cleaned.take(ModelEvent::Text("Hello.".into())), [ModelEvent::Text("Hello.".into())]);
        assert_eq!(cleaned.take(ModelEvent::Text("sk-".into())), []);
        assert_eq!(cleaned.take(ModelEvent::Text("ipping".into())), [ModelEvent::Text("sk-ipping".into())]);
    }
}
