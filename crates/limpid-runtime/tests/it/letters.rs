//! Letters that the model writes: drafts that wait for the owner.

use crate::kit::mailbox::Refusal;
use crate::kit::post::{Post, add, mail};
use crate::kit::{all, last, say};
use limpid_channels::mail::{MailError, Said};
use limpid_core::DraftState;
use limpid_runtime::{ChatRequest, Config};
use limpid_store::DraftId;

// KAI-096 KAI-131 SEC-010
#[tokio::test]
async fn a_letter_is_a_draft_in_every_turn_and_leaves_once() {
    let letter = "{ to = [\"Ada <Ada@example.com>\"], subject = \"Hello\", text = \"Hi\" }";
    for mode in ["assistant", "developer"] {
        let post = Post::new(&[("compose_email", letter)]).await;
        let agent = post.ready().await;
        all(agent.chat(ChatRequest { mode: Some(mode.to_owned()), ..last("write to Ada") }).await.unwrap()).await;
        assert!(post.result().contains("not done yet: kept as draft 1"), "{mode}: {}", post.result());
        assert_eq!(post.mailbox.letters.lock().unwrap().len(), 0);
        let draft = agent.drafts().list(false).await.unwrap().rows.remove(0);
        assert_eq!(draft.new.destination.as_deref(), Some("me@example.com to ada@example.com"));

        let (one, two) =
            tokio::join!(agent.drafts().approve(DraftId(1), None), agent.drafts().approve(DraftId(1), None));
        assert!(one.is_ok() != two.is_ok());
        let letters = post.mailbox.letters.lock().unwrap().clone();
        assert_eq!((letters.len(), letters[0].subject.as_str()), (1, "Hello"));
        let sent = agent.drafts().get(DraftId(1)).await.unwrap().0;
        assert_eq!(sent.state, DraftState::Sent);
        assert_eq!(sent.detail, "sent from me@example.com to Ada <Ada@example.com>; a copy is in Sent");
    }
}

// KAI-096 KAI-131
#[tokio::test]
async fn an_answer_is_a_draft_in_every_mode() {
    let answer = "{ id = \"1\", to = [\"ada@example.com\"], subject = \"Re: Lunch\", text = \"Yes.\" }";
    for mode in ["assistant", "developer"] {
        let post = Post::new(&[("reply_email", answer)]).await;
        let agent = post.ready().await;
        post.mailbox.deliver(&mail(1));
        all(agent.chat(ChatRequest { mode: Some(mode.to_owned()), ..last("answer Ada") }).await.unwrap()).await;
        assert!(post.result().contains("not done yet: kept as draft 1"), "{mode}: {}", post.result());
        assert_eq!(
            (agent.drafts().list(false).await.unwrap().rows.len(), post.mailbox.letters.lock().unwrap().len()),
            (1, 0)
        );
    }
}

/// An account that comes later and stands first is not the one whose letter was looked at.
// KAI-096 SEC-011
#[tokio::test]
async fn a_letter_leaves_from_the_account_that_was_looked_at_or_not_at_all() {
    let letter = "{ to = [\"ada@example.com\"], subject = \"Hello\", text = \"Hi\" }";
    let answer = "{ id = \"1\", to = [\"ada@example.com\"], subject = \"Re: Lunch\", text = \"Yes.\" }";
    for (tool, arguments) in [("compose_email", letter), ("reply_email", answer)] {
        let post = Post::new(&[(tool, arguments)]).await;
        let agent = post.ready().await;
        post.mailbox.deliver(&mail(1));
        say(&agent, "write to Ada").await;
        add(&agent, "another@example.com").await;
        let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
        assert_eq!((draft.state, post.mailbox.letters.lock().unwrap().len()), (DraftState::Failed, 0), "{tool}");
        assert!(draft.detail.contains("not what they were"), "{tool}: {}", draft.detail);
    }
}

