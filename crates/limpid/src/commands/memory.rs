//! `memory`.

mod approval;
mod index;
mod shown;

use limpid_core::memory::Memory;
use limpid_core::{Category, MemoryId, Trust};
use limpid_prompt::shown::exact_line;
use limpid_runtime::{Agent, marked_line};
use limpid_store::{Listed, MemoryEventId, MemoryRef, Promotion, PromotionId};

use super::context::Context;
use super::listing::tell_broken;
use super::own_words::own;
use crate::cli::MemoryCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Letters of a memory's key and content by which an answer names it.
const NAMED: usize = 60;

/// What became of a memory that was promoted.
const PROMOTED: &str = "is part of the soul; the memory is gone";

/// Where the owner says it, for whoever reads the history.
const SOURCE: &str = "command line";

/// Carries out `memory …`; no model is asked.
///
/// # Errors
/// When a key, number or category does not exist, or the store fails.
pub async fn run(context: &Context, command: &MemoryCommand) -> Result<(), Failure> {
    use MemoryCommand::*;
    let agent = &context.agent()?;
    match command {
        List { .. } | Show { .. } | Search { .. } | History { .. } | Promotions { .. } => look(agent, command).await,
        Index { status, anew, json } => index::run(agent, (!status).then_some(*anew), *json).await,
        Approve { promotion, hash } => {
            let can_ask = context.environment.stdin_is_terminal;
            approval::approve(agent, PromotionId(*promotion), hash.as_deref(), can_ask).await
        }
        Promote { .. } | Refuse { .. } | Unpromote { .. } => promote(agent, command).await,
        _ => change(agent, command).await,
    }
}

async fn look(agent: &Agent, command: &MemoryCommand) -> Result<(), Failure> {
    match command {
        MemoryCommand::List { category, archived, json } => {
            let category = category.as_deref().map(read_category).transpose()?;
            let listed = match archived {
                true => agent.memory().archived().await?,
                false => agent.store().memories(category).await?,
            };
            shown::memories(agent, &listed.rows, *json).await?;
            tell_broken(&listed.broken);
        }
        MemoryCommand::Search { words, limit, json } => {
            let found = agent.memory().recall(&words.join(" "), *limit).await?;
            shown::memories(agent, &found, *json).await?;
        }
        MemoryCommand::Show { key, json } => {
            let which = MemoryRef::named(key);
            let memory = agent.store().memory(&which).await?.ok_or_else(|| missing(key))?;
            shown::memory(agent, &memory, *json).await?;
        }
        MemoryCommand::History { key, json } => {
            let id = match key {
                None => None,
                Some(key) => Some(any_id(agent, key).await?),
            };
            let Listed { rows, broken } = agent.memory().history(id).await?;
            shown::events(agent, &rows, *json)?;
            tell_broken(&broken);
        }
        _ => {
            let json = matches!(command, MemoryCommand::Promotions { json: true });
            let Listed { rows, broken } = agent.memory().promotions().await?;
            shown::promotions(agent, &rows, json)?;
            tell_broken(&broken);
        }
    }
    Ok(())
}

async fn change(agent: &Agent, command: &MemoryCommand) -> Result<(), Failure> {
    let which = match command {
        MemoryCommand::Edit { key, .. }
        | MemoryCommand::Pin { key }
        | MemoryCommand::Unpin { key }
        | MemoryCommand::Reinforce { key }
        | MemoryCommand::Demote { key }
        | MemoryCommand::Forget { key } => MemoryRef::named(key),
        _ => MemoryRef::Id(MemoryId(0)),
    };
    match command {
        MemoryCommand::Add { key, content, category, mine } => {
            own(std::slice::from_ref(content), mine.mine)?;
            own(std::slice::from_ref(key), mine.mine)?;
            let stored = agent.memory().remember(key, content, read_category(category)?, SOURCE).await?;
            output::tell(if stored.fresh { "Kept." } else { "Written anew; its category, hits and age stay." });
        }
        MemoryCommand::Edit { content, category, mine, .. } => {
            own(content.as_slice(), mine.mine)?;
            let category = category.as_deref().map(read_category).transpose()?;
            let memory = agent.memory().correct(&which, content.clone(), category, SOURCE).await?;
            tell_called("Corrected", &memory);
        }
        MemoryCommand::Pin { .. } => {
            agent.memory().pin(&which, true).await?;
            output::tell(
                "Pinned: it stands in every prompt from the next conversation on, and at the end of the next message until then.",
            );
        }
        MemoryCommand::Unpin { .. } => {
            agent.memory().pin(&which, false).await?;
            output::tell("No longer pinned; search still finds it.");
        }
        MemoryCommand::Reinforce { .. } => {
            let memory = agent.memory().reinforce(&which).await?;
            output::tell(&format!("It has {} hits and a score of {}.", memory.hits, memory.score));
        }
        MemoryCommand::Demote { .. } => {
            let memory = agent.memory().demote(&which).await?;
            output::tell(&format!("It has {} hits and a score of {}.", memory.hits, memory.score));
        }
        MemoryCommand::Forget { .. } => {
            let memory = agent.memory().forget(&which).await?;
            tell_called("Forgot", &memory);
        }
        MemoryCommand::Undo { event } => undo(agent, event).await?,
        _ => {
            let count = agent.memory().reindex().await?;
            output::tell(&format!("The index has {count} memories."));
        }
    }
    Ok(())
}

