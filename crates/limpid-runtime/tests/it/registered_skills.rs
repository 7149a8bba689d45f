//! Skills that programs, servers and settings register, and those that a conversation chooses.

use crate::kit::skills::{TEA, bench, say_as, sent};
use crate::kit::{Bench, all, last, say};
use limpid_core::{Category, Skill};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_runtime::{Agent, ConversationChoice, EventKind};

fn prompt(id: &str, source: PromptSource) -> RegisteredPrompt {
    let skill = Skill::new(id.parse().unwrap(), format!("about {id}"), format!("The text of {id}."));
    RegisteredPrompt::new(skill, source, "registered", 0)
}

fn desk() -> PromptSource {
    PromptSource::Mcp { server: "desk".to_owned() }
}

// OLLM-056 OLLM-137
#[tokio::test]
async fn a_skill_registered_anywhere_is_in_the_next_build() {
    let mut bench = bench(2).await;
    let entry = "[[prompts]]\nid = \"from-settings\"\ndescription = \"d\"\ncontent = \"The text of from-settings.\"\n";
    bench.config.prompts = limpid_runtime::Config::parse(entry, "limpid.toml").unwrap().prompts;
    let agent = bench.agent();
    say_as(&agent, "ollm", "hi").await;
    let text = |name: &str| format!("---\ndescription: d\n---\nThe text of {name}.\n");
    bench.write("skills/from-folder/SKILL.md", &text("from-folder"));
    bench.write("workspace/skills/from-workspace/SKILL.md", &text("from-workspace"));
    bench.write("prompts/from-file.md", &text("from-file"));
    agent.skills().register(prompt("from-program", PromptSource::Static)).unwrap();
    agent.skills().register(prompt("from-server", desk())).unwrap();
    let owners = agent.skills().register(prompt("from-nowhere", PromptSource::Config)).unwrap_err().to_string();
    assert!(owners.contains("are files"), "{owners}");
    // What nobody chose is not told of, although it cannot be used.
    let mut needy = prompt("needy", PromptSource::Static);
    needy.skill.required_tools = vec!["fly".to_owned()];
    agent.skills().register(needy).unwrap();
    let names = ["from-server", "from-folder", "from-settings", "from-workspace", "from-file", "from-program"]
        .map(str::to_owned);
    let chosen = agent.conversations().use_skills(&ConversationChoice::Last, names.to_vec()).await.unwrap();
    assert_eq!((chosen.active.as_slice(), chosen.left_out.len()), (&names[..], 0));
    say(&agent, "hi").await;
    let system = bench.server.calls()[1].system();
    let places: Vec<usize> = names.iter().map(|name| system.find(&format!("The text of {name}.")).unwrap()).collect();
    assert!(places.is_sorted(), "in the order that was chosen");
    assert!(system.contains("[untrusted "), "what a server says is a stranger's text");
}

/// Where the beginning changes anyway, what was pinned since moves up into it.
// OLLM-061 PRO-041
#[tokio::test]
async fn a_skill_that_is_chosen_renders_the_beginning_anew() {
    let bench = bench(3).await;
    bench.write("skills/tea/SKILL.md", TEA);
    let agent = bench.agent();
    say(&agent, "hi").await;
    agent.memory().remember("cup", "Likes the blue cup", Category::General, "test").await.unwrap();
    agent.memory().pin(&"cup".into(), true).await.unwrap();
    let shows_the_cup = || {
        let calls = bench.server.calls();
        let request = calls.last().unwrap();
        (request.system().contains("blue cup"), request.user().contains("blue cup"))
    };
    say(&agent, "and now?").await;
    assert_eq!(shows_the_cup(), (false, true));
    agent.conversations().use_skills(&ConversationChoice::Last, vec!["tea".to_owned()]).await.unwrap();
    let unknown = vec!["tea".to_owned(), "tee".to_owned()];
    let refused = agent.conversations().use_skills(&ConversationChoice::Last, unknown).await.unwrap_err().to_string();
    assert!(refused.contains("`tee`") && refused.contains("tea stay chosen"), "{refused}");
    say(&agent, "tea, please").await;
    assert_eq!(shows_the_cup(), (true, false));
}

