//! `docs/prompts.md` says what the shipped profiles say.

use std::path::Path;

use limpid_prompt::Profiles;
use limpid_prompt::profile::Step;
use limpid_prompt::reference::prompts_page;
use limpid_prompt::section::DropOrder;

// PRO-009 KAI-009
#[test]
fn the_page_has_every_section_of_every_path_and_is_what_the_profiles_say() {
    let profiles = Profiles::shipped();
    let page = prompts_page(&profiles);
    let mut seen = 0;
    for profile in profiles.iter() {
        for path in profile.paths().filter(|path| path.profile == profile.name()) {
            let heading = format!("\n### {}: {}\n", profile.name(), path.name);
            let at = page.find(&heading).unwrap_or_else(|| panic!("no {heading}")) + heading.len();
            let part = page[at..].split("\n#").next().unwrap();
            for (at, step) in path.steps.iter().enumerate() {
                let Step::Message(message) = step else { continue };
                for section in &message.sections {
                    let start = format!("| {at} ");
                    let name = format!(" | `{}` | ", section.id);
                    let row = part.lines().find(|line| line.starts_with(&start) && line.contains(&name));
                    let row = row.unwrap_or_else(|| panic!("{heading} has no row for {}", section.id));
                    let gate = section.when.as_ref().map_or_else(|| "always".to_owned(), ToString::to_string);
                    let drop = match section.drop {
                        DropOrder::Never => "never".to_owned(),
                        DropOrder::At(number) => number.to_string(),
                    };
                    let budget = section.budget.as_ref().map_or("", |group| group.name.as_str());
                    let said = [&section.title, &section.why, &gate, section.stability.as_str(), budget, &drop];
                    for said in said.map(|text| text.replace('|', "\\|")) {
                        assert!(row.contains(&said), "{heading} {}: no {said:?} in {row}", section.id);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} rows");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts.md");
    let written = std::fs::read_to_string(file).unwrap();
    assert!(written == page, "docs/prompts.md is stale; run `cargo xtask docs`");
}
