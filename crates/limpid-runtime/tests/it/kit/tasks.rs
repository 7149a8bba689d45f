//! Tasks, and what comes of them.

use limpid_core::ConversationId;
use limpid_core::task::TaskKind;
use limpid_runtime::Agent;
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_testkit::Recorded;

/// A model that nobody asks anything.
pub const SILENT: &str = "[[reply]]\ntext = \"ok\"\n";

/// A script in which the model makes these calls one after the other, and then says `ok`.
pub fn calling(calls: &[&str]) -> String {
    let one = |call: &&str| format!("[[reply]]\ncalls = [{call}]\n");
    calls.iter().map(one).collect::<String>() + "[[reply]]\ntext = \"ok\"\n"
}

/// The results that a request brings back, oldest first.
pub fn results(request: &Recorded) -> String {
    let messages = request.json()["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A reminder, as the owner asks for it.
pub fn reminder(text: &str, when: When) -> TaskRequest {
    TaskRequest {
        key: None,
        description: String::new(),
        prompt: text.to_owned(),
        kind: TaskKind::Reminder,
        when,
        zone: None,
        missed: None,
        conversation: None,
    }
}

/// Does what is due now.
pub async fn due(agent: &Agent) {
    agent.jobs().run_due().await.unwrap();
}

/// The messages of a conversation, a line each.
pub async fn transcript(agent: &Agent, conversation: &str) -> String {
    let messages = agent.store().messages(&ConversationId::new(conversation), None).await.unwrap().rows;
    messages.iter().map(|row| format!("{}: {}", row.message.role, row.message.text)).collect::<Vec<_>>().join("\n")
}

/// What came of the runs of a task, oldest first.
pub async fn runs(agent: &Agent, id: &str) -> Vec<String> {
    let (_, runs) = agent.tasks().get(id).await.unwrap();
    runs.rows.iter().map(|run| format!("{} {}", run.end.unwrap().1, run.detail).trim_end().to_owned()).collect()
}

/// How a task stands, and when it is due next.
pub async fn status(agent: &Agent, id: &str) -> String {
    let (task, _) = agent.tasks().get(id).await.unwrap();
    let next = task.standing.next.map(|next| format!(" {next}")).unwrap_or_default();
    format!("{}{next}", task.standing.status)
}
