//! Providers that search the web by themselves: what such an answer says may be a stranger's word.

use std::collections::HashMap;

use serde::de::IgnoredAny;

/// Names of fields, and values, in answers that a provider made of pages. In a text that a model writes their quotes are escaped.
const IN_ANSWERS: [&str; 10] = [
    "\"url_citation\"",
    "\"web_search_call\"",
    "\"web_search_tool_result\"",
    "\"web_search_result_location\"",
    "\"web_fetch_tool_result\"",
    "\"groundingMetadata\"",
    "\"search_results\"",
    "\"executed_tools\"",
    "\"urlContextMetadata\"",
    "\"search_info\"",
];

/// A list of pages, which some providers send empty where there is none.
const CITATIONS: &str = "\"citations\"";

/// Fields of a request that have a provider search.
const IN_REQUESTS: [&str; 4] = ["plugins", "web_search_options", "search_parameters", "enable_search"];

/// Parts of the names of models that search whenever they like.
const IN_NAMES: [&str; 7] =
    ["search-preview", "search-api", ":online", "-online", "sonar", "compound", "deep-research"];

/// Whether a piece of an answer, as it came, tells that its provider has read pages for it.
pub(crate) fn tells_of_pages(payload: &str) -> bool {
    let lists = |rest: &str| {
        let list = rest.trim_start().strip_prefix(':').and_then(|rest| rest.trim_start().strip_prefix('['));
        list.is_some_and(|list| !list.trim_start().starts_with(']'))
    };
    IN_ANSWERS.iter().any(|sign| payload.contains(sign)) || payload.split(CITATIONS).skip(1).any(lists)
}

/// Whether a model may read pages for its answer without being seen to: by its name, or by what the body of a request says, as
/// `extra` of its provider has it.
///
/// ```
/// assert!(limpid_model::may_search("gpt-4o-search-preview", "{}"));
/// assert!(limpid_model::may_search("gpt-5", r#"{"plugins":[{"id":"web"}]}"#));
/// assert!(!limpid_model::may_search("gpt-5", r#"{"tools":[{"plugins":"of a tool"}]}"#));
/// ```
pub fn may_search(model: &str, body: &str) -> bool {
    let model = model.to_lowercase();
    let fields = || serde_json::from_str::<HashMap<String, IgnoredAny>>(body).unwrap_or_default();
    IN_NAMES.iter().any(|part| model.contains(part))
        || IN_REQUESTS.iter().any(|field| body.contains(field))
            && fields().keys().any(|field| IN_REQUESTS.contains(&field.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-053
    #[test]
    fn answers_of_each_protocol_that_were_made_of_pages_are_known() {
        for answer in [
            r#"{"choices":[{"delta":{"annotations":[{"type":"url_citation","url_citation":{"url":"http://a.example"}}]}}]}"#,
            r#"{"type":"response.output_item.added","item":{"type":"web_search_call","status":"in_progress"}}"#,
            r#"{"type":"content_block_start","content_block":{"type":"web_search_tool_result","content":[]}}"#,
            r#"{"candidates":[{"groundingMetadata":{"webSearchQueries":["tea"]}}]}"#,
            "{\"citations\": [\n  \"https://a.example\"],\"choices\":[]}",
        ] {
            assert!(tells_of_pages(answer), "{answer}");
        }
        for answer in [
            r#"{"choices":[{"message":{"content":"a \"url_citation\" is one","annotations":[]}}],"citations":[ ]}"#,
            r#"{"type":"message_delta","usage":{"server_tool_use":{"web_search_requests":0}}}"#,
        ] {
            assert!(!tells_of_pages(answer), "{answer}");
        }
    }
}
