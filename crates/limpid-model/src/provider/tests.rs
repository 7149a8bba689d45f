use super::*;

#[test]
fn every_preset_is_complete() {
    let rows: Vec<String> = presets()
        .values()
        .map(|preset| {
            let own = ("https://own.test/v1".to_owned(), preset.name.clone());
            let base_urls = preset.base_url.is_none().then_some((own.1, own.0)).into_iter().collect();
            let keys = [(preset.name.clone(), ApiKey::new("k"))].into();
            let settings = Settings { keys, base_urls, ..Settings::default() };
            let model = resolve(&format!("{}/some/model", preset.name), &settings).unwrap();
            let endpoint = endpoint(&preset.name, "some/model", &settings).unwrap();
            let tools = model.info().tools.as_str();
            let key = preset.key_variable.as_deref().unwrap_or("-");
            let url = preset.base_url_variable.as_deref().unwrap_or("-");
            format!(
                "{:11} {:16} {tools:6} {key:24} {url:22} {} {}",
                preset.name,
                endpoint.protocol.as_str(),
                endpoint.base_url,
                preset.models.join(" ")
            )
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn openai_elsewhere_speaks_chat_completions_and_needs_no_key() {
    let base_urls = [("openai".to_owned(), "http://127.0.0.1:1/v1".to_owned())].into();
    let settings = Settings { base_urls, ..Settings::default() };
    assert_eq!(endpoint("openai", "m", &settings).unwrap().protocol, Protocol::OpenaiChat);
    let card = resolve("openai/made-up:7b", &settings).unwrap().info().clone();
    assert_eq!((card.name().as_str(), card.window, card.price), ("openai/made-up:7b", None, None));
}

#[test]
fn what_cannot_be_resolved_says_what_to_do() {
    let base_urls = [("ollama".to_owned(), "http://".to_owned())].into();
    let settings = Settings { base_urls, ..Settings::default() };
    let names = ["gpt-5", "/x", "nobody/x", "openai/gpt-5", "ollama/x", "scripted/none.toml"];
    let errors = names.map(|name| format!("{name}: {}", resolve(name, &settings).map(|_| ()).unwrap_err()));
    insta::assert_snapshot!(errors.join("\n"));
}

// MOD-053
#[test]
fn a_providers_own_address_is_no_other_one_when_it_is_set() {
    for (url, protocol) in [
        ("https://api.openai.com/v1", Protocol::OpenaiResponses),
        (" https://API.openai.com/v1/ ", Protocol::OpenaiResponses),
        ("https://api.openai.com:8443/v1", Protocol::OpenaiChat),
        ("https://openai.example/v1", Protocol::OpenaiChat),
    ] {
        let base_urls = [("openai".to_owned(), url.to_owned())].into();
        let keys = [("openai".to_owned(), ApiKey::new("k"))].into();
        let settings = Settings { base_urls, keys, ..Settings::default() };
        assert_eq!(endpoint("openai", "m", &settings).unwrap().protocol, protocol, "{url}");
    }
}

// MOD-054
#[test]
fn cache_marks_are_for_the_models_that_take_them() {
    let settings = Settings { keys: [("openrouter".to_owned(), ApiKey::new("k"))].into(), ..Settings::default() };
    let marks = |model| endpoint("openrouter", model, &settings).unwrap().dialect.cache_marks;
    for model in
        ["anthropic/claude-sonnet-4.5", "anthropic/claude-opus-5.5:thinking", "anthropic/claude-fable-5.1:beta"]
    {
        assert!(marks(model), "{model}");
    }
    assert!(!marks("qwen/qwen3"));
}
