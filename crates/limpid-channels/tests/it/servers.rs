//! Mail accounts on real servers: a Dovecot of the test's own, and an SMTP server that keeps what it gets.

#![cfg(unix)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use limpid_channels::mail::{
    Account, Answered, Letter, Login, MailError, MailId, MailQuery, MailServers, Mailbox, News, Poll, Secret, Security,
    Server, TokenSource,
};
use limpid_core::mail::Mark;
use limpid_formats::Parser;
use limpid_testkit::mail::{Dovecot, Like, Manner, PASSWORD, SmtpSink};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

static BOX: MailServers = MailServers::new(Parser::in_this_process());

fn account(imap: u16, smtp: u16) -> Account {
    let here = |port| Server { host: "127.0.0.1".into(), port, security: Security::None };
    Account {
        address: "me@example.com".into(),
        name: Some("Me".into()),
        user: "me".into(),
        login: Login::Password(Secret::new(PASSWORD)),
        imap: here(imap),
        smtp: here(smtp),
        folder: "INBOX".into(),
        sent: None,
        copies: true,
        roots: None,
    }
}

fn mail(name: &str) -> String {
    format!(
        "From: Ada <ada@example.com>\nTo: me@example.com\nSubject: {name}\nMessage-ID: <{name}@example.com>\n\nThis is {name}.\n"
    )
}

fn subjects(poll: &Poll) -> Vec<&str> {
    poll.heads.iter().map(|head| head.subject.as_str()).collect()
}

fn letter() -> Letter {
    Letter {
        to: vec!["Ada <ada@example.com>".into()],
        cc: vec!["bob@example.org".into()],
        subject: "Re: hello".into(),
        text: "Grüße\n".into(),
        message_id: "0123@example.com".into(),
        at: "2026-03-28T12:00:00Z".parse().unwrap(),
        answers: Some(Answered { message_id: Some("b@example.com".into()), references: vec!["a@example.com".into()] }),
    }
}

// KAI-090 KAI-091 KAI-130
#[tokio::test]
async fn each_message_comes_once_whatever_happens_to_the_others() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    let poll = async |mark: Option<Mark>| BOX.poll(&me, mark, 0).await.unwrap();
    dovecot.deliver("old1", &mail("old1"));
    dovecot.deliver("old2", &mail("old2"));

    let begun = poll(None).await;
    assert_eq!((subjects(&begun), begun.mark.uid, begun.unread), (vec![], 2, 2));
    let nothing = poll(Some(begun.mark)).await;
    assert_eq!((subjects(&nothing), nothing.mark), (vec![], begun.mark), "`n:*` brings the last message back");

    dovecot.deliver("a", &mail("a"));
    dovecot.deliver("b", &mail("b"));
    dovecot.see("b");
    let first = poll(Some(begun.mark)).await;
    assert_eq!(subjects(&first), ["a", "b"], "mail that was read elsewhere is mail");
    assert_eq!(first.unread, 3);
    let head = &first.heads[0];
    assert_eq!(
        (head.from.as_str(), head.preview.as_str(), head.key.as_str()),
        ("Ada <ada@example.com>", "This is a.", "a@example.com")
    );

    // What was polled goes, and the sequence numbers of the rest with it.
    dovecot.expunge("old1");
    dovecot.expunge("a");
    dovecot.deliver("c", &mail("c"));
    dovecot.deliver("d", &mail("d"));
    let second = poll(Some(first.mark)).await;
    assert_eq!(subjects(&second), ["c", "d"]);
    assert!(!dovecot.is_seen("c"), "polling marks nothing as read");
    assert_eq!(subjects(&poll(Some(second.mark)).await), [""; 0]);
}

// KAI-090
#[tokio::test]
async fn a_poll_takes_fifty_oldest_first() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    let mark = BOX.poll(&me, None, 0).await.unwrap().mark;
    for number in 0..53 {
        let name = format!("m{number:02}");
        dovecot.deliver(&name, &mail(&name));
    }
    let first = BOX.poll(&me, Some(mark), 0).await.unwrap();
    assert_eq!(first.heads.len(), 50);
    let second = BOX.poll(&me, Some(first.mark), 0).await.unwrap();
    assert_eq!(second.heads.len(), 3);
    let uids: Vec<u32> = first.heads.iter().chain(&second.heads).map(|head| head.id.uid).collect();
    assert!(uids.is_sorted() && uids.len() == 53, "{uids:?}");
}