/// Once a server has numbered its letters anew, the number that was looked at is another letter.
// KAI-096 SEC-011
#[tokio::test]
async fn an_answer_is_to_the_letter_that_was_looked_at_or_to_none() {
    let answer = "{ id = \"1\", to = [\"ada@example.com\"], subject = \"Re: Lunch\", text = \"Yes.\" }";
    let post = Post::new(&[("reply_email", answer)]).await;
    let agent = post.ready().await;
    post.mailbox.deliver(&mail(1));
    agent.mail().fetch("me@example.com").await.unwrap();
    say(&agent, "answer Ada").await;
    let about = agent.drafts().get(DraftId(1)).await.unwrap().0.new.about.unwrap_or_default();
    assert!(about.starts_with("a letter to me@example.com from Ada"), "the question says which one: {about}");
    *post.mailbox.validity.lock().unwrap() = 8;
    agent.mail().fetch("me@example.com").await.unwrap();
    let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
    assert_eq!((draft.state, post.mailbox.letters.lock().unwrap().len()), (DraftState::Failed, 0));
    assert!(draft.detail.contains("not what they were"), "{}", draft.detail);
}

/// A letter that was there before the account was added is named all the same, and a yes is about the letter and not about its number.
// KAI-096 SEC-011
#[tokio::test]
async fn a_question_names_the_letter_that_the_server_shows_and_a_yes_is_about_that_one() {
    let answer = "{ id = \"1\", to = [\"ada@example.com\"], subject = \"Re: Lunch\", text = \"Yes.\" }";
    for is_swapped in [false, true] {
        let post = Post::new(&[("reply_email", answer)]).await;
        post.mailbox.deliver(&mail(1));
        let agent = post.ready().await;
        say(&agent, "answer Ada").await;
        let about = agent.drafts().get(DraftId(1)).await.unwrap().0.new.about;
        assert_eq!(about.as_deref(), Some("a letter to me@example.com from Ada <ada@example.com>: Letter 1"));
        if is_swapped {
            let mut other = mail(2).replace('\n', "\r\n");
            std::mem::swap(&mut post.mailbox.messages.lock().unwrap()[0].1, &mut other);
        }
        let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
        let state = if is_swapped { DraftState::Failed } else { DraftState::Sent };
        assert_eq!((draft.state, draft.detail.contains("not what they were")), (state, is_swapped), "{}", draft.detail);
    }
}

/// A letter that was not taken leaves no copy, and one that was taken is sent, with or without a copy.
// KAI-096 KAI-131 SEC-041
#[tokio::test]
async fn a_copy_is_kept_of_what_was_sent_and_of_nothing_else() {
    let refused: Refusal = |account| MailError::Server { server: account.smtp.to_string(), why: Said::new("554 no") };
    let silent: Refusal = |account| MailError::Unknown { server: account.smtp.to_string(), why: Said::new("silence") };
    let full: Refusal = |account| MailError::Server { server: account.imap.to_string(), why: Said::new("it is full") };
    let cases = [
        (Some(refused), None, DraftState::Failed, "not sent: ", (0, 0)),
        (Some(silent), None, DraftState::Failed, "outcome unknown: ", (0, 0)),
        (None, Some(full), DraftState::Sent, "sent from me@example.com to ada@example.com; no copy was kept: ", (1, 0)),
        (None, None, DraftState::Sent, "sent from me@example.com to ada@example.com; a copy is in Sent", (1, 1)),
    ];
    for (at_letter, at_copy, state, detail, kept) in cases {
        let letter = "{ to = [\"ada@example.com\"], subject = \"Hello\", text = \"Hi\" }";
        let post = Post::new(&[("compose_email", letter)]).await;
        let agent = post.ready().await;
        say(&agent, "write to Ada").await;
        (*post.mailbox.at_letter.lock().unwrap(), *post.mailbox.at_copy.lock().unwrap()) = (at_letter, at_copy);
        let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
        assert!((draft.state, draft.detail.starts_with(detail)) == (state, true), "{} {}", draft.state, draft.detail);
        let steps = agent.drafts().get(DraftId(1)).await.unwrap().1;
        assert!(steps.iter().any(|step| step.state == DraftState::Sending), "{detail}: {steps:?}");
        let mailbox = &post.mailbox;
        assert_eq!((mailbox.letters.lock().unwrap().len(), mailbox.copies.lock().unwrap().len()), kept, "{detail}");
        assert!(agent.drafts().approve(DraftId(1), None).await.is_err());
    }
}

