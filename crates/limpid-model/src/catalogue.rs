//! What is known of models, and the local models that can be fetched.
//!
//! - [`ModelProfiles`]: window, tools, price and the like, by name, from the owner's `models.toml` and the shipped one
//! - [`Table`]: hundreds of models from a public list; one is shipped, a newer one can be fetched
//! - [`Downloads`]: the models to fetch, what is there, and fetching, checking and removing them

mod changes;
mod download;
mod downloads;
mod entry;
mod family;
mod fetch;
mod file;
mod hub;
mod import;
mod list;
mod package;
mod part;
mod pattern;
mod pin;
mod profile;
mod pull;
mod table;
mod transfer;

pub use changes::{FactChange, ModelChange, TableChanges};
pub use download::{Download, PackageSource, Source};
pub use downloads::{Downloads, Installed, Listed};
pub use file::CatalogueError;
pub use hub::HubModel;
pub use import::LARGEST_LIST;
pub(crate) use import::{day, tokens};
pub use list::fetch_list;
pub use profile::{ModelProfile, ModelProfiles};
pub use pull::{FetchSettings, Fetched, Instead, Progress, PullError, Step};
pub use table::{Head, Table};

#[cfg(test)]
#[cfg(unix)]
mod tests;
