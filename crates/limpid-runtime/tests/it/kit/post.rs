//! An agent with a mail account, and the letters that come for it.

use std::sync::Arc;

use limpid_channels::mail::{Mailbox, Secret};
use limpid_runtime::mail::AccountSettings;
use limpid_runtime::{Agent, AgentOptions};

use super::Bench;
use super::mailbox::FakeMailbox;

/// The password of every account.
pub const PASSWORD: &str = "correct-horse-battery";

/// An agent with one account, whose script is these calls, each followed by an answer.
pub struct Post {
    pub bench: Bench,
    pub mailbox: Arc<FakeMailbox>,
}

impl Post {
    pub async fn new(calls: &[(&str, &str)]) -> Self {
        let turn = |(name, arguments): &(&str, &str)| {
            format!("[[reply]]\ncalls = [{{ name = \"{name}\", arguments = {arguments} }}]\n[[reply]]\ntext = \"ok\"\n")
        };
        let bench = Bench::new(&calls.iter().map(turn).collect::<String>()).await;
        Self { bench, mailbox: Arc::new(FakeMailbox::new()) }
    }

    pub fn agent(&self) -> Agent {
        let mailbox = Some(Arc::clone(&self.mailbox) as Arc<dyn Mailbox>);
        Agent::open(AgentOptions { mailbox, ..self.bench.options() }).unwrap()
    }

    /// An agent whose account was looked into once, so that what comes from here on is new.
    pub async fn ready(&self) -> Agent {
        let agent = self.agent();
        add(&agent, "me@example.com").await;
        agent.mail().fetch("me@example.com").await.unwrap();
        // The redactor knows the secrets that were there when the agent was opened.
        drop(agent);
        self.agent()
    }

    pub fn deliver(&self, number: u32) {
        self.mailbox.deliver(&mail(number));
    }

    /// The newest result of a tool that the model was sent.
    pub fn result(&self) -> String {
        self.bench
            .server
            .calls()
            .last()
            .unwrap()
            .texts()
            .iter()
            .rev()
            .find(|text| text.role == "tool")
            .unwrap()
            .text
            .clone()
    }
}

/// Sets up an account.
pub async fn add(agent: &Agent, address: &str) {
    let settings = AccountSettings { address: address.to_owned(), ..AccountSettings::default() };
    agent.mail().setup(settings, Some(Secret::new(PASSWORD))).await.unwrap();
}

/// A letter by its number.
pub fn mail(number: u32) -> String {
    format!(
        "From: Ada <ada@example.com>\nTo: me@example.com\nSubject: Letter {number}\nMessage-ID: <{number}@example.com>\n\
         References: <0@example.com>\n\nThis is letter {number}.\n"
    )
}
