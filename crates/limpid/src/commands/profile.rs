//! `profile`.

use std::collections::BTreeMap;

use limpid_config::{MAX_FILE, regular_file};
use limpid_model::tokens::ExactCounter;
use limpid_prompt::problem::{Problem, Severity};
use limpid_prompt::profile::{BehaviourValue, Setting, shipped_names};
use limpid_prompt::{Layer, Profile};
use limpid_runtime::line_diff;
use limpid_runtime::profiles::{self, OwnState};
use serde::Serialize;

use super::context::Context;
use crate::cli::ProfileCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `profile …`.
///
/// # Errors
/// When a profile does not exist, a file is wrong or cannot be written, or a check finds an error.
pub fn run(context: &Context, command: &ProfileCommand) -> Result<(), Failure> {
    match command {
        ProfileCommand::List { json } => list(context, *json),
        ProfileCommand::Show { name, file: Some(file), .. } => show_file(context, name, file),
        ProfileCommand::Show { name, file: None, json } => show(context, name, *json),
        ProfileCommand::Check { name, json } => check(context, name.as_deref(), *json),
        ProfileCommand::Diff { name } => diff(context, name),
        ProfileCommand::New { name, from } => {
            let file = profiles::start_profile(&context.home, &context.profiles()?, name, from)?;
            output::tell(&format!(
                "Wrote {}. Use it with --profile {name}, or set profile = \"{name}\" under [agent] in limpid.toml.",
                file.display()
            ));
            Ok(())
        }
        ProfileCommand::Reset { file } => {
            let kept = profiles::reset(&context.home, file)?;
            output::tell(&format!("The shipped text of {file} is back; yours is kept as {}.", kept.display()));
            Ok(())
        }
    }
}

#[derive(Serialize)]
struct ProfileRow<'a> {
    name: &'a str,
    title: &'a str,
    about: &'a str,
    base: Option<&'a str>,
    own_files: usize,
    in_use: bool,
}

fn list(context: &Context, json: bool) -> Result<(), Failure> {
    let profiles = context.profiles()?;
    let mut own: BTreeMap<String, usize> = BTreeMap::new();
    for file in profiles::status(&context.home)? {
        let name = file.path.split('/').next().unwrap_or_default().to_owned();
        *own.entry(name).or_default() += 1;
    }
    let rows: Vec<ProfileRow<'_>> = profiles
        .iter()
        .map(|profile| ProfileRow {
            name: profile.name(),
            title: profile.title(),
            about: profile.about(),
            base: profile.bases().next(),
            own_files: own.get(profile.name()).copied().unwrap_or(0),
            in_use: profile.name() == context.config.agent.profile,
        })
        .collect();
    if json {
        return output::json("profiles", &rows);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mark = if row.in_use { "*" } else { "" };
            vec![format!("{}{mark}", row.name), row.own_files.to_string(), row.about.to_owned()]
        })
        .collect();
    output::line(&output::table(&["profile", "own files", "what it is"], &cells))?;
    for name in profiles.broken() {
        output::tell(&format!("`{name}` has errors and cannot be used: limpid profile check {name}"));
    }
    Ok(())
}

