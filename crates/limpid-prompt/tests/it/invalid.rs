//! What is said of profiles that are wrong (`tests/invalid`), and of those that work but hardly as they were meant
//! (`tests/findings`). A new case is a new folder: either the files of one profile, or the layers `shipped/` and `home/`
//! with profiles in them.

#![cfg(feature = "fs")]

use std::fmt::Write as _;
use std::path::Path;

use limpid_prompt::inputs::{Quoted, TrustName};
use limpid_prompt::{Estimate, Inputs, Layer, Profiles, PromptMessage, RenderRequest, SourceFile, fs};

fn files(case: &Path) -> Vec<SourceFile> {
    let mut files = fs::read_profiles(&case.join("shipped"), Layer::Shipped, &|path, _| std::fs::read(path)).unwrap();
    files.extend(fs::read_profiles(&case.join("home"), Layer::Home, &|path, _| std::fs::read(path)).unwrap());
    if files.is_empty() {
        files = fs::read_profile(case, Layer::Home, &|path, _| std::fs::read(path)).unwrap();
        for file in &mut files {
            file.path = format!("mine/{}", file.path.split_once('/').unwrap().1);
        }
    }
    files
}

fn outcome(profiles: &Profiles) -> String {
    let mut text = String::new();
    for problem in profiles.problems() {
        writeln!(text, "{problem}\n").unwrap();
    }
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
    writeln!(text, "usable: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") }).unwrap();
    text
}

fn check(folder: &str, outcome: fn(&Profiles) -> String) {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../{folder}-snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for case in std::fs::read_dir(cases).unwrap() {
        let case = case.unwrap().path();
        let name = case.file_name().unwrap().to_str().unwrap();
        insta::assert_snapshot!(name, outcome(&Profiles::load(files(&case))));
    }
}

// PRO-005 OLLM-052
#[test]
fn every_error_names_its_place_and_its_cure() {
    check("invalid", outcome);
}

// PRO-045 PRO-053 OLLM-021 OLLM-053
#[test]
fn every_finding_names_its_place_and_its_cure() {
    check("findings", |profiles| {
        assert!(profiles.iter().count() > 0, "{}", outcome(profiles));
        let counter = Estimate::default();
        let findings: Vec<String> =
            profiles.iter().flat_map(|profile| profile.lint(&counter)).map(|problem| problem.to_string()).collect();
        let files: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
        [files, findings].concat().join("\n\n")
    });
}

// PRO-033
#[test]
fn a_folder_is_rendered_in_ten_lines() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/koshi");
    let profiles = Profiles::load(fs::read_profile(&folder, Layer::Home, &|path, _| std::fs::read(path))?);
    let inputs = Inputs { user: Some(Quoted::new("hi", TrustName::Owner)), ..Inputs::default() };
    let counter = Estimate::default();
    let request = RenderRequest { path: "chat-remote", inputs: &inputs, counter: &counter, count_tokens: false };
    let prompt = profiles.get("koshi")?.render(request)?;
    let texts: Vec<&str> = prompt.messages().iter().map(PromptMessage::text).collect();
    assert_eq!((texts.len(), texts[1]), (2, "hi"));
    Ok(())
}
