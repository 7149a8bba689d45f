//! Programs beside each other, so many at once, and one that runs alone: what the owner said yes to stays as they saw it until it has
//! ended. Of programs that may be a stranger's those that see what is the owner's are never beside those that can send or leave
//! something: whatever the system lets two programs tell each other, by locks, by room on the disk or by how long something takes,
//! nobody hears it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use limpid_config::Home;
use limpid_core::{Sentence, Trust, sentence};
use limpid_tools::{Stop, StrangersProgram, echoed};
use tokio::time::Instant;

use super::locks::{self, FilesLock, How};

/// How long a program waits for others to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Between two looks whether an approved program waits.
const LOOK: Duration = Duration::from_millis(100);

/// Programs of a home that run at once: each may use as much of the machine as one may.
const AT_ONCE: usize = 8;

/// Those of them that a stranger's text led to, so that the others find room beside them.
const AT_ONCE_TAINTED: usize = AT_ONCE / 2;

/// How old copies of approved files are that nobody runs any more.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// Who had a program started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartedBy {
    /// The owner, who said yes to this very call: it runs alone.
    Yes,
    /// The owner, whose rule lets it send what lies in `outside/`: it runs alone, and makes way for what they said yes to.
    Rule,
    /// A turn that has read nothing of a stranger's.
    Clean,
    /// A turn that has.
    Tainted,
}

impl StartedBy {
    /// A turn with this label, or the owner's yes. `sends_outside`: it can send what lies in `outside/`.
    pub(crate) fn of(trust: Trust, is_approved: bool, sends_outside: bool) -> Self {
        match (is_approved, sends_outside, trust.is_foreign()) {
            (true, ..) => Self::Yes,
            (false, true, _) => Self::Rule,
            (false, false, false) => Self::Clean,
            (false, false, true) => Self::Tainted,
        }
    }
}

/// As long as this lives, no program starts that would run alone; with such a one no other program and no change of a file. Nothing is
/// laid into `outside/` beside a program that can send what lies there.
pub(crate) struct Turn {
    /// What an approved program that waits holds; none of what makes way for none.
    next: Option<PathBuf>,
    /// The lock of the files, which a program has that runs alone; nothing is changed beside it.
    files: Option<FilesLock>,
    /// The system lets go of them with the process.
    _held: Vec<File>,
}

impl Turn {
    /// The lock of the files, where the turn has it.
    pub(super) fn files(&self) -> Option<&FilesLock> {
        self.files.as_ref()
    }

    /// Waits until an approved program waits for this turn to end. For one that was approved itself that never comes.
    pub(crate) fn is_wanted(&self) -> Stop {
        let Some(next) = self.next.clone() else { return Box::pin(std::future::pending()) };
        Box::pin(async move {
            // What cannot be looked at wants nothing.
            while !matches!(locks::now(&next, How::Shared), Ok(None)) {
                tokio::time::sleep(LOOK).await;
            }
        })
    }
}

/// Waits until a program may start. One that was approved goes first: as soon as it waits, no other one starts.
///
/// # Errors
/// A sentence, when others do not end in time: then it must not start.
pub(super) async fn turn(home: &Home, by: StartedBy, kind: Option<StrangersProgram>) -> Result<Turn, Sentence> {
    turn_until(home, by, kind, Instant::now() + PATIENCE).await
}

