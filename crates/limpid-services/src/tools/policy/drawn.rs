//! Files that are acted on as soon as they are opened, or ask somebody for something: what a call writes into such a one runs, or leaves,
//! when its owner looks.

use std::io::ErrorKind;
use std::path::Path;

use limpid_config::{MAX_FILE, regular_file};
use limpid_core::policy::{Effect, FileChange, PathFacts};
use limpid_prompt::shown::{WhenOpened, when_opened};
use serde_json::Value;

use crate::tools::Tool;
use crate::tools::policy::CallContext;
use crate::tools::policy::facts::CallFacts;

impl CallFacts {
    /// Marks files for strangers' text that would run something or tell somebody something as soon as they are opened, judged as they
    /// would be after the call. Whether something private was read already is of no account: a page can load what is written later
    /// beside it. `code` says whether code may lie there without a question.
    pub(crate) fn know_drawn_files(&mut self, tool: &dyn Tool, arguments: &Value, context: &CallContext, code: bool) {
        if !context.trust.is_foreign() || self.effect != Effect::Files {
            return;
        }
        for path in self.paths.iter_mut().filter(|path| is_low_change(path)) {
            let real = path.real.as_path();
            let is_drawn = match when_opened(real, left_by(tool, arguments, real).as_deref()) {
                WhenOpened::Shows => false,
                // A formula knows its own table, which tells only what was read before.
                WhenOpened::Calculates => context.window.is_private,
                WhenOpened::Acts => !code,
                WhenOpened::Fetches => true,
            };
            if is_drawn {
                path.change = FileChange::Drawn;
            }
        }
    }

    /// Whether the call was judged as one that may leave such a file, or by a rule that holds for every file.
    pub(crate) fn may_be_drawn(&self) -> bool {
        !self.paths.iter().any(is_low_change)
    }
}

fn is_low_change(path: &PathFacts) -> bool {
    path.write && path.change == FileChange::OwnLow
}

/// What the file at a place would hold after a call; none where that cannot be said.
fn left_by(tool: &dyn Tool, arguments: &Value, place: &Path) -> Option<String> {
    match regular_file::read_text(place, MAX_FILE) {
        Ok(before) => tool.leaves(arguments, Some(&before)),
        Err(error) if error.kind() == ErrorKind::NotFound => tool.leaves(arguments, None),
        Err(_) => None,
    }
}
