//! Every scenario of every shipped profile against its reviewed snapshots.
//!
//! `INSTA_UPDATE=always cargo test -p limpid-prompt --test scenarios` writes the snapshots anew; read them as you would
//! read code.
#![allow(clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use limpid_prompt::scenario::{EXAMPLE_INPUTS, Scenario};
use limpid_prompt::{Estimate, Inputs, Profiles, RenderRequest};

fn folder(profile: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles").join(profile).join("scenarios")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == extension)).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn scenarios(profile: &str) -> Vec<Scenario> {
    let read = |path: &PathBuf| Scenario::parse(&stem(path), &std::fs::read_to_string(path).unwrap());
    files(&folder(profile), "toml").iter().map(read).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
}

/// Every snapshot of every shipped profile, by profile and file.
fn rendered(profiles: &Profiles, backwards: bool) -> BTreeMap<(String, String), String> {
    let counter = Estimate::default();
    let mut jobs = Vec::new();
    for profile in profiles.iter() {
        for scenario in scenarios(profile.name()) {
            for path in scenario.paths(profile) {
                jobs.push((profile, scenario.clone(), path));
            }
        }
    }
    if backwards {
        jobs.reverse();
    }
    let snapshot = |(profile, scenario, path): (&std::sync::Arc<limpid_prompt::Profile>, Scenario, String)| {
        let snapshot = scenario.snapshot(profile, &path, &counter);
        ((profile.name().to_owned(), snapshot.file), snapshot.text)
    };
    jobs.into_iter().map(snapshot).collect()
}

/// What differs first, or nothing.
fn difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let at = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let line = |text: &str| text.lines().nth(at).map_or_else(|| "(end)".to_owned(), str::to_owned);
    Some(format!("line {}:\n    - {}\n    + {}", at + 1, line(old), line(new)))
}

/// Whether snapshots are to be taken as they are now.
#[expect(clippy::disallowed_methods, reason = "a test is told so by the environment, as insta is")]
fn accepts() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always")
}

// PRO-008 PRO-054
#[test]
fn snapshots_are_as_reviewed() {
    let profiles = Profiles::shipped();
    let update = accepts();
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for ((profile, file), text) in rendered(&profiles, false) {
        let path = folder(&profile).join("snapshots").join(&file);
        let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(difference) = difference(&reviewed, &text) {
            if update {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
            } else {
                wrong.push(format!("{profile}/{file}, {difference}"));
            }
        }
        known.insert(path);
    }
    for profile in profiles.iter() {
        for stale in files(&folder(profile.name()).join("snapshots"), "md") {
            if !known.contains(&stale) {
                if update {
                    std::fs::remove_file(stale).unwrap();
                } else {
                    wrong.push(format!("{}: no scenario renders it", stale.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n\nINSTA_UPDATE=always takes the new ones; read them first.", wrong.join("\n"));
}

// PRO-002
#[test]
fn rendering_twice_in_two_orders_gives_the_same_bytes() {
    let (first, second) = (Profiles::shipped(), Profiles::shipped());
    assert_eq!(rendered(&first, false), rendered(&second, true));
}

// PRO-011
#[test]
fn the_example_renders_on_every_path_of_every_profile() {
    let inputs: Inputs = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
    let counter = Estimate::default();
    for profile in Profiles::shipped().iter() {
        for path in profile.paths() {
            let request = RenderRequest { path: &path.name, inputs: &inputs, counter: &counter, count_tokens: true };
            let prompt = profile.render(request).unwrap_or_else(|error| panic!("{}: {error}", profile.name()));
            assert!(!prompt.messages().is_empty(), "{} {}", profile.name(), path.name);
        }
    }
}
