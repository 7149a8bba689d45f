//! `skill`.

mod row;
mod shown;

use std::path::Path;

use limpid_runtime::skills::{CheckedSkill, check_skill};
use limpid_runtime::{Agent, ConversationChoice, ListedSkill, SkillReview, SkillStatus};
use limpid_store::{SkillEvent, SkillEventId};
use serde::Serialize;

use super::choice::choice;
use super::context::Context;
use super::file::tell_waiting;
use super::listing::tell_broken;
use crate::cli::SkillCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use row::row;
use shown::show;

/// Who changes skills here.
const SOURCE: &str = "command line";

/// Carries out `skill …`; no model is asked, and nothing of a skill runs.
///
/// # Errors
/// When a skill does not exist or is none, or a file cannot be read or written.
pub async fn run(context: &Context, command: &SkillCommand) -> Result<(), Failure> {
    let agent = context.agent()?;
    match command {
        SkillCommand::List { json } => list(&agent.skills().list().await?, *json),
        SkillCommand::Show { name, rendered: Some(profile), .. } => {
            output::line(&agent.skills().rendered_alone(name, profile).await?)
        }
        SkillCommand::Show { name, json, .. } => show(&agent.skills().review(name).await?, *json),
        SkillCommand::Check { path, json } => match path {
            Some(path) => check(path, *json),
            None => check_all(&agent.skills().list().await?, *json),
        },
        SkillCommand::Install { path, json } => {
            let review = agent.skills().install(path, SOURCE).await?;
            show(&review, *json)?;
            output::tell(&format!(
                "\nInstalled and not used yet. When you have read it: limpid skill enable {}",
                review.skill.name
            ));
            Ok(())
        }
        SkillCommand::Enable { name, hash } => {
            agent.skills().enable(name, true, hash.as_deref(), SOURCE).await?;
            tell_enabled(&agent.skills().review(name).await?);
            Ok(())
        }
        SkillCommand::Disable { name } => {
            agent.skills().enable(name, false, None, SOURCE).await?;
            output::tell("Disabled.");
            Ok(())
        }
        SkillCommand::Remove { name } => {
            let removed = agent.skills().remove(name, SOURCE).await?;
            output::tell(&format!("Removed. limpid skill undo {} brings it back.", removed.name));
            Ok(())
        }
        SkillCommand::Undo { name, event } => {
            let undone = agent.skills().undo(name, event.map(SkillEventId), SOURCE).await?;
            output::tell(if undone.after.is_some() {
                "It is what it was before."
            } else {
                "It is gone, as it was before."
            });
            let folder = format!("skills/{}/", name.to_lowercase());
            tell_waiting(&agent, |file| file.to_lowercase().starts_with(&folder)).await
        }
        SkillCommand::History { name, json } => {
            let name = name.as_deref().map(str::to_lowercase);
            let events = agent.store().skill_events(name.as_deref()).await?;
            history(&agent, &events.rows, *json)?;
            tell_broken(&events.broken);
            Ok(())
        }
        SkillCommand::Use { names, conversation } => choose(&agent, names, conversation).await,
    }
}

/// Says whether a skill that was allowed is used: a program may have changed a file of it, which waits for a yes of its own.
fn tell_enabled(review: &SkillReview) {
    let SkillReview { skill, .. } = review;
    if skill.status != SkillStatus::Ready {
        let why = skill.reason.as_deref().unwrap_or(skill.status.as_str());
        return output::tell(&output::named(&[(&format!("{} is not used yet: ", skill.name), why)], ""));
    }
    output::tell("Enabled.");
    if let Some(told) = review.told_of_files() {
        output::tell(told);
    }
}

fn list(skills: &[ListedSkill], json: bool) -> Result<(), Failure> {
    if json {
        return output::json("skills", &skills.iter().map(row).collect::<Vec<_>>());
    }
    let line = |skill: &ListedSkill| {
        let about =
            skill.prompt.as_ref().and_then(|says| says.description()).map(output::shown_line).unwrap_or_default();
        let about = skill.reason.as_deref().map_or(about, output::shown_line);
        vec![skill.name.clone(), skill.source_name().to_owned(), skill.status.as_str().to_owned(), about]
    };
    output::line(&output::table(
        &["skill", "source", "status", "what it is for, or why it is not used"],
        &skills.iter().map(line).collect::<Vec<_>>(),
    ))
}

