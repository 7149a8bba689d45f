//! Programs: whether they can be run here, and the tools that do.

use std::path::Path;

use limpid_config::{Config, Environment, Home};

/// Why programs are not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The reason, as the end of "programs are not run:".
    pub why: &'static str,
    /// What the owner can do, if they may not want it so.
    pub advice: Option<&'static str>,
}

/// Whether programs can be run here. `helper` is the binary that makes the sandbox.
///
/// # Errors
/// [`Unavailable`] with the reason.
pub fn running(config: &Config, helper: Option<&Path>) -> Result<(), Unavailable> {
    if !config.exec.enabled {
        return Err(Unavailable { why: "limpid.toml says so", advice: None });
    }
    if helper.is_none() {
        return Err(Unavailable { why: "this program does not make sandboxes", advice: None });
    }
    support()
}

#[cfg(target_os = "linux")]
fn support() -> Result<(), Unavailable> {
    let missing = limpid_tools::exec::sandbox::support().err();
    missing.map_or(Ok(()), |missing| Err(Unavailable { why: missing.why(), advice: Some(missing.advice()) }))
}

#[cfg(not(target_os = "linux"))]
fn support() -> Result<(), Unavailable> {
    Err(Unavailable { why: "only Linux has the sandbox that programs need", advice: None })
}

#[cfg(target_os = "linux")]
pub use linux::{folder_troubles, left_out, tools};

#[cfg(not(target_os = "linux"))]
pub fn tools(_: &Home, _: &Config, _: &Environment, _: Option<&Path>) -> Vec<std::sync::Arc<dyn crate::tools::Tool>> {
    Vec::new()
}

/// What is wrong with the folders of `[[exec.folders]]`, a sentence each.
#[cfg(not(target_os = "linux"))]
pub fn folder_troubles(_: &Home, _: &Config, _: &Environment, _: Option<&Path>) -> Vec<String> {
    Vec::new()
}

/// Sentences about granted folders that programs do not get.
#[cfg(not(target_os = "linux"))]
pub fn left_out(_: &Home, _: &Config, _: &Environment, _: Option<&Path>) -> Vec<String> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Arc;

    use limpid_config::ExecFolder;
    use limpid_config::named_folder::NotUsed;
    use limpid_tools::exec::confinement::{Limits, Network};
    use limpid_tools::exec::places::Places;
    use limpid_tools::exec::{Exec, FolderRules, Programs};

    use super::{Config, Environment, Home, Path, running};
    use crate::tools::Tool;
    use crate::tools::builtin::files;

    /// Variables that every program may know: they say how to write words and times.
    const HARMLESS: [&str; 5] = ["LANG", "LC_ALL", "LC_CTYPE", "LC_TIME", "TZ"];

    const MEGABYTE: u64 = 1024 * 1024;

    /// One tool under its two names; a profile offers one of them.
    pub fn tools(home: &Home, config: &Config, environment: &Environment, helper: Option<&Path>) -> Vec<Arc<dyn Tool>> {
        let Some(programs) = helper.and_then(|helper| programs(home, config, environment, helper)) else {
            return Vec::new();
        };
        programs.resolve();
        let programs = Arc::new(programs);
        vec![Arc::new(Exec::new(Arc::clone(&programs))), Arc::new(Exec::as_shell_command(programs))]
    }

    /// Sentences about granted folders, and files of toolchains, that programs do not get.
    pub fn left_out(home: &Home, config: &Config, environment: &Environment, helper: Option<&Path>) -> Vec<String> {
        let programs = helper.and_then(|helper| programs(home, config, environment, helper));
        let Some(programs) = programs else { return Vec::new() };
        let says =
            |file: std::path::PathBuf| format!("`{}` holds credentials; programs do not get it.", file.display());
        let kept_back = match programs.kept_back() {
            Ok(files) => files.into_iter().map(says).collect(),
            Err(why) => vec![format!("{why}.")],
        };
        programs.left_out().into_iter().chain(kept_back).collect()
    }

    /// What is wrong with the folders of `[[exec.folders]]`, a sentence each: where one says something that never holds.
    pub fn folder_troubles(
        home: &Home,
        config: &Config,
        environment: &Environment,
        helper: Option<&Path>,
    ) -> Vec<String> {
        let programs = helper.and_then(|helper| programs(home, config, environment, helper));
        let Some(programs) = programs else { return Vec::new() };
        let (mut troubles, resolver) = (Vec::new(), config.files.resolver(home));
        for ExecFolder { folder, programs: named, .. } in &config.exec.folders {
            let place = format!("[[exec.folders]] in limpid.toml: {}", folder.display());
            if !folder.is_dir() {
                troubles.push(format!("{place} does not exist or is not a folder. Make it, or take it out."));
            } else if matches!(resolver.open(folder), Err(NotUsed::Link(_))) {
                troubles.push(format!(
                    "{place} leads over a link that somebody else could have laid, so what is said of it holds nowhere. Name \
                     the folder that it leads to."
                ));
            } else if !named.is_empty() && !programs.grants.is_strangers(folder) {
                troubles.push(format!(
                    "{place} is not in an untrusted folder of [files], so `programs` does nothing there. Take `programs` out."
                ));
            }
            let missing = named.iter().filter(|name| !programs.has(name));
            troubles.extend(missing.map(|name| {
                format!(
                    "{place} names the program `{name}`, which is not found. Install it, or add its folder to `path` \
                     under [exec]."
                )
            }));
        }
        troubles
    }

    fn programs(home: &Home, config: &Config, environment: &Environment, helper: &Path) -> Option<Programs> {
        running(config, Some(helper)).ok()?;
        let exec = &config.exec;
        let variable = |name: &str| Some((name.to_owned(), environment.get(name)?.to_owned()));
        let grants = files::grants(home, &config.files);
        let limits = Limits {
            seconds: exec.seconds.max(1),
            memory_bytes: exec.memory_megabytes.saturating_mul(MEGABYTE),
            processes: exec.processes.max(1),
            disk_bytes: exec.disk_megabytes.saturating_mul(MEGABYTE),
            files: exec.files,
            ..Limits::default()
        };
        Some(Programs {
            grants,
            scripts: vec![home.skills(), home.builtin_skills()],
            helper: helper.to_owned(),
            home: home.path().to_owned(),
            outside: home.outside(),
            toolchains: exec.toolchains.clone(),
            shell: exec.shell,
            network: Network {
                names: exec.network.clone(),
                also: config.web.also.clone(),
                mirrors: config.web.mirrors.clone(),
                trusted: exec.trusted_network.clone(),
            },
            path: exec.path.clone(),
            environment: HARMLESS.into_iter().filter_map(variable).collect(),
            own_environment: exec.environment.iter().filter_map(|name| variable(name)).collect(),
            limits,
            folders: exec.folders.iter().map(|folder| rules(folder, limits)).collect(),
            places: Places::default(),
        })
    }

    /// What the owner wrote down about a folder, with what holds everywhere where they say nothing.
    fn rules(folder: &ExecFolder, usual: Limits) -> FolderRules {
        let limits = Limits {
            seconds: folder.seconds.unwrap_or(usual.seconds).max(1),
            disk_bytes: folder.disk_megabytes.map_or(usual.disk_bytes, |megabytes| megabytes.saturating_mul(MEGABYTE)),
            files: folder.files.unwrap_or(usual.files),
            ..usual
        };
        FolderRules { folder: folder.folder.clone(), programs: folder.programs.clone(), limits }
    }
}
