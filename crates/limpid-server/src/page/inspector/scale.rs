//! The sections of a prompt to scale: as one bar, and as a list that says of each how large it is, or what kept it out.

use limpid_prompt::shown::shown_line;
use limpid_prompt::{Outcome, Prompt, SectionReport};

use super::text::Article;
use crate::page::meter::thousands;

/// The least that a section is wide, in percent, so that it can be pointed at.
const LEAST: f64 = 0.35;

/// A stretch of the bar.
pub(super) struct Segment {
    pub(super) section: String,
    pub(super) kind: &'static str,
    pub(super) x: String,
    pub(super) width: String,
    pub(super) title: String,
    tokens: usize,
    to: f64,
}

/// A section in the list.
pub(super) struct Row {
    pub(super) section: String,
    pub(super) kind: &'static str,
    /// Whether the prompt has it.
    pub(super) is_in: bool,
    pub(super) size: String,
    /// What is said below it: words, and code where `true`.
    pub(super) more: Vec<(bool, String)>,
    /// Its share of the largest one.
    pub(super) share: String,
    tokens: usize,
}

/// The bar: what a model reads in its order, then the tools.
pub(super) fn bar(articles: &[Article], tools: usize) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let blocks =
        articles.iter().flat_map(|article| &article.blocks).map(|block| (&*block.section, block.kind, block.tokens));
    let tools = Some(("tools", "tools", tools)).filter(|(.., tokens)| *tokens > 0);
    for (section, kind, tokens) in blocks.chain(tools) {
        match segments.last_mut() {
            Some(last) if last.section == section => last.tokens += tokens,
            _ => segments.push(Segment {
                section: section.to_owned(),
                kind,
                x: String::new(),
                width: String::new(),
                title: String::new(),
                tokens,
                to: 0.0,
            }),
        }
    }
    let whole = segments.iter().map(|segment| segment.tokens).sum::<usize>().max(1) as f64;
    let widths: Vec<f64> = segments.iter().map(|segment| (segment.tokens as f64 * 100.0 / whole).max(LEAST)).collect();
    let all: f64 = widths.iter().sum();
    let mut at = 0.0;
    for (segment, width) in segments.iter_mut().zip(widths) {
        let width = width * 100.0 / all;
        (segment.x, segment.width) = (percent(at), percent(width));
        segment.title = format!("{}: {} tokens", segment.section, thousands(segment.tokens));
        at += width;
        segment.to = at;
    }
    segments
}

/// Where a number of tokens from the beginning ends on the bar, in percent.
pub(super) fn place(segments: &[Segment], tokens: usize) -> String {
    let (mut left, mut from) = (tokens, 0.0);
    for segment in segments {
        if left < segment.tokens {
            return percent(from + (segment.to - from) * left as f64 / segment.tokens as f64);
        }
        left -= segment.tokens;
        from = segment.to;
    }
    percent(from)
}

/// What the bar shows, in a sentence.
pub(super) fn said(segments: &[Segment]) -> String {
    let of = |kind: &str| segments.iter().filter(|segment| segment.kind == kind).map(|segment| segment.tokens).sum();
    let kinds = [
        ("fixed text", of("fixed")),
        ("text of the conversation", of("session")),
        ("history", of("history")),
        ("what is new each turn", of("turn")),
        ("tools", of("tools")),
    ];
    let parts = kinds.into_iter().filter(|(_, tokens)| *tokens > 0);
    let parts: Vec<String> = parts.map(|(kind, tokens)| format!("{kind} {} tokens", thousands(tokens))).collect();
    format!("Sections to scale: {}. The list below has each one.", parts.join(", "))
}

