//! What stands together in one run: nothing that a stranger wrote stands beside what the owner wants looked at, so that no text of
//! theirs can have the model leave that out.

use limpid_core::Trust;
use limpid_prompt::inputs::{Inputs, TaskEntry, Trigger};

/// The part of what there is to look at that a run sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatPart {
    /// What came in, and what else Limpid itself finds worth a look.
    News,
    /// What the owner wants looked at again and again.
    Standing,
}

impl HeartbeatPart {
    /// The part's name, as keys of runs end with it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::News => "news",
            Self::Standing => "standing",
        }
    }

    /// The key of a run that sees this part.
    pub fn key(self, of: &str) -> String {
        format!("{of}-{}", self.as_str())
    }

    /// The part that a run of this key sees; none of one that an older version began.
    pub fn of_key(key: &str) -> Option<Self> {
        let (_, part) = key.rsplit_once('-')?;
        [Self::News, Self::Standing].into_iter().find(|known| known.as_str() == part)
    }

    /// Leaves nothing in inputs but what this part is to see. The owner's own opening stays: it opens both.
    pub fn keep(self, inputs: &mut Inputs) {
        let standing = |task: &TaskEntry| task.trigger == Trigger::Heartbeat && !is_strangers(task);
        match self {
            Self::News => {
                inputs.heartbeat.checklist.clear();
                inputs.scheduling.tasks.retain(|task| !standing(task));
                keep_unread(inputs, true);
            }
            Self::Standing => {
                inputs.email.new.clear();
                inputs.email.accounts.iter_mut().for_each(|account| account.last_error = None);
                inputs.sms.new.clear();
                inputs.notifications.new.clear();
                inputs.memory.promotions.clear();
                inputs.scheduling.tasks.retain(|task| !is_strangers(task));
                keep_unread(inputs, false);
                inputs.heartbeat.quiet.take_if(|quiet| quiet.unread.is_empty());
            }
        }
    }
}

/// Whether the quiet hours left something unread that a stranger's text led to, or something that none did.
pub fn has_unread(inputs: &Inputs, of_strangers: bool) -> bool {
    let mut unread = inputs.heartbeat.quiet.iter().flat_map(|quiet| &quiet.unread);
    unread.any(|unread| Trust::from(unread.trust).is_foreign() == of_strangers)
}

fn keep_unread(inputs: &mut Inputs, of_strangers: bool) {
    if let Some(quiet) = &mut inputs.heartbeat.quiet {
        quiet.unread.retain(|unread| Trust::from(unread.trust).is_foreign() == of_strangers);
    }
}

/// Whether a stranger's text led to a task.
fn is_strangers(task: &TaskEntry) -> bool {
    Trust::from(task.trust).is_foreign()
}
