//! Editing the owner's copy of a section, and listing the copies.

use std::path::{Path, PathBuf};
use std::process::Command;

use limpid_config::{MAX_FILE, regular_file};
use limpid_prompt::problem::{Problem, Severity};
use limpid_runtime::line_diff;
use limpid_runtime::profiles::{self, OwnState};
use limpid_runtime::prompt_files::{file_to_edit, own_files};
use serde_json::{Value, json};

use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Where the owner changes a file here, for whoever reads the history.
const SOURCE: &str = "command line";

/// Opens the owner's copy in their editor, or only says where it is. What it said before is kept.
pub(super) async fn run(
    context: &Context,
    section: &str,
    profile: Option<&str>,
    only_path: bool,
) -> Result<(), Failure> {
    let file = file_of(context, section, profile)?;
    if only_path {
        return output::line(&file.display().to_string());
    }
    let before = regular_file::read_text(&file, MAX_FILE);
    edit_file(context, &file)?;
    let after = regular_file::read_text(&file, MAX_FILE);
    let is_same = matches!((&before, &after), (Ok(before), Ok(after)) if before == after);
    if let Ok(before) = before
        && !is_same
        && let Err(error) = write_down(context, &file, before).await
    {
        output::tell(&format!("The history of {} lacks this change: {error}", file.display()));
    }
    let problems = context.profiles()?;
    let of_file: Vec<&Problem> = problems.problems().iter().filter(|problem| file.ends_with(&problem.path)).collect();
    of_file.iter().for_each(|problem| output::tell(&problem.to_string()));
    if of_file.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(Failure::new(
            ExitStatus::Files,
            format!("{} was saved, but has errors and is not used", file.display()),
        )
        .advise(format!(
            "Fix it: limpid prompt edit {section}{}",
            profile.map(|name| format!(" --profile {name}")).unwrap_or_default()
        )));
    }
    output::tell(&if is_same {
        format!("Nothing was changed in {}.", file.display())
    } else if of_file.is_empty() {
        format!("{} is used from the next turn on.", file.display())
    } else {
        format!("{} was saved.", file.display())
    });
    Ok(())
}

/// Keeps what a file said before it was edited.
async fn write_down(context: &Context, file: &Path, before: String) -> Result<(), Failure> {
    let Some(path) = file.strip_prefix(context.home.path()).ok().and_then(Path::to_str) else { return Ok(()) };
    Ok(context.agent()?.file_history().edited(path, before, SOURCE).await?)
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
    let is_set = profile.is_none();
    let profile = context.profile(profile)?;
    file_to_edit((&context.home, &context.config), &profile, section, is_set)?.ok_or_else(|| {
        let name = profile.name();
        Failure::new(ExitStatus::Usage, format!("the profile `{name}` has no section and no tool `{section}`")).advise(
            format!(
                "See its sections: limpid profile show {name}. With the tools of a prompt: limpid prompt show --explain"
            ),
        )
    })
}

/// Lists the owner's files and how they compare with what ships.
pub(super) fn status(context: &Context, json: bool) -> Result<(), Failure> {
    let profile = context.profile(None)?;
    let files = own_files((&context.home, &context.config), &profile)?;
    if json {
        let rows: Vec<Value> = files
            .iter()
            .map(|file| json!({"path": file.path, "file": file.file.display().to_string(), "state": file.state.as_str(), "diff": diff(file)}))
            .collect();
        return output::json("files", &rows);
    }
    if files.is_empty() {
        output::tell("Every prompt is as shipped. Copy one out to change it: limpid prompt edit SECTION");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = files.iter().map(|file| vec![file.path.clone(), file.state.to_string()]).collect();
    output::line(&output::table(&["file", "state"], &rows))?;
    // Scenarios and what they came to are no prompts.
    for file in files.iter().filter(|file| !file.path.contains("/scenarios/")) {
        if let Some(diff) = diff(file) {
            output::data(&format!("\n{diff}"))?;
        }
    }
    Ok(())
}

fn diff(file: &profiles::OwnFile) -> Option<String> {
    let shipped = file.shipped.as_deref().filter(|_| file.state != OwnState::Same)?;
    let text = line_diff(shipped, file.own.as_str());
    Some(text.unified_diff().header(&format!("shipped/{}", file.path), &format!("home/{}", file.path)).to_string())
}
