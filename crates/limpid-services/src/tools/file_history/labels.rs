//! The label of what a call reads of files. A program that runs may show one content for as long as a read takes, and another one to whoever
//! looks before or afterwards, so a label comes of both looks and of the programs that ran in between. So it is with the names in a folder.

use limpid_core::Trust;
use limpid_core::policy::PathFacts;

use super::FileHistory;

/// A read of files that is about to be made. Only [`Reading::end`] says whose text it gave.
pub(crate) struct Reading<'a> {
    history: &'a FileHistory,
    paths: Vec<&'a PathFacts>,
    /// Whether the reader is a program, whose own run is no other one's.
    by_program: bool,
    /// How many programs had ever begun; none when that is unknown.
    begun: Option<i64>,
    trust: Trust,
}

impl<'a> Reading<'a> {
    /// Looks at the files before they are read.
    pub(crate) async fn begin(history: &'a FileHistory, paths: Vec<&'a PathFacts>, by_program: bool) -> Self {
        let mut reading = Self { history, paths, by_program, begun: None, trust: Trust::Owner };
        if !reading.paths.is_empty() {
            reading.begun = history.programs_begun().await;
            reading.trust = reading.look().await;
        }
        reading
    }

    /// The label of what was read, after it was.
    pub(crate) async fn end(self) -> Trust {
        if self.paths.is_empty() {
            return Trust::Owner;
        }
        let trust = self.trust.join(self.look().await);
        // One that began and ended in between is seen by neither look, and nobody knows any more which folders its tool let it write.
        let may_have_run = self.begun.is_none() || self.history.programs_begun().await != self.begun;
        if may_have_run && !self.by_program { Trust::Outside } else { trust }
    }

    async fn look(&self) -> Trust {
        let (history, mut trust) = (self.history, Trust::Owner);
        for path in &self.paths {
            trust = trust.join(history.trust_of(path).await);
            // A program that made its path lead elsewhere may be over by now, and where it leads nobody was asked about.
            if !self.by_program && (history.leads_elsewhere(path).await || history.may_be_changing(path).await) {
                trust = trust.join(Trust::Outside);
            }
        }
        trust
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::file_history::bench::Bench;
    use crate::tools::policy::real;

    /// The folder is one that no setting grants: the tool of the program gave it.
    // SEC-061 SEC-094
    #[tokio::test]
    async fn what_is_read_while_a_program_began_and_ended_between_the_looks_is_a_strangers() {
        let (bench, given) = (Bench::new(), tempfile::tempdir().unwrap());
        let file = real(given.path()).join("news.txt");
        std::fs::write(&file, "Tea.\n").unwrap();
        let path = bench.path(&file.display().to_string());
        for (runs, by_program, wanted) in
            [(false, false, Trust::Owner), (true, false, Trust::Outside), (true, true, Trust::Owner)]
        {
            let reading = Reading::begin(&bench.history, vec![&path], by_program).await;
            if runs {
                let run = bench.begin(given.path()).await;
                bench.end(run).await;
            }
            assert_eq!(reading.end().await, wanted, "{runs} {by_program}");
        }
    }

    // SEC-061 SEC-094
    #[tokio::test]
    async fn names_in_a_folder_are_a_strangers_beside_a_program_that_runs_and_once_it_has_ended() {
        let bench = Bench::new();
        let path = bench.path("docs");
        let begin = async || Reading::begin(&bench.history, vec![&path], false).await;
        assert_eq!(begin().await.end().await, Trust::Owner);
        let run = bench.begin(&bench.home.workspace()).await;
        assert_eq!(begin().await.end().await, Trust::Outside, "it runs");
        let reading = begin().await;
        bench.end(run).await;
        assert_eq!(reading.end().await, Trust::Outside, "it ended meanwhile");
        assert_eq!(begin().await.end().await, Trust::Owner, "it has ended");
    }
}
