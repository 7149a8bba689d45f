//! How much of strangers' letters is held at one time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use limpid_channels::mail::{Account, Login, MailId, MailServers, Mailbox, Secret, Security, Server};
use limpid_formats::Parser;
use tokio::net::TcpListener;

// SEC-093
#[tokio::test(start_paused = true)]
async fn two_whole_letters_are_fetched_at_one_time_and_the_others_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server =
        || Server { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port(), security: Security::None };
    let account = Account {
        address: "me@example.com".into(),
        name: None,
        user: "me".into(),
        login: Login::Password(Secret::new("secret-word")),
        imap: server(),
        smtp: server(),
        folder: "INBOX".into(),
        sent: None,
        copies: false,
        roots: None,
    };
    let (open, most, all) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, highest, count) = (Arc::clone(&open), Arc::clone(&most), Arc::clone(&all));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let now = Arc::clone(&now);
            tokio::spawn(async move {
                // The paused clock moves when nobody has anything to do: all who come at all have come then.
                tokio::time::sleep(Duration::from_secs(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                drop(stream);
            });
        }
    });
    let servers = MailServers::new(Parser::in_this_process());
    let id = MailId { validity: 7, uid: 1 };
    let read = || servers.read(&account, id, false);
    let (a, b, c, d, e) = tokio::join!(read(), read(), read(), read(), read());
    for outcome in [a, b, c, d, e] {
        assert!(outcome.is_err(), "the server said nothing");
    }
    assert_eq!((all.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (5, 2));
}
