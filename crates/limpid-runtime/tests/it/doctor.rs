//! The doctor on what goes wrong with prompts and modes, and with what comes in: each finding names the place, what is
//! used instead, and what to do.

use std::sync::Arc;

use crate::kit::mailbox::FakeMailbox;
use crate::kit::{Bench, say};
use limpid_channels::mail::{MailError, Mailbox, Said, Secret};
use limpid_runtime::doctor::check;
use limpid_runtime::mail::AccountSettings;
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Environment};

async fn bench() -> Bench {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.profile = "ollm".to_owned();
    bench
}

/// What the checks of prompts and modes say, with the home's name taken out.
async fn said(bench: &Bench) -> String {
    let home = bench.home.path().display().to_string();
    let mut said = String::new();
    for found in check(&bench.options()).await {
        if ["prompts", "prompt size", "modes"].contains(&found.what) {
            let mark = if found.ok { "OK" } else { "!!" };
            let advice = found.advice.map(|advice| format!("\n   → {advice}")).unwrap_or_default();
            let says = without_total(&found.says.replace(&home, "HOME"));
            said.push_str(&format!("{mark} {}: {says}{advice}\n", found.what));
        }
    }
    said
}

/// The same without the tokens of the whole prompt, which every new tool changes.
fn without_total(says: &str) -> String {
    match says.split_once(" tokens by ") {
        Some((total, rest)) if total.parse::<usize>().is_ok() => format!("N tokens by {rest}"),
        _ => says.to_owned(),
    }
}

// OLLM-111 OLLM-112 OLLM-113
#[tokio::test]
async fn a_sound_home_switches_through_every_mode_and_leaves_nothing_behind() {
    let bench = bench().await;
    insta::assert_snapshot!(said(&bench).await);
    let data: Vec<_> = std::fs::read_dir(bench.home.path().join("data")).unwrap().map(|file| file.unwrap()).collect();
    assert!(data.iter().all(|file| !file.file_name().to_string_lossy().starts_with("trial")), "{data:?}");
    assert!(bench.agent().directory().find(&ConversationChoice::Last).await.unwrap().is_none());
}

// OLLM-111
#[tokio::test]
async fn a_text_that_does_not_load_is_named_with_its_place_and_what_stands_in() {
    let bench = bench().await;
    bench.write("profiles/ollm/modes/assistant/tier3.md", "\n");
    bench.write("profiles/ollm/sections/core-mandates.md", "---\ntitle: M\nwhy: W\nwhen: gaol\n---\nObey.\n");
    insta::assert_snapshot!(said(&bench).await);
}

// OLLM-111
#[tokio::test]
async fn a_template_that_is_missing_is_named_with_the_place_where_it_is_expected() {
    let bench = bench().await;
    bench.write("profiles/ollm/modes/scout/tier5.md", "You scout.\n");
    insta::assert_snapshot!(said(&bench).await);
}

// OLLM-112
#[tokio::test]
async fn a_prompt_that_is_too_large_says_what_each_part_takes_and_what_was_cut() {
    let mut bench = bench().await;
    bench.config.prompt.additional_instructions = vec!["Write it down. ".repeat(40); 10].join("\n\n");
    insta::assert_snapshot!(said(&bench).await);
}

// OLLM-113 OLLM-112
#[tokio::test]
async fn the_step_at_which_a_switch_fails_is_named() {
    let bench = bench().await;
    bench.write("profiles/ollm/modes/scout/tier3.md", &"Look around. ".repeat(600));
    insta::assert_snapshot!(said(&bench).await);
}

// OLLM-113
#[tokio::test]
async fn a_mode_that_is_gone_is_not_set() {
    let bench = bench().await;
    bench.write("profiles/ollm/modes/scout/tier3.md", "You scout.\n");
    let agent: Agent = bench.agent();
    say(&agent, "hi").await;
    let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().set_mode(&id, "scout").await.unwrap();
    drop(agent);
    std::fs::remove_dir_all(bench.home.path().join("profiles/ollm/modes/scout")).unwrap();
    let said = said(&bench).await;
    let line = said.lines().find(|line| line.contains("modes:")).unwrap();
    assert!(line.starts_with("!! modes: fails at “mode set”: the mode is scout, and there are: assistant,"), "{said}");
}

