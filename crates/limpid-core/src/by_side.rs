//! Lists in which what the owner has and what strangers' texts left share one limit.

/// Which part of a limit is the strangers', however much the owner has.
const STRANGERS_PART: usize = 10;

/// The first rows of a list, in its order: the owner's, at most `most`, as if there were no others, and of strangers' as many as these
/// leave room for. A tenth of `most`, at least one row, is always the strangers', beside the owner's: they push none out.
///
/// ```
/// use limpid_core::by_side::by_side;
/// let (page, own) = (|n: i32| n, |n: i32| -n);
/// let listed = by_side((1..=90).map(page).chain([own(1), own(2)]), 20, |n| *n > 0);
/// assert_eq!(listed, (1..=18).chain([-1, -2]).collect::<Vec<_>>());
/// ```
pub fn by_side<T>(rows: impl IntoIterator<Item = T>, most: usize, is_strangers: impl Fn(&T) -> bool) -> Vec<T> {
    by_side_and_size(rows, most, is_strangers, |_| 1)
}

/// The same where each row takes some of the limit, such as its bytes. Of either side nothing comes behind a row that has no room.
pub fn by_side_and_size<T>(
    rows: impl IntoIterator<Item = T>,
    most: usize,
    is_strangers: impl Fn(&T) -> bool,
    size: impl Fn(&T) -> usize,
) -> Vec<T> {
    let rows: Vec<T> = rows.into_iter().collect();
    let mut kept = vec![false; rows.len()];
    let mut room = most;
    for of_strangers in [false, true] {
        if of_strangers {
            room = room.max((most / STRANGERS_PART).max(1).min(most));
        }
        for (row, kept) in rows.iter().zip(&mut kept).filter(|(row, _)| is_strangers(row) == of_strangers) {
            let left = room.checked_sub(size(row));
            *kept = left.is_some();
            room = left.unwrap_or(0);
        }
    }
    rows.into_iter().zip(kept).filter_map(|(row, kept)| kept.then_some(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many rows of strangers before so many of the owner's; how many of each are listed.
    fn listed(theirs: usize, ours: usize, most: usize) -> (usize, usize) {
        let rows = std::iter::repeat_n(true, theirs).chain(std::iter::repeat_n(false, ours));
        let (theirs, ours): (Vec<bool>, Vec<bool>) =
            by_side(rows, most, |theirs| *theirs).into_iter().partition(|row| *row);
        (theirs.len(), ours.len())
    }

    // SEC-102
    #[test]
    fn no_number_of_strangers_rows_pushes_one_of_the_owners_out() {
        for theirs in [0, 1, 5, 50, 5000] {
            for ours in [0, 1, 19, 20, 21, 5000] {
                assert_eq!(listed(theirs, ours, 20).1, ours.min(20), "{theirs} {ours}");
            }
        }
        assert_eq!(listed(50, 30, 20), (2, 20), "a tenth is beside them");
        assert_eq!(listed(50, 5, 20), (15, 5), "what the owner leaves is theirs");
        assert_eq!((listed(50, 9, 5), listed(50, 9, 0)), ((1, 5), (0, 0)));
    }

    // SEC-102
    #[test]
    fn the_owners_bytes_are_the_same_beside_any_strangers() {
        let ours = [(false, 40), (false, 50), (false, 20), (false, 1)];
        let alone = by_side_and_size(ours, 100, |row| row.0, |row| row.1);
        assert_eq!(alone, ours[..2], "nothing comes behind what has no room");
        let beside = [vec![(true, 6); 9], ours.to_vec()].concat();
        let listed = by_side_and_size(beside, 100, |row| row.0, |row| row.1);
        assert_eq!(listed, [vec![(true, 6)], alone].concat());
    }
}
