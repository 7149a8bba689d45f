//! Fuzz targets: each takes any bytes, hands them to one entry of Limpid, and checks what has to hold of the result.
//!
//! `cargo xtask fuzz` searches with libFuzzer; the test of this crate plays the corpus, in which every input that once broke
//! something stays.

#![allow(clippy::disallowed_methods, reason = "it reads its own repository")]

mod formats;
mod mcp;
mod model;
mod server;
mod texts;

/// A name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 18] = [
    ("arguments", model::arguments),
    ("boundary", texts::boundary),
    ("config", formats::config),
    ("html", formats::html),
    ("http", server::http),
    ("journal", formats::journal),
    ("line", texts::line),
    ("mail", formats::mail),
    ("markers", texts::markers),
    ("mcp", mcp::mcp),
    ("profile", formats::profile),
    ("schedule", formats::schedule),
    ("section", formats::section),
    ("shown", texts::shown),
    ("skill", formats::skill),
    ("stream", model::stream),
    ("turn", model::turn),
    ("ui", texts::ui),
];

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|(known, _)| *known == name)
}
