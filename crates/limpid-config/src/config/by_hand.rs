//! Why some settings are changed in the file alone: a browser that is logged in, or somebody who took its cookie, must not get
//! further than the owner lets the agent go.

pub(super) const PROGRAMS: &str = "It says which programs run, and what they reach.";
pub(super) const FOLDERS: &str = "It opens folders of this machine.";
pub(super) const RULES: &str = "It says what happens without your yes.";
pub(super) const KEYS: &str = "It says where keys come from and go to.";
pub(super) const ADDRESSES: &str = "It is an address that this machine asks.";
pub(super) const DOORS: &str = "It says who reaches this machine.";
