//! Checks of everything that an answer needs, one line each. They need no open agent, since it may be the
//! opening that fails.

mod check;
mod inbox;
mod mcp;
mod models;
mod modes;
mod parsing;
mod prompts;
mod rules;
mod serving;

use std::sync::Arc;

use limpid_config::read_marking;
use limpid_prompt::Profiles;
use limpid_prompt::problem::Severity;
use limpid_prompt::profile::Behaviour;
use limpid_services::notifications::missing_for_desktop;
use limpid_services::profiles::{identity_files, is_untouched, own_profile_files};
use limpid_services::tools::{engine, folder_troubles, left_out, running};
use limpid_store::{SqliteOptions, SqliteStore, Store, StoreError, WAITING_COUNTS_AS_YOURS};

pub use check::Check;
use check::Finding;

use crate::agent::{Agent, AgentOptions};

/// Checks home, prompt files, profiles, prompts, database, model, providers, what is known of models, sizes, modes, what parses
/// pages and mail, programs, folders, mail accounts, MCP servers, rules, the inbox, notifications, clock and zone.
pub async fn check(options: &AgentOptions) -> Vec<Check> {
    let store = store(options);
    let mut checks = vec![
        Check::of("home", home(options)),
        Check::of("prompt files", prompt_files(options)),
        Check::of("profiles", profiles(options)),
        Check::of("prompts", prompts::loading(options)),
        Check::with_advice("database", database(&store).await),
    ];
    checks.extend(models::check(options).await);
    let mut servers = Vec::new();
    // What cannot be opened is told above.
    if let Ok(agent) = Agent::open(options.clone()) {
        checks.push(Check::of("prompt size", prompts::size(&agent).await));
        checks.push(Check::of("modes", modes::switching(options, &agent).await));
        servers = mcp::check(&agent).await;
        // What servers offer is known by now.
        servers.extend(rules::check(&agent));
    }
    checks.extend([Check::of("web search", web_search(options)), parsing::check(options).await, programs(options)]);
    checks.extend(folders(options));
    checks.extend(inbox::mail(options, store.ok()).await);
    checks.extend(servers);
    checks.extend([serving::check(options), inbox::door(options), notifications(options)]);
    checks.push(Check::of("clock and zone", Ok(clock(options))));
    checks
}

fn store(options: &AgentOptions) -> Result<Arc<dyn Store>, String> {
    match &options.store {
        Some(store) => Ok(Arc::clone(store)),
        None => {
            let folders = options.home.named_folders();
            let opened =
                SqliteStore::open(options.home.database(), SqliteOptions { folders, ..SqliteOptions::default() });
            Ok(Arc::new(opened.map_err(|error| error.to_string())?))
        }
    }
}

fn home(options: &AgentOptions) -> Finding {
    let home = options.home.path();
    match std::fs::metadata(home) {
        Err(error) => Err((format!("{}: {error}", home.display()), "Make it with `limpid init`.")),
        Ok(about) if !about.is_dir() => Err((format!("{} is no folder", home.display()), "Name another: --home DIR.")),
        Ok(about) if about.permissions().readonly() => {
            Err((format!("{} cannot be written", home.display()), "Check its owner and permissions."))
        }
        Ok(_) => Ok(home.display().to_string()),
    }
}

fn prompt_files(options: &AgentOptions) -> Finding {
    let mut own = Vec::new();
    for (section, file) in identity_files(&options.home) {
        let name = format!("{section}.md");
        let read = read_marking(&file).map_err(|error| (error.to_string(), ""))?;
        if let Some(told) = read.as_ref().and_then(|read| read.notice(&name)) {
            return Err((told, ""));
        }
        let state = match read {
            None => "as shipped",
            Some(read) if is_untouched(&file, section, &read.text, &agent_name(options)) => "as shipped",
            Some(read) if read.text.trim().is_empty() => "empty, so prompts have none",
            Some(_) => "yours",
        };
        own.push(format!("{name} {state}"));
    }
    Ok(own.join(", "))
}

/// What the agent is called where no profile says otherwise.
fn agent_name(options: &AgentOptions) -> String {
    options.config.agent.name.clone().unwrap_or_else(|| Behaviour::default().agent_name)
}

fn profiles(options: &AgentOptions) -> Finding {
    let files = own_profile_files(&options.home).map_err(|error| (error.to_string(), ""))?;
    let profiles = Profiles::with_home(files);
    let wrong = profiles.problems().iter().filter(|problem| problem.severity == Severity::Error).count();
    if wrong > 0 {
        let errors = if wrong == 1 { "error" } else { "errors" };
        return Err((format!("{wrong} {errors} in your files"), "See them with `limpid profile check`."));
    }
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
    let wanted = &options.config.agent.profile;
    if names.contains(&wanted.as_str()) {
        Ok(names.join(", "))
    } else {
        Err((format!("limpid.toml wants `{wanted}`; there are: {}", names.join(", ")), "Name one of these."))
    }
}

async fn database(store: &Result<Arc<dyn Store>, String>) -> Result<String, (String, String)> {
    let told = |error: StoreError| (error.to_string(), String::new());
    let store = store.as_ref().map_err(|error| (error.clone(), String::new()))?;
    let listed = store.conversations(u32::MAX).await.map_err(told)?;
    let archived = store.archived_conversations(u32::MAX).await.map_err(told)?;
    let unfinished = store.unfinished_turns().await.map_err(told)?;
    let broken = listed.broken.len() + archived.broken.len() + unfinished.broken.len();
    if broken > 0 {
        let advice = format!("Restore them from a backup; {WAITING_COUNTS_AS_YOURS}.");
        return Err((format!("{broken} records cannot be read; everything else can"), advice));
    }
    let unfinished = match unfinished.rows.len() {
        0 => String::new(),
        1 => ", 1 interrupted turn to carry on".to_owned(),
        count => format!(", {count} interrupted turns to carry on"),
    };
    let conversations = listed.rows.len() + archived.rows.len();
    let many = if conversations == 1 { "" } else { "s" };
    Ok(format!("{conversations} conversation{many}{unfinished}"))
}

