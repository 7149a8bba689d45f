//! Files that are acted on as soon as they are opened, or ask somebody for something: what a call writes into such a one runs, or leaves,
//! when its owner looks.

use std::io::ErrorKind;
use std::path::Path;

use limpid_config::{MAX_FILE, regular_file};
use limpid_core::policy::{Effect, FileChange, PathFacts};
use limpid_prompt::shown::{WhenOpened, when_opened};
use serde_json::Value;

use crate::tools::Tool;
use crate::tools::policy::facts::CallFacts;
use crate::tools::policy::{CallContext, ToolPolicy};

impl CallFacts {
    /// Marks files for strangers' text that are not written unasked. These would run something or tell somebody something as soon as they
    /// are opened, judged as they would be after the call, or are notes in a place where a project may be. Whether something private was
    /// read already is of no account: a page can load what is written later beside it.
    pub(crate) fn know_drawn_files(
        &mut self,
        tool: &dyn Tool,
        arguments: &Value,
        context: &CallContext,
        policy: &ToolPolicy,
    ) {
        if !context.trust.is_foreign() || self.effect != Effect::Files {
            return;
        }
        for path in self.paths.iter_mut().filter(|path| is_low_change(path)) {
            let real = path.real.as_path();
            match when_opened(real, left_by(tool, arguments, real).as_deref()) {
                WhenOpened::Shows if policy.paths.takes_notes(real) => {}
                WhenOpened::Shows => path.change = FileChange::FarReaching,
                WhenOpened::Acts if policy.leaves_code => {}
                WhenOpened::Acts | WhenOpened::Fetches => path.change = FileChange::Drawn,
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
