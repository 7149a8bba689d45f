//! The request that began the work stays in sight.

use limpid_core::{MessageId, Pin};

use super::task::Task;
use super::{Count, quote, shown};

/// The request that began the work, once its message is no longer shown.
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
            Some(Pin { message: request.id, text, trust: typed.message.trust_of_all() })
        }
        (None, Some(pin)) => Some(pin.clone()),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use limpid_core::compaction::WindowSettings;
    use limpid_core::{Entry, Message, Role, Trust, WindowView};

    use super::*;
    use crate::window::settings::Budget;

    // OLLM-092
    #[test]
    fn the_request_is_pinned_as_it_was_typed_once_it_is_shown_no_more() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let settings = WindowSettings::default();
        let message = Message::new(Role::User, "Sent with a clock.", Trust::Guest);
        let task = |typed: &str, request: bool| Task {
            view: WindowView::default(),
            entries: Vec::new(),
            typed: BTreeMap::from([(MessageId(3), typed.to_owned())]),
            request: request.then(|| Entry { id: MessageId(3), message: message.clone() }),
            settings,
            budget: Budget::new(&settings, 1000, 0, 1000),
            is_forced: false,
            most_digests: 1,
        };
        let pinned = |task: &Task, through: Option<i64>| pin(task, through.map(MessageId), &count);
        let whole = |text: &str| Some(Pin { message: MessageId(3), text: text.to_owned(), trust: Trust::Guest });
        let short = task("Build it.", true);
        assert_eq!([None, Some(2)].map(|through| pinned(&short, through)), [None, None], "it is still shown");
        assert_eq!([3, 9].map(|through| pinned(&short, Some(through))), [whole("Build it."), whole("Build it.")]);
        // A tenth of what is available is 100 tokens.
        let fits = "x".repeat(400);
        assert_eq!(pinned(&task(&fits, true), Some(9)), whole(&fits));
        let long = pinned(&task(&format!("BEGIN {fits} END"), true), Some(9)).unwrap().text;
        let (shown, pointer) = long.rsplit_once('\n').unwrap();
        assert!(shown.starts_with("BEGIN x") && shown.ends_with("x END") && count(shown) <= 100, "{long}");
        assert_eq!(pointer, "[message 3]");
        // Where nobody knows the message any more, what was pinned stays.
        let earlier = Task { view: WindowView { pin: whole("Build it."), ..WindowView::default() }, ..task("", false) };
        assert_eq!(pinned(&earlier, Some(9)), whole("Build it."));
        assert_eq!(pinned(&task("", false), Some(9)), None);
    }
}
