//! What a model's own chat template adds is shown as a part of its own, and nowhere else.

use limpid_prompt::inputs::{Quoted, TrustName};
use limpid_prompt::{Estimate, Inputs, Profiles, Prompt, RenderRequest};

fn prompt() -> Prompt {
    let inputs = Inputs { user: Some(Quoted::new("hi", TrustName::Owner)), ..Inputs::default() };
    let request =
        RenderRequest { path: "summarize", inputs: &inputs, counter: &Estimate::default(), count_tokens: false };
    Profiles::shipped().get("picoclaw").unwrap().render(request).unwrap()
}

// KOSHI-001
#[test]
fn the_chat_templates_text_is_shown_with_its_origin() {
    let plain = prompt();
    let shown = prompt().with_template(vec!["<|im_start|>user\n".to_owned(), "<|im_end|>\n".to_owned()]);

    assert_eq!(plain.messages(), shown.messages());
    assert!(!plain.to_text().contains("model:chat_template"));
    let added = shown.to_text().strip_prefix(&plain.to_text()).unwrap().to_owned();
    insta::assert_snapshot!(added);
    let row = shown.explain().lines().find(|line| line.starts_with("template")).unwrap().to_owned();
    assert!(row.contains("model:chat_template") && row.contains("28"), "{row}");
    let json = serde_json::to_value(&shown).unwrap();
    assert_eq!(json["template"][1], "<|im_end|>\n");
    assert_eq!(serde_json::to_value(&plain).unwrap().get("template"), None);
}
