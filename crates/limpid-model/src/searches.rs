//! Providers that search the web by themselves: what such an answer says may be a stranger's word.

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
    "\"citations\":[\"http",
    "\"citations\": [\"http",
];

/// Fields of requests that have a provider search.
const IN_REQUESTS: [&str; 7] = [
    "\"plugins\":",
    "\"web_search_options\":",
    "\"search_parameters\":",
    "\"enable_search\":",
    "\"type\":\"web_search",
    "\"google_search\":",
    "\"googleSearch\":",
];

/// Parts of the names of models that search whenever they like.
const IN_NAMES: [&str; 7] =
    ["search-preview", "search-api", ":online", "-online", "sonar", "compound", "deep-research"];

/// Whether a piece of an answer, as it came, tells that its provider has read pages for it.
pub(crate) fn tells_of_pages(payload: &str) -> bool {
    IN_ANSWERS.iter().any(|sign| payload.contains(sign))
}

/// Whether a model may read pages for its answer without being seen to: by its name, or by what the body of a request says, as
/// `extra` of its provider has it.
///
/// ```
/// assert!(limpid_model::may_search("gpt-4o-search-preview", "{}"));
/// assert!(limpid_model::may_search("gpt-5", r#"{"plugins":[{"id":"web"}]}"#));
/// assert!(!limpid_model::may_search("gpt-5", r#"{"content":"say \"plugins\": on"}"#));
/// ```
pub fn may_search(model: &str, body: &str) -> bool {
    let model = model.to_lowercase();
    IN_NAMES.iter().any(|part| model.contains(part)) || IN_REQUESTS.iter().any(|field| body.contains(field))
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
            r#"{"citations": ["https://a.example"],"choices":[]}"#,
        ] {
            assert!(tells_of_pages(answer), "{answer}");
        }
        for answer in [
            r#"{"choices":[{"message":{"content":"a \"url_citation\" is one","annotations":[]}}],"citations":[]}"#,
            r#"{"type":"message_delta","usage":{"server_tool_use":{"web_search_requests":0}}}"#,
        ] {
            assert!(!tells_of_pages(answer), "{answer}");
        }
    }
}