// KAI-096
#[tokio::test]
async fn the_owners_rule_lets_letters_to_one_person_go() {
    let letter = |to: &str| format!("{{ to = [\"{to}\"], subject = \"Hello\", text = \"Hi\" }}");
    let (ada, both) = (letter("ada@example.com"), letter("ada@example.com\", \"eve@example.com"));
    let mut post = Post::new(&[("compose_email", &ada), ("compose_email", &both)]).await;
    let rule = "[[policy.allow]]\ntool = \"compose_email\"\ndestination = \"me@example.com to ada@example.com\"\n";
    let all_of_it = "[[policy.allow]]\ntool = \"*\"\n";
    let config = format!("model = \"openai/scripted\"\n[tools]\ndefer = false\n{rule}{all_of_it}");
    post.bench.config = Config::parse(&config, "limpid.toml").unwrap();
    let agent = post.ready().await;
    say(&agent, "write to Ada").await;
    assert_eq!(post.mailbox.letters.lock().unwrap().len(), 1, "{}", post.result());
    say(&agent, "write to both").await;
    let drafts = agent.drafts().list(false).await.unwrap().rows.len();
    assert_eq!((post.mailbox.letters.lock().unwrap().len(), drafts), (1, 1));
}

// KAI-096
#[tokio::test]
async fn an_answer_keeps_its_thread_and_goes_to_nobody_else() {
    let answer = |to: &str| format!("{{ id = \"1\", to = [\"{to}\"], subject = \"Re: Lunch\", text = \"Yes.\" }}");
    let (ada, eve) = (answer("ada@example.com"), answer("eve@example.com"));
    let broken = answer("ada@example.com\\nBcc: eve@example.com");
    let post = Post::new(&[("reply_email", &ada), ("reply_email", &eve), ("reply_email", &broken)]).await;
    let agent = post.ready().await;
    post.mailbox.deliver(&mail(1));
    for turn in ["answer", "answer Eve", "answer both"] {
        say(&agent, turn).await;
    }
    assert!(post.result().contains("line break"), "nobody is asked about what cannot leave: {}", post.result());
    let states = [DraftState::Sent, DraftState::Failed];
    for (id, state) in (1..).zip(states) {
        let draft = agent.drafts().approve(DraftId(id), None).await.unwrap();
        assert_eq!(draft.state, state, "{}", draft.detail);
    }
    let letters = post.mailbox.letters.lock().unwrap().clone();
    assert_eq!((letters.len(), letters[0].subject.as_str()), (1, "Re: Lunch"), "no word of the letter's own");
    let answers = letters[0].answers.clone().unwrap();
    assert_eq!(answers.message_id.as_deref(), Some("1@example.com"));
    assert_eq!(answers.references, ["0@example.com"]);
    assert_eq!(agent.drafts().list(true).await.unwrap().rows.len(), 2);
}

// KAI-096
#[tokio::test]
async fn a_letter_to_what_is_no_address_is_refused_and_makes_no_draft() {
    let letter = |to: &str, cc: &str| format!("{{ to = [{to}], cc = [{cc}], subject = \"Hello\", text = \"Hi\" }}");
    let cases = [
        (letter("\"ada@example.com\\nBcc: eve@example.com\"", ""), "line break"),
        (letter("\"ada@example.com\\u2028\"", ""), "line break"),
        (letter("\"ada@example.com\"", "\"bob@example.com\\rX: y\""), "line break"),
        (letter("\"Ada\"", ""), "is no address"),
        (letter("", ""), "names nobody"),
    ];
    for (letter, why) in cases {
        let post = Post::new(&[("compose_email", &letter)]).await;
        let agent = post.ready().await;
        say(&agent, "write to Ada").await;
        assert!(post.result().contains(why), "{letter}: {}", post.result());
        assert!(agent.drafts().list(true).await.unwrap().rows.is_empty(), "{letter}");
    }
}
