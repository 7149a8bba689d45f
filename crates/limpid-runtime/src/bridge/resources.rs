//! Texts that a client may read: memories, goals, prompts.

use limpid_core::Labelled;
use limpid_core::MemoryId;
use limpid_core::by_side::by_side_and_size;
use limpid_core::memory::Memory;
use limpid_mcp::serving::{LentPrompt, LentResource, Refusal};
use limpid_prompt::shown::Drawn;
use limpid_services::error::AgentError;
use limpid_services::goals::goals_text;
use limpid_store::MemoryRef;
use serde_json::json;

use super::{Bridge, PATH, prompts, text_of, trouble};

/// Bytes of one answer.
const MOST_BYTES: usize = 256 * 1024;

const MEMORIES: &str = "limpid://memories";
const MEMORY: &str = "limpid://memory/";
const GOALS: &str = "limpid://goals";
const PROMPT: &str = "limpid://prompt/";

/// What kind of texts they are.
const KIND: &str = "text/markdown";

/// Texts of which there are too many for a list.
pub(super) async fn templates(bridge: &Bridge) -> Result<Vec<LentResource>, AgentError> {
    Ok(vec![described(bridge, &format!("{MEMORY}{{id}}"), "memory").await?])
}

/// A text with what the profile says of it, in a path that has its name.
async fn described(bridge: &Bridge, uri: &str, name: &str) -> Result<LentResource, AgentError> {
    let built = bridge.built(&bridge.agent.config().agent.profile, &format!("{PATH}-{name}")).await?;
    Ok(LentResource { uri: uri.to_owned(), name: name.to_owned(), description: text_of(&built), kind: KIND })
}

/// Texts that are always there, and prompts.
pub(super) async fn list(bridge: &Bridge) -> Result<Vec<LentResource>, AgentError> {
    let mut resources = vec![described(bridge, MEMORIES, "memories").await?, described(bridge, GOALS, "goals").await?];
    for LentPrompt { name, description } in prompts::list(bridge).await? {
        resources.push(LentResource { uri: format!("{PROMPT}{name}"), name, description, kind: KIND });
    }
    Ok(resources)
}

/// One text.
pub(super) async fn read(bridge: &Bridge, uri: &str) -> Result<(String, &'static str), Refusal> {
    let unknown = || Refusal::Unknown(format!("there is no resource `{uri}`"));
    // The same as `memory_query` gives, so what the owner says of that tool holds here.
    let is_of_memories = uri == MEMORIES || uri.starts_with(MEMORY);
    let judge = bridge.judge().await.map_err(trouble)?;
    if is_of_memories && !bridge.rules_allow(&judge, "memory_query", json!({ "query": "*" })).await {
        return Err(Refusal::Unknown("the owner's rules do not let memories be read here".to_owned()));
    }
    let text = if uri == MEMORIES {
        let memories = bridge.agent.store().memories(None).await.map_err(trouble)?.rows;
        first_lines(memories.into_iter().map(|memory| (memory.trust.is_foreign(), line(bridge, memory))).collect())
    } else if uri == GOALS {
        let conversation = bridge.agent.directory().of_clients().await.map_err(trouble)?;
        let goals = bridge.agent.goals().load(&conversation).await.map_err(trouble)?.goals;
        if goals.history().is_empty() {
            "There is no goal.".to_owned()
        } else {
            bridge.shown(Labelled::new(goals_text(&goals), goals.trust()))
        }
    } else if let Some(id) = uri.strip_prefix(MEMORY) {
        let id = id.parse().map(MemoryId).map_err(|_| unknown())?;
        let found = bridge.agent.store().memory(&MemoryRef::Id(id)).await.map_err(trouble)?;
        line(bridge, found.ok_or_else(unknown)?)
    } else if let Some(name) = uri.strip_prefix(PROMPT) {
        prompts::text(bridge, name).await.map_err(|why| match why {
            Refusal::Unknown(_) => unknown(),
            other @ Refusal::Trouble(_) => other,
        })?
    } else {
        return Err(unknown());
    };
    // Several texts are one here: a block of code that one begins may end in the next.
    Ok((Drawn::new(&text).into(), KIND))
}

/// Lines, each with whether it is a stranger's, as many as go into one answer, and how many there are besides. What strangers' texts had
/// stored takes no room of the owner's.
fn first_lines(lines: Vec<(bool, String)>) -> String {
    let all = lines.len();
    let shown = by_side_and_size(lines, MOST_BYTES, |line| line.0, |line| line.1.len() + 1);
    let more = all - shown.len();
    let text: String = shown.into_iter().map(|(_, line)| line + "\n").collect();
    match more {
        0 => text.trim_end().to_owned(),
        more => format!("{text}{more} more; look for them with memory_query."),
    }
}

/// A memory with its number, as `memory_query` gives it.
fn line(bridge: &Bridge, memory: Memory) -> String {
    format!("[id:{}] {}", memory.id.0, bridge.shown(Labelled::new(memory.content, memory.trust)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093 SUR-033
    #[test]
    fn an_answer_has_an_end_and_says_what_is_left_out() {
        let lines = |count: usize| vec![(false, "x".repeat(1023)); count];
        assert_eq!(first_lines(vec![(false, "a".to_owned()), (true, "b".to_owned())]), "a\nb");
        assert_eq!(first_lines(lines(256)).len(), MOST_BYTES - 1);
        let text = first_lines(lines(300));
        assert!(text.len() < MOST_BYTES + 100 && text.ends_with("44 more; look for them with memory_query."));
    }

    // SEC-102
    #[test]
    fn what_strangers_stored_takes_no_room_of_the_owners() {
        let early = (false, "likes tea".to_owned());
        let late = (false, "the owner stored this later".to_owned());
        let text = first_lines([vec![early], vec![(true, "y".repeat(1023)); 1000], vec![late]].concat());
        assert!(text.starts_with("likes tea\n") && text.contains("\nthe owner stored this later\n"));
        assert!(text.ends_with("745 more; look for them with memory_query."), "{}", &text[text.len() - 60..]);
        let ours = vec![(false, "x".repeat(1023)); 300];
        let text = first_lines([vec![(true, "y".repeat(1023)); 1000], ours].concat());
        assert_eq!(text.lines().filter(|line| line.starts_with('x')).count(), 256, "as many as without them");
        assert_eq!(text.lines().filter(|line| line.starts_with('y')).count(), 25, "a tenth is beside them");
    }
}
