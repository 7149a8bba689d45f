//! A mail server that says NO to what it was asked: nothing is taken for gone that it only did not give.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use limpid_channels::mail::{Account, Login, MailError, MailServers, Mailbox, Secret, Security, Server};
use limpid_core::mail::Mark;
use limpid_formats::Parser;

/// What the server answers to a command, with `TAG` in the place of its tag.
type Answers = fn(&str) -> &'static str;

fn talk(stream: &TcpStream, answers: Answers) -> std::io::Result<()> {
    let mut out = stream;
    out.write_all(b"* OK ready\r\n")?;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        let (tag, command) = line.split_once(' ').unwrap_or_default();
        out.write_all(answers(command).replace("TAG", tag).as_bytes())?;
    }
    Ok(())
}

/// An account at a server with one new letter, the third, that answers so.
fn account(answers: Answers) -> Account {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().take(1).flatten() {
            // Whoever has heard enough hangs up.
            let _ = talk(&stream, answers);
        }
    });
    let server = Server { host: "127.0.0.1".into(), port, security: Security::None };
    Account {
        address: "me@example.com".into(),
        name: None,
        user: "me".into(),
        login: Login::Password(Secret::new("secret-word")),
        imap: server.clone(),
        smtp: server,
        folder: "INBOX".into(),
        sent: None,
        copies: false,
        roots: None,
    }
}

fn usual(command: &str) -> &'static str {
    match command {
        _ if command.starts_with("STATUS") => "* STATUS INBOX (UNSEEN 1)\r\nTAG OK\r\n",
        _ if command.starts_with("EXAMINE") => {
            "* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 4] x\r\nTAG OK [READ-ONLY] done\r\n"
        }
        _ if command.starts_with("UID SEARCH") => "* SEARCH 3\r\nTAG OK done\r\n",
        _ => "TAG OK done\r\n",
    }
}

// KAI-090
#[tokio::test]
async fn a_letter_that_a_server_does_not_give_is_asked_for_again_and_not_passed_over() {
    let busy: [(Answers, &str); 2] = [
        (
            |command| if command.starts_with("UID SEARCH") { "TAG NO [UNAVAILABLE] busy\r\n" } else { usual(command) },
            "it answers a search with No: [UNAVAILABLE] busy",
        ),
        (
            |command| if command.starts_with("UID FETCH") { "TAG NO busy\r\n" } else { usual(command) },
            "it does not give the message with number 3",
        ),
    ];
    for (answers, wanted) in busy {
        let mark = Mark { validity: 7, uid: 2, renumbered: None };
        let polled = MailServers::new(Parser::in_this_process()).poll(&account(answers), Some(mark), 0).await;
        let Err(MailError::Server { why, .. }) = polled else { panic!("{polled:?}") };
        assert!(why.to_string().contains(wanted), "{why}");
    }
}

// KAI-090
#[tokio::test]
async fn what_is_unread_is_one_number_however_full_the_folder_is() {
    let answers: Answers = |command| match command {
        _ if command.starts_with("STATUS") => "* STATUS INBOX (UNSEEN 300000)\r\nTAG OK\r\n",
        _ if command.starts_with("UID SEARCH UNSEEN") => "TAG NO too many\r\n",
        _ if command.starts_with("UID SEARCH") => "* SEARCH\r\nTAG OK done\r\n",
        _ => usual(command),
    };
    let mark = Mark { validity: 7, uid: 3, renumbered: None };
    let polled = MailServers::new(Parser::in_this_process()).poll(&account(answers), Some(mark), 0).await;
    assert_eq!(polled.unwrap().unread, 300_000);
}
