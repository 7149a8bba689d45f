//! A skill with all its files, as a reviewer reads it.

use limpid_runtime::SkillReview;
use limpid_runtime::skills::ReviewFile;
use serde::Serialize;

use super::row::{SkillRow, row};
use crate::failure::Failure;
use crate::output;

#[derive(Serialize)]
struct FileRow<'a> {
    path: &'a str,
    bytes: usize,
    hash: &'a str,
    runs: bool,
    text: Option<&'a str>,
    is_text: bool,
}

fn file_row(file: &ReviewFile) -> FileRow<'_> {
    let ReviewFile { path, bytes, runs, hash, text, is_text } = file;
    FileRow { path, bytes: *bytes, hash, runs: *runs, text: text.as_deref(), is_text: *is_text }
}

#[derive(Serialize)]
struct ReviewRow<'a> {
    skill: SkillRow<'a>,
    hash: Option<&'a str>,
    files: Vec<FileRow<'a>>,
}

/// Shows a skill with all its files, for whoever is to approve it.
pub(super) fn show(review: &SkillReview, json: bool) -> Result<(), Failure> {
    if json {
        let files = review.files.iter().map(file_row).collect();
        return output::json("skill", &ReviewRow { skill: row(&review.skill), hash: review.hash.as_deref(), files });
    }
    let skill = &review.skill;
    let mut page = format!(
        "{}\n{}\n",
        output::named(&[("", &skill.name)], &format!(" ({}, {})", skill.source_name(), skill.status.as_str())),
        output::named(&[("", &skill.location)], "")
    );
    if let Some(reason) = &skill.reason {
        page.push_str(&format!("{}\n", output::named(&[("", reason)], "")));
    }
    if let Some(hash) = &review.hash {
        page.push_str(&format!("hash {hash}\n"));
    }
    if let Some(told) = review.told_of_files() {
        page.push_str(&format!("{told}\n"));
    }
    for file in &review.files {
        let about = match (&file.text, file.is_text) {
            (None, _) => format!(", binary, sha256 {}", file.hash),
            (Some(_), false) => ", not a text: what cannot be shown is written out".to_owned(),
            (Some(_), true) => String::new(),
        };
        let runs = if file.runs { ", executable" } else { "" };
        let about = format!(" ({} bytes{runs}{about})", file.bytes);
        page.push_str(&format!("\n{}\n", output::named(&[("=== ", &file.path)], &about)));
        page.push_str(&file.text.as_deref().map(shown).unwrap_or_default());
    }
    output::data(&page)
}

/// A text in full behind a margin, with what nobody would see in its place made visible.
fn shown(text: &str) -> String {
    match text.strip_suffix('\n').unwrap_or(text) {
        "" => String::new(),
        text => output::behind_margin(text) + "\n",
    }
}
