//! What the tools of tasks read of a call and say in their results alike.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::{ConversationId, Sentence, Trust, sentence};
use serde_json::Value;

use crate::directory::{is_of_clients, is_run, task_of_run};
use crate::tasks::request::When;
use crate::tasks::requester::Requester;
use crate::tasks::service::Tasks;
use crate::tools::{Named, ToolContext, echoed, trouble};

/// The group of these tools.
pub const GROUP: &str = "scheduling";

/// Said of a task that is made while nothing would run it.
pub(super) const NOT_SERVED: &str = "`limpid serve` is not running; tasks run once it is started";

/// Runs that are asked where they report: an agent's, a task's, and so on up to a chat.
const RUNS: usize = 8;

/// Times of a repeated task that are told.
pub(super) const TIMES: usize = 3;

/// The only one of several things that may be said; what was said of none or of two helps.
pub(super) fn one_of<T>(said: impl Iterator<Item = T>, names: &str) -> Result<T, Sentence> {
    let said: Vec<T> = said.collect();
    match <[T; 1]>::try_from(said) {
        Ok([one]) => Ok(one),
        Err(said) if said.is_empty() => Err(sentence!("when is missing: give exactly one of {}", echoed(names))),
        Err(said) => Err(sentence!("{} times are given: give exactly one of {}", said.len(), echoed(names))),
    }
}

/// What whoever is asked about a task is told of its times.
pub(super) fn due(when: &When, zone: Option<&str>, tasks: &Tasks) -> Option<String> {
    Some(format!("due {}", when.in_words(zone, &Requester::owner(&tasks.host))?))
}

/// The task that an argument names by its number: the first of these, which the others are other names of.
pub(super) async fn named(tasks: &Tasks, arguments: &Value, fields: &'static [&'static str]) -> Option<Named> {
    let number = arguments.get(fields.first()?)?.as_str()?;
    let task = tasks.find_as(&Requester::owner(&tasks.host), number).await.ok()?;
    Some(Named { fields, names: vec![task.id.to_string()] })
}

/// A call made again after a crash is the same task.
pub(super) fn key(context: &ToolContext, name: &str, arguments: &Value) -> String {
    format!("{}/{name}/{arguments}", context.turn)
}

/// A guest sees and changes the tasks of their own chat only. The owner's yes to a call makes none of its words theirs: what a stranger's
/// text led to is carried out as that, and asks for what such a turn asks for.
pub(super) fn requester(context: &ToolContext) -> Requester {
    let only = (context.trust == Trust::Guest).then(|| context.conversation.clone());
    Requester { zone: context.zone.clone(), now: context.now, trust: context.trust, typed: false, only }
}

/// Where what a call plans is told: in its chat. Nobody reads the hidden conversation of a run, so what is planned
/// there is told where the run itself reports; none: where all reports go.
pub(super) async fn told_in(tasks: &Tasks, context: &ToolContext) -> Result<Option<ConversationId>, Sentence> {
    let mut place = Some(context.conversation.clone());
    for _ in 0..RUNS {
        let Some(run) = place.as_ref().filter(|place| is_run(place)) else {
            return Ok(place.filter(|place| !is_of_clients(place)));
        };
        place = match (tasks.store.agent_in(run).await.map_err(trouble)?, task_of_run(run)) {
            (Some(agent), _) => Some(agent.chat),
            (None, Some(task)) => tasks.store.task(task).await.map_err(trouble)?.and_then(|task| task.new.conversation),
            (None, None) => None,
        };
    }
    Ok(None)
}

/// A moment on the clock of a zone.
pub(super) fn local(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
