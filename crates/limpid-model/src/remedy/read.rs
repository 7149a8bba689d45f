//! Reads out of a provider's words what a request can do without.

use super::{Field, Remedy, ToolMark};

/// Words with which providers refuse a field.
const REFUSED: [&str; 22] = [
    "unsupported",
    "not support",
    "n't support",
    "deprecated",
    "not permitted",
    "forbidden",
    "unknown",
    "unrecognized",
    "unrecognised",
    "not allowed",
    "may not",
    "cannot",
    "can't",
    "only the default",
    "removed",
    "no longer",
    "not compatible",
    "incompatible",
    "invalid",
    "not available",
    "not accept",
    "must be",
];

/// Words of a refusal that say that a field itself, and not its value, is wrong.
const UNKNOWN: [&str; 7] =
    ["unsupported", "not support", "unknown", "unrecognized", "not permitted", "forbidden", "instead"];

/// Refusals of what earlier answers came with.
const STATE: [&str; 8] = [
    "bound to a different conversation",
    "`signature` in `thinking`",
    "`thinking` or `redacted_thinking` blocks",
    "thinking.signature",
    "thought signature",
    "encrypted content",
    "encrypted_content",
    "without its required following item",
];

/// Before the number of tokens that a reply may have.
const AT_MOST: [&str; 8] = [
    "at most ",
    "> ",
    "maximum of ",
    "less than or equal to ",
    "<= ",
    "up to ",
    "maximum value of ",
    "maximum value is ",
];

/// A field's names, as protocols and their libraries write them. A name that is also an English word counts only as a
/// name: in quotes, or where the provider names a parameter.
const NAMES: [(Field, &[&str], &[&str]); 14] = [
    (Field::Temperature, &["temperature"], &[]),
    (Field::TopP, &["top_p", "topp"], &[]),
    (Field::Seed, &["seed"], &[]),
    (Field::MaxCompletionTokens, &["max_completion_tokens"], &[]),
    (Field::MaxTokens, &["max_tokens", "max_output_tokens", "maxoutputtokens"], &[]),
    (Field::ToolChoice, &["tool_choice", "toolchoice", "toolconfig", "tool_config"], &[]),
    (Field::ParallelToolCalls, &["parallel_tool_calls"], &[]),
    (
        Field::ResponseFormat,
        &[
            "response_format",
            "response format",
            "output_config.format",
            "text.format",
            "responsejsonschema",
            "response_json_schema",
        ],
        &[],
    ),
    (Field::StreamOptions, &["stream_options"], &[]),
    (
        Field::Reasoning,
        &["reasoning_effort", "reasoning.effort", "reasoning.summary", "output_config.effort", "thinking.type"],
        &["reasoning", "thinking", "effort", "thinkingconfig", "thinkinglevel", "thinkingbudget", "think"],
    ),
    (Field::PromptCacheKey, &["prompt_cache_key"], &[]),
    (Field::CacheControl, &["cache_control"], &[]),
    (Field::Strict, &[], &["strict"]),
    (Field::ToolSearch, &["defer_loading", "tool_reference", "tool_search"], &[]),
];

/// What a refusal names that a request can do without: its text for people, and the parameter that it names for
/// programs, if any.
pub(crate) fn read(text: &str, param: &str) -> Option<Remedy> {
    if let Some(mark) = tool(text).or_else(|| tool(param)) {
        return Some(Remedy::WithoutTool(mark));
    }
    let (text, param) = (text.to_lowercase(), param.to_lowercase());
    if text.contains("item with id") && text.contains("not found") {
        return Some(Remedy::WithoutIds);
    }
    if text.contains("function tools with reasoning_effort are not supported") {
        return Some(Remedy::WithoutReasoningBesideTools);
    }
    if STATE.iter().any(|words| text.contains(words)) {
        return Some(Remedy::WithoutState);
    }
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let field = named(&param).or_else(|| choice_among(&text)).or_else(|| named(&text))?;
    if matches!(field, Field::MaxTokens | Field::MaxCompletionTokens) && !says(&UNKNOWN) {
        return number_after(&text).map(Remedy::ShorterReply);
    }
    says(&REFUSED).then_some(Remedy::Without(field))
}

