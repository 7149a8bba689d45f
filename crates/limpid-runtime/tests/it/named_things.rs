//! A rule that holds a call back knows the memory, the task or the goal that the call names by each of its names.

use crate::kit::tasks::{calling, reminder, results};
use crate::kit::{Bench, say};
use limpid_core::Category;
use limpid_core::goal::Priority;
use limpid_runtime::tasks::When;
use limpid_runtime::{Config, ConversationChoice};

/// What the model reads of its calls under a rule, with a memory, a task and two goals.
async fn told(rule: &str, calls: &[&str]) -> String {
    let script = format!("[[reply]]\ntext = \"ok\"\n{}", calling(calls));
    let mut bench = Bench::new(&script).await;
    let rule = format!("[[policy.deny]]\n{rule}\n");
    bench.config.policy = Config::parse(&rule, "limpid.toml").unwrap().policy;
    let agent = bench.agent();
    say(&agent, "hi").await;
    agent.memory().remember("diary", "I was in Rome", Category::General, "test").await.unwrap();
    agent.memory().remember("tea", "Oolong", Category::General, "test").await.unwrap();
    agent.tasks().add(reminder("water the flowers", When::In(86_400))).await.unwrap();
    for goal in ["Make tea", "Sell the house"] {
        agent.goals().create(&ConversationChoice::Last, goal, Priority::Low).await.unwrap();
    }
    say(&agent, "go on").await;
    results(bench.server.calls().last().unwrap())
}

// SEC-002 SEC-071
#[tokio::test]
async fn a_rule_holds_by_every_name_of_what_a_call_names() {
    let by_number = [
        r#"{ name = "memory_forget", arguments = { key = 1 } }"#,
        r#"{ name = "memory_forget", arguments = { key = "1" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "[id:1]" } }"#,
        r#"{ name = "memory_forget", arguments = { key = "diary" } }"#,
    ];
    let update = [r#"{ name = "memory_update", arguments = { id = 1, content = "nothing" } }"#];
    let cancel = [
        r#"{ name = "cancel_task", arguments = { task_id = "1" } }"#,
        r#"{ name = "cancel_task", arguments = { task_id = " 1 " } }"#,
    ];
    let switch = [
        r#"{ name = "switch_goal", arguments = { goal = "g1" } }"#,
        r#"{ name = "switch_goal", arguments = { goal = "make TEA" } }"#,
        r#"{ name = "switch_goal", arguments = { goal = "make" } }"#,
    ];
    let follow = [
        r#"{ name = "spawn_agent", arguments = { task = "do it", skill = "code-review" } }"#,
        r#"{ name = "spawn_agent", arguments = { task = "do it", skill = " /Code-Review " } }"#,
    ];
    let lists = [
        r#"{ name = "list_dir", arguments = {} }"#,
        r#"{ name = "list_dir", arguments = { path = " " } }"#,
        r#"{ name = "list_dir", arguments = { path = "./" } }"#,
    ];
    let table: [(&str, &[&str]); 12] = [
        ("tool = \"list_dir\"\narguments = { path = \".\" }", &lists),
        ("tool = \"load_skill\"\narguments = { name = \"code-review\" }", &follow),
        ("tool = \"memory_forget\"\narguments = { key = \"diary\" }", &by_number),
        ("tool = \"memory_forget\"\narguments = { key = \"1\" }", &by_number),
        ("tool = \"memory_forget\"\narguments = { key = \"id:1\" }", &by_number),
        ("tool = \"memory_forget\"\narguments = { key = \"dia*\" }", &by_number),
        ("tool = \"memory_update\"\narguments = { id = \"diary\" }", &update),
        ("tool = \"cancel_task\"\narguments = { task_id = \"1\" }", &cancel),
        ("tool = \"cron\"\narguments = { action = \"remove\", job_id = \"1\" }", &cancel),
        ("tool = \"switch_goal\"\narguments = { goal = \"g1\" }", &switch),
        ("tool = \"switch_goal\"\narguments = { goal = \"Make tea\" }", &switch),
        ("tool = \"switch_goal\"\narguments = { goal = \"make*\" }", &switch),
    ];
    for (rule, calls) in table {
        let told = told(rule, calls).await;
        assert_eq!(told.matches("the owner's rules forbid").count(), calls.len(), "{rule}: {told}");
    }
}

// SEC-098
#[tokio::test]
async fn a_rule_about_one_thing_holds_no_other() {
    for (rule, call) in [
        (
            "tool = \"memory_forget\"\narguments = { key = \"diary\" }",
            r#"{ name = "memory_forget", arguments = { key = 2 } }"#,
        ),
        (
            "tool = \"switch_goal\"\narguments = { goal = \"Sell the house\" }",
            r#"{ name = "switch_goal", arguments = { goal = "g1" } }"#,
        ),
        (
            "tool = \"cron\"\narguments = { action = \"add\" }",
            r#"{ name = "cancel_task", arguments = { task_id = "1" } }"#,
        ),
        (
            "tool = \"load_skill\"\narguments = { name = \"code-review\" }",
            r#"{ name = "spawn_agent", arguments = { task = "do it", skill = "deploy" } }"#,
        ),
    ] {
        let told = told(rule, &[call]).await;
        assert!(!told.contains("the owner's rules forbid"), "{rule}: {told}");
    }
}
