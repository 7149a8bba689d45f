//! The editor of a prompt file, with what is known of the file before anything is typed.

use askama::Template;
use limpid_prompt::Profile;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::profiles::PromptFile;

use super::{Asked, mark_of};
use crate::page::diff::{Line, lines};
use crate::page::prompt_files::trial::Sizes;
use crate::page::state::Page;
use crate::page::trouble::Trouble;

/// The form in which a prompt file is edited.
#[derive(Template)]
#[template(path = "parts/editor.html")]
pub(super) struct Editor {
    id: String,
    name: String,
    /// What stands in the field.
    pub(super) text: String,
    /// The mark of the text that the file has.
    base: String,
    pub(super) is_own: bool,
    has_lent: bool,
    /// What the prompt has of it now.
    was: Sizes,
    changes: usize,
    /// Whether the text has followed the agent's name until now.
    follows_name: bool,
    c: String,
    path: String,
    /// What the file says, where that is not what its writer began with; beside it what they wrote.
    theirs: Option<Vec<Line>>,
    wrong: Option<String>,
}

impl Editor {
    /// That of a file.
    ///
    /// # Errors
    /// When the file cannot be read, or what it is to begin with is not there.
    pub(super) async fn new(
        page: &Page,
        (file, profile): (&PromptFile, &Profile),
        asked: &Asked,
    ) -> Result<Self, Trouble> {
        let files = page.agent.prompt_files();
        let now = files.text(file, profile)?;
        let versions = files.versions(file).await?.rows;
        let text = match asked.from.as_deref() {
            None => now.text.clone(),
            Some("shipped") => {
                now.lent.clone().ok_or_else(|| Trouble::invalid("Nothing ships in the place of this file."))?
            }
            Some(number) => {
                let version = versions.iter().find(|version| version.id.0.to_string() == number);
                let before = version.and_then(|version| version.said_before());
                before.ok_or_else(|| Trouble::invalid("There is no such change of this file."))?.to_owned()
            }
        };
        // A prompt that cannot be made says nothing of the file; the file can be edited all the same.
        let was = match page.agent.preview(asked.prompt()).await {
            Ok(preview) => Sizes::new(page, file, &preview),
            Err(_) => Sizes::default(),
        };
        Ok(Self {
            id: file.id(),
            name: shown_line(&file.path),
            base: mark_of(&now.text),
            is_own: now.is_own(),
            has_lent: now.lent.is_some() && now.is_own(),
            text,
            was,
            follows_name: now.follows_name,
            changes: versions.iter().filter(|version| version.ended).count(),
            c: asked.c.clone().unwrap_or_default(),
            path: asked.path.clone().unwrap_or_default(),
            theirs: None,
            wrong: None,
        })
    }

    /// The same with a text that was not saved, and why.
    pub(super) fn refused(self, text: String, theirs: Option<String>, wrong: Option<String>) -> Self {
        let theirs = theirs.map(|theirs| lines(&shown(&theirs), &shown(&text)));
        Self { text, theirs, wrong: wrong.map(|wrong| shown(&wrong).into_owned()), ..self }
    }
}
