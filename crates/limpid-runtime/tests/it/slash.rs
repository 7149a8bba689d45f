//! Slash commands, the same on every surface.

use crate::kit::{Bench, newest_chat, say};
use limpid_prompt::shown::shown_line;
use limpid_runtime::{Agent, AgentError, ConversationChoice, Input, SlashReply};

const REPLIES: &str = r#"
[[reply]]
text = "Hello."
usage = { input = 120, cached = 20, output = 3 }
[[reply]]
text = "Again."
usage = { input = 140, cached = 120, output = 1 }
"#;

async fn command(agent: &Agent, text: &str) -> Result<SlashReply, AgentError> {
    match agent.command(&newest_chat(agent).await, text).await? {
        Input::Reply(reply) => Ok(reply),
        Input::Message(text) => panic!("{text} is no command"),
    }
}

// SUR-015
#[tokio::test]
async fn commands_say_what_they_found_and_what_they_changed() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    agent.memory().remember("tea", "Likes Sencha", limpid_core::Category::Preference, "test").await.unwrap();
    say(&agent, "hi").await;
    let mut told = String::new();
    let lines = [
        "/mode",
        "/mode developer",
        "/mode",
        "/mode sleepy",
        "/profile",
        "/profile kai",
        "/profile nobody",
        "/profile limpid",
        "/model",
        "/model openai/other",
        "/model",
        "/memory",
        "/memory sencha",
        "/memory coffee",
        "/cost",
        "/prompt nothing",
        "/stop",
    ];
    for line in lines {
        let said = match command(&agent, line).await {
            Ok(reply) => format!("{}\nchanged: {:?}", reply.text, reply.changed),
            Err(error) => format!("error: {error}"),
        };
        told.push_str(&format!("> {line}\n{said}\n\n"));
    }
    insta::assert_snapshot!(told);
    assert_eq!(bench.server.calls().len(), 1, "no command asks a model");
    let context = command(&agent, "/context").await.unwrap().text;
    let lines =
        ["2 messages; the next prompt has ", "openai/other has a window of unknown size; prompts are of tier 3"];
    assert!(lines.iter().all(|line| context.contains(line)), "{context}");
    let help = command(&agent, "/help").await.unwrap().text;
    let slip = command(&agent, "/hlep").await.unwrap_err().to_string();
    assert!(slip.contains("Did you mean /help?"), "{slip}");
    for listed in limpid_runtime::commands::commands() {
        assert!(help.contains(&format!("/{}", listed.name)) && help.contains(listed.help), "{help}");
    }
}

// SUR-015 LES-148
#[tokio::test]
async fn a_new_conversation_starts_empty_and_the_old_one_can_be_read() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let old = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    let reply = command(&agent, "/new").await.unwrap();
    assert_eq!(reply.changed, ["conversation"]);
    let new = reply.conversation.unwrap();
    assert!(new != old.id && reply.text.contains(old.id.as_str()), "{}", reply.text);
    say(&agent, "and?").await;
    let calls = bench.server.calls();
    assert!(!calls[1].text().contains("Hello."), "nothing of the old one is sent");
    let kept = agent.store().messages(&old.id, None).await.unwrap().rows;
    assert_eq!(kept.len(), 2);
}

// SUR-015 SEC-065
#[tokio::test]
async fn whoever_reads_a_conversation_reads_on_in_the_one_that_is_begun_out_of_it() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    let alone = command(&agent, "/new").await.unwrap();
    assert!(!alone.text.contains("Others read"), "{}", alone.text);
    say(&agent, "hi").await;
    command(&agent, "/group on").await.unwrap();
    let reply = command(&agent, "/new").await.unwrap();
    assert!(reply.text.ends_with("Others can read this conversation too; `/group off` ends that."), "{}", reply.text);
    let new = agent.store().conversation(&reply.conversation.unwrap()).await.unwrap().unwrap();
    assert_eq!(new.audience, limpid_store::Audience::Group);
}

// SUR-015
#[tokio::test]
async fn completion_offers_commands_and_what_they_take() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    let words = async |line: &str| {
        let found = agent.complete(&ConversationChoice::Last, line).await;
        found.into_iter().map(|completion| completion.word).collect::<Vec<_>>()
    };
    assert_eq!(words("/mo").await, ["/mode", "/model"]);
    assert_eq!(words("/mode d").await, ["debugger", "developer"]);
    assert_eq!(words("/profile ").await, ["kai", "koshi", "limpid", "ollm", "picoclaw"]);
    assert_eq!(words("/profile kai ").await, [""; 0]);
    assert_eq!(words("mo").await, [""; 0]);
    assert_eq!(words("//mo").await, [""; 0]);
    let all = words("/").await;
    let names = limpid_runtime::commands::commands().flat_map(limpid_runtime::commands::SlashInfo::names).count();
    assert_eq!(all.len(), names + 1, "every command, and the built-in skill");
    // KAI-098
    bench.write("skills/mod/SKILL.md", "---\ndescription: Of a car\n---\nText.\n");
    assert_eq!(words("/mo").await, ["/mode", "/model", "/mod"]);
    // SEC-089
    bench.write("skills/steer/SKILL.md", "---\ndescription: \"Of \\e]0;a ship\\u202e\"\n---\nText.\n");
    let help = agent.complete(&ConversationChoice::Last, "/ste").await.remove(0).help;
    assert_eq!(help, shown_line("Of \u{1b}]0;a ship\u{202e}"));
    // KAI-099
    for called in ["/mod it", "/MOD it", " /mod  it\n"] {
        let said = agent.command(&ConversationChoice::Last, called).await.unwrap();
        assert_eq!(
            said,
            Input::Message(called.to_owned()),
            "a skill is no slip of a command, and stays as it was said"
        );
    }
    agent.skills().enable("mod", false, None, "test").await.unwrap();
    assert_eq!(words("/mo").await, ["/mode", "/model"]);
    let slip = agent.command(&ConversationChoice::Last, "/mod it").await.unwrap_err().to_string();
    assert!(slip.contains("Did you mean /mode or /model?"), "{slip}");
}

// LES-148
#[tokio::test]
async fn after_a_new_conversation_one_goes_on_in_the_old_one_where_it_was_left() {
    let bench = Bench::new(REPLIES).await;
    let agent = bench.agent();
    say(&agent, "I like tea.").await;
    let old = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    command(&agent, "/new").await.unwrap();
    say(&agent, "I like rain.").await;
    let again = bench.agent();
    let request =
        limpid_runtime::ChatRequest { conversation: ConversationChoice::Id(old.clone()), ..crate::kit::last("and?") };
    crate::kit::all(again.chat(request).await.unwrap()).await;
    let sent = bench.server.calls()[2].text();
    assert!(sent.contains("I like tea.") && sent.contains("Hello.") && !sent.contains("I like rain."), "{sent}");
    assert_eq!(again.store().messages(&old, None).await.unwrap().rows.len(), 4);
}
