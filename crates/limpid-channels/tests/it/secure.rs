//! Mail accounts whose connections are secured, on real servers with certificates of the test's own authority.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use limpid_channels::mail::{Account, Letter, Login, MailError, MailServers, Mailbox, Roots, Secret, Security, Server};
use limpid_formats::Parser;
use limpid_testkit::mail::{Authority, Dovecot, Like, Manner, PASSWORD, SmtpSink};

static BOX: MailServers = MailServers::new(Parser::in_this_process());

const HERE: &str = "IP:127.0.0.1";

fn account(security: Security, (imap, smtp): (u16, u16), authority: Option<&Path>) -> Account {
    let here = |port| Server { host: "127.0.0.1".into(), port, security };
    Account {
        address: "me@example.com".into(),
        name: None,
        user: "me".into(),
        login: Login::Password(Secret::new(PASSWORD)),
        imap: here(imap),
        smtp: here(smtp),
        folder: "INBOX".into(),
        sent: None,
        copies: true,
        roots: authority.map(|file| Roots::parse(&std::fs::read(file).unwrap()).unwrap()),
    }
}

fn letter() -> Letter {
    Letter {
        to: vec!["ada@example.com".into()],
        cc: Vec::new(),
        subject: "hello".into(),
        text: "Hello.".into(),
        message_id: "0123@example.com".into(),
        at: "2026-03-28T12:00:00Z".parse().unwrap(),
        answers: None,
    }
}

/// Servers with a certificate that is made out to a name for some days: one to read from, with both of its ports, and
/// two to send to, with TLS and with STARTTLS.
fn servers(authority: &Authority, name: &str, days: i32) -> Option<(Dovecot, [SmtpSink; 2])> {
    let certificate = authority.issue(name, days);
    let like = Like { certificate: Some(certificate.clone()), ..Like::default() };
    let sinks = [SmtpSink::start_secure(&certificate, false)?, SmtpSink::start_secure(&certificate, true)?];
    Some((Dovecot::start_like(&like)?, sinks))
}

#[tokio::test]
async fn mail_is_read_and_sent_with_tls_and_starttls_by_the_owners_authority() {
    let Some(authority) = Authority::new() else { return };
    let Some((dovecot, [tls, starttls])) = servers(&authority, HERE, 2) else { return };
    dovecot.deliver("a", "From: ada@example.com\nSubject: a\n\nHello\n");
    let ways = [(Security::Tls, dovecot.tls_port, &tls), (Security::StartTls, dovecot.port, &starttls)];
    for (sent, (security, port, sink)) in (1..).zip(ways) {
        let me = account(security, (port, sink.port), Some(&authority.file()));
        BOX.test(&me).await.unwrap();
        assert_eq!(BOX.poll(&me, None, 0).await.unwrap().unread, 1, "{security:?}");
        BOX.offer(&me, &letter()).await.unwrap().hand_over().await.unwrap();
        let copied = BOX.keep_copy(&me, &letter()).await.unwrap();
        assert_eq!(copied.as_deref(), Some("Sent Mail"), "{security:?}");
        assert_eq!((sink.letters().len(), dovecot.kept("Sent Mail").len()), (1, sent), "{security:?}");
    }
}

#[tokio::test]
async fn whoever_cannot_prove_to_be_the_server_hears_nothing() {
    let (Some(authority), Some(other)) = (Authority::new(), Authority::new()) else { return };
    let (own, others) = (authority.file(), other.file());
    let table = [
        ("the system trusts somebody else", HERE, 2, None, "nobody whom this account trusts has signed it"),
        ("so does the owner", HERE, 2, Some(&others), "nobody whom this account trusts has signed it"),
        ("another server's", "DNS:mail.example.com", 2, Some(&own), "it is made out to another name"),
        ("out of date", HERE, -1, Some(&own), "it has expired"),
    ];
    for (case, name, days, trusted, why) in table {
        let Some((dovecot, [tls, starttls])) = servers(&authority, name, days) else { return };
        let ways = [(Security::Tls, dovecot.tls_port, &tls), (Security::StartTls, dovecot.port, &starttls)];
        for (security, port, sink) in ways {
            let me = account(security, (port, sink.port), trusted.map(PathBuf::as_path));
            let (read, sent) = (BOX.poll(&me, None, 0).await, BOX.offer(&me, &letter()).await.map(drop));
            for error in [read.unwrap_err(), sent.unwrap_err()] {
                let MailError::Certificate { why: said, .. } = &error else { panic!("{case}: {security:?}: {error}") };
                assert!(said.starts_with(why), "{case}: {error}");
            }
            assert_eq!(sink.letters().len(), 0);
        }
    }
}

#[tokio::test]
async fn a_server_without_starttls_is_told_no_password() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let me = account(Security::StartTls, (dovecot.port, sink.port), None);
    let (read, sent) = (BOX.poll(&me, None, 0).await, BOX.offer(&me, &letter()).await.map(drop));
    for error in [read.unwrap_err(), sent.unwrap_err()] {
        assert!(matches!(&error, MailError::Unreachable { .. }), "{error}");
    }
    assert_eq!(sink.letters().len(), 0);
}
