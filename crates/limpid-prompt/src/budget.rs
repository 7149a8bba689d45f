//! What is cut when a prompt is over a budget: pure arithmetic over sizes.
//!
//! [`fill`] keeps entries of a group in their order until its limit is reached. [`shrink`] shortens and drops sections
//! of a message or of a whole prompt by their `drop` number.

use crate::profile::Overflow;

/// What one section of a group costs, in the group's unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    /// The join before it and its text without entries: paid once, with the first entry that is kept.
    pub(crate) overhead: usize,
    /// Each entry with the separator after it, in order.
    pub(crate) entries: Vec<usize>,
}

/// Says for each entry of each member whether it is kept. What is kept costs at most `limit`.
pub(crate) fn fill(limit: usize, overflow: Overflow, members: &[Member]) -> Vec<Vec<bool>> {
    let mut left = limit;
    let mut stopped = false;
    let mut kept = Vec::with_capacity(members.len());
    for member in members {
        let mut paid = false;
        let mut full = stopped;
        let mut row = Vec::with_capacity(member.entries.len());
        for entry in &member.entries {
            let cost = entry.saturating_add(if paid { 0 } else { member.overhead });
            let fits = !full && cost <= left;
            if fits {
                left -= cost;
                paid = true;
            } else {
                full |= overflow != Overflow::Skip;
                stopped |= overflow == Overflow::StopAll;
            }
            row.push(fits);
        }
        kept.push(row);
    }
    kept
}

/// How far one section may be shortened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Give {
    /// Its entries or paragraphs; 1 for a text that is kept or dropped as a whole.
    pub(crate) units: usize,
    /// Whether units may go one by one, from the end.
    pub(crate) trim: bool,
    /// How many units trimming leaves at least.
    pub(crate) keep: usize,
    /// 1 to 9, higher goes first; none: never dropped.
    pub(crate) drop: Option<u8>,
}

impl Give {
    /// The fewest units that this section can be brought to.
    pub(crate) fn floor(&self) -> usize {
        match (self.drop, self.trim) {
            (Some(_), _) => 0,
            (None, true) => self.keep.max(1).min(self.units),
            (None, false) => self.units,
        }
    }
}

/// Says how many units of each section are kept, so that `measure` of these numbers is at most `limit`; none when what
/// may not be dropped is already too much.
///
/// Sections give in the order of their drop numbers, highest first, later before earlier among equals, and those that
/// are never dropped but may be trimmed come last. Each is trimmed before it is dropped, and no further than needed.
pub(crate) fn shrink(limit: usize, gives: &[Give], mut measure: impl FnMut(&[usize]) -> usize) -> Option<Vec<usize>> {
    let mut kept: Vec<usize> = gives.iter().map(|give| give.units).collect();
    if measure(&kept) <= limit {
        return Some(kept);
    }
    let mut order: Vec<usize> = (0..gives.len()).filter(|&at| gives[at].floor() < gives[at].units).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(gives[at].drop), std::cmp::Reverse(at)));
    for at in order {
        let give = gives[at];
        if give.trim {
            let least = give.keep.max(give.floor()).min(give.units);
            kept[at] = least;
            if measure(&kept) <= limit {
                kept[at] = most(least, give.units, |units| {
                    kept[at] = units;
                    measure(&kept) <= limit
                });
                return Some(kept);
            }
        }
        kept[at] = give.floor();
        if measure(&kept) <= limit {
            return Some(kept);
        }
    }
    None
}