// KAI-091 KAI-130
#[tokio::test]
async fn a_new_numbering_is_looked_through_from_the_day_before() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    let begun = BOX.poll(&me, None, 0).await.unwrap();
    dovecot.deliver("a", &mail("a"));
    let first = BOX.poll(&me, Some(begun.mark), 0).await.unwrap();
    assert_eq!(subjects(&first), ["a"]);

    dovecot.renumber(first.mark.validity + 7);
    dovecot.deliver("b", &mail("b"));
    let again = BOX.poll(&me, Some(first.mark), 0).await.unwrap();
    assert_eq!((again.mark.validity, again.renumbered), (first.mark.validity + 7, true));
    let known: Vec<&str> = first.heads.iter().map(|head| head.key.as_str()).collect();
    let fresh: Vec<&str> = again
        .heads
        .iter()
        .filter(|head| !known.contains(&head.key.as_str()))
        .map(|head| head.subject.as_str())
        .collect();
    assert_eq!(fresh, ["b"], "the same message has the same key under both numberings");
    let stale = BOX.read(&me, first.heads[0].id, false).await;
    assert!(matches!(stale, Err(MailError::NotFound(_))), "an old number names nothing: {stale:?}");
    // Everything arrived today, so a last poll of the day after tomorrow leaves nothing to be looked through.
    let later = jiff::Timestamp::now().as_millisecond() + 2 * 24 * 60 * 60 * 1000;
    dovecot.renumber(first.mark.validity + 9);
    assert_eq!(BOX.poll(&me, Some(again.mark), later).await.unwrap().heads, []);
}

// KAI-093
#[tokio::test]
async fn a_message_is_read_whole_and_marked_on_request_alone() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    dovecot.deliver("gruesse", &mail("gruesse").replace("Subject: gruesse", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?="));
    dovecot.deliver("other", &mail("other"));
    let query = MailQuery { from: Some("ada@".into()), subject: Some("grüße".into()), ..MailQuery::default() };
    let found = BOX.search(&me, &query).await.unwrap();
    assert_eq!(found.iter().map(|head| head.subject.as_str()).collect::<Vec<_>>(), ["Grüße"]);
    let all = BOX.search(&me, &MailQuery { limit: 1, ..MailQuery::default() }).await.unwrap();
    assert_eq!(all[0].subject, "other", "the newest");

    let mail = BOX.read(&me, found[0].id, false).await.unwrap();
    assert_eq!((mail.text.as_str(), mail.to.as_slice()), ("This is gruesse.", &["me@example.com".to_owned()][..]));
    assert!(!dovecot.is_seen("gruesse"));
    BOX.read(&me, found[0].id, true).await.unwrap();
    assert!(dovecot.is_seen("gruesse") && !dovecot.is_seen("other"));
    let none = MailId { uid: 999, ..found[0].id };
    assert!(matches!(BOX.read(&me, none, false).await, Err(MailError::NotFound(_))));
}

// KAI-090
#[tokio::test]
async fn waiting_ends_when_mail_comes_and_when_time_is_up() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    let mark = BOX.poll(&me, None, 0).await.unwrap().mark;
    assert_eq!(BOX.wait(&me, mark, Duration::from_millis(50)).await.unwrap(), News::None);
    // What came and is gone before anybody looked is no news.
    dovecot.deliver("gone", &mail("gone"));
    assert_eq!(BOX.wait(&me, mark, Duration::from_millis(50)).await.unwrap(), News::Some);
    dovecot.expunge("gone");
    assert_eq!(BOX.wait(&me, mark, Duration::from_millis(50)).await.unwrap(), News::None);
    let waiting = tokio::spawn({
        let me = me.clone();
        async move { BOX.wait(&me, mark, Duration::from_secs(60)).await }
    });
    dovecot.deliver("a", &mail("a"));
    assert_eq!(waiting.await.unwrap().unwrap(), News::Some);
    // What came before anybody waited is found at once.
    assert_eq!(BOX.wait(&me, mark, Duration::from_secs(60)).await.unwrap(), News::Some);
}

