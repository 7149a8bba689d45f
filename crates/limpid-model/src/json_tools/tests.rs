use proptest::prelude::*;

use super::*;
use crate::wire::SchemaRules;

fn decode(pieces: &[&str], reason: FinishReason) -> Vec<ModelEvent> {
    let mut reply = JsonReply::new(CallIds::at(3));
    let texts = pieces.iter().map(|piece| ModelEvent::Text((*piece).to_owned()));
    texts.chain([ModelEvent::End(reason)]).flat_map(|event| reply.feed(event)).collect()
}

fn said(events: &[ModelEvent]) -> String {
    events
        .iter()
        .filter_map(|event| if let ModelEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

#[test]
fn the_schema_holds_calls_or_an_answer() {
    let tool = |name: &'static str, schema: &'static str| WireTool {
        name: name.into(),
        description: "",
        schema: SchemaRules::LOCAL.fit(schema).unwrap().schema,
        strict: false,
        deferred: false,
    };
    let pointing = r##"{"$ref":"#/$defs/x","$defs":{"x":{"type":"object","properties":{"n":{"type":"integer"}}}}}"##;
    let tools = [tool("clock", r#"{"type":"object","properties":{}}"#), tool("refs", pointing)];
    insta::assert_json_snapshot!("auto", form_schema(&reply_form(&tools, &ToolUse::Auto)));
    insta::assert_json_snapshot!("must", form_schema(&reply_form(&tools, &ToolUse::Must("clock".into()))));
}

fn form_schema(form: &ReplyForm) -> &Value {
    let ReplyForm::Json { schema, .. } = form else { panic!("a schema") };
    schema
}

#[test]
fn an_answer_is_streamed_while_it_is_written() {
    let events =
        decode(&["{\"ans", "wer\": \"Hel", "lo \\", "n\\u00", "e9\\ud83d", "\\ude00\"", "}"], FinishReason::Stop);
    let texts = ["Hel", "lo ", "\n", "é", "😀"].map(|text| ModelEvent::Text(text.to_owned()));
    assert_eq!(events, [&texts[..], &[ModelEvent::End(FinishReason::Stop)]].concat());
}

#[test]
fn calls_come_whole_with_names_of_their_own() {
    let text = r#"{"calls":[{"name":"clock","arguments":{"zone":"UTC"}},{"name":"clock"}]}"#;
    let events = decode(&[text], FinishReason::Stop);
    insta::assert_debug_snapshot!(events);
}

// LES-141
#[test]
fn calls_that_were_cut_off_are_never_reported() {
    let text = r#"{"calls":[{"name":"clock","arguments":{"zone":"UTC"}}]}"#;
    for end in 0..text.len() {
        for reason in [FinishReason::Length, FinishReason::Stop] {
            let events = decode(&[&text[..end]], reason);
            assert!(!events.iter().any(|event| matches!(event, ModelEvent::Call(_))), "{events:?}");
        }
    }
}

#[test]
fn prose_and_other_documents_are_taken_as_text() {
    for text in ["Hello there.", "{\"other\":1}", "[1]", "```json\n{\"answer\": 3}\n```"] {
        assert_eq!(said(&decode(&[text], FinishReason::Stop)), text);
    }
    assert_eq!(said(&decode(&["```json\n{\"answer\": \"hi\"}\n```"], FinishReason::Stop)), "hi");
}

proptest! {
    #[test]
    fn any_answer_in_any_pieces_reads_as_itself(answer: String, cuts in proptest::collection::vec(0usize..200, 0..6)) {
        let text = json!({ "answer": answer }).to_string();
        let mut borders: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
        borders.extend([0, text.len()]);
        borders.sort_unstable();
        let pieces: Vec<&str> = borders.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).collect();
        prop_assert_eq!(said(&decode(&pieces, FinishReason::Stop)), answer);
    }

    #[test]
    fn no_text_makes_it_panic(text: String) {
        decode(&[&format!("{{\"answer\":\"{text}")], FinishReason::Stop);
        decode(&[&text], FinishReason::Length);
    }
}