// OLLM-057 OLLM-060 OLLM-061 OLLM-107 OLLM-108
#[tokio::test]
async fn a_server_that_goes_takes_its_skill_along_and_brings_it_back() {
    let bench = bench(6).await;
    let agent = bench.agent();
    say_as(&agent, "ollm", "hi").await;
    let mut bus = agent.subscribe();
    let mut changes = move || {
        let mut seen = Vec::new();
        while let Ok(event) = bus.try_recv() {
            if let EventKind::ActiveSkillsUpdated(difference) = event.change {
                seen.push((difference.added, difference.removed));
            }
        }
        seen
    };
    let plan = || vec!["plan".to_owned()];
    agent.skills().register(prompt("plan", desk())).unwrap();
    agent.conversations().use_skills(&ConversationChoice::Last, plan()).await.unwrap();
    assert_eq!(changes(), [(plan(), vec![])]);
    say(&agent, "hi").await;
    assert!(sent(&bench.server).contains("The text of plan."));
    assert_eq!(changes(), [], "nothing changed, nothing is told");
    agent.skills().forget_server("other");
    agent.skills().forget_server("desk");
    say(&agent, "hi").await;
    assert!(!sent(&bench.server).contains("The text of plan."));
    assert_eq!(changes(), [(vec![], plan())]);
    let chosen = agent.conversations().use_skills(&ConversationChoice::Last, plan()).await.unwrap();
    assert_eq!(chosen.left_out, [("plan".to_owned(), "it was chosen, but there is no skill of that id".to_owned())]);
    agent.skills().register(prompt("plan", desk())).unwrap();
    say(&agent, "hi").await;
    assert!(sent(&bench.server).contains("The text of plan."), "a reconnect restores the choice");
    assert_eq!(changes(), [(plan(), vec![])]);
    // Another server cannot take the id, and the same prompt with an unmet need is left out.
    let other = PromptSource::Mcp { server: "other".to_owned() };
    assert!(agent.skills().register(prompt("plan", other)).is_err());
    let mut needy = prompt("plan", desk());
    needy.skill.required_tools = vec!["fly".to_owned()];
    agent.skills().register(needy).unwrap();
    let chosen = agent.conversations().use_skills(&ConversationChoice::Last, plan()).await.unwrap();
    assert_eq!(chosen.left_out, [("plan".to_owned(), "it needs tools that are not here: fly".to_owned())]);
}

// OLLM-057
#[tokio::test]
async fn a_running_turn_keeps_the_skills_that_it_began_with() {
    let mut bench =
        Bench::new("[[reply]]\ncalls = [{ id = \"o\", name = \"once\" }]\n[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.profile = "ollm".to_owned();
    let once = crate::kit::Once::new();
    let mut options = bench.options();
    options.tools = vec![std::sync::Arc::clone(&once) as _];
    let agent = Agent::open(options).unwrap();
    agent.skills().register(prompt("plan", desk())).unwrap();
    let handle = agent.chat(last("/plan")).await.unwrap();
    once.running.acquire().await.unwrap().forget();
    agent.skills().forget_server("desk");
    once.go_on.add_permits(1);
    all(handle).await;
    assert_eq!(bench.server.calls().len(), 2);
    assert_eq!(bench.server.calls()[0].system(), bench.server.calls()[1].system());
    assert!(bench.server.calls()[1].system().contains("The text of plan."));
}

// OLLM-062
#[tokio::test]
async fn a_skill_can_be_rendered_alone() {
    let bench = bench(1).await;
    bench.write("skills/tea/SKILL.md", TEA);
    let agent = bench.agent();
    let mut shown = Vec::new();
    for profile in ["limpid", "kai", "koshi", "ollm"] {
        shown.push(format!("{profile}:\n{}", agent.skills().rendered_alone("Tea", profile).await.unwrap()));
    }
    insta::assert_snapshot!(shown.join("\n\n"));
    assert!(agent.skills().rendered_alone("gone", "limpid").await.is_err());
}
