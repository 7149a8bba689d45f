//! `/heartbeat`.

use async_trait::async_trait;
use limpid_core::Trust;
use limpid_prompt::boundary::for_readers;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::HeartbeatChange;
use limpid_store::Delivery;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};
use crate::jobs::heartbeat::HeartbeatResult;

/// Shows the heartbeat, switches it, runs it.
pub(crate) struct Heartbeat;

#[async_trait]
impl SlashCommand for Heartbeat {
    fn name(&self) -> &'static str {
        "heartbeat"
    }

    fn arguments(&self) -> &'static str {
        "[run|on|off|read|dismiss]"
    }

    fn help(&self) -> &'static str {
        "Show the heartbeat, run it at once, switch it on or off; read or dismiss its reports"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words = ["run", "on", "off", "read", "dismiss"].map(str::to_owned);
        Ok(if before.is_empty() { words.into() } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let agent = context.agent;
        match arguments {
            "" => {}
            "run" => {
                return Ok(context.says(match agent.jobs().run_heartbeat().await? {
                    HeartbeatResult::Waits(why) => format!("The heartbeat was not run: {why}."),
                    HeartbeatResult::Ran(run) => match run.report {
                        Some(report) => after_whom(&report, run.trust),
                        None => format!("The heartbeat ran: {}.", run.outcome),
                    },
                }));
            }
            "read" => {
                let reports = agent.deliveries().read_reports().await?;
                let text = |delivery: Delivery| after_whom(&for_readers(&delivery.new.text), delivery.new.trust);
                let texts: Vec<String> = reports.into_iter().map(text).collect();
                let nothing = texts.is_empty();
                return Ok(context.says(if nothing { "Nothing is unread.".to_owned() } else { texts.join("\n\n") }));
            }
            "dismiss" => {
                let count = agent.deliveries().dismiss_reports().await?;
                return Ok(context.says(format!("Unread reports taken for read: {count}.")));
            }
            "on" | "off" => {
                let enabled = Some(arguments == "on");
                agent.heartbeat().change(HeartbeatChange { enabled, ..HeartbeatChange::default() }).await?;
            }
            other => return Err(AgentError::Invalid(format!("`{other}` is none of run, on, off, read and dismiss"))),
        }
        let status = agent.jobs().heartbeat_status().await?;
        let on = if status.settings.enabled { "on" } else { "off" };
        let waits = status.waits.map_or(String::new(), |why| format!(" It waits: {why}."));
        let minutes = status.settings.interval_minutes;
        Ok(context.says(format!("The heartbeat is {on}, every {minutes} minutes.{waits}")))
    }
}

/// A report; one that a stranger's text led to is quoted line by line, so that none looks like another message.
fn after_whom(text: &str, trust: Trust) -> String {
    if !trust.is_foreign() {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n");
    format!("After a stranger's text:\n\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-051
    #[test]
    fn no_line_of_a_report_that_a_stranger_led_to_stands_for_itself() {
        let text = "An offer.\n\n2026-03-28  reminder\nPay.";
        assert_eq!(after_whom(text, Trust::Owner), text);
        let quoted = after_whom(text, Trust::Outside);
        assert_eq!(quoted, "After a stranger's text:\n\n> An offer.\n> \n> 2026-03-28  reminder\n> Pay.");
    }
}