// KAI-090
#[tokio::test]
async fn a_server_that_cannot_be_waited_on_says_so_and_is_polled() {
    let Some(dovecot) = Dovecot::start_like(&Like { lacks_idle: true, ..Like::default() }) else { return };
    let me = account(dovecot.port, 1);
    let mark = BOX.poll(&me, None, 0).await.unwrap().mark;
    dovecot.deliver("a", &mail("a"));
    assert_eq!(BOX.wait(&me, mark, Duration::from_secs(60)).await.unwrap(), News::Unsupported);
    assert_eq!(subjects(&BOX.poll(&me, Some(mark), 0).await.unwrap()), ["a"]);
}

// KAI-090
#[tokio::test]
async fn a_wait_whose_connection_is_cut_fails_and_the_next_one_finds_what_came() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = account(dovecot.port, 1);
    let mark = BOX.poll(&me, None, 0).await.unwrap().mark;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let through = account(listener.local_addr().unwrap().port(), 1);
    // A connection that passes everything on until the server has said that it waits, and then is no more.
    let cut = async {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", dovecot.port)).await.unwrap();
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let forward = async {
            let _ = tokio::io::copy(&mut from_client, &mut to_server).await;
            std::future::pending::<()>().await;
        };
        let back = async {
            let mut piece = [0; 4096];
            loop {
                let read = from_server.read(&mut piece).await.unwrap();
                to_client.write_all(&piece[..read]).await.unwrap();
                if piece[..read].windows(8).any(|words| words == b"+ idling") {
                    break;
                }
            }
        };
        tokio::select! {
            () = forward => {}
            () = back => {}
        }
    };
    let limit = Duration::from_secs(60);
    let (waited, ()) = tokio::join!(BOX.wait(&through, mark, limit), cut);
    assert!(matches!(&waited, Err(MailError::Server { .. })), "{waited:?}");
    dovecot.deliver("a", &mail("a"));
    assert_eq!(BOX.wait(&me, mark, Duration::from_secs(60)).await.unwrap(), News::Some);
}

/// Tokens that are given out one after another.
#[derive(Debug, Default)]
struct Given(Mutex<Vec<&'static str>>);

#[async_trait]
impl TokenSource for Given {
    async fn token(&self, refused: Option<&Secret>) -> Result<Secret, String> {
        let mut left = self.0.lock().unwrap();
        let last = refused.is_some();
        let token = if last { left.pop() } else { left.first().copied() };
        token.map(Secret::new).ok_or_else(|| "none is left".to_owned())
    }
}

#[tokio::test]
async fn a_token_that_is_refused_is_renewed_once() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let given = |tokens: &[&'static str]| Account {
        login: Login::Tokens(Arc::new(Given(Mutex::new(tokens.to_vec())))),
        ..account(dovecot.port, sink.port)
    };
    BOX.poll(&given(&["stale", PASSWORD]), None, 0).await.unwrap();
    let me = Account { copies: false, ..given(&["stale", PASSWORD]) };
    BOX.offer(&me, &letter()).await.unwrap().hand_over().await.unwrap();
    assert_eq!((sink.letters().len(), sink.connections()), (1, 2));
    let refused = BOX.offer(&Account { copies: false, ..given(&["stale", "stale"]) }, &letter()).await;
    let error = refused.map(drop).unwrap_err();
    assert!(matches!(&error, MailError::Login { why, .. } if why == "the token is not taken"), "{error}");
    assert_eq!((sink.letters().len(), sink.connections()), (1, 4));
    let error = BOX.poll(&given(&["stale", "stale"]), None, 0).await.unwrap_err();
    assert!(matches!(&error, MailError::Login { .. }), "{error}");
    let error = BOX.poll(&given(&[]), None, 0).await.unwrap_err();
    assert!(matches!(&error, MailError::Login { why, .. } if why == "none is left"), "{error}");
}

