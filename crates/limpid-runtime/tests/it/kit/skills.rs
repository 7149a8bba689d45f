//! Skills, and turns that use them.

use limpid_runtime::{Agent, ChatRequest, SkillStatus, TurnEvent};
use limpid_testkit::Recorder;

use super::{Bench, all};

/// A skill of the owner's.
pub const TEA: &str =
    "---\nname: tea\ntitle: Tea\ndescription: Brew tea\ntriggers: [oolong]\n---\nSteep at 80 degrees.\n";

/// A bench whose model says `ok` so often.
pub async fn bench(replies: usize) -> Bench {
    Bench::new(&"[[reply]]\ntext = \"ok\"\n".repeat(replies)).await
}

/// What the last request said, all of it.
pub fn sent(server: &Recorder) -> String {
    server.calls().last().unwrap().text()
}

/// Says something in a profile.
pub async fn say_as(agent: &Agent, profile: &str, text: &str) -> Vec<TurnEvent> {
    let request = ChatRequest { text: text.to_owned(), profile: Some(profile.to_owned()), ..ChatRequest::default() };
    all(agent.chat(request).await.unwrap()).await
}

/// What a turn told besides its answer.
pub fn notices(events: &[TurnEvent]) -> Vec<String> {
    let notice = |event: &TurnEvent| if let TurnEvent::Notice(text) = event { Some(text.clone()) } else { None };
    events.iter().filter_map(notice).collect()
}

/// How the skills of a name stand, with where they come from.
pub async fn status(agent: &Agent, name: &str) -> Vec<(&'static str, SkillStatus)> {
    let list = agent.skills().list().await.unwrap();
    list.iter().filter(|skill| skill.name == name).map(|skill| (skill.source_name(), skill.status)).collect()
}
