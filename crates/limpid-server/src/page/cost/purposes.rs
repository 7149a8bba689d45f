//! What requests were for, in the words of the owner's profile.

use std::collections::BTreeMap;

use limpid_prompt::profile::Path;
use limpid_prompt::shown::shown_line;
use limpid_runtime::profiles::Reader;

use crate::page::state::Page;

/// The titles of prompt paths.
pub(super) struct Purposes(BTreeMap<String, String>);

impl Purposes {
    /// Those of the owner's profile; none where it cannot be read.
    pub(super) fn new(page: &Page) -> Self {
        let profile = page.agent.profiles().profile(&page.agent.config().agent.profile, Reader::Owner);
        let title = |path: &Path| (path.name.clone(), shown_line(&path.title));
        Self(profile.map(|profile| profile.paths().map(title).collect()).unwrap_or_default())
    }

    /// The title of a path; its name where the profile has no such path.
    pub(super) fn of(&self, path: &str) -> String {
        self.0.get(path).cloned().unwrap_or_else(|| shown_line(path))
    }
}