#[derive(Serialize)]
struct CheckRow<'a> {
    name: Option<&'a str>,
    location: String,
    problem: Option<&'a str>,
}

fn check(path: &Path, json: bool) -> Result<(), Failure> {
    let CheckedSkill { name, description, files, problem } = check_skill(path)?;
    if json {
        let location = path.display().to_string();
        output::json("checks", &[CheckRow { name: name.as_deref(), location, problem: problem.as_deref() }])?;
    }
    if let Some(problem) = problem {
        let what = output::named(&[(&format!("{}: ", path.display()), &problem)], "");
        return Err(Failure::new(ExitStatus::Findings, what));
    }
    if !json {
        let is_skill = format!("{} is a skill: ", name.unwrap_or_default());
        let (about, files) = (description.unwrap_or_default(), files.join(", "));
        let mut parts = vec![(is_skill.as_str(), about.as_str())];
        parts.extend((!files.is_empty()).then_some(("; files: ", files.as_str())));
        output::tell(&output::named(&parts, ""));
    }
    Ok(())
}

fn check_all(skills: &[ListedSkill], json: bool) -> Result<(), Failure> {
    let wrong: Vec<&ListedSkill> =
        skills.iter().filter(|skill| matches!(skill.status, SkillStatus::Broken | SkillStatus::Changed)).collect();
    if json {
        let rows = skills.iter().map(|skill| CheckRow {
            name: Some(&skill.name),
            location: skill.location.clone(),
            problem: wrong.iter().find(|found| *found == &skill).and_then(|found| found.reason.as_deref()),
        });
        output::json("checks", &rows.collect::<Vec<_>>())?;
    }
    if wrong.is_empty() {
        if !json {
            output::tell("Every skill is one.");
        }
        return Ok(());
    }
    let line = |skill: &&ListedSkill| {
        output::named(&[("", &skill.location), (": ", skill.reason.as_deref().unwrap_or_default())], "")
    };
    Err(Failure::new(ExitStatus::Findings, wrong.iter().map(line).collect::<Vec<_>>().join("\n")))
}

#[derive(Serialize)]
struct EventRow<'a> {
    id: i64,
    skill: &'a str,
    what: &'static str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    by: &'a str,
    at_ms: i64,
}

fn event_row(event: &SkillEvent) -> EventRow<'_> {
    EventRow {
        id: event.id.0,
        skill: &event.skill,
        what: event.kind.as_str(),
        before: event.before.as_ref().map(|version| version.hash.as_str()),
        after: event.after.as_ref().map(|version| version.hash.as_str()),
        by: &event.source,
        at_ms: event.at_ms,
    }
}

fn history(agent: &Agent, events: &[SkillEvent], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<EventRow<'_>> = events.iter().map(event_row).collect();
        return output::json("events", &rows);
    }
    if events.is_empty() {
        output::tell("Nothing was done.");
        return Ok(());
    }
    let zone = agent.zone();
    let rows: Vec<Vec<String>> = events
        .iter()
        .map(|event| {
            let at = jiff::Timestamp::from_millisecond(event.at_ms).unwrap_or_default().to_zoned(zone.clone());
            let hash = event.after.as_ref().and_then(|version| version.hash.get(..12)).unwrap_or_default();
            let at = at.strftime("%Y-%m-%d %H:%M").to_string();
            vec![
                event.id.0.to_string(),
                at,
                event.skill.clone(),
                event.kind.as_str().to_owned(),
                hash.to_owned(),
                event.source.clone(),
            ]
        })
        .collect();
    output::line(&output::table(&["change", "when", "skill", "what", "hash", "by"], &rows))
}

async fn choose(agent: &Agent, names: &[String], conversation: &str) -> Result<(), Failure> {
    let conversation = choice(Some(conversation), &ConversationChoice::Last);
    let chosen = agent.conversations().use_skills(&conversation, names.to_vec()).await?;
    match chosen.active.as_slice() {
        [] => output::tell("No skill is in every turn."),
        active => output::tell(&format!("In every turn from here on: {}", active.join(", "))),
    }
    for (name, reason) in &chosen.left_out {
        output::tell(&output::named(&[("Left out: ", name), (": ", reason)], ""));
    }
    Ok(())
}
