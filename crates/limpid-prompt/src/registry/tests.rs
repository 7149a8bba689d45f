use super::*;

fn prompt(id: &str, body: &str, source: PromptSource) -> RegisteredPrompt {
    let mut skill = Skill::new(id.parse().unwrap(), format!("about {id}"), body);
    skill.tags = vec![body.to_owned()];
    RegisteredPrompt::new(skill, source, format!("{body}.md"), 7)
}

fn mcp(server: &str) -> PromptSource {
    PromptSource::Mcp { server: server.to_owned() }
}

fn seen(registry: &PromptRegistry) -> Vec<String> {
    registry.prompts().map(|prompt| format!("{}={}", prompt.id(), prompt.content())).collect()
}

// OLLM-054 OLLM-055
#[test]
fn what_is_registered_is_found_by_id_tag_and_source() {
    let mut registry = PromptRegistry::default();
    registry.register(prompt("Tea", "steep", PromptSource::Static)).unwrap();
    registry.register(prompt("review", "read", PromptSource::Config)).unwrap();
    registry.register(prompt("plan", "think", mcp("desk"))).unwrap();
    let tea = registry.get("tea").unwrap();
    assert_eq!(
        (tea.id().as_str(), tea.name(), tea.content(), tea.description()),
        ("tea", "Tea", "steep", Some("about Tea"))
    );
    assert_eq!((tea.source.as_str(), tea.server_name(), tea.registered_at_ms), ("static", None, 7));
    assert_eq!(registry.get("PLAN").unwrap().server_name(), Some("desk"));
    assert!(registry.get("coffee").is_none());
    let mut titled = prompt("oolong", "steep", PromptSource::Config);
    titled.skill.title = Some("Oolong, the long way".to_owned());
    assert_eq!((titled.id().as_str(), titled.name()), ("oolong", "Oolong, the long way"));
    let ids = |found: Vec<&RegisteredPrompt>| found.iter().map(|prompt| prompt.id()).collect::<Vec<_>>();
    assert_eq!(ids(registry.by_tag("read").collect()), ["review"]);
    assert_eq!(ids(registry.by_source("mcp").collect()), ["plan"]);
    assert_eq!(ids(registry.by_source("static").collect()), ["tea"]);
}

// OLLM-058 OLLM-059
#[test]
fn the_owner_replaces_what_is_built_in_and_a_server_replaces_nobody() {
    let mut registry = PromptRegistry::default();
    registry.register(prompt("tea", "steep", PromptSource::Static)).unwrap();
    registry.register(prompt("tea", "mine", PromptSource::Config)).unwrap();
    registry.register(prompt("plan", "think", mcp("desk"))).unwrap();
    let refused = |prompt| registry.clone().register(prompt).unwrap_err().to_string();
    assert_eq!(refused(prompt("TEA", "theirs", mcp("desk"))), "a built-in skill has the id `tea` already");
    assert_eq!(refused(prompt("plan", "theirs", mcp("other"))), "the server desk has the id `plan` already");
    assert_eq!(refused(prompt("tea", "second", PromptSource::Config)), "mine.md has the id `tea` already");
    assert_eq!(refused(prompt("tea", "second", PromptSource::Static)), "a built-in skill has the id `tea` already");
    registry.register(prompt("plan", "better", mcp("desk"))).unwrap();
    assert_eq!(seen(&registry), ["tea=mine", "plan=better"]);
    assert_eq!(
        registry.covered().map(|(covered, taken)| format!("{}: {taken}", covered.content())).collect::<Vec<_>>(),
        ["steep: mine.md has the id `tea` already"]
    );
    assert_eq!(
        (registry.get("plan").unwrap().trust(), registry.get("tea").unwrap().trust()),
        (Trust::Outside, Trust::File)
    );
    // An owner's prompt covers a server's that was there before.
    registry.register(prompt("plan", "own", PromptSource::Config)).unwrap();
    assert_eq!(seen(&registry), ["tea=mine", "plan=own"]);
    let found = |tag: &str, source: &str| (registry.by_tag(tag).count(), registry.by_source(source).count());
    assert_eq!([found("mine", "config"), found("steep", "static"), found("better", "mcp")], [(1, 2), (0, 0), (0, 0)]);
    registry.register(prompt("note", "own", PromptSource::Config)).unwrap();
    let refused = registry.clone().register(prompt("note", "theirs", mcp("desk"))).unwrap_err().to_string();
    assert_eq!(refused, "own.md has the id `note` already");
    registry.clear_config();
    assert_eq!(seen(&registry), ["tea=steep", "plan=better"], "what was covered is there again");
}

// OLLM-057
#[test]
fn a_server_that_goes_takes_exactly_its_own_prompts() {
    let mut registry = PromptRegistry::default();
    for (id, source) in [
        ("a", PromptSource::Static),
        ("b", PromptSource::Config),
        ("c", mcp("one")),
        ("d", mcp("two")),
        ("e", mcp("one")),
    ] {
        registry.register(prompt(id, id, source)).unwrap();
    }
    registry.clear_mcp("one");
    assert_eq!(seen(&registry), ["a=a", "b=b", "d=d"]);
}
