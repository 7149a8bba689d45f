//! What becomes of patterns such as "every day at nine" when the owner travels: each keeps its zone until they say
//! otherwise. They are asked once, shown what would be different, and can take it back.

use jiff::Timestamp;
use limpid_core::task::{TaskStatus, Trigger};
use limpid_core::{Labelled, Sentence, TaskId, Trust, sentence};
use limpid_store::{NewSetting, Task};
use serde::{Deserialize, Serialize};

use crate::error::AgentError;
use crate::tasks::request::TaskChange;
use crate::tasks::requester::{Requester, zone_name};
use crate::tasks::service::Tasks;

/// The name of the setting that holds the owner's zone, written whenever it is another one.
const ZONE: &str = "zone";

/// The name of the setting that holds which tasks were moved.
const MOVED: &str = "task-zones";

/// Zones of the owner's that are remembered.
const ZONES: u32 = 100;

/// Tasks on the clock of a zone that was the owner's.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneMoves {
    /// The owner's zone.
    pub zone: String,
    /// The tasks that are, or would be, on its clock.
    pub moves: Vec<ZoneMove>,
}

/// A task that changes its zone.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneMove {
    /// The task as it was.
    pub task: Task,
    /// When it comes next in the new zone.
    pub next: Option<Timestamp>,
}

/// A question to the owner: what becomes of the tasks that keep the clock of their old zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneNotice {
    /// What makes it the same notice when it is sent again.
    pub key: String,
    /// Its title.
    pub title: &'static str,
    /// Its text, which names tasks by their numbers: what a task is called may be a stranger's words, or private.
    pub text: Sentence,
}

/// What was moved, as it is kept.
#[derive(Serialize, Deserialize)]
struct Moved {
    to: String,
    tasks: Vec<MovedTask>,
}

#[derive(Serialize, Deserialize)]
struct MovedTask {
    id: i64,
    from: String,
}

impl Tasks {
    /// The tasks that keep the clock of a zone that was the owner's, and what a move would make of them; nothing is
    /// changed. A task of one moment has no clock: its moment stays.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn zone_changes(&self) -> Result<ZoneMoves, AgentError> {
        let zone = self.host.zone();
        let now = zone_name(&zone).to_owned();
        let were = self.store.setting_events(None, ZONE, ZONES).await?.rows;
        let mut tasks = self.store.tasks(None).await?.rows;
        tasks.retain(|task| {
            let zone = &task.new.zone;
            is_on_a_clock(task) && *zone != now && were.iter().any(|event| event.value.as_ref() == Some(zone))
        });
        let requester = Requester::owner(&self.host);
        let moves = tasks.into_iter().map(|task| {
            let mut moved = task.clone();
            to_zone(&now).apply(&mut moved, &requester)?;
            Ok(ZoneMove { task, next: moved.standing.next })
        });
        Ok(ZoneMoves { moves: moves.collect::<Result<_, AgentError>>()?, zone: now })
    }

    /// Moves these tasks to the owner's zone, and returns them as they were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn change_zones(&self) -> Result<ZoneMoves, AgentError> {
        let planned = self.zone_changes().await?;
        let requester = Requester::owner(&self.host);
        for ZoneMove { task, .. } in &planned.moves {
            self.change_as(&requester, &task.id.to_string(), to_zone(&planned.zone)).await?;
        }
        if !planned.moves.is_empty() {
            let tasks =
                planned.moves.iter().map(|one| MovedTask { id: one.task.id.0, from: one.task.new.zone.clone() });
            let moved = Moved { to: planned.zone.clone(), tasks: tasks.collect() };
            let value = serde_json::to_string(&moved).map_err(|error| AgentError::Invalid(error.to_string()))?;
            self.write_setting(MOVED, Some(value), "manual").await?;
        }
        Ok(planned)
    }

    /// Takes the last change of zones back: each of its tasks that still has the zone that it was moved to gets its old
    /// one again. Returns these.
    ///
    /// # Errors
    /// When nothing was moved, or the store fails.
    pub async fn undo_zone_changes(&self) -> Result<Vec<Task>, AgentError> {
        let newest = self.store.setting_events(None, MOVED, 1).await?.rows.pop().and_then(|event| event.value);
        let moved: Moved = newest
            .and_then(|value| serde_json::from_str(&value).ok())
            .ok_or_else(|| AgentError::Invalid("no task was moved to another zone since the last undo".to_owned()))?;
        let requester = Requester::owner(&self.host);
        let mut back = Vec::new();
        for MovedTask { id, from } in moved.tasks {
            let task = self.store.task(TaskId(id)).await?;
            if task.is_some_and(|task| task.new.zone == moved.to && is_on_a_clock(&task)) {
                back.push(self.change_as(&requester, &id.to_string(), to_zone(&from)).await?);
            }
        }
        self.write_setting(MOVED, None, "manual").await?;
        Ok(back)
    }

    /// Writes down the owner's zone when it is another one than before. When tasks keep the old one, returns what the
    /// owner is to be told of them, once.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_time_zone(&self) -> Result<Option<ZoneNotice>, AgentError> {
        let zone = self.host.zone();
        let now = zone_name(&zone);
        let before = self.store.setting_events(None, ZONE, 1).await?.rows.pop().and_then(|event| event.value);
        if before.as_deref() == Some(now) {
            return Ok(None);
        }
        self.write_setting(ZONE, Some(now.to_owned()), "auto").await?;
        let Some(before) = before else { return Ok(None) };
        let moves = self.zone_changes().await?.moves;
        let numbers = moves.iter().map(|one| sentence!("{}", one.task.id.0));
        let Some(tasks) = numbers.reduce(|named, next| sentence!("{}, {}", named, next)) else { return Ok(None) };
        // Zones are the owner's, or those of their machine.
        let (is, was) = (Labelled::new(now, Trust::Owner), Labelled::new(before, Trust::Owner));
        let text = sentence!(
            "Your zone is {}; before, it was {}. These tasks go on by the clock of their old zone: {}. \
             `limpid task zone` names them and shows what a move would change, `limpid task zone --move` moves them.",
            is,
            was,
            tasks
        );
        let event = self.store.setting_events(None, ZONE, 1).await?.rows.pop().map_or(0, |event| event.id);
        Ok(Some(ZoneNotice { key: format!("zone:{event}"), title: "Another time zone", text }))
    }

    pub(super) async fn write_setting(
        &self,
        name: &str,
        value: Option<String>,
        trigger: &str,
    ) -> Result<(), AgentError> {
        let setting = NewSetting { name: name.to_owned(), value, trigger: trigger.to_owned() };
        Ok(self.store.set_for_all(vec![setting], self.host.now_ms()).await?)
    }
}

/// Whether a task that waits goes by the clock of its zone.
fn is_on_a_clock(task: &Task) -> bool {
    let waits = matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Disabled);
    waits && matches!(task.new.trigger, Trigger::Cron { .. })
}

fn to_zone(zone: &str) -> TaskChange {
    TaskChange { zone: Some(zone.to_owned()), ..TaskChange::default() }
}
