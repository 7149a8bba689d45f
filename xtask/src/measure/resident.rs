//! What a process holds of memory, by the kernel's word.

use std::fs;

/// Kilobytes that are resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resident {
    /// All of them.
    pub(crate) all: u64,
    /// Those that stand for no file: heap, stacks, what was written.
    pub(crate) own: u64,
    /// Those of files that no other process shares.
    pub(crate) own_of_file: u64,
}

impl Resident {
    /// Of a process; `self` is this one.
    pub(crate) fn of(process: &str) -> Result<Self, String> {
        let file = format!("/proc/{process}/smaps_rollup");
        let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self::read(&text))
    }

    fn read(text: &str) -> Self {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or_default()
        };
        let own = value("Anonymous");
        let private: u64 = value("Private_Clean") + value("Private_Dirty");
        Self { all: value("Rss"), own, own_of_file: private.saturating_sub(own) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEA-05
    #[test]
    fn the_kernels_sums_are_read() {
        let text = "5581-7ffd ---p 00000000 00:00 0    [rollup]\nRss:               18864 kB\nPss:               17000 kB\n\
                    Private_Clean:      9000 kB\nPrivate_Dirty:      7000 kB\nAnonymous:          6500 kB\n";
        assert_eq!(Resident::read(text), Resident { all: 18_864, own: 6_500, own_of_file: 9_500 });
    }
}
