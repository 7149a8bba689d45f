//! Whether a process serves the home, and whether it goes by the settings of now.

use limpid_config::{
    process::{Daemon, Standing},
    read_text,
};

use crate::agent::AgentOptions;
use crate::doctor::check::{Check, Finding};

pub(crate) fn check(options: &AgentOptions) -> Check {
    Check::of("serve", serving(options))
}

fn serving(options: &AgentOptions) -> Finding {
    const RESTART: &str = "Restart `limpid serve`.";
    let Some(daemon) = Daemon::of(&options.home) else {
        let says = "is not running, so tasks and heartbeats wait; `limpid service install` keeps it running";
        return Ok(says.to_owned());
    };
    let Daemon { pid, version, standing, .. } = daemon;
    if let Some(problem) = standing.problem {
        let says = format!("process {pid} still uses the previous settings: {problem}");
        return Err((says, "Correct limpid.toml; the change is applied at once."));
    }
    if version != env!("CARGO_PKG_VERSION") {
        return Err((format!("process {pid} is Limpid {version}, this is {}", env!("CARGO_PKG_VERSION")), RESTART));
    }
    if !standing.restart.is_empty() {
        let says = format!("process {pid} does not use what has changed: {}", standing.restart.join(", "));
        return Err((says, RESTART));
    }
    let text = options.config_file.as_ref().and_then(|file| read_text(file).ok()).map(Option::unwrap_or_default);
    if let (Some(used), Some(text)) = (&standing.config, text)
        && *used != Standing::hash(&text)
    {
        return Err((format!("process {pid} has not taken over the newest limpid.toml"), "Look again in a minute."));
    }
    Ok(format!("process {pid} runs, with limpid.toml as it is"))
}