/// The largest number from `low`, which fits, to below `high`, which does not, that was seen to fit.
fn most(mut low: usize, mut high: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn member(overhead: usize, entries: &[usize]) -> Member {
        Member { overhead, entries: entries.to_vec() }
    }

    // KAI-034 KAI-035 KAI-036 KAI-037
    #[test]
    fn the_memory_budget_of_a_local_model_holds_to_the_character() {
        let heading = "\n\n## Your Memories\n".chars().count();
        let line = "- **k**: ".chars().count();
        let general = |content: usize| member(heading, &[line + content + 1]);
        let preference = member("\n\n## User Preferences\n".len(), &["- **tone**: Short\n".len()]);
        assert_eq!((heading, line), (19, 9));
        assert_eq!(fill(2000, Overflow::StopAll, &[general(1971), preference.clone()]), [vec![true], vec![false]]);
        assert_eq!(fill(2000, Overflow::StopAll, &[general(1972), preference]), [vec![false], vec![false]]);
    }

    // PRO-021
    #[test]
    fn overflow_says_what_follows_the_entry_that_does_not_fit() {
        let members = [member(1, &[3, 9, 2]), member(1, &[2])];
        let (all, stop, skip) = (Overflow::StopAll, Overflow::Stop, Overflow::Skip);
        assert_eq!(fill(10, all, &members), [vec![true, false, false], vec![false]]);
        assert_eq!(fill(10, stop, &members), [vec![true, false, false], vec![true]]);
        assert_eq!(fill(10, skip, &members), [vec![true, false, true], vec![true]]);
    }

    // PRO-021
    #[test]
    fn the_highest_number_goes_first_and_later_before_earlier() {
        let whole = |drop| Give { units: 1, trim: false, keep: 0, drop };
        let gives = [whole(Some(5)), whole(Some(9)), whole(None), whole(Some(5))];
        let kept = |limit| shrink(limit, &gives, |kept| kept.iter().sum());
        assert_eq!(kept(4), Some(vec![1, 1, 1, 1]));
        assert_eq!(kept(3), Some(vec![1, 0, 1, 1]));
        assert_eq!(kept(2), Some(vec![1, 0, 1, 0]));
        assert_eq!(kept(1), Some(vec![0, 0, 1, 0]));
        assert_eq!(kept(0), None);
    }

    // PRO-021 LES-003
    #[test]
    fn a_section_is_trimmed_before_it_is_dropped_and_rules_stay_whole() {
        let rules = Give { units: 3, trim: false, keep: 0, drop: None };
        let list = Give { units: 5, trim: true, keep: 2, drop: Some(1) };
        let template = Give { units: 4, trim: true, keep: 1, drop: None };
        let kept = |limit| shrink(limit, &[rules, list, template], |kept| kept.iter().sum());
        assert_eq!(kept(12), Some(vec![3, 5, 4]));
        assert_eq!(kept(10), Some(vec![3, 3, 4]));
        assert_eq!(kept(9), Some(vec![3, 2, 4]));
        assert_eq!(kept(8), Some(vec![3, 0, 4]));
        assert_eq!(kept(4), Some(vec![3, 0, 1]));
        assert_eq!(kept(3), None);
    }

    fn give() -> impl Strategy<Value = Give> {
        (1..6usize, any::<bool>(), 0..3usize, prop::option::of(1..=9u8)).prop_map(|(units, trim, keep, drop)| Give {
            units,
            trim,
            keep,
            drop,
        })
    }

    proptest! {
        // PRO-022
        #[test]
        fn a_group_is_never_over_its_limit_and_keeps_what_its_overflow_allows(
            limit in 0..60usize,
            overflow in prop::sample::select(vec![Overflow::StopAll, Overflow::Stop, Overflow::Skip]),
            members in prop::collection::vec((0..9usize, prop::collection::vec(0..20usize, 0..6)), 0..5),
        ) {
            let members: Vec<Member> = members.iter().map(|(overhead, entries)| member(*overhead, entries)).collect();
            let kept = fill(limit, overflow, &members);
            let mut cost = 0;
            for (member, row) in members.iter().zip(&kept) {
                prop_assert_eq!(member.entries.len(), row.len());
                let entries: usize = member.entries.iter().zip(row).filter(|(_, kept)| **kept).map(|(cost, _)| cost).sum();
                cost += if row.contains(&true) { entries + member.overhead } else { 0 };
                prop_assert!(overflow == Overflow::Skip || row.is_sorted_by(|a, b| a >= b), "a prefix is kept");
            }
            prop_assert!(cost <= limit);
            if overflow == Overflow::StopAll {
                prop_assert!(kept.concat().is_sorted_by(|a, b| a >= b), "nothing is kept after the first that went");
            }
        }

        // PRO-022
        #[test]
        fn a_message_is_never_over_its_budget_and_never_means_never(
            limit in 0..80usize,
            gives in prop::collection::vec((give(), 0..9usize), 0..7),
        ) {
            let sizes: Vec<usize> = gives.iter().map(|(_, size)| *size).collect();
            let gives: Vec<Give> = gives.into_iter().map(|(give, _)| give).collect();
            // Sizes of units differ, and a section that is there costs a join: no tokenizer is simply additive.
            let measure = |kept: &[usize]| -> usize {
                kept.iter().zip(&sizes).map(|(units, size)| units * size + usize::from(*units > 0)).sum()
            };
            let full: Vec<usize> = gives.iter().map(|give| give.units).collect();
            let least: Vec<usize> = gives.iter().map(Give::floor).collect();
            let Some(kept) = shrink(limit, &gives, measure) else {
                prop_assert!(measure(&least) > limit, "an error only when nothing can help");
                return Ok(());
            };
            prop_assert!(measure(&kept) <= limit);
            prop_assert!(measure(&full) > limit || kept == full, "nothing is cut without need");
            for (a, kept_a) in gives.iter().zip(&kept) {
                prop_assert!(a.drop.is_some() || *kept_a > 0, "never is never dropped");
                prop_assert!(a.drop.is_some() || a.trim || *kept_a == a.units, "never is never shortened unasked");
                for (b, kept_b) in gives.iter().zip(&kept) {
                    let later = b.drop > a.drop;
                    prop_assert!(*kept_a == a.units || !later || *kept_b == b.floor(), "higher numbers give first");
                }
            }
        }
    }
}
