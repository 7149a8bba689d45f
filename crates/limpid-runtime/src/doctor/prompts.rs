//! Whether prompts load and fit: the seed's "Prompt Not Loading" and "Prompt Too Large".

use limpid_context::cut_notice;
use limpid_core::Tier;
use limpid_prompt::problem::{Problem, Severity};
use limpid_prompt::{Outcome, Profile, Profiles, Prompt};
use limpid_services::directory::ConversationChoice;
use limpid_services::profiles::{ModeFallback, Reader, mode_fallback, own_profile_files};

use crate::agent::{Agent, AgentOptions};
use crate::doctor::check::Finding;
use crate::preview::PreviewRequest;

/// Whether every text of the profile in use loads. Names each file that does not, where it is, what is wrong with it and
/// what is used in its place; and the templates of modes that another one stands in for.
pub(crate) fn loading(options: &AgentOptions) -> Finding {
    let files = own_profile_files(&options.home).map_err(|error| (error.to_string(), ""))?;
    let name = &options.config.agent.profile;
    let profiles = Profiles::one_with_home(name, files);
    let is_error = |problem: &&Problem| problem.severity == Severity::Error;
    let wrong: Vec<String> =
        profiles.problems().iter().filter(is_error).map(|problem| told(problem, options)).collect();
    let advice =
        "Mend the file, or put the shipped text back: limpid profile reset FILE. More of it: limpid prompt check.";
    let Ok(profile) = profiles.get(name) else {
        let wrong = if wrong.is_empty() { String::new() } else { format!(": {}", wrong.join("; ")) };
        return Err((format!("the profile {name} is not used{wrong}"), advice));
    };
    if !wrong.is_empty() {
        return Err((wrong.join("; "), advice));
    }
    let standing_in: Vec<String> = profile.modes().filter_map(|mode| substitutes(profile, mode, options)).collect();
    let all = format!("every text of {name} loads");
    Ok([vec![all], standing_in].concat().join("; "))
}

/// One problem in one line: the file, what is wrong, what stands in.
fn told(problem: &Problem, options: &AgentOptions) -> String {
    let file = options.home.profiles().join(&problem.path);
    let line = problem.place.as_ref().map(|place| format!(":{}", place.line)).unwrap_or_default();
    let kept = problem.kept.as_ref().map(|kept| format!(" ({kept})")).unwrap_or_default();
    format!("{}{line}: {}{kept}", file.display(), problem.message)
}

/// The templates that a mode lacks, where they are expected, and what is used.
fn substitutes(profile: &Profile, mode: &str, options: &AgentOptions) -> Option<String> {
    let lacking = |tier: &Tier| Some((*tier, mode_fallback(profile, mode, *tier).filter(|found| found.is_news)?));
    let missing: Vec<(Tier, ModeFallback)> = Tier::ALL.iter().filter_map(lacking).collect();
    let (_, first) = missing.first()?;
    let tiers: Vec<String> = missing.iter().map(|(tier, _)| tier.number().to_string()).collect();
    let expected = options.home.profiles().join(profile.name()).join(first.tried.first()?);
    Some(format!(
        "the mode {mode} has no template for tier {} (expected at {}), so {} is used",
        tiers.join(", "),
        expected.display(),
        first.used
    ))
}

/// Whether the next prompt of the last conversation fits its budgets. Says what each part takes and what was cut.
pub(crate) async fn size(agent: &Agent) -> Finding {
    let request = PreviewRequest { conversation: ConversationChoice::Last, ..PreviewRequest::default() };
    let prompt = agent.preview(request).await.map_err(|error| (error.to_string(), ""))?.prompt;
    let name = prompt.profile();
    let profile = agent.profiles().profile(name, Reader::Owner);
    let profile = profile.map_err(|error| (error.to_string(), ""))?;
    let cut = cut_by_size(&prompt, &profile);
    if !cut.is_empty() {
        let budgets = prompt.budgets().iter().map(ToString::to_string);
        let advice = "Cut the text, move what is not always needed into a skill, or use a lower tier's template \
                      (/context size); each part is shown by: limpid prompt show --explain.";
        return Err((budgets.chain(cut).collect::<Vec<_>>().join("; "), advice));
    }
    let whole = prompt.totals().map(|totals| format!("{} tokens by {}", totals.total, prompt.counter()));
    let budgets = prompt
        .budgets()
        .iter()
        .map(|budget| format!("{}: {} of {} {}", budget.what, budget.used, budget.limit, budget.unit.as_str()));
    Ok(whole.into_iter().chain(budgets).collect::<Vec<_>>().join("; "))
}

/// What a message's or the path's budget cut. Lists that have a budget of their own are cut every day.
fn cut_by_size(prompt: &Prompt, profile: &Profile) -> Vec<String> {
    let has_own = |id: &str| profile.section(id).is_none_or(|section| section.budget.is_some());
    let cut = prompt.report().iter().filter(|row| matches!(row.outcome, Outcome::Trimmed | Outcome::Dropped));
    cut.filter(|row| !has_own(&row.section)).map(cut_notice).collect()
}
