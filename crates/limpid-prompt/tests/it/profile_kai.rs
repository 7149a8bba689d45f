//! The `kai` profile against its specification: goldens, gates, entry lines, the budget of the local path, boundaries.

mod chat;
mod gates;
mod goldens;
mod heartbeat;
mod interface;
mod local;
mod pick;

use crate::golden::{render, scenario, system, user};
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