// SEC-042
#[tokio::test]
async fn whoever_restores_a_backup_is_told_what_counts_as_theirs_then() {
    let bench = bench().await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    drop(agent);
    let file = rusqlite::Connection::open(bench.home.path().join("data/limpid.db")).unwrap();
    file.execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE conversation SET kind = 'rumour'").unwrap();
    let found = check(&bench.options()).await;
    let database = found.iter().find(|found| found.what == "database").unwrap();
    let advice = database.advice.as_deref().unwrap();
    assert!(!database.ok && database.says.starts_with("1 records cannot be read"), "{}", database.says);
    assert!(advice.starts_with("Restore them") && advice.contains(limpid_store::WAITING_COUNTS_AS_YOURS), "{advice}");
}

/// What the checks of one kind say.
async fn lines(options: &AgentOptions, home: &str, what: &str) -> String {
    let found = check(options).await;
    let line = |mark: &str, says: &str, advice: Option<&str>| {
        let advice = advice.map(|advice| format!("\n   → {advice}")).unwrap_or_default();
        format!("{mark} {}{advice}", says.replace(home, "HOME"))
    };
    let found = found.iter().filter(|found| found.what == what);
    let said = found.map(|found| line(if found.ok { "OK" } else { "!!" }, &found.says, found.advice.as_deref()));
    said.collect::<Vec<_>>().join("\n")
}

// SUR-004
#[tokio::test]
async fn each_account_says_why_its_mail_cannot_be_read_and_what_to_do() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let mailbox = Arc::new(FakeMailbox::new());
    let mut options = AgentOptions { mailbox: Some(Arc::clone(&mailbox) as Arc<dyn Mailbox>), ..bench.options() };
    let home = bench.home.path().display().to_string();
    let agent = Agent::open(options.clone()).unwrap();
    for address in ["ada@example.com", "bob@example.com"] {
        let settings = AccountSettings { address: address.to_owned(), ..AccountSettings::default() };
        agent.mail().setup(settings, Some(Secret::new("correct-horse-battery"))).await.unwrap();
    }
    agent.mail().fetch("ada@example.com").await.unwrap();
    drop(agent);
    let mut told = vec![lines(&options, &home, "mail").await];
    let errors: [fn(&limpid_channels::mail::Account) -> MailError; 4] = [
        |account| MailError::Login {
            server: account.imap.to_string(),
            user: account.user.clone(),
            why: Said::new("no such password as correct-horse-battery"),
        },
        |account| MailError::Certificate { server: account.imap.to_string(), why: Said::new("it has expired") },
        |account| MailError::Unreachable { server: account.smtp.to_string(), why: Said::new("nobody answers") },
        |account| MailError::Server { server: account.imap.to_string(), why: Said::new("too many connections") },
    ];
    for error in errors {
        *mailbox.at_login.lock().unwrap() = Some(error);
        told.push(lines(&options, &home, "mail").await);
    }
    *mailbox.at_login.lock().unwrap() = None;
    bench.write("mail/bob@example.com.toml", "smtp = 5\n");
    told.push(lines(&options, &home, "mail").await);
    options.config.mail.enabled = false;
    told.push(lines(&options, &home, "mail").await);
    insta::assert_snapshot!(told.join("\n\n"));
}

// SUR-004 SUR-032
#[tokio::test]
async fn the_inbox_says_what_may_be_handed_in_and_what_is_missing() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let home = bench.home.path().display().to_string();
    let mut options = bench.options();
    let mut told = vec![lines(&options, &home, "inbox").await];
    options.config = Config::parse("[inbox]\nsms = true\nmail = true\n", "limpid.toml").unwrap();
    told.push(lines(&options, &home, "inbox").await);
    options.environment = Environment::new([("LIMPID_INGEST_TOKEN".to_owned(), "t".repeat(40))]);
    told.push(lines(&options, &home, "inbox").await);
    options.environment = Environment::default();
    std::fs::create_dir_all(bench.home.path().join("data/ingest.token")).unwrap();
    told.push(lines(&options, &home, "inbox").await);
    insta::assert_snapshot!(told.join("\n"));
}