/// The list: every section of the path in its order, those that were left out where they would be.
pub(super) fn rows(prompt: &Prompt, articles: &[Article], tools: usize) -> Vec<Row> {
    let mut order: Vec<&str> = Vec::new();
    for block in articles.iter().flat_map(|article| &article.blocks) {
        if !order.contains(&&*block.section) {
            order.push(&block.section);
        }
    }
    let place = |section: &str| order.iter().position(|known| *known == section);
    let reported = |section: &str| prompt.report().iter().any(|row| row.section == section);
    let mut others: Vec<&str> = order.iter().copied().filter(|section| !reported(section)).collect();
    let mut rows = Vec::new();
    for report in prompt.report().iter().filter(|report| report.section != "tools") {
        let is_in = !matches!(report.outcome, Outcome::Shadowed) && place(&report.section).is_some();
        while let Some(first) = others.first().filter(|first| is_in && place(first) < place(&report.section)) {
            rows.push(included(first, None, articles));
            others.remove(0);
        }
        rows.push(if is_in { included(&report.section, Some(report), articles) } else { left_out(report) });
    }
    rows.extend(others.into_iter().map(|section| included(section, None, articles)));
    rows.extend(of_tools(prompt, tools));
    let largest = rows.iter().map(|row| row.tokens).max().unwrap_or_default().max(1);
    for row in &mut rows {
        row.share = percent(row.tokens as f64 * 100.0 / largest as f64);
    }
    rows
}

fn included(section: &str, report: Option<&SectionReport>, articles: &[Article]) -> Row {
    let blocks = || articles.iter().flat_map(|article| &article.blocks).filter(|block| block.section == section);
    let tokens = blocks().map(|block| block.tokens).sum();
    let first = blocks().next();
    let stays = match first.map_or("turn", |block| block.kind) {
        "turn" => "each turn",
        "history" => "as sent",
        other => other,
    };
    let origin = match (first, blocks().count()) {
        (Some(block), _) if !block.origin.is_empty() && block.kind != "history" => block.origin.clone(),
        (_, count) => format!("{count} parts"),
    };
    let mut more = format!("{stays} · {origin}");
    if let Some(report) = report.filter(|report| report.outcome == Outcome::Trimmed) {
        let kept = report.kept.zip(report.dropped).map(|(kept, dropped)| format!("kept {kept} of {}", kept + dropped));
        let reason = report.reason.as_deref().unwrap_or_default();
        more = format!("{more} · {}: {reason}", kept.unwrap_or_else(|| "shortened".to_owned()));
    }
    Row {
        section: section.to_owned(),
        kind: first.map_or("none", |block| block.kind),
        is_in: true,
        size: thousands(tokens),
        more: words(&shown_line(&more)),
        share: String::new(),
        tokens,
    }
}

fn left_out(report: &SectionReport) -> Row {
    let became = match report.outcome {
        Outcome::Dropped => "dropped",
        Outcome::Shadowed => "shadowed",
        _ => "left out",
    };
    Row {
        section: shown_line(&report.section),
        kind: "none",
        is_in: false,
        size: became.to_owned(),
        more: words(&shown_line(report.reason.as_deref().unwrap_or_default())),
        share: String::new(),
        tokens: 0,
    }
}

fn of_tools(prompt: &Prompt, tokens: usize) -> Option<Row> {
    let cut = prompt.report().iter().find(|report| report.section == "tools");
    if prompt.tools().is_empty() && cut.is_none() {
        return None;
    }
    let mut more = format!("fixed order · {} declared", prompt.tools().len());
    if let Some(reason) = cut.and_then(|report| report.reason.as_deref()) {
        more = format!("{more} · {reason}");
    }
    Some(Row {
        section: "tools".to_owned(),
        kind: "tools",
        is_in: true,
        size: thousands(tokens),
        more: words(&shown_line(&more)),
        share: String::new(),
        tokens,
    })
}

/// A sentence, with what stands between backticks as code.
fn words(text: &str) -> Vec<(bool, String)> {
    if text.matches('`').count() % 2 == 1 {
        return vec![(false, text.to_owned())];
    }
    let pieces = text.split('`').enumerate().map(|(at, piece)| (at % 2 == 1, piece.to_owned()));
    pieces.filter(|(_, piece)| !piece.is_empty()).collect()
}

fn percent(number: f64) -> String {
    format!("{number:.2}%")
}

#[cfg(test)]
mod tests {
    use limpid_prompt::inputs::{HistoryMessage, MemoryEntry, Quoted, RoleName, TrustName};
    use limpid_prompt::{Estimate, Inputs, Profiles, RenderRequest, SourceFile};

    use super::super::text::{self, Shared};
    use super::*;