fn show(context: &Context, name: &str, json: bool) -> Result<(), Failure> {
    let profile = context.profile(Some(name))?;
    if json {
        let paths: BTreeMap<&str, Vec<&str>> = profile
            .paths()
            .map(|path| (path.name.as_str(), path.sections().map(|section| section.id.as_str()).collect()))
            .collect();
        let behaviour: BTreeMap<&str, BehaviourRow> =
            behaviour(context, &profile).into_iter().map(|row| (row.key, row)).collect();
        return output::json_shape(&ShownProfile { paths, behaviour });
    }
    output::line(profile.about())?;
    output::line("\nBehaviour, as [behaviour] of profile.toml sets it:")?;
    let rows: Vec<Vec<String>> = behaviour(context, &profile)
        .into_iter()
        .map(|row| vec![format!("  {}", row.key), row.value.to_string(), row.from])
        .collect();
    output::line(&output::table(&["  key", "value", "from"], &rows))?;
    for path in profile.paths() {
        let from = if path.profile == profile.name() { String::new() } else { format!(" (of {})", path.profile) };
        output::line(&format!("\n{}{from}: {}", path.name, path.about))?;
        let rows: Vec<Vec<String>> = path
            .sections()
            .map(|section| {
                let file = profiles::file_of_section(&profile, &section.id).unwrap_or_default();
                vec![format!("  {}", section.id), section.title.clone(), file]
            })
            .collect();
        if !rows.is_empty() {
            output::line(&output::table(&["  section", "title", "file"], &rows))?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct ShownProfile<'a> {
    paths: BTreeMap<&'a str, Vec<&'a str>>,
    behaviour: BTreeMap<&'a str, BehaviourRow>,
}

/// One value of a profile's behaviour.
#[derive(Serialize)]
struct BehaviourRow {
    #[serde(skip)]
    key: &'static str,
    value: Setting,
    /// The line of a profile.toml or the key of limpid.toml that sets it; else `default`.
    from: String,
}

/// What holds with a profile: the owner's limpid.toml goes before profile.toml, and that before the default.
fn behaviour(context: &Context, profile: &Profile) -> Vec<BehaviourRow> {
    let (memory, quiet) = (context.config.memory.policy, context.config.heartbeat.quiet);
    let rows = profile.behaviour_values().into_iter().map(|BehaviourValue { key, value, source }| {
        let owners = match key {
            "memory" => memory.map(|policy| (policy.as_str(), "limpid.toml: [memory] policy")),
            "heartbeat.quiet" => quiet.map(|quiet| (quiet.as_str(), "limpid.toml: [heartbeat] quiet")),
            _ => None,
        };
        match owners {
            Some((value, from)) => BehaviourRow { key, value: Setting::Word(value.to_owned()), from: from.to_owned() },
            None => BehaviourRow { key, value, from: source.map_or("default".to_owned(), |line| line.line()) },
        }
    });
    rows.collect()
}

fn show_file(context: &Context, name: &str, file: &str) -> Result<(), Failure> {
    let profile = context.profile(Some(name))?;
    let text = profile.lineage().find_map(|name| {
        let path = format!("{name}/{file}");
        let own = (!path.contains(".."))
            .then(|| regular_file::read_text(&context.home.profiles().join(&path), MAX_FILE).ok())
            .flatten();
        own.or_else(|| profiles::shipped_text(&path))
    });
    match text {
        Some(text) => output::data(&text),
        None => Err(Failure::new(ExitStatus::Usage, format!("the profile `{name}` has no file {file}"))
            .advise(format!("See which it has: limpid profile show {name}"))),
    }
}

#[derive(Serialize)]
struct ProblemRow<'a> {
    severity: String,
    message: &'a str,
    file: String,
    line: Option<u32>,
    column: Option<u32>,
    fix: &'a str,
}

fn check(context: &Context, name: Option<&str>, json: bool) -> Result<(), Failure> {
    let profiles = context.profiles()?;
    if let Some(name) = name
        && !profiles.broken().any(|broken| broken == name)
    {
        profiles.get(name)?;
    }
    let wanted = |profile: &str| name.is_none_or(|name| name == profile);
    let lint =
        profiles.iter().filter(|profile| wanted(profile.name())).flat_map(|profile| profile.lint(&ExactCounter::O200K));
    let of_files =
        profiles.problems().iter().filter(|problem| wanted(problem.path.split('/').next().unwrap_or_default()));
    // What is remarked of a profile that ships is for whoever asks about that one.
    let concerns =
        |problem: &Problem| name.is_some() || problem.severity == Severity::Error || problem.layer != Layer::Shipped;
    let found: Vec<_> = of_files.cloned().chain(lint).filter(concerns).collect();
    let errors = found.iter().filter(|problem| problem.severity == Severity::Error).count();
    if json {
        let rows: Vec<ProblemRow<'_>> = found
            .iter()
            .map(|problem| ProblemRow {
                severity: problem.severity.to_string(),
                message: &problem.message,
                file: format!("{}:profiles/{}", problem.layer, problem.path),
                line: problem.place.as_ref().map(|place| place.line),
                column: problem.place.as_ref().map(|place| place.column),
                fix: &problem.fix,
            })
            .collect();
        output::json("problems", &rows)?;
    } else {
        for problem in &found {
            output::line(&format!("{problem}\n"))?;
        }
    }
    match errors {
        0 => {
            output::tell(&format!("No errors, {} warnings.", found.len()));
            Ok(())
        }
        errors => {
            Err(Failure::new(ExitStatus::Findings, format!("{errors} errors, {} warnings", found.len() - errors)))
        }
    }
}

fn diff(context: &Context, name: &str) -> Result<(), Failure> {
    let files = profiles::status(&context.home)?;
    let mine = files.iter().filter(|file| file.path.split('/').next() == Some(name));
    let mut shown = 0;
    for file in mine {
        let Some(shipped) = file.shipped.as_ref().filter(|_| file.state != OwnState::Same) else { continue };
        let text = line_diff(shipped.as_str(), file.own.as_str());
        let below = if shipped_names().any(|shipped| shipped == name) { "shipped" } else { "base" };
        let (old, new) = (format!("{below}/{}", file.path), format!("home/{}", file.path));
        output::data(&text.unified_diff().header(&old, &new).to_string())?;
        shown += 1;
    }
    if shown == 0 {
        output::tell(&format!(
            "No file of yours in the profile `{name}` differs from what ships or what its base lends."
        ));
    }
    Ok(())
}
