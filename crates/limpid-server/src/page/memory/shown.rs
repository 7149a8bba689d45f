//! Memories and their history as they are shown.

use std::collections::HashMap;

use limpid_core::{Category, Memory, MemoryId};
use limpid_prompt::shown::{shown, shown_line};
use limpid_store::{Author, MemoryEvent, MemoryEventKind, Provenance};

use crate::page::state::Page;
use crate::page::trouble::Trouble;

/// A memory as it is shown.
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) key: String,
    /// What its buttons call it: no word of a stranger.
    pub(super) label: String,
    pub(super) content: String,
    /// The same as a field holds it.
    pub(super) raw: String,
    pub(super) is_foreign: bool,
    pub(super) is_pinned: bool,
    pub(super) hits: u32,
    pub(super) from: String,
}

/// Something that happened to a memory.
pub(super) struct Change {
    pub(super) event: i64,
    pub(super) what: &'static str,
    pub(super) key: String,
    pub(super) is_foreign: bool,
    pub(super) memory: i64,
    pub(super) is_there: bool,
    pub(super) content: String,
    pub(super) by: &'static str,
    pub(super) at: String,
}

/// A category to choose.
pub(super) struct Choice {
    pub(super) word: &'static str,
    pub(super) name: &'static str,
    pub(super) count: usize,
    pub(super) is_here: bool,
}

/// Who said what memories say.
pub(super) async fn who_said(page: &Page, memories: &[Memory]) -> Result<HashMap<MemoryId, Provenance>, Trouble> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    Ok(page.agent.memory().who_said(&ids).await?.into_iter().collect())
}

/// A memory as it is shown.
pub(super) fn row(page: &Page, memory: &Memory, said: Option<&Provenance>) -> Row {
    let is_foreign = memory.trust.is_foreign();
    let key = shown_line(&memory.key);
    let who = match said.map(|said| said.author) {
        _ if is_foreign => "someone else",
        Some(Author::Inferred) => "noticed by Limpid",
        _ => "you said it",
    };
    let day = page.clock(said.map_or(memory.created_ms, |said| said.at_ms));
    Row {
        id: memory.id.0,
        label: if is_foreign { format!("memory {}", memory.id) } else { key.clone() },
        key,
        content: shown(&memory.content).into_owned(),
        raw: memory.content.clone(),
        is_foreign,
        is_pinned: memory.pinned,
        hits: memory.hits,
        from: format!("{who}, {day}"),
    }
}

/// How often a memory was of use, in the words of the command line; saving it is its first hit.
pub(super) fn hits(hits: u32) -> String {
    match hits {
        1 => "1 hit".to_owned(),
        hits => format!("{hits} hits"),
    }
}

/// What of the memories every prompt has: those that are pinned, and the name in limpid.toml unless a memory takes its place.
pub(super) fn pinned_words(page: &Page, known: &[Memory]) -> String {
    let is_name = |memory: &Memory| memory.key == "owner" && !memory.trust.is_foreign();
    let has_name = page.agent.config().owner.name.is_some() && !known.iter().any(is_name);
    let pinned = known.iter().filter(|memory| memory.pinned).count();
    let pinned = match (pinned, has_name) {
        (0, false) => return "Nothing is pinned. Memories are looked up when relevant.".to_owned(),
        (0, true) => "Every prompt includes your name, from limpid.toml".to_owned(),
        (1, false) => "Every prompt includes the pinned one".to_owned(),
        (1, true) => "Every prompt includes the pinned one and your name, from limpid.toml".to_owned(),
        (many, false) => format!("Every prompt includes the {many} pinned ones"),
        (many, true) => format!("Every prompt includes the {many} pinned ones and your name, from limpid.toml"),
    };
    format!("{pinned}. Other memories are looked up when relevant.")
}

/// Whether a stranger's text led to a change. What the owner does with a stranger's memory is a change of the owner's.
pub(super) fn is_strangers(event: &MemoryEvent) -> bool {
    let memory = event.after.as_ref().or(event.before.as_ref());
    !is_by_owner(event) && memory.is_some_and(|memory| memory.trust.is_foreign())
}

/// Whether the owner made a change; a turn, or Limpid by itself, otherwise.
fn is_by_owner(event: &MemoryEvent) -> bool {
    event.source.as_deref().is_some_and(|source| !source.is_empty() && !source.starts_with("turn:"))
}

/// Who changed a memory, in words; nothing where nobody did.
fn who_changed(event: &MemoryEvent) -> &'static str {
    match event.source.as_deref().unwrap_or_default() {
        "" => "",
        _ if is_by_owner(event) => "by you",
        _ => "by Limpid",
    }
}

/// Something that happened, as it is shown.
pub(super) fn change(page: &Page, event: &MemoryEvent, is_there: bool) -> Change {
    let memory = event.after.as_ref().or(event.before.as_ref());
    Change {
        event: event.id.0,
        what: match event.kind {
            MemoryEventKind::Stored => "Saved",
            MemoryEventKind::Updated => "Changed",
            MemoryEventKind::Reinforced => "Used",
            MemoryEventKind::Demoted => "Not useful",
            MemoryEventKind::Pinned => "Pinned",
            MemoryEventKind::Unpinned => "Unpinned",
            MemoryEventKind::Forgotten => "Forgot",
            MemoryEventKind::Promoted => "Moved to the soul",
            MemoryEventKind::Archived => "Archived",
            MemoryEventKind::Undone => "Undone",
        },
        key: memory.map(|memory| shown_line(&memory.key)).unwrap_or_default(),
        // What there is nothing left of may be anybody's.
        is_foreign: [&event.before, &event.after].into_iter().flatten().any(|memory| memory.trust.is_foreign()),
        memory: event.memory.0,
        is_there,
        content: memory.map(|memory| shown(&memory.content).into_owned()).unwrap_or_default(),
        by: who_changed(event),
        at: page.moment(event.at_ms),
    }
}

/// The categories, each with how many of these there are.
pub(super) fn choices(known: &[Memory], here: Option<Category>) -> Vec<Choice> {
    let choice = |category| Choice {
        word: Category::as_str(category),
        name: category_name(category),
        count: known.iter().filter(|memory| memory.category == category).count(),
        is_here: here == Some(category),
    };
    Category::ALL.into_iter().map(choice).collect()
}

const fn category_name(category: Category) -> &'static str {
    match category {
        Category::General => "General",
        Category::Preference => "Preferences",
        Category::Learning => "Learned",
        Category::Error => "Errors",
    }
}
