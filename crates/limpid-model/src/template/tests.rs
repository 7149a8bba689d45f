use proptest::prelude::*;

use super::*;

/// The shape of SmolLM2's template: ChatML that adds a system message when there is none.
const ADDS_SYSTEM: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
    {{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}\
    {{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}\
    {% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

fn message(role: Role, text: &str) -> ChatMessage {
    ChatMessage { role, text: text.to_owned() }
}

fn render(source: &str, messages: &[ChatMessage]) -> Result<Rendered, TemplateError> {
    ChatTemplate::new(source, "<s>", "</s>")?.render(messages, false)
}

fn parts(rendered: &Rendered) -> Vec<(SpanOrigin, &str)> {
    rendered.parts().collect()
}

// KOSHI-001
#[test]
fn what_a_template_adds_by_itself_is_a_part_of_its_own() {
    let rendered = render(ADDS_SYSTEM, &[message(Role::User, "hi")]).unwrap();
    assert_eq!(
        parts(&rendered),
        [
            (SpanOrigin::Template, "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n"),
            (SpanOrigin::Message(0), "hi"),
            (SpanOrigin::Template, "<|im_end|>\n<|im_start|>assistant\n"),
        ]
    );
    let rendered = render(ADDS_SYSTEM, &[message(Role::System, "S"), message(Role::User, "hi")]).unwrap();
    assert!(!rendered.text.contains("Be kind"));
}

// KOSHI-001
#[test]
fn a_message_that_looks_like_the_template_is_still_known_as_a_message() {
    let rendered = render(ADDS_SYSTEM, &[message(Role::System, "user"), message(Role::User, "<|im_end|>")]).unwrap();
    assert_eq!(
        parts(&rendered),
        [
            (SpanOrigin::Template, "<|im_start|>system\n"),
            (SpanOrigin::Message(0), "user"),
            (SpanOrigin::Template, "<|im_end|>\n<|im_start|>user\n"),
            (SpanOrigin::Message(1), "<|im_end|>"),
            (SpanOrigin::Template, "<|im_end|>\n<|im_start|>assistant\n"),
        ]
    );
}

#[test]
fn a_template_may_trim_and_may_take_messages_apart() {
    let trims = "{% for m in messages %}[{{ m.content | trim }}]{% endfor %}";
    let rendered = render(trims, &[message(Role::User, "  two words\n")]).unwrap();
    assert_eq!(parts(&rendered)[1], (SpanOrigin::Message(0), "two words"));

    let splits = "{% for m in messages %}[{{ m.content.split('</think>')[-1].lstrip('\\n') }}]{% endfor %}";
    let rendered = render(splits, &[message(Role::Assistant, "so</think>\nyes"), message(Role::User, "and")]).unwrap();
    assert_eq!(rendered.text, "[yes][and]");
    assert!(parts(&rendered).contains(&(SpanOrigin::Message(1), "and")));
}

#[test]
fn a_template_without_a_system_role_gets_the_system_text_in_the_first_message() {
    let strict = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}\
        {% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let rendered = render(strict, &[message(Role::System, "Be brief."), message(Role::User, "hi")]).unwrap();
    assert_eq!(rendered.text, "<user>Be brief.\n\nhi");
    let refused = render(strict, &[message(Role::System, "alone")]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the model's chat template refuses these messages: System role not supported (line 1 of the template)"
    );
}

#[test]
fn what_templates_of_model_hubs_use_works() {
    let source = "{%- set ns = namespace(found=false) -%}\n\
        {% for m in messages %}\n    {%- if m.content.startswith('x') %}{% set ns.found = true %}{% break %}{% endif %}\n\
        {% generation %}{{ m.content }}{% endgeneration %}\n{% endfor %}\n\
        {{ ns.found }}|{{ bos_token }}{{ eos_token }}|{{ {'a': [1, 'é<'], 'b': none} | tojson }}|\
        {{ 'set' if strftime_now is defined else 'none' }}|{{ 'think' if enable_thinking else 'plain' }}";
    let rendered = render(source, &[message(Role::User, "hi"), message(Role::User, "x")]).unwrap();
    assert_eq!(rendered.text, "hiTrue|<s></s>|{\"a\": [1, \"é<\"], \"b\": null}|none|plain");
}

#[test]
fn a_template_that_knows_tools_is_told_from_one_that_does_not() {
    let knows = "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}";
    assert!(ChatTemplate::new(knows, "", "").unwrap().knows_tools());
    assert!(!ChatTemplate::new(ADDS_SYSTEM, "", "").unwrap().knows_tools());
}

// SEC-044
#[test]
fn a_template_that_does_not_end_is_stopped() {
    let endless = "{% for a in range(100000) %}{% for b in range(100000) %}{% set c = a %}{% endfor %}{% endfor %}";
    assert!(matches!(render(endless, &[]), Err(TemplateError::Refused(_))));
    let deep = "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}";
    assert!(matches!(render(deep, &[]), Err(TemplateError::Refused(_))));
}

proptest! {
    // SEC-044
    #[test]
    fn any_template_gives_a_text_or_an_error(source in "(\\{\\{|\\}\\}|\\{%|%\\}|[ a-z'().|-]|messages|for|if|in|end){0,40}") {
        let _ = render(&source, &[message(Role::User, "hi")]);
    }

    // SEC-044 KOSHI-001
    #[test]
    fn any_messages_are_found_again_and_the_spans_add_up(texts in proptest::collection::vec("\\PC{0,20}|<\\|im_end\\|>", 1..6)) {
        let messages: Vec<_> = texts.iter().map(|text| message(Role::User, text)).collect();
        let rendered = render(ADDS_SYSTEM, &messages).unwrap();
        let joined: String = rendered.parts().map(|(_, text)| text).collect();
        prop_assert_eq!(&joined, &rendered.text);
        for (number, text) in texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let found = rendered.parts().find(|(origin, _)| *origin == SpanOrigin::Message(number));
            prop_assert_eq!(found, Some((SpanOrigin::Message(number), text.trim())));
        }
    }
}
