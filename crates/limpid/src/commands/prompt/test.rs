//! `prompt test`: scenarios, those that ship and the owner's, against what was reviewed.

use std::fs;

use limpid_prompt::Profiles;
use limpid_runtime::line_diff;
use limpid_runtime::scenarios::{Case, Scenarios};

use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Renders the owner's scenarios, and for one profile those that ship; `accept` takes what was rendered as the new
/// snapshots.
pub(super) fn run(context: &Context, only: Option<&str>, accept: bool) -> Result<(), Failure> {
    let profiles = context.profiles()?;
    let main = only.unwrap_or(&context.config.agent.profile);
    profiles.get(main)?;
    let shipped = Profiles::shipped();
    let mut count = Count::default();
    let mut left_out = [("soul", Vec::new()), ("safety", Vec::new())];
    for profile in profiles.iter().filter(|profile| only.is_none_or(|name| name == profile.name())) {
        let ships = Some(&shipped).filter(|_| profile.name() == main);
        let scenarios = Scenarios::of((&context.home, &context.config), profile, ships)?;
        scenarios.notices.iter().for_each(|notice| output::tell(notice));
        for case in scenarios.cases()? {
            compare(profile.name(), &case, accept, &mut count)?;
        }
        for (section, names) in &mut left_out {
            let without = scenarios.without_own(section);
            names.extend(without.into_iter().map(|name| format!("{}/{name}", profile.name())));
        }
    }
    for (section, names) in left_out.iter().filter(|(_, names)| !names.is_empty()) {
        output::tell(&format!(
            "{section}.md is left out of {}: a `{section}` stands in the scenario's inputs.",
            names.join(", ")
        ));
    }
    let summary = format!("{} passed, {} failed, {} new", count.passed, count.failed, count.new);
    if count.failed > 0 {
        return Err(
            Failure::new(ExitStatus::Findings, summary).advise("Take the new texts: limpid prompt test --accept")
        );
    }
    output::tell(&summary);
    output::tell(NO_MODEL);
    Ok(())
}

const NO_MODEL: &str = "No model was asked and none is needed: this compares what one would read.";

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
    new: usize,
}

fn compare(profile: &str, case: &Case, accept: bool, count: &mut Count) -> Result<(), Failure> {
    let Case { about, now, place, before } = case;
    let name = format!("{profile}/{}", now.file);
    let text = now.text.as_str();
    if before.as_deref() == Some(text) {
        count.passed += 1;
        return Ok(());
    }
    // That something cannot be rendered is no text to begin with, unless somebody says so.
    if let (Some(problem), None, false) = (&now.problem, before, accept) {
        count.failed += 1;
        return output::line(&format!("{name} cannot be rendered: {problem}"));
    }
    if accept || before.is_none() {
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
    if let Some(about) = about {
        output::tell(&format!("{name}: {about}"));
    }
    let diff = line_diff(before.as_deref().unwrap_or_default(), text);
    output::data(&diff.unified_diff().header(&name, "as it renders").to_string())
}
