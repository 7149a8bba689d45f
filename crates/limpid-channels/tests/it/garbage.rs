//! Mail servers that say anything at all: whatever comes, there is an answer or an error.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use limpid_channels::mail::{
    Account, Letter, Login, MailId, MailQuery, MailServers, Mailbox, Secret, Security, Server,
};
use limpid_core::mail::Mark;
use limpid_formats::Parser;
use proptest::prelude::*;

/// Things that servers say, between any bytes.
const SAID: [&str; 22] = [
    "* OK ready\r\n",
    "* PREAUTH\r\n",
    "* BYE\r\n",
    "A0000 OK done\r\n",
    "A0001 OK done\r\n",
    "A0002 OK [READ-ONLY] done\r\n",
    "A0003 OK done\r\n",
    "A0001 NO no\r\n",
    "* CAPABILITY IMAP4rev1 IDLE\r\n",
    "* OK [UIDVALIDITY 7]\r\n",
    "* OK [UIDNEXT 4294967295]\r\n",
    "* 3 EXISTS\r\n",
    "* SEARCH 1 2 3\r\n",
    "* SEARCH 4294967296\r\n",
    "* 1 FETCH (UID 1 BODY[]<0> {5}\r\nhello)\r\n",
    "* 1 FETCH (UID 1 BODY[] {4294967295}\r\n",
    "+ idling\r\n",
    "220 ready\r\n",
    "250-mail.example.com\r\n250 AUTH PLAIN LOGIN XOAUTH2\r\n",
    "235 come in\r\n",
    "334 !\r\n",
    "354 go on\r\n",
];

/// A server that says this to whoever connects and hangs up.
fn says(bytes: Vec<u8>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().take(2).flatten() {
            stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            // A client may be gone before it has heard all.
            let _ = stream.write_all(&bytes);
            let _ = stream.read(&mut [0; 1024]);
        }
    });
    Server { host: "127.0.0.1".into(), port, security: Security::None }
}

fn account(bytes: &[u8]) -> Account {
    Account {
        address: "me@example.com".into(),
        name: None,
        user: "me".into(),
        login: Login::Password(Secret::new("secret-word")),
        imap: says(bytes.to_vec()),
        smtp: says(bytes.to_vec()),
        folder: "INBOX".into(),
        sent: None,
        copies: false,
        roots: None,
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(SAID.to_vec()).prop_map(|said| said.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    // SEC-044
    #[test]
    fn whatever_a_server_says_there_is_an_answer_or_an_error(pieces in prop::collection::vec(piece(), 0..24)) {
        let bytes = pieces.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mark = Mark { validity: 7, uid: 0, renumbered: None };
            let letter = Letter {
                to: vec!["ada@example.com".into()],
                cc: Vec::new(),
                subject: String::new(),
                text: "Hello.".into(),
                message_id: "1@example.com".into(),
                at: jiff::Timestamp::UNIX_EPOCH,
                answers: None,
            };
            let (one, two) = (account(&bytes), account(&bytes));
            let servers = MailServers::new(Parser::in_this_process());
            let query = MailQuery { from: Some("ada".into()), ..MailQuery::default() };
            let _ = servers.poll(&one, Some(mark), 0).await;
            let _ = servers.wait(&one, mark, Duration::from_millis(20)).await;
            let _ = servers.read(&two, MailId { validity: 7, uid: 1 }, false).await;
            let _ = servers.search(&two, &query).await;
            if let Ok(offered) = servers.offer(&one, &letter).await {
                let _ = offered.hand_over().await;
            }
        });
    }
}
