//! Whether a yes to a server of an editor can outlast the session. What a program reads that starts from a folder of somebody else's
//! becomes another one with every change there, and no look at its words says what that is. So a yes lasts only for a few shapes of a
//! command: a package's name for a runner, an image for a container, a script or a program in a place that no project lies in. Every
//! other command is asked about once a session.

mod places;
mod shape;
#[cfg(all(test, unix))]
mod tests;
mod words;

use limpid_config::McpServerConfig;

pub(crate) use crate::starts::places::Places;
use crate::starts::shape::Shape;
use crate::starts::words::is_safe_variable;

/// Whether a yes to a server lasts.
pub(crate) fn may_last(server: &McpServerConfig, places: &Places) -> bool {
    let Some(command) = &server.command else {
        return true;
    };
    let is_shaped = || {
        let path = server.env.get("PATH").unwrap_or(&places.path);
        let program = places.program(command, path);
        program.is_some_and(|program| Shape::of(&program, &server.args).lasts(&server.args, places))
            && server.env.iter().all(|(name, value)| is_safe_variable(name, value, places))
    };
    let mut words = std::iter::once(command).chain(&server.args).chain(server.env.values());
    places.foreign.is_empty() && !words.any(|word| places.names_strangers(word)) || is_shaped()
}