    const MANIFEST: &str = r#"
        [budget.small]
        limit = { chars = 45 }
        overflow = "stop"
        [path.chat]
        messages = [
          { role = "system", sections = ["soul", "errors", "memories"] },
          { splice = "history" },
          { role = "user", sections = ["message"] },
        ]
    "#;

    fn prompt() -> Prompt {
        let list = |of: &str| {
            format!(
                "---\nentries: memory.{of}\nentry: \"- {{{{ key }}}}: {{{{ content }}}}\"\nbudget: small\n---\nYou know:\n{{{{ entries }}}}\n"
            )
        };
        let profiles = Profiles::load([
            SourceFile::home("mine/profile.toml", MANIFEST),
            SourceFile::home("mine/sections/soul.md", "You are {{ agent_name }}.\n"),
            SourceFile::home("mine/sections/message.md", "---\nstability: turn\n---\n{{ user_message }}\n"),
            SourceFile::home("mine/sections/memories.md", list("general")),
            SourceFile::home("mine/sections/errors.md", list("error")),
        ]);
        let mut inputs = Inputs {
            agent_name: "Ada".into(),
            user: Some(Quoted::new("hi", TrustName::Owner)),
            history: vec![
                HistoryMessage::new(RoleName::User, "before", TrustName::Owner),
                HistoryMessage::new(RoleName::Assistant, "yes", TrustName::Owner),
            ],
            ..Inputs::default()
        };
        for key in ["city", "street", "country"] {
            let content = format!("something about the {key}");
            inputs.memory.general.push(MemoryEntry { key: key.into(), content, ..MemoryEntry::by(TrustName::Owner) });
        }
        let counter = Estimate::default();
        let request = RenderRequest { path: "chat", inputs: &inputs, counter: &counter, count_tokens: true };
        profiles.get("mine").unwrap().render(request).unwrap()
    }

    // PRO-056 SUR-022
    #[test]
    fn every_section_has_its_place_and_size_and_what_was_cut_or_left_out_is_said() {
        let prompt = prompt();
        let shared = Shared { messages: 2, rest: 0, changed: None };
        let articles = text::articles(&prompt, Some(&shared), &|_, _| None);
        let rows = rows(&prompt, &articles, 0);
        let names: Vec<(&str, bool)> = rows.iter().map(|row| (&*row.section, row.is_in)).collect();
        assert_eq!(
            names,
            [("soul", true), ("errors", false), ("memories", true), ("history", true), ("message", true)]
        );
        let more = |at: usize| rows[at].more.iter().map(|(_, words)| words.as_str()).collect::<String>();
        assert!(rows[1].size == "left out" && rows[1].more.contains(&(true, "memory.error".to_owned())), "{}", more(1));
        assert!(more(2).contains("kept 1 of 3"), "{}", more(2));
        let blocks: Vec<_> = articles.iter().flat_map(|article| &article.blocks).collect();
        let cut: Vec<&str> = blocks.iter().filter_map(|block| block.cut.as_deref()).collect();
        assert!(cut.len() == 1 && cut[0].starts_with("2 of 3 were cut."), "{cut:?}");
        let marked: Vec<&str> = blocks.iter().filter(|block| block.mark.is_some()).map(|block| &*block.title).collect();
        assert_eq!(marked, ["1 · user"]);
        let titles: Vec<&str> = articles.iter().map(|article| &*article.title).collect();
        assert_eq!(titles, ["Message 0", "Messages 1 to 2", "Message 3"]);
        // What is shown of a message is all of it.
        let shown: String = articles[0].blocks[1].pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert!(prompt.messages()[0].text().ends_with(&shown) && shown.contains("- city: "), "{shown}");

        let bar = bar(&articles, 10);
        let widths: f64 = bar.iter().map(|segment| segment.width.trim_end_matches('%').parse::<f64>().unwrap()).sum();
        assert!((widths - 100.0).abs() < 0.1, "{widths}");
        assert_eq!(place(&bar, 0), "0.00%");
        assert_eq!(place(&bar, usize::MAX), "100.00%");
        assert!(text::tokens_of(&articles, &shared) > 0);
    }
}
