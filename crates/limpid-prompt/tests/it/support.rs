//! Small profiles and prompts for tests.

use std::sync::Arc;

use limpid_prompt::{
    Estimate, FixedCounter, Inputs, Profile, Profiles, Prompt, RenderError, RenderRequest, SourceFile, TokenCounter,
};

/// Counts a word as a token, so that sizes can be read off a test.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

impl FixedCounter for Words {}

/// The profile `own` of these files: paths inside its folder and what they say.
pub(crate) fn profile(files: &[(&str, &str)]) -> Arc<Profile> {
    let file = |(path, text): &(&str, &str)| SourceFile::shipped(format!("own/{path}"), *text);
    let profiles = Profiles::load(files.iter().map(file));
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    assert!(profiles.get("own").is_ok(), "{}", problems.join("\n"));
    Arc::clone(profiles.get("own").unwrap())
}

/// A profile with one path, `chat-remote`, of one system message of sections: front matter and body of each.
pub(crate) fn one_message(budget: &str, sections: &[(&str, &str)]) -> Arc<Profile> {
    let names: Vec<String> = sections.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let list = names.join(", ");
    let manifest = format!(
        "title = \"Own\"\nabout = \"For a test.\"\n{budget}\n[path.chat-remote]\nabout = \"Chat.\"\nmessages = [\n  \
         {{ role = \"system\", sections = [{list}] }},\n  {{ splice = \"history\" }},\n]\n"
    );
    from_manifest(&manifest, sections)
}

/// A profile of a manifest and sections: front matter and body of each.
pub(crate) fn from_manifest(manifest: &str, sections: &[(&str, &str)]) -> Arc<Profile> {
    let files: Vec<(String, String)> = sections
        .iter()
        .map(|(id, text)| (format!("sections/{id}.md"), section(text)))
        .chain([("profile.toml".to_owned(), manifest.to_owned())])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    profile(&files)
}

/// A section file: `key: value` lines, a line `---`, the body; title and why are added.
fn section(text: &str) -> String {
    let (front, body) = text.split_once("---\n").unwrap_or(("", text));
    format!("---\ntitle: A section\nwhy: For a test.\n{front}---\n{body}\n")
}

/// Renders `chat-remote` with [`Words`].
pub(crate) fn try_render(profile: &Profile, inputs: &Inputs) -> Result<Prompt, RenderError> {
    profile.render(RenderRequest { path: "chat-remote", inputs, counter: &Words, count_tokens: true })
}

/// Renders `chat-remote` with [`Words`].
pub(crate) fn render(profile: &Profile, inputs: &Inputs) -> Prompt {
    try_render(profile, inputs).unwrap()
}

/// Renders a path with the estimate.
pub(crate) fn render_path(profile: &Profile, path: &str, inputs: &Inputs) -> Prompt {
    let counter = Estimate::default();
    profile.render(RenderRequest { path, inputs, counter: &counter, count_tokens: true }).unwrap()
}

/// The first message's text.
pub(crate) fn system(prompt: &Prompt) -> &str {
    prompt.messages().first().map_or("", |message| message.text())
}

/// Each row as `section outcome bytes kept/all reason`.
pub(crate) fn rows(prompt: &Prompt) -> Vec<String> {
    let row = |row: &limpid_prompt::SectionReport| {
        let counts = row.kept.zip(row.dropped).map(|(kept, dropped)| format!(" {kept}/{}", kept + dropped));
        let reason = row.reason.as_deref().map_or_else(String::new, |reason| format!(" ({reason})"));
        format!("{} {} {}{}{reason}", row.section, row.outcome.as_str(), row.bytes, counts.unwrap_or_default())
    };
    prompt.report().iter().map(row).collect()
}