// KAI-131 SEC-041
#[tokio::test]
async fn a_letter_is_sent_once_with_its_thread_and_copied() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let me = account(dovecot.port, sink.port);
    // Whoever stops before the letter itself has sent nothing.
    drop(BOX.offer(&me, &letter()).await.unwrap());
    BOX.offer(&me, &letter()).await.unwrap().hand_over().await.unwrap();
    let copied = BOX.keep_copy(&me, &letter()).await.unwrap();
    assert_eq!(copied.as_deref(), Some("Sent Mail"), "the folder that the server names");
    let letters = sink.letters();
    assert_eq!((letters.len(), sink.connections()), (1, 2));
    let (envelope, text) = &letters[0];
    assert_eq!(envelope, &["me@example.com", "ada@example.com", "bob@example.org"]);
    for line in [
        "From: Me <me@example.com>",
        "Message-ID: <0123@example.com>",
        "In-Reply-To: <b@example.com>",
        "References: <a@example.com> <b@example.com>",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} in {text}");
    }
    let copies = dovecot.kept("Sent Mail");
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].replace('\r', "").trim_end(), text.replace('\r', "").trim_end());
}

// KAI-131
#[tokio::test]
async fn a_copy_is_no_unread_mail_and_stands_where_the_owner_wants_it() {
    let Some(dovecot) = Dovecot::start() else { return };
    let me = Account { sent: Some("INBOX".into()), ..account(dovecot.port, 1) };
    let mark = BOX.poll(&me, None, 0).await.unwrap().mark;
    let nowhere = Account { copies: false, ..me.clone() };
    assert_eq!(BOX.keep_copy(&nowhere, &letter()).await.unwrap(), None);
    assert_eq!(BOX.keep_copy(&me, &letter()).await.unwrap().as_deref(), Some("INBOX"));
    let poll = BOX.poll(&me, Some(mark), 0).await.unwrap();
    assert_eq!((poll.heads.len(), poll.unread, dovecot.kept("Sent Mail").len()), (1, 0, 0));
}

// SEC-040
#[tokio::test]
async fn a_letter_of_unknown_fate_is_told_from_one_that_was_refused() {
    let Some(dovecot) = Dovecot::start() else { return };
    let Some(refusing) = SmtpSink::start(Manner::Refuse) else { return };
    let offered = BOX.offer(&account(dovecot.port, refusing.port), &letter()).await.unwrap();
    let refused = offered.hand_over().await.unwrap_err();
    assert!(matches!(&refused, MailError::Server { why, .. } if why.contains("554")), "{refused}");
    let Some(breaking) = SmtpSink::start(Manner::Break) else { return };
    let offered = BOX.offer(&account(dovecot.port, breaking.port), &letter()).await.unwrap();
    let unknown = offered.hand_over().await.unwrap_err();
    assert!(matches!(&unknown, MailError::Unknown { .. }), "{unknown}");
    assert_eq!((breaking.letters().len(), breaking.connections()), (1, 1), "nothing is tried twice");
    assert_eq!(dovecot.kept("Sent Mail").len(), 0);
}

#[tokio::test]
async fn what_is_wrong_with_an_account_is_said() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let me = account(dovecot.port, sink.port);
    BOX.test(&me).await.unwrap();
    let wrong = Login::Password(Secret::new("wrong"));
    let error = BOX.test(&Account { login: wrong, ..me.clone() }).await.unwrap_err();
    assert!(matches!(&error, MailError::Login { user, .. } if user == "me"), "{error}");
    let token = Login::Token(Secret::new(PASSWORD));
    BOX.poll(&Account { login: token, ..me.clone() }, None, 0).await.unwrap();
    let wrong = Login::Token(Secret::new("wrong"));
    let error = BOX.poll(&Account { login: wrong, ..me.clone() }, None, 0).await.unwrap_err();
    assert!(matches!(&error, MailError::Login { .. }), "{error}");
    let closed = Server { port: 1, ..me.imap.clone() };
    let error = BOX.poll(&Account { imap: closed, ..me.clone() }, None, 0).await.unwrap_err();
    assert!(matches!(&error, MailError::Unreachable { .. }), "{error}");
    let open = Server { host: "mail.example.com".into(), ..me.imap.clone() };
    let error = BOX.poll(&Account { imap: open, ..me }, None, 0).await.unwrap_err();
    assert!(error.to_string().contains("would hear the password"), "{error}");
}
