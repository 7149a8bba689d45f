//! `/cost`.

use async_trait::async_trait;
use limpid_core::{Money, Usage};
use limpid_services::error::AgentError;
use limpid_store::{CostBy, CostQuery, CostRow};

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Sums up what the conversation has cost.
pub(crate) struct Cost;

#[async_trait]
impl SlashCommand for Cost {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn help(&self) -> &'static str {
        "Sum up tokens and money, of this conversation and of all"
    }

    async fn run(&self, context: &CommandContext<'_>, _arguments: &str) -> Result<SlashReply, AgentError> {
        let query = CostQuery { by: CostBy::Conversation, since_ms: None, until_ms: None, utc_offset_min: 0 };
        let rows = context.agent.store().costs(query).await?;
        let own = context.conversation.as_ref().map(|conversation| conversation.id.as_str());
        let here = rows.iter().filter(|row| Some(row.group.as_str()) == own);
        Ok(context.says(format!("This conversation: {}\nAll together: {}", sum(here), sum(rows.iter()))))
    }
}

fn sum<'a>(rows: impl Iterator<Item = &'a CostRow>) -> String {
    let (mut requests, mut unknown, mut money, mut usage) = (0, 0, 0, Usage::default());
    for row in rows {
        requests += row.requests;
        unknown += row.unknown_cost;
        money += row.cost.0;
        usage += row.usage;
    }
    let cost = match unknown {
        0 => Money(money).to_string(),
        _ if unknown == requests => "at a price that is not known".to_owned(),
        _ => format!("{}, and {unknown} of the requests at a price that is not known", Money(money)),
    };
    let Usage { input, cached, cache_written, output, reasoning, .. } = usage;
    let reasoned = if reasoning > 0 { format!(" ({reasoning} of them reasoning)") } else { String::new() };
    format!(
        "{requests} requests, {input} tokens read ({cached} from a cache, {cache_written} put into one), {output} written{reasoned}, \
         {cost}."
    )
}
