//! What a mail server says, and what letters say.

use std::sync::Arc;

use limpid_channels::mail::{Account, MailError, Mailbox, Said};
use limpid_runtime::{Agent, AgentOptions};
use serde_json::json;

use super::{CANARY, Caller, everything, told};
use crate::kit::mailbox::{FakeMailbox, Refusal};
use crate::kit::post::add;

fn letter() -> String {
    format!(
        "From: {CANARY} <{CANARY}@example.com>\nTo: me@example.com\nSubject: {CANARY}\nMessage-ID: <1@x>\n\n{CANARY}\n"
    )
}

/// Every way in which a server refuses.
const REFUSALS: [(&str, Refusal); 5] = [
    ("cannot be reached", |account| MailError::Unreachable { server: server(account), why: Said::new(CANARY) }),
    ("has a certificate for others", |account| MailError::Certificate {
        server: server(account),
        why: Said::new(CANARY),
    }),
    ("refuses the login", |account| MailError::Login {
        server: server(account),
        user: account.address.clone(),
        why: Said::new(CANARY),
    }),
    ("refuses", |account| MailError::Server { server: server(account), why: Said::new(CANARY) }),
    ("breaks off", |account| MailError::Unknown { server: server(account), why: Said::new(CANARY) }),
];

fn server(account: &Account) -> String {
    account.imap.to_string()
}

// SEC-051
#[tokio::test]
async fn whatever_a_mail_server_says_is_read_in_a_boundary() {
    let caller = Caller::new(&everything("http://127.0.0.1:9")).await;
    let mailbox = Arc::new(FakeMailbox::new());
    let servers = Some(Arc::clone(&mailbox) as Arc<dyn Mailbox>);
    let agent = Agent::open(AgentOptions { mailbox: servers, ..caller.bench.options() }).unwrap();
    add(&agent, "me@example.com").await;
    agent.mail().fetch("me@example.com").await.unwrap();
    mailbox.deliver(&letter());
    agent.mail().fetch("me@example.com").await.unwrap();
    let answered = [format!("{CANARY}@example.com")];
    let others = ["ada@example.com"];
    let look = [
        ("check_email", json!({})),
        ("search_email", json!({ "subject": "x" })),
        ("read_email", json!({ "id": "1" })),
        ("reply_email", json!({ "id": "1", "to": others, "subject": "Re: x", "text": "hi" })),
    ];
    let mut rows = Vec::new();
    for (tool, arguments) in &look {
        rows.push((format!("{tool} of a letter"), caller.shows(&agent, tool, arguments.clone()).await));
    }
    *mailbox.broken.lock().unwrap() = Some(CANARY.to_owned());
    for (tool, arguments) in &look {
        rows.push((format!("{tool} where the server refuses"), caller.shows(&agent, tool, arguments.clone()).await));
    }
    *mailbox.broken.lock().unwrap() = None;
    let write = [
        ("compose_email", json!({ "to": others, "subject": "hi", "text": "hi" })),
        ("reply_email", json!({ "id": "1", "to": answered, "subject": "Re: x", "text": "hi" })),
    ];
    for (name, refusal) in REFUSALS {
        for (tool, arguments) in &write {
            *mailbox.at_letter.lock().unwrap() = Some(refusal);
            let shows = caller.shows(&agent, tool, arguments.clone()).await;
            rows.push((format!("{tool} where the server {name}"), shows));
            *mailbox.at_letter.lock().unwrap() = None;
            *mailbox.at_copy.lock().unwrap() = Some(refusal);
            let shows = caller.shows(&agent, tool, arguments.clone()).await;
            rows.push((format!("{tool} where the server of the copy {name}"), shows));
            *mailbox.at_copy.lock().unwrap() = None;
        }
    }
    insta::assert_snapshot!(told(&rows));
}