fn web_search(options: &AgentOptions) -> Finding {
    Ok(match engine(&options.config.search, &options.environment, &options.parser())? {
        Some(engine) => format!("{} at {}", engine.name(), engine.host()),
        None => "off; `engine` under `[search]` in limpid.toml sets searxng, brave or duckduckgo".to_owned(),
    })
}

/// That programs cannot be run is no fault of the installation, but whoever misses `exec` must find out why.
fn programs(options: &AgentOptions) -> Check {
    const WHAT: &str = "programs";
    let helper = options.helper.as_deref();
    if let Err(missing) = running(&options.config, helper) {
        let says = format!("are not run: {}", missing.why);
        return Check { what: WHAT, ok: true, says, advice: missing.advice.map(str::to_owned) };
    }
    let says = match helper.map(sandbox_layers) {
        Some(Ok(Layers { hold, missing, cgroup })) => {
            let hold = hold.join(", ");
            let counted = match cgroup {
                None => "the kernel limits memory and processes of a call by a cgroup".to_owned(),
                Some(why) => format!("memory and processes of a call are counted, without a cgroup: {why}"),
            };
            // Where the system has no namespaces, the others are enough.
            let broken: Vec<&str> = missing.iter().map(String::as_str).filter(|name| *name != "namespaces").collect();
            if !broken.is_empty() {
                let says = format!("run in a sandbox of which a part does not hold: {}", broken.join(", "));
                let advice = "What it must stop was tried and was not stopped. Set `enabled = false` under `[exec]` in \
                              limpid.toml until the system is mended.";
                return Check { what: WHAT, ok: false, says, advice: Some(advice.to_owned()) };
            }
            let without = if missing.is_empty() { "" } else { ", without namespaces" };
            format!(
                "run in a sandbox ({hold}{without}; each was tried): the workspace, no network unless granted; {counted}"
            )
        }
        Some(Err(error)) => format!("are not run: {error}"),
        None => "are not run".to_owned(),
    };
    let left_out = left_out(&options.home, &options.config, &options.environment, helper);
    Check { what: WHAT, ok: true, says, advice: (!left_out.is_empty()).then(|| left_out.join(" ")) }
}

/// A line for each folder of limpid.toml that is not there, or about which it says what never holds.
fn folders(options: &AgentOptions) -> impl Iterator<Item = Check> {
    let of_programs = folder_troubles(&options.home, &options.config, &options.environment, options.helper.as_deref());
    let troubles = options.config.files.troubles().into_iter().chain(options.config.exec.troubles());
    troubles.chain(of_programs).map(|says| Check { what: "folders", ok: false, says, advice: None })
}

/// What was found of the layers of the sandbox.
struct Layers {
    hold: Vec<String>,
    missing: Vec<String>,
    /// Why there is no cgroup, if there is none.
    cgroup: Option<String>,
}

/// Which layers of the sandbox hold here: they are put up without a program, and what each must stop is tried.
#[cfg(target_os = "linux")]
fn sandbox_layers(helper: &std::path::Path) -> Result<Layers, String> {
    let tried = std::process::Command::new(helper).arg(crate::sandbox::TRY).env_clear().output();
    let tried = tried.map_err(|error| format!("the sandbox cannot be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !tried.status.success() {
        return Err(text(&tried.stderr));
    }
    let said = text(&tried.stdout);
    let (of_cgroup, of_layers): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.get(1..).is_some_and(|rest| rest.starts_with(crate::sandbox::CGROUP)));
    let with = |mark: char| of_layers.iter().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect();
    let why = of_cgroup.first().and_then(|line| line.strip_prefix('-')?.split_once(": "));
    Ok(Layers { hold: with('+'), missing: with('-'), cgroup: why.map(|(_, why)| why.to_owned()) })
}

#[cfg(not(target_os = "linux"))]
fn sandbox_layers(_: &std::path::Path) -> Result<Layers, String> {
    Err("only Linux has the sandbox that programs need".to_owned())
}

/// Where the owner is told of reports and reminders while no chat is open. Being told nowhere is no fault.
fn notifications(options: &AgentOptions) -> Check {
    const WHAT: &str = "notifications";
    let notify = &options.config.notify;
    let ways = Agent::open(options.clone()).map(|agent| agent.notifications().ways()).unwrap_or_default();
    let desktop = match (notify.desktop, missing_for_desktop(&options.environment, cfg!(target_os = "macos"))) {
        (Some(false), _) => "not on the desktop: limpid.toml switches it off".to_owned(),
        (Some(true), Some(missing)) => {
            let says = format!("limpid.toml asks for notifications on the desktop, but {missing}");
            return Check { what: WHAT, ok: false, says, advice: Some("`limpid notify test` tries it.".to_owned()) };
        }
        (None, Some(missing)) => format!("not on the desktop: {missing}"),
        (_, None) => String::new(),
    };
    let says: Vec<String> = [ways.join(", "), desktop].into_iter().filter(|part| !part.is_empty()).collect();
    Check { what: WHAT, ok: true, says: says.join("; "), advice: None }
}

fn clock(options: &AgentOptions) -> String {
    let zone = options.config.owner.zone.as_ref().unwrap_or(&options.system_zone);
    let now = options.clock.now().to_zoned(zone.clone());
    format!("{} ({})", now.strftime("%Y-%m-%d %H:%M %:z"), zone.iana_name().unwrap_or("UTC"))
}
