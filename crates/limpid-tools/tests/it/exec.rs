//! Programs in the sandbox, each trying what it must not be able to.

mod cgroups;
mod folders;
mod frozen;
mod grants;
mod kit;
mod layers;
mod limits;
mod network;
mod of_call;
mod planted;
mod views;
mod watcher;
