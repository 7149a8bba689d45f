//! `prompt test`: the scenarios of the owner's profiles against their snapshots.

use std::fs;
use std::path::Path;

use limpid_config::{MAX_FILE, regular_file};
use limpid_prompt::Profile;
use limpid_prompt::count::Estimate;
use limpid_prompt::scenario::{Scenario, Snapshot};
use limpid_runtime::line_diff;

use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Renders every scenario in the owner's folders; `accept` takes what was rendered as the new snapshots.
pub(super) fn run(context: &Context, only: Option<&str>, accept: bool) -> Result<(), Failure> {
    let profiles = context.profiles()?;
    if let Some(name) = only {
        profiles.get(name)?;
    }
    let mut count = Count::default();
    for profile in profiles.iter().filter(|profile| only.is_none_or(|name| name == profile.name())) {
        let folder = context.home.profiles().join(profile.name()).join("scenarios");
        test_folder(profile, &folder, accept, &mut count)?;
    }
    let summary = format!("{} passed, {} failed, {} new", count.passed, count.failed, count.new);
    if count.failed > 0 {
        return Err(
            Failure::new(ExitStatus::Findings, summary).advise("Take the new texts: limpid prompt test --accept")
        );
    }
    if count == Count::default() {
        output::tell(
            "No scenarios: put one into profiles/NAME/scenarios/ in the home folder (docs/profiles.md, \"A scenario\").",
        );
    } else {
        output::tell(&summary);
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
    new: usize,
}

fn test_folder(profile: &Profile, folder: &Path, accept: bool, count: &mut Count) -> Result<(), Failure> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    for file in files {
        let wrong =
            |error: &dyn std::fmt::Display| Failure::new(ExitStatus::Files, format!("{}: {error}", file.display()));
        let text = regular_file::read_text(&file, MAX_FILE).map_err(|error| wrong(&error))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let scenario = Scenario::parse(&name, &text).map_err(|error| wrong(&error))?;
        for snapshot in scenario.snapshots(profile, &Estimate::default()) {
            let place = folder.join("snapshots").join(&snapshot.file);
            let name = format!("{}/{}", profile.name(), snapshot.file);
            compare(&name, &place, &snapshot, accept, count)?;
        }
    }
    Ok(())
}

fn compare(name: &str, place: &Path, new: &Snapshot, accept: bool, count: &mut Count) -> Result<(), Failure> {
    let old = regular_file::read_text(place, MAX_FILE).ok();
    let text = new.text.as_str();
    if old.as_deref() == Some(text) {
        count.passed += 1;
        return Ok(());
    }
    // That something cannot be rendered is no text to begin with, unless somebody says so.
    if let (Some(problem), None, false) = (&new.problem, &old, accept) {
        count.failed += 1;
        return output::line(&format!("{name} cannot be rendered: {problem}"));
    }
    if accept || old.is_none() {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(place, text)
            .map_err(|error| Failure::new(ExitStatus::Failed, format!("{}: {error}", place.display())))?;
        count.new += 1;
        output::tell(&format!("new: {name}"));
        return Ok(());
    }
    count.failed += 1;
    let old = old.unwrap_or_default();
    let diff = line_diff(old.as_str(), text);
    output::data(&diff.unified_diff().header(name, "as it renders").to_string())
}
