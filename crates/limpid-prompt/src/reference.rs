//! `docs/prompts.md`: every section of every path of the shipped profiles, written from the profiles themselves, so
//! that the page cannot say anything else than they do.

use std::fmt::Write as _;

use crate::profile::{Path, Profile, Profiles, Step};
use crate::section::{DropOrder, Section};
use crate::source::SourceRef;

/// The whole page.
pub fn prompts_page(profiles: &Profiles) -> String {
    let mut page = String::from(
        "# Prompts\n\nWritten by `cargo xtask docs` from the shipped profiles; edit their files, not this page. What the\n\
         columns mean is in [profiles.md](profiles.md). `limpid prompt show --explain` prints the same for your own\n\
         prompts, with sizes.\n",
    );
    for profile in profiles.iter() {
        profile_section(&mut page, profile);
    }
    page
}

fn profile_section(page: &mut String, profile: &Profile) {
    let _ = write!(page, "\n## {}\n\n{}\n", profile.name(), profile.about());
    let (own, borrowed): (Vec<&Path>, Vec<&Path>) = profile.paths().partition(|path| path.profile == profile.name());
    for path in own {
        path_section(page, profile, path);
    }
    if !borrowed.is_empty() {
        let names: Vec<String> = borrowed.iter().map(|path| format!("`{}` (`{}`)", path.name, path.profile)).collect();
        let _ = write!(page, "\nPaths of other profiles: {}.\n", names.join(", "));
    }
}

fn path_section(page: &mut String, profile: &Profile, path: &Path) {
    let _ = write!(page, "\n### {}: {}\n\n{}", profile.name(), path.name, path.about);
    match path.tools.as_deref().or(path.only.as_deref()) {
        None => page.push_str(" Tools: all.\n"),
        Some([]) => page.push_str(" Tools: none.\n"),
        Some(tools) => {
            let names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
            let _ = writeln!(page, " Tools: {}.", names.join(", "));
        }
    }
    page.push_str("\n| message | section | title | why | when | stability | budget | drop | file |\n|---|---|---|---|---|---|---|---|---|\n");
    for (at, step) in path.steps.iter().enumerate() {
        match step {
            Step::History { .. } => {
                let _ = writeln!(page, "| {at} | | history | Earlier messages as they were sent. | | | | | |");
            }
            Step::Message(message) => {
                for section in &message.sections {
                    let role = format!("{:?}", message.role).to_lowercase();
                    let _ = writeln!(page, "| {at} {role} {}", section_row(section));
                }
            }
        }
    }
}

fn section_row(section: &Section) -> String {
    let when = section.when.as_ref().map_or_else(|| "always".to_owned(), |gate| format!("`{gate}`"));
    let budget = section.budget.as_ref().map_or("", |group| group.name.as_str());
    let drop = match section.drop {
        DropOrder::Never => "never".to_owned(),
        DropOrder::At(at) => at.to_string(),
    };
    format!(
        "| `{}` | {} | {} | {} | {} | {budget} | {drop} | {} |",
        section.id,
        cell(&section.title),
        cell(&section.why),
        cell(&when),
        format!("{:?}", section.stability).to_lowercase(),
        place(section),
    )
}

fn place(section: &Section) -> String {
    if section.is_mode() {
        return "`modes/`".to_owned();
    }
    let form = section.forms.body.as_ref().or_else(|| section.forms.tiers.iter().flatten().next());
    form.map(|form| link(&form.source)).unwrap_or_default()
}

fn link(source: &SourceRef) -> String {
    format!("[{}](../crates/limpid-prompt/profiles/{})", source.path, source.path)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
