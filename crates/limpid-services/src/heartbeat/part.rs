//! What stands together in one run: nothing that a stranger wrote stands beside what the owner wants looked at, so that no text of
//! theirs can have the model leave that out; and what has led to a stranger's text stands beside nothing.

use std::borrow::Cow;

use limpid_core::Trust;
use limpid_core::heartbeat::news::with_tasks;
use limpid_prompt::inputs::{Inputs, TaskEntry, Trigger};

use super::standing::{StandingItem, standing_items};

/// What the name of a part begins with in which one item is looked at alone.
const ALONE: &str = "alone-";

/// The part of what there is to look at that a run sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatPart {
    /// What the owner wants looked at again and again, and what they missed in the quiet hours.
    Standing,
    /// The one item of these with this mark.
    Alone(String),
    /// What the owner missed in the quiet hours.
    Missed,
    /// What came in, and what else Limpid itself finds worth a look.
    News,
    /// Nothing: whether the provider answers at all.
    Probe,
}

impl HeartbeatPart {
    /// The part's name, as it is stored.
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Standing => Cow::Borrowed("standing"),
            Self::Alone(mark) => Cow::Owned(format!("{ALONE}{mark}")),
            Self::Missed => Cow::Borrowed("missed"),
            Self::News => Cow::Borrowed("news"),
            Self::Probe => Cow::Borrowed("probe"),
        }
    }

    /// What stands for the one item that it looks at.
    pub fn mark(&self) -> Option<&str> {
        match self {
            Self::Alone(mark) => Some(mark),
            Self::Standing | Self::Missed | Self::News | Self::Probe => None,
        }
    }

    /// Reads a part's name; none of a run that an older version began.
    pub fn parse(name: &str) -> Option<Self> {
        match name.strip_prefix(ALONE) {
            Some(mark) => Some(Self::Alone(mark.to_owned())),
            None => {
                [Self::Standing, Self::Missed, Self::News, Self::Probe].into_iter().find(|part| part.name() == name)
            }
        }
    }

    /// The key of a run that sees this part.
    pub fn key(&self, of: &str) -> String {
        format!("{of}-{}", self.name())
    }

    /// Leaves nothing in inputs but what this part is to see; `is_alone` says which items are looked at alone. The owner's own opening
    /// opens what came in as well.
    pub fn keep(&self, inputs: &mut Inputs, is_alone: impl Fn(&StandingItem) -> bool) {
        match self {
            Self::News => {
                inputs.heartbeat.checklist.clear();
                inputs.scheduling.tasks.retain(|task| !is_owners_addition(task));
                keep_unread(inputs, true);
            }
            Self::Standing => {
                keep_items(inputs, |item| !is_alone(item));
                keep_unread(inputs, false);
            }
            Self::Alone(mark) => {
                keep_items(inputs, |item| item.mark == *mark);
                inputs.heartbeat.quiet = None;
            }
            Self::Missed => {
                keep_items(inputs, |_| false);
                keep_unread(inputs, false);
            }
            Self::Probe => {
                keep_items(inputs, |_| false);
                inputs.heartbeat.quiet = None;
            }
        }
        if *self != Self::News {
            inputs.email.new.clear();
            inputs.email.accounts.iter_mut().for_each(|account| account.last_error = None);
            inputs.sms.new.clear();
            inputs.notifications.new.clear();
            inputs.memory.promotions.clear();
            inputs.heartbeat.quiet.take_if(|quiet| quiet.unread.is_empty());
        }
    }
}

/// Whether a run that read a stranger's text may have been led by it to leave something out that is not its own: whatever but that
/// text's own item it saw.
pub fn sees_more_than_one(inputs: &Inputs) -> bool {
    standing_items(inputs).len() + usize::from(inputs.heartbeat.quiet.is_some()) > 1
}

/// Whether the quiet hours left something unread that a stranger's text led to, or something that none did.
pub fn has_unread(inputs: &Inputs, of_strangers: bool) -> bool {
    let mut unread = inputs.heartbeat.quiet.iter().flat_map(|quiet| &quiet.unread);
    unread.any(|unread| Trust::from(unread.trust).is_foreign() == of_strangers)
}

/// Leaves the owner's items for which it holds.
fn keep_items(inputs: &mut Inputs, is_kept: impl Fn(&StandingItem) -> bool) {
    inputs.heartbeat.prompt.take_if(|text| !is_kept(&StandingItem::opening(text)));
    inputs.heartbeat.checklist = with_tasks(&inputs.heartbeat.checklist, |line| is_kept(&StandingItem::line(line)));
    let is_other = |task: &TaskEntry| task.trigger != Trigger::Heartbeat && !is_strangers(task);
    let is_own = |task: &TaskEntry| is_owners_addition(task) && is_kept(&StandingItem::addition(task));
    inputs.scheduling.tasks.retain(|task| is_other(task) || is_own(task));
}

fn keep_unread(inputs: &mut Inputs, of_strangers: bool) {
    if let Some(quiet) = &mut inputs.heartbeat.quiet {
        quiet.unread.retain(|unread| Trust::from(unread.trust).is_foreign() == of_strangers);
    }
}

/// Whether it is a standing addition to which no stranger's text led.
fn is_owners_addition(task: &TaskEntry) -> bool {
    task.trigger == Trigger::Heartbeat && !is_strangers(task)
}

/// Whether a stranger's text led to a task.
fn is_strangers(task: &TaskEntry) -> bool {
    Trust::from(task.trust).is_foreign()
}

#[cfg(test)]
mod tests {
    use limpid_prompt::inputs::HeartbeatInput;

    use super::*;

    // SEC-093
    #[test]
    fn a_part_shows_its_items_and_no_other() {
        let checklist = "- Page\n- Pills\n".to_owned();
        let all = || Inputs {
            heartbeat: HeartbeatInput {
                prompt: Some("Bus".to_owned()),
                checklist: checklist.clone(),
                ..HeartbeatInput::default()
            },
            ..Inputs::default()
        };
        let page = StandingItem::line("- Page");
        let seen = |part: HeartbeatPart| {
            let mut inputs = all();
            part.keep(&mut inputs, |item| *item == page);
            let more = sees_more_than_one(&inputs);
            (inputs.heartbeat.prompt, inputs.heartbeat.checklist, more)
        };
        let bus = || Some("Bus".to_owned());
        assert_eq!(seen(HeartbeatPart::Standing), (bus(), "- Pills\n".to_owned(), true));
        assert_eq!(seen(HeartbeatPart::Alone(page.mark.clone())), (None, "- Page\n".to_owned(), false));
        assert_eq!(seen(HeartbeatPart::Alone(StandingItem::opening("Bus").mark)), (bus(), String::new(), false));
        assert_eq!(seen(HeartbeatPart::Missed), (None, String::new(), false));
        assert_eq!(seen(HeartbeatPart::News), (bus(), String::new(), false));
        for part in [HeartbeatPart::Standing, HeartbeatPart::Alone(page.mark.clone()), HeartbeatPart::Missed] {
            assert_eq!(HeartbeatPart::parse(&part.name()), Some(part));
        }
        assert_eq!(HeartbeatPart::parse(""), None);
    }
}
