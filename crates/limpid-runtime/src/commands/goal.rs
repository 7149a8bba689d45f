//! `/goal`.

use async_trait::async_trait;
use limpid_core::goal::{Goal as CoreGoal, GoalRecord, GoalStatus, Priority};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::goals::{GoalChange, goal_text, goals_text, record_text};
use limpid_services::marked::marked_line;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows the goal and changes it.
pub(crate) struct Goal;

const WORDS: [&str; 9] = ["create", "list", "pause", "resume", "complete", "clear", "decide", "lock", "history"];

#[async_trait]
impl SlashCommand for Goal {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn arguments(&self) -> &'static str {
        "[create [--priority low|medium|high] TEXT | list | pause | resume [GOAL] | complete [TEXT] | clear | decide TEXT | lock DECISION | history]"
    }

    fn help(&self) -> &'static str {
        "Show the goal, or change it"
    }

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let Some(first) = before.first() else { return Ok(WORDS.map(str::to_owned).to_vec()) };
        let goals = context.agent.goals().list(&chosen(context)).await?;
        Ok(match (*first, before.len()) {
            ("resume", 1) => {
                let waiting = goals.history().iter().filter(|goal| goal.status() != GoalStatus::Active);
                waiting.map(|goal| goal.id().to_string()).collect()
            }
            ("lock", 1) => {
                let decisions = goals.shown().map(CoreGoal::decisions).into_iter().flat_map(|all| all.iter());
                decisions.filter(|open| !open.is_locked()).map(|open| open.id().to_string()).collect()
            }
            _ => Vec::new(),
        })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let rest = rest.trim();
        let (agent, choice) = (context.agent, chosen(context));
        let name = (!rest.is_empty()).then_some(rest);
        let changed = match word {
            "" | "show" => return show(context).await,
            "list" => return list(context).await,
            "history" => return history(context).await,
            "create" => {
                let (text, priority) = prioritised(rest)?;
                agent.goals().create(&choice, &text, priority).await?
            }
            "pause" => agent.goals().pause(&choice, name).await?,
            "resume" => agent.goals().resume(&choice, name).await?,
            "complete" => agent.goals().complete(&choice, None, rest).await?,
            "clear" => agent.goals().clear(&choice).await?,
            "decide" => agent.goals().record_decision(&choice, rest, "").await?,
            "lock" => agent.goals().lock_decision(&choice, rest).await?,
            other => {
                let known = WORDS.join(", ");
                return Err(AgentError::Invalid(format!("`/goal {other}` is not known; there are: {known}")));
            }
        };
        told(context, &choice, &changed).await
    }
}

/// The text of a goal, and the priority that `--priority` gives it before or behind the text.
fn prioritised(text: &str) -> Result<(String, Priority), AgentError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (given, rest) = match words.as_slice() {
        ["--priority"] => ("", [].as_slice()),
        ["--priority", given, rest @ ..] | [rest @ .., "--priority", given] => (*given, rest),
        [rest @ .., "--priority"] => ("", rest),
        [one, rest @ ..] | [rest @ .., one] if one.starts_with("--priority=") => {
            (one.split_once('=').map_or("", |(_, given)| given), rest)
        }
        _ => return Ok((text.to_owned(), Priority::default())),
    };
    let unknown = || AgentError::Invalid(format!("Unknown priority \"{given}\". Use low, medium or high."));
    Ok((rest.join(" "), Priority::parse(given).ok_or_else(unknown)?))
}

/// The conversation of a command.
pub(crate) fn chosen(context: &CommandContext<'_>) -> ConversationChoice {
    let own = context.conversation.as_ref().map(|conversation| conversation.id.clone());
    own.map_or_else(|| context.choice.clone(), ConversationChoice::Id)
}

/// What a change came to.
pub(crate) async fn told(
    context: &CommandContext<'_>,
    choice: &ConversationChoice,
    change: &GoalChange,
) -> Result<SlashReply, AgentError> {
    let reply = context.says(goal_text(&change.goal));
    let changed: &[&str] = if change.what.is_empty() { &[] } else { &["goal"] };
    // A goal may have begun the conversation.
    let choice = match choice {
        ConversationChoice::New => ConversationChoice::Last,
        known => known.clone(),
    };
    Ok(match context.agent.directory().find(&choice).await? {
        Some(conversation) => reply.after(&conversation, changed),
        None => reply,
    })
}

async fn show(context: &CommandContext<'_>) -> Result<SlashReply, AgentError> {
    let goals = context.agent.goals().list(&chosen(context)).await?;
    Ok(context
        .says(goals.shown().map_or_else(|| "There is no goal. /goal create TEXT makes one.".to_owned(), goal_text)))
}

async fn list(context: &CommandContext<'_>) -> Result<SlashReply, AgentError> {
    let goals = context.agent.goals().list(&chosen(context)).await?;
    Ok(context.says(if goals.history().is_empty() { "There is no goal.".to_owned() } else { goals_text(&goals) }))
}

async fn history(context: &CommandContext<'_>) -> Result<SlashReply, AgentError> {
    let history = context.agent.goals().history(&chosen(context)).await?;
    let line = |record: &GoalRecord| marked_line(&record_text(record), record.trust);
    let lines: Vec<String> = history.records.iter().map(line).chain(history.warnings).collect();
    Ok(context.says(if lines.is_empty() { "Nothing has happened to goals here.".to_owned() } else { lines.join("\n") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-063
    #[test]
    fn a_priority_is_before_or_behind_the_text_and_not_within_it() {
        let read = |text: &str| {
            prioritised(text).map(|(text, priority)| (text, priority.as_str())).map_err(|error| error.to_string())
        };
        let plain = |text: &str, priority| Ok((text.to_owned(), priority));
        assert_eq!(read("--priority high move to Oslo"), plain("move to Oslo", "high"));
        assert_eq!(read("move to Oslo --priority=low"), plain("move to Oslo", "low"));
        assert_eq!(read("move to Oslo --priority low"), plain("move to Oslo", "low"));
        assert_eq!(read("document the --priority flag of it"), plain("document the --priority flag of it", "medium"));
        for wrong in ["move --priority", "--priority", "move --priority=", "--priority huge move"] {
            assert!(read(wrong).is_err_and(|error| error.ends_with("Use low, medium or high.")), "{wrong}");
        }
    }
}
