//! The request that began the work stays in sight (OLLM-092).

use limpid_core::{MessageId, Pin};

use super::task::Task;
use super::{Count, quote, shown};

/// The request that began the work, once its message is no longer shown (OLLM-092).
pub(crate) fn pin(task: &Task, through: Option<MessageId>, count: Count<'_>) -> Option<Pin> {
    let limit = task.budget.pin;
    let request = task.request.as_ref().filter(|request| through.is_some_and(|through| request.id <= through));
    match (request, &task.view.pin) {
        (Some(request), _) => {
            let typed = quote::as_typed(request, &task.typed);
            let mut text = shown::shorten(&typed.message.text, limit, count);
            if text != typed.message.text {
                text = format!("{text}\n[message {}]", request.id);
            }
            Some(Pin { message: request.id, text, trust: request.message.trust })
        }
        (None, Some(pin)) => Some(pin.clone()),
        (None, None) => None,
    }
}
