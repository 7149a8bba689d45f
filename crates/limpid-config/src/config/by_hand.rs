//! Why some settings are changed in the file alone: a browser that is logged in, or somebody who took its cookie, must not get
//! further than the owner lets the agent go.

pub(super) const PROGRAMS: &str = "Controls which programs run and what they can reach.";
pub(super) const FOLDERS: &str = "Opens folders of this machine.";
pub(super) const RULES: &str = "Controls what happens without your approval.";
pub(super) const KEYS: &str = "Controls where keys come from and go to.";
pub(super) const ADDRESSES: &str = "An address that this machine contacts.";
pub(super) const DOORS: &str = "Controls who can reach this machine.";