async fn turn_until(
    home: &Home,
    by: StartedBy,
    kind: Option<StrangersProgram>,
    until: Instant,
) -> Result<Turn, Sentence> {
    let (next, programs) = (home.next_program_lock(), home.programs_lock());
    if matches!(by, StartedBy::Clean | StartedBy::Tainted) {
        let of_kind = match kind {
            Some(kind) => Some(among_its_kind(home, kind, until).await?),
            None => None,
        };
        let places = if by == StartedBy::Clean { AT_ONCE } else { AT_ONCE_TAINTED };
        loop {
            // The first one is let go of at once: it only says that no approved program waits.
            let first = locks::now(&next, How::Shared).map_err(failed)?;
            let held = first.map(|_| locks::now(&programs, How::Shared)).transpose().map_err(failed)?.flatten();
            let place = if held.is_some() { place(home, places).map_err(failed)? } else { None };
            match (held, place) {
                (Some(held), Some(place)) => {
                    let held = [held, place].into_iter().chain(of_kind).collect();
                    return Ok(Turn { next: Some(next), files: None, _held: held });
                }
                (Some(_), None) if Instant::now() >= until => {
                    return Err(sentence!("{} programs run already; call this one again when one has ended", places));
                }
                (None, _) if Instant::now() >= until => {
                    return Err(
                        "a program that the owner approved goes first; call this one again when that has ended".into(),
                    );
                }
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }
    let others = || others(by);
    let take = async |path: &Path| locks::take(path, How::Alone, until).await.map_err(failed)?.ok_or_else(others);
    // What was approved keeps others from starting while it waits, and ends those that make way.
    let _next = if by == StartedBy::Yes { Some(take(&next).await?) } else { None };
    let held = vec![take(&programs).await?];
    let files = FilesLock::take(home, until).await.map_err(failed)?.ok_or_else(others)?;
    Ok(Turn { next: (by == StartedBy::Rule).then_some(next), files: Some(files), _held: held })
}

/// Waits until no program of the other kind runs, and keeps those away as long as what it returns lives. Whoever waits is the next:
/// no later one of either kind starts before it.
async fn among_its_kind(home: &Home, kind: StrangersProgram, until: Instant) -> Result<File, Sentence> {
    let sees = kind.sees();
    let others = || match kind {
        StrangersProgram::Sends => sentence!(
            "it can send, so it does not run beside a program that may be a stranger's and sees what is the owner's; call it again \
             when that has ended"
        ),
        StrangersProgram::Leaves => sentence!(
            "it can leave files, so it does not run beside a program that may be a stranger's and sees what is the owner's; call it \
             again when that has ended"
        ),
        StrangersProgram::Sees => sentence!(
            "it sees what is the owner's, so it does not run beside a program that may be a stranger's and can send or leave \
             something; call it again when that has ended"
        ),
    };
    let take = async |path: &Path, how| locks::take(path, how, until).await.map_err(failed)?.ok_or_else(others);
    let _next = take(&home.next_kind_lock(), How::Alone).await?;
    // Let go of at once: nobody of the other kind starts while the one above is held, and none after that beside what is returned.
    drop(take(&home.kind_lock(!sees), How::Alone).await?);
    take(&home.kind_lock(sees), How::Shared).await
}

fn failed(error: io::Error) -> Sentence {
    sentence!("it cannot be kept apart from other programs: {}", echoed(error))
}

/// One of so many places, if one is free.
fn place(home: &Home, places: usize) -> io::Result<Option<File>> {
    std::fs::create_dir_all(home.folder_locks())?;
    // From the last one down: who may have few places finds them free for as long as it can be.
    for number in (0..places).rev() {
        if let Some(place) = locks::now(&home.program_place(number), How::Alone)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn others(by: StartedBy) -> Sentence {
    match by {
        StartedBy::Rule => {
            "it can send what lies in outside/, so it runs beside no other program; call it again when that has ended"
                .into()
        }
        _ => {
            "another program is running, and what was approved may change meanwhile; call it again when that has ended"
                .into()
        }
    }
}

/// Removes copies of approved files that a process left behind when it was killed.
pub(super) fn clear_copies(home: &Home, now: SystemTime) {
    let Ok(entries) = home.approved_copies().read_dir() else { return };
    let is_old = |entry: &std::fs::DirEntry| {
        let changed = entry.metadata().and_then(|about| about.modified());
        changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > LEFT_BEHIND))
    };
    // One that stays takes room, and nothing more.
    entries.flatten().filter(is_old).for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}

#[cfg(test)]
mod tests {
    use limpid_tools::StrangersProgram::{Leaves, Sees, Sends};

    use super::StartedBy::{Clean, Rule, Tainted, Yes};
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("data")).unwrap();
        let home = Home::new(folder.path());
        (folder, home)
    }

    async fn at_once(home: &Home, by: StartedBy) -> Result<Turn, Sentence> {
        turn_until(home, by, None, Instant::now()).await
    }

    async fn of_kind(home: &Home, kind: StrangersProgram) -> Result<Turn, Sentence> {
        turn_until(home, Clean, Some(kind), Instant::now()).await
    }

    // SEC-058 SEC-084
    #[tokio::test]
    async fn programs_that_see_are_never_beside_those_that_send_or_leave_something() {
        let (_folder, home) = home();
        let sees = "it sees what is the owner's";
        for (one, other, why) in [
            (Sees, Sends, "it can send"),
            (Sends, Sees, sees),
            (Sees, Leaves, "it can leave files"),
            (Leaves, Sees, sees),
        ] {
            let first = of_kind(&home, one).await.unwrap();
            let second = of_kind(&home, one).await.unwrap();
            let refused = of_kind(&home, other).await.map(drop).unwrap_err();
            assert!(refused.text().starts_with(why) && refused.text().ends_with("when that has ended"), "{refused:?}");
            assert!(at_once(&home, Clean).await.is_ok(), "the owner's own program runs beside both");
            drop(first);
            assert!(of_kind(&home, other).await.is_err());
            drop(second);
            assert!(of_kind(&home, other).await.is_ok());
        }
        let _sending = of_kind(&home, Sends).await.unwrap();
        assert!(of_kind(&home, Leaves).await.is_ok(), "neither knows what the other must not");
    }

    // SEC-058 SEC-093
    #[tokio::test]
    async fn of_two_kinds_whoever_waits_is_the_next() {
        let (_folder, home) = home();
        let first = of_kind(&home, Sees).await.unwrap();
        let waiting = tokio::spawn({
            let home = home.clone();
            async move { turn(&home, Clean, Some(Sends)).await }
        });
        // As soon as it waits, no other one of the kind that runs starts.
        while of_kind(&home, Sees).await.is_ok() {
            tokio::task::yield_now().await;
        }
        drop(first);
        let sending = waiting.await.unwrap().unwrap();
        assert!(of_kind(&home, Sees).await.is_err() && of_kind(&home, Sends).await.is_ok());
        drop(sending);
        assert!(of_kind(&home, Sees).await.is_ok());
    }

    // SEC-084 SEC-093
    #[tokio::test]
    async fn so_many_run_at_once_and_those_of_strangers_leave_room_for_the_others() {
        let (_folder, home) = home();
        let mut running = Vec::new();
        for _ in 0..AT_ONCE_TAINTED {
            running.push(at_once(&home, Tainted).await.unwrap());
        }
        assert!(at_once(&home, Tainted).await.is_err_and(|why| why.text().starts_with("4 programs run already")));
        for _ in 0..AT_ONCE - AT_ONCE_TAINTED {
            running.push(at_once(&home, Clean).await.unwrap());
        }
        assert!(at_once(&home, Clean).await.is_err());
        running.pop();
        assert!(at_once(&home, Clean).await.is_ok() && at_once(&home, Tainted).await.is_err());
        // The other way round: programs of the owner's leave those of strangers their places.
        running.clear();
        for _ in 0..AT_ONCE - AT_ONCE_TAINTED {
            running.push(at_once(&home, Clean).await.unwrap());
        }
        for _ in 0..AT_ONCE_TAINTED {
            running.push(at_once(&home, Tainted).await.unwrap());
        }
    }

    // SEC-058 SEC-093
    #[tokio::test]
    async fn what_a_rule_lets_send_runs_alone_and_makes_way() {
        let (_folder, home) = home();
        let clean = at_once(&home, Clean).await.unwrap();
        let refused = at_once(&home, Rule).await.map(drop).unwrap_err();
        assert!(refused.text().starts_with("it can send what lies in outside/"), "{refused:?}");
        drop(clean);
        let ruled = at_once(&home, Rule).await.unwrap();
        assert!(ruled.files().is_some() && at_once(&home, Clean).await.is_err());
        let waiting = tokio::spawn({
            let home = home.clone();
            async move { turn(&home, Yes, None).await }
        });
        ruled.is_wanted().await;
        drop(ruled);
        waiting.await.unwrap().unwrap();
    }

    // SEC-076 SEC-093
    #[tokio::test]
    async fn an_approved_program_that_waits_goes_first() {
        let (_folder, home) = home();
        let unasked = at_once(&home, Clean).await.unwrap();
        let beside = at_once(&home, Clean).await.unwrap();
        let waiting = tokio::spawn({
            let home = home.clone();
            async move { turn(&home, Yes, None).await }
        });
        // Those that run hear of it, and no other one starts.
        unasked.is_wanted().await;
        beside.is_wanted().await;
        assert!(at_once(&home, Clean).await.is_err_and(|why| why.text().contains("goes first")));
        drop((unasked, beside));
        let approved = waiting.await.unwrap().unwrap();
        assert!(at_once(&home, Clean).await.is_err() && at_once(&home, Yes).await.is_err());
        drop(approved);
        assert!(at_once(&home, Yes).await.is_ok() && at_once(&home, Clean).await.is_ok());
    }
}
