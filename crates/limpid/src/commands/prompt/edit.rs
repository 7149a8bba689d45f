//! Editing the owner's copy of a section, and listing the copies.

use std::path::{Path, PathBuf};
use std::process::Command;

use limpid_runtime::profiles::{self, OwnState};
use serde_json::{Value, json};

use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Opens the owner's copy in their editor, or only says where it is.
pub(super) fn run(context: &Context, section: &str, profile: Option<&str>, only_path: bool) -> Result<(), Failure> {
    let file = file_of(context, section, profile)?;
    if only_path {
        return output::line(&file.display().to_string());
    }
    edit_file(context, &file)?;
    let problems = context.profiles()?;
    for problem in problems.problems().iter().filter(|problem| file.ends_with(&problem.path)) {
        output::tell(&problem.to_string());
    }
    output::tell(&format!("{} is used from the next turn on.", file.display()));
    Ok(())
}

/// Opens a file in the person's editor and waits until they are done.
pub(in crate::commands) fn edit_file(context: &Context, file: &Path) -> Result<(), Failure> {
    let editor = context.environment.editor();
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let ended = Command::new(program).args(words).arg(file).status().map_err(|error| {
        Failure::new(ExitStatus::Failed, format!("{editor}: {error}"))
            .advise(format!("Set EDITOR to your editor, or edit the file yourself: {}", file.display()))
    })?;
    if !ended.success() {
        return Err(Failure::new(ExitStatus::Failed, format!("{editor} ended with {ended}")));
    }
    Ok(())
}

fn file_of(context: &Context, section: &str, profile: Option<&str>) -> Result<PathBuf, Failure> {
    if profile.is_none()
        && let Some(file) = limpid_runtime::setup::identity_file(&context.home, &context.config, section)?
    {
        return Ok(file);
    }
    let profile = context.profile(profile)?;
    let path = if section.contains('/') {
        format!("{}/{section}", profile.name())
    } else {
        profiles::own_file_of_section(&profile, section).ok_or_else(|| {
            Failure::new(ExitStatus::Usage, format!("the profile `{}` has no section `{section}`", profile.name()))
                .advise(format!("See which it has: limpid profile show {}", profile.name()))
        })?
    };
    Ok(profiles::copy_out(&context.home, &path)?)
}

/// Lists the owner's files and how they compare with what ships.
pub(super) fn status(context: &Context, json: bool) -> Result<(), Failure> {
    let files = profiles::status(&context.home)?;
    if json {
        let rows: Vec<Value> = files
            .iter()
            .map(|file| json!({"path": file.path, "file": file.file.display().to_string(), "state": file.state.as_str(), "diff": diff(file)}))
            .collect();
        return output::json("files", &rows);
    }
    if files.is_empty() {
        output::tell("Every profile's file is as shipped. Copy one out: limpid prompt edit SECTION");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = files.iter().map(|file| vec![file.path.clone(), file.state.to_string()]).collect();
    output::line(&output::table(&["file", "state"], &rows))?;
    for file in &files {
        if let Some(diff) = diff(file) {
            output::data(&format!("\n{diff}"))?;
        }
    }
    Ok(())
}

fn diff(file: &profiles::OwnFile) -> Option<String> {
    let shipped = file.shipped.as_deref().filter(|_| file.state != OwnState::Same)?;
    let text = similar::TextDiff::from_lines(shipped, file.own.as_str());
    Some(text.unified_diff().header(&format!("shipped/{}", file.path), &format!("home/{}", file.path)).to_string())
}