/// The tool whose schema is refused.
fn tool(text: &str) -> Option<ToolMark> {
    if let Some((_, rest)) = text.split_once("Invalid schema for function '") {
        return rest.split_once('\'').map(|(name, _)| ToolMark::Name(name.to_owned()));
    }
    let declared = text.split_once("function_declarations[").and_then(place);
    let listed = || text.split_once("tools.").or_else(|| text.split_once("tools[")).and_then(place);
    let is_schema = |rest: &str| {
        let path: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
        path.contains("input_schema") || path.contains("parameters")
    };
    declared.or_else(|| listed().filter(|(_, rest)| is_schema(rest))).map(|(place, _)| ToolMark::Place(place))
}

/// The number at the beginning of what follows, and what comes behind it.
fn place<'a>((_, rest): (&'a str, &'a str)) -> Option<(usize, &'a str)> {
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// Of two fields that exclude each other, the one to leave out.
fn choice_among(text: &str) -> Option<Field> {
    let has = |name: &str| position(text, name, false).is_some();
    if has("tool_choice") {
        return Some(Field::ToolChoice);
    }
    (has("temperature") && has("top_p")).then_some(Field::TopP)
}

/// The field that is named first.
fn named(text: &str) -> Option<Field> {
    let places = NAMES.iter().flat_map(|(field, names, words)| {
        let names = names.iter().map(|name| position(text, name, false));
        let words = words.iter().map(|word| position(text, word, true));
        names.chain(words).flatten().map(|at| (at, *field))
    });
    places.min().map(|(_, field)| field)
}

/// Where a name is, on its own; for words only as the whole text, or in quotes.
fn position(text: &str, name: &str, quoted: bool) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + name.len()..].chars().next());
        if quoted && text != name {
            // A dot ends the name of an object that has the field which is meant.
            return before.is_some_and(is_quote) && after.is_some_and(|c| is_quote(c) || c == '.');
        }
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

fn number_after(text: &str) -> Option<u32> {
    AT_MOST.iter().find_map(|words| {
        let (_, rest) = text.split_once(words)?;
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '_')).collect();
        digits.replace([',', '_'], "").parse().ok().filter(|most| *most > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-007 MOD-073 MOD-074
    #[test]
    fn what_a_refusal_names_is_left_out() {
        let cases = include_str!("../../tests/remedies.txt");
        let mut rows = Vec::new();
        for case in cases.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let [expected, param, text] = case.splitn(3, '|').collect::<Vec<_>>()[..] else { panic!("{case}") };
            let remedy = match read(text.trim(), param.trim()) {
                None => "nothing".to_owned(),
                Some(Remedy::Without(field)) => field.as_str().to_owned(),
                Some(Remedy::ShorterReply(most)) => format!("at most {most}"),
                Some(Remedy::WithoutTool(ToolMark::Name(name))) => format!("tool {name}"),
                Some(Remedy::WithoutTool(ToolMark::Place(place))) => format!("tool {place}"),
                Some(Remedy::WithoutReasoningBesideTools) => "reasoning beside tools".to_owned(),
                Some(Remedy::WithoutIds) => "ids".to_owned(),
                Some(Remedy::WithoutState) => "state".to_owned(),
            };
            if remedy != expected.trim() {
                rows.push(format!("{remedy} for {case}"));
            }
        }
        assert!(rows.is_empty(), "{}", rows.join("\n"));
    }

    #[test]
    fn names_are_read_back() {
        assert!(Field::ALL.iter().all(|field| Field::parse(field.as_str()) == Some(*field)));
        assert_eq!(Field::parse("Temperature"), None);
    }
}
