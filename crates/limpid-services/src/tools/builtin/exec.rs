//! Programs: whether they can be run here, and the tools that do.

use std::path::Path;

use limpid_config::{Config, Environment, Home, SandboxChoice};

/// How programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// The kernel confines them.
    Confined,
    /// They have limits, and otherwise the rights of Limpid itself: the owner said so.
    Free,
}

/// Whether programs can be run here, and how; if not, why. `helper` is the binary that makes the sandbox.
pub fn running(config: &Config, helper: Option<&Path>) -> Result<Running, &'static str> {
    if !config.exec.enabled {
        return Err("limpid.toml says so");
    }
    let missing = match (helper, support()) {
        (None, _) => return Err("this program does not make sandboxes"),
        (Some(_), Ok(())) if config.exec.sandbox == SandboxChoice::Required => return Ok(Running::Confined),
        (Some(_), Ok(())) => "",
        (Some(_), Err(missing)) => missing,
    };
    match config.exec.sandbox {
        SandboxChoice::Required => Err(missing),
        SandboxChoice::Off if cfg!(target_os = "linux") => Ok(Running::Free),
        SandboxChoice::Off => Err("only Linux has what it takes"),
    }
}

#[cfg(target_os = "linux")]
fn support() -> Result<(), &'static str> {
    limpid_tools::exec::sandbox::support()
}

#[cfg(not(target_os = "linux"))]
fn support() -> Result<(), &'static str> {
    Err("only Linux has the sandbox that programs need")
}

#[cfg(target_os = "linux")]
pub use linux::tools;

#[cfg(not(target_os = "linux"))]
pub fn tools(_: &Home, _: &Config, _: &Environment, _: Option<&Path>) -> Vec<std::sync::Arc<dyn crate::tools::Tool>> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Arc;

    use limpid_tools::exec::confinement::Limits;
    use limpid_tools::exec::{Exec, Programs};

    use super::{Config, Environment, Home, Path, Running, running};
    use crate::tools::Tool;
    use crate::tools::builtin::files;

    /// Variables that every program may know: they say how to write words and times.
    const HARMLESS: [&str; 5] = ["LANG", "LC_ALL", "LC_CTYPE", "LC_TIME", "TZ"];

    /// One tool under its two names; a profile offers one of them.
    pub fn tools(home: &Home, config: &Config, environment: &Environment, helper: Option<&Path>) -> Vec<Arc<dyn Tool>> {
        let Some(programs) = helper.and_then(|helper| programs(home, config, environment, helper)) else {
            return Vec::new();
        };
        let programs = Arc::new(programs);
        vec![Arc::new(Exec::new(Arc::clone(&programs))), Arc::new(Exec::as_shell_command(programs))]
    }

    fn programs(home: &Home, config: &Config, environment: &Environment, helper: &Path) -> Option<Programs> {
        let running = running(config, Some(helper)).ok()?;
        let exec = &config.exec;
        let names = HARMLESS.into_iter().chain(exec.environment.iter().map(String::as_str));
        let variable = |name: &str| Some((name.to_owned(), environment.get(name)?.to_owned()));
        Some(Programs {
            grants: files::grants(home, &config.files),
            scripts: vec![home.skills(), home.builtin_skills()],
            helper: helper.to_owned(),
            confined: running == Running::Confined,
            shell: exec.shell,
            network: exec.network,
            modes: exec.modes,
            path: exec.path.clone(),
            environment: names.filter_map(variable).collect(),
            limits: Limits {
                seconds: exec.seconds.max(1),
                memory_bytes: exec.memory_megabytes.saturating_mul(1024 * 1024),
                processes: exec.processes.max(1),
                ..Limits::default()
            },
        })
    }
}
