//! What a lasting yes is given beside.

use super::call::{Call, Setting};
use crate::policy::effect::Row;

/// What stands beside a call: strangers' text that may have led to it, others who read what comes of it, and for one that tells others
/// something what is private. A lasting yes that was given while there was less says nothing of later.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    strangers: bool,
    others: bool,
    private: bool,
}

impl Beside {
    /// What stands beside a call of this row.
    pub(super) fn of(setting: &Setting<'_>, row: Row, call: &Call<'_>) -> Self {
        // A look's own row says it.
        let others = setting.group && !matches!(row, Row::Look | Row::LookForOthers);
        // Whatever a call does where it leads, its arguments get there. A yes to a program that sends names all of them.
        let tells = row.tells() || row != Row::RunSending && call.destination.is_some();
        Self { strangers: setting.trust.is_foreign(), others, private: setting.private && tells }
    }

    /// The words for it, as the owner reads them behind the name of the row.
    pub(super) fn words(self) -> String {
        let words = [
            (self.strangers, ", also where strangers' text led to it"),
            (self.others, ", where others read too"),
            (self.private, ", with what is private here"),
        ];
        words.into_iter().filter_map(|(is_there, words)| is_there.then_some(words)).collect()
    }

    /// All that a yes may have been given beside to cover this: the same, and more.
    pub(super) fn covered_by(self) -> impl Iterator<Item = Self> {
        let all = (0..8_u8).map(|bits| {
            let has = |bit: u8| bits & bit != 0;
            Self { strangers: has(1), others: has(2), private: has(4) }
        });
        all.filter(move |given| given.holds(self))
    }

    /// Whether everything of the other stands there too.
    const fn holds(self, other: Self) -> bool {
        (self.strangers || !other.strangers) && (self.others || !other.others) && (self.private || !other.private)
    }
}
