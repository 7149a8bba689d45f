//! What is known of models, and the local models that can be fetched.
//!
//! - [`ModelProfiles`]: window, tools, price and the like, by name, from the shipped `models.toml` and the owner's
//! - [`Downloads`]: the models to fetch, what is there, and fetching, checking and removing them

mod download;
mod fetch;
mod file;
mod hub;
mod package;
mod pin;
mod profile;
mod transfer;

pub use download::{Download, Downloads, Installed, Listed, PackageSource, Source};
pub use fetch::{FetchSettings, Fetched, Instead, Progress, PullError, Step};
pub use file::CatalogueError;
pub use hub::HubModel;
pub use profile::{ModelProfile, ModelProfiles};

#[cfg(test)]
#[cfg(unix)]
mod tests;
