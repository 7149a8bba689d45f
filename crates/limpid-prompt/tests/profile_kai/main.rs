//! The `kai` profile against its specification: goldens, gates, entry lines, the budget of the local path, boundaries.

#![allow(clippy::unwrap_used)]

mod chat;
mod gates;
#[path = "../golden/mod.rs"]
mod golden;
mod goldens;
mod heartbeat;
mod interface;
mod local;
mod pick;

use golden::{render, scenario, system, user};
use limpid_prompt::Inputs;

fn remote() -> Inputs {
    scenario("kai", "golden-chat-remote")
}

fn heartbeat() -> Inputs {
    scenario("kai", "golden-heartbeat")
}

fn remote_text(inputs: &Inputs) -> String {
    system(&render("kai", "chat-remote", inputs))
}

fn local_text(inputs: &Inputs) -> String {
    system(&render("kai", "chat-local", inputs))
}

fn heartbeat_text(inputs: &Inputs) -> String {
    user(&render("kai", "heartbeat", inputs))
}