async fn undo(agent: &Agent, number: &str) -> Result<(), Failure> {
    let Ok(id) = number.parse() else {
        return Err(Failure::new(ExitStatus::Usage, format!("there is no event {number}"))
            .advise("`limpid memory history` shows numbers, `limpid file list` those of files."));
    };
    let id = MemoryEventId(id);
    match agent.memory().undo(id).await? {
        Some(memory) => {
            let events = agent.memory().history(Some(memory.id)).await?.rows;
            let before = events.into_iter().find(|event| event.id == id).and_then(|event| event.before);
            let key = exactly(&memory.key, memory.trust);
            output::tell(&match before.filter(|before| before.key != memory.key) {
                Some(before) => {
                    let old_key = exactly(&before.key, before.trust);
                    let why = ", because its old key looks like that of a memory of yours.";
                    output::named(&[("Undone: ", &old_key), (" is back under the key ", &key)], why)
                }
                None => output::named(&[("Undone: ", &key)], " is as it was."),
            });
        }
        None => output::tell("Undone: the memory is gone, as it was before."),
    }
    Ok(())
}

async fn promote(agent: &Agent, command: &MemoryCommand) -> Result<(), Failure> {
    let (promotion, done) = match command {
        MemoryCommand::Promote { key, addition, mine } => {
            own(std::slice::from_ref(addition), mine.mine)?;
            let which = MemoryRef::named(key);
            (agent.memory().promote(&which, addition, SOURCE).await?, PROMOTED)
        }
        MemoryCommand::Unpromote { promotion } => {
            let made = agent.memory().unpromote(PromotionId(*promotion)).await?;
            (made, "is out of the soul; the memory is back")
        }
        MemoryCommand::Refuse { promotion } => {
            let made = agent.memory().refuse_promotion(PromotionId(*promotion)).await?;
            (made, "was refused; the memory stays")
        }
        _ => return Ok(()),
    };
    tell_done(&promotion, done);
    Ok(())
}

/// Says what became of a promotion.
fn tell_done(promotion: &Promotion, done: &str) {
    let key = exactly(&promotion.memory.key, promotion.memory.trust);
    let begins = format!("Promotion {} of ", promotion.id.0);
    output::tell(&output::named(&[(&begins, &key)], &format!(" {done}.")));
}

/// Says what was done to a memory, with its number and its words.
fn tell_called(done: &str, memory: &Memory) {
    let (key, words) = (exactly(&memory.key, memory.trust), exactly(&memory.content, memory.trust));
    let begins = format!("{done} memory {}, ", memory.id);
    output::tell(&output::named(&[(&begins, &key), (": ", &words)], ""));
}

/// The beginning of a memory's key or content, and whose it is. Another memory may have a key that looks the same, so letters that look
/// like others are written out.
fn exactly(text: &str, trust: Trust) -> String {
    let line = if trust.is_foreign() { marked_line(text, trust) } else { exact_line(text) };
    output::one_line(&line, NAMED)
}

/// The number of a memory that there is, or was.
async fn any_id(agent: &Agent, word: &str) -> Result<MemoryId, Failure> {
    let which = MemoryRef::named(word);
    match agent.store().memory(&which).await? {
        Some(memory) => Ok(memory.id),
        None => MemoryRef::number(word).or_else(|| word.parse().ok().map(MemoryId)).ok_or_else(|| missing(word)),
    }
}

fn missing(key: &str) -> Failure {
    Failure::new(ExitStatus::Usage, format!("there is no memory {key}"))
        .advise("List them with `limpid memory list`; a forgotten one is in `limpid memory history`.")
}

fn read_category(word: &str) -> Result<Category, Failure> {
    word.parse().map_err(|error| Failure::new(ExitStatus::Usage, error))
}
