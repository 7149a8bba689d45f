//! What is known of calls of two tools that are made for these tests.

use async_trait::async_trait;
use limpid_config::{FilesConfig, Home};
use limpid_core::policy::{ArgumentPattern, OwnerRules, Rule, ToolPattern};
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_tools::{Named, PathArgument, ToolContext};
use serde_json::{Map, json};

use super::*;

/// Starts something in a folder, the workspace where none is named.
struct Starts;

#[async_trait]
impl Tool for Starts {
    fn name(&self) -> &'static str {
        "starts"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Run
    }

    fn schema(&self) -> Map<String, Value> {
        Map::new()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn path_field(&self) -> &'static str {
        "working_dir"
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        let path = arguments["working_dir"].as_str().unwrap_or(".").to_owned();
        vec![PathArgument { path, write: true, adds: false }]
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Err("nothing".into())
    }
}

// SEC-065 SEC-077
#[test]
fn who_reads_the_conversation_is_told_before_words_that_others_may_have_written() {
    let home = tempfile::tempdir().unwrap();
    let resolver = PathResolver::new(&Home::new(home.path()), Vec::new(), &FilesConfig::default());
    let mut facts = CallFacts::of(&Starts, &json!({}), &resolver);
    facts.others_read = true;
    facts.tell(Some("a.md would be changed".to_owned()), Some("memory 4, tea: black".to_owned()));
    let told = "others read this conversation, and what comes of the call with it; a.md would be changed; \
                memory 4, tea: black";
    assert_eq!(facts.about.as_deref(), Some(told));
    facts.others_read = false;
    facts.tell(None, None);
    assert_eq!(facts.about, None);
}

// SEC-071
#[cfg(unix)]
#[test]
fn a_rule_about_the_folder_of_a_program_holds_by_the_place() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir_all(workspace.join("projects")).unwrap();
    std::os::unix::fs::symlink("projects", workspace.join("link")).unwrap();
    let whole = workspace.join("projects").display().to_string();
    let is_held = |rule: &str, folder: Option<&str>| {
        let folder_is = ArgumentPattern::Text(rule.to_owned());
        let rule = Rule {
            tool: ToolPattern::All,
            arguments: Some(ArgumentPattern::Fields(vec![("working_dir".to_owned(), folder_is)])),
            destination: None,
            max_bytes: None,
        };
        let rules = OwnerRules { deny: vec![rule.clone()], ..OwnerRules::default() };
        let resolver = PathResolver::new(&Home::new(home.path()), Vec::new(), &FilesConfig::default());
        let arguments = folder.map_or(json!({}), |folder| json!({ "working_dir": folder }));
        let facts = CallFacts::of(&Starts, &arguments, &resolver.with_rules(&rules));
        let pattern = rule.arguments.unwrap();
        std::iter::once(&facts.arguments).chain(&facts.spellings).any(|spelled| pattern.concerns(spelled))
    };
    for rule in ["projects", "./projects", "link", whole.as_str(), "proj*"] {
        for folder in ["projects", "./projects", "link", whole.as_str()] {
            assert!(is_held(rule, Some(folder)), "{rule} {folder}");
        }
        assert!(!is_held(rule, Some("other")) && !is_held(rule, None), "{rule}");
    }
    assert!(is_held(".", None), "the workspace, where no folder is named");
}

/// Forgets the one thing that there is, which is `1` and `Diary`.
struct Forgets;

#[async_trait]
impl Tool for Forgets {
    fn name(&self) -> &'static str {
        "forgets"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Remember
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::ChangeOwned
    }

    fn schema(&self) -> Map<String, Value> {
        Map::new()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        vec![json!({ "id": arguments["id"], "also": arguments["id"] })]
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        let is_it = ["1", "one", "diary"].contains(&arguments["id"].as_str()?.to_lowercase().as_str());
        is_it.then(|| Named { fields: &["id", "also"], names: vec!["1".to_owned(), "Diary".to_owned()] })
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        Err("nothing".into())
    }
}

// SEC-071
#[tokio::test]
async fn a_rule_about_a_thing_holds_by_each_of_its_names() {
    let home = tempfile::tempdir().unwrap();
    let is_held = async |field: &str, rule: &str, name: &str| {
        let pattern = ArgumentPattern::Fields(vec![(field.to_owned(), ArgumentPattern::Text(rule.to_owned()))]);
        let rule =
            Rule { tool: ToolPattern::All, arguments: Some(pattern.clone()), destination: None, max_bytes: None };
        let rules = OwnerRules { deny: vec![rule], ..OwnerRules::default() };
        let resolver = PathResolver::new(&Home::new(home.path()), Vec::new(), &FilesConfig::default());
        let (resolver, arguments) = (resolver.with_rules(&rules), json!({ "id": name }));
        let mut facts = CallFacts::of(&Forgets, &arguments, &resolver);
        facts.know_names(&Forgets, &arguments, None, &resolver).await;
        facts.spellings.iter().any(|spelled| pattern.concerns(spelled))
    };
    for field in ["id", "also"] {
        for rule in ["1", "one", "Diary", "DIARY", "dia*"] {
            for name in ["1", "one", "diary"] {
                assert!(is_held(field, rule, name).await, "{field} {rule} {name}");
            }
            assert!(!is_held(field, rule, "other").await, "{field} {rule}");
        }
        assert!(!is_held(field, "other", "1").await, "{field}");
    }
}
