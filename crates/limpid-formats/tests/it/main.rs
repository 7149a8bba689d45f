//! The worker from outside: what it answers, what it can't do, and what becomes of texts that are made to break it.

#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;

use limpid_formats::mail::MailId;
use limpid_formats::{Broken, Layers, Parser, Parsing};

const ID: MailId = MailId { validity: 1, uid: 2 };

const ARTICLE: &str =
    "<html><head><title>Tea &amp; rain</title></head><body><h1>On tea</h1><p>Steep it.</p></body></html>";

fn parser() -> Parser {
    Parser::new(Parsing::ByHelper, Some(PathBuf::from(env!("CARGO_BIN_EXE_limpid-format-worker"))))
}

async fn page(parser: &Parser, html: &str) -> Result<(String, usize), Broken> {
    parser.page("text/html", html.as_bytes().to_vec(), false, 20_000).await
}

/// One element with so many attributes that comparing each with all takes minutes.
fn endless() -> String {
    let attributes: String = (0..250_000).map(|at| format!(" {at:x}")).collect();
    format!("<p{attributes}>x")
}

// SEC-091
#[tokio::test]
async fn a_worker_answers_what_this_process_would_answer() {
    let (own, here) = (parser(), Parser::in_this_process());
    let letter = include_bytes!("../../src/mail/several-parts.eml").as_slice();
    let message = || vec![(ID, Some(5), letter.to_vec()), (MailId { validity: 1, uid: 3 }, None, b"\xff".to_vec())];
    let engine = br#"<a class="hit" href="/a">One <b>two</b></a><a class="says">three</a>"#;
    assert!(page(&own, ARTICLE).await.unwrap().0.contains("Steep it."));
    assert_eq!(page(&own, ARTICLE).await, page(&here, ARTICLE).await);
    assert_eq!(own.mail(ID, letter, None).await, here.mail(ID, letter, None).await);
    assert_eq!(own.heads(message()).await, here.heads(message()).await);
    let pieces = || vec!["<b>bold</b> &amp; plain".to_owned(), String::new(), "a\n b".to_owned()];
    assert_eq!(own.lines(pieces()).await.unwrap(), ["bold & plain", "", "a b"]);
    let hits = own.hits(engine.to_vec(), "hit", "says").await.unwrap();
    assert_eq!((hits.len(), hits[0].title.as_str(), hits[0].snippet.as_str()), (1, "One <b>two</b>", "three"));
}

// SEC-091 SEC-095
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_opens_no_file_reaches_no_network_starts_nothing_and_gets_no_more_memory() {
    let all = Layers { files: true, network: true, processes: true, memory: true };
    assert_eq!(parser().layers().await, Ok(Some(all)));
    assert_eq!(Parser::in_this_process().layers().await, Ok(None));
}

// SEC-091
#[tokio::test]
async fn without_a_helper_nothing_is_parsed_unless_that_was_chosen() {
    let nowhere = Parser::new(Parsing::ByHelper, None);
    assert_eq!(page(&nowhere, ARTICLE).await, Err(Broken::NoHelper));
    assert_eq!(nowhere.mail(ID, b"Subject: s\n\n", None).await.unwrap_err(), Broken::NoHelper);
    assert!(page(&Parser::new(Parsing::InThisProcess, None), ARTICLE).await.is_ok());
    let gone = Parser::new(Parsing::ByHelper, Some("/no/such/program".into()));
    assert_eq!(page(&gone, ARTICLE).await, Err(Broken::NotStarted));
    let other = Parser::new(Parsing::ByHelper, Some("/bin/true".into()));
    assert_eq!(page(&other, ARTICLE).await, Err(Broken::Ended), "a program that does not answer");
}

// SEC-091
#[tokio::test]
async fn what_nests_too_deep_is_refused_and_what_needs_too_much_ends_its_own_process_only() {
    let parser = parser();
    for opened in ["<div>", "<blockquote>", "<table><tr><td>"] {
        assert_eq!(page(&parser, &opened.repeat(200_000)).await, Err(Broken::Deep), "{opened}");
    }
    // Each paragraph opens every style again, so the tree is a thousand times the page.
    let styles: String = (0..400).map(|at| format!("<b {at:x}>")).collect();
    let bomb = styles + &"<p>x".repeat(100_000);
    assert_eq!(page(&parser, &bomb).await, Err(Broken::Ended), "memory");
    let cells = format!("<table><tr>{}</table>", "<td colspan=99999999>x".repeat(1000));
    let spans = page(&parser, &cells).await;
    assert!(spans.is_ok() || spans == Err(Broken::Ended), "{spans:?}");
    // Messages in messages, behind an encoding that only the parser of mail opens.
    let within = "Content-Type: message/rfc822\r\n\r\n".repeat(30_000);
    let quoted = format!("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{within}");
    let deep = parser.mail(ID, quoted.as_bytes(), None).await.unwrap_err();
    assert!(matches!(deep, Broken::Deep | Broken::Ended), "{deep:?}");
    let long = vec![1; 1_000_000];
    assert_eq!(parser.page("text/plain", long, false, 1_000_000).await, Err(Broken::Answer));
    assert!(page(&parser, ARTICLE).await.is_ok(), "the next page is parsed as ever");
}

// SEC-091 SEC-093
#[tokio::test]
async fn what_never_ends_is_ended_and_others_are_answered_meanwhile() {
    let parser = parser();
    let endless = endless();
    let bomb = page(&parser, &endless);
    let others = async {
        for _ in 0..20 {
            assert!(page(&parser, ARTICLE).await.is_ok());
        }
    };
    tokio::pin!(bomb);
    tokio::select! {
        broken = &mut bomb => panic!("it ended before the others: {broken:?}"),
        () = others => {}
    }
    assert_eq!(bomb.await, Err(Broken::Time));
}

// SEC-093
#[tokio::test]
async fn however_many_never_end_for_one_reader_another_is_answered() {
    let (parser, endless) = (parser(), endless());
    let mut bombs = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (parser, endless) = (parser.for_reader("one"), endless.clone());
        bombs.spawn(async move { page(&parser, &endless).await });
    }
    let others = async {
        for _ in 0..5 {
            assert!(page(&parser.for_reader("another"), ARTICLE).await.is_ok());
        }
    };
    tokio::select! {
        broken = bombs.join_next() => panic!("it ended before the other was answered: {broken:?}"),
        () = others => {}
    }
}

// SEC-091 SEC-093
#[tokio::test]
async fn one_message_that_never_ends_takes_no_other_out_of_the_list() {
    let bomb = format!("Message-ID: <bomb@x>\r\nContent-Type: text/html\r\n\r\n{}", endless());
    let letter = "From: Ada <ada@example.com>\r\nSubject: tea\r\n\r\nSteep it.".to_owned();
    let uid = |uid| MailId { validity: 1, uid };
    let messages = vec![(uid(4), None, bomb.into_bytes()), (uid(5), None, letter.into_bytes())];
    let heads = parser().heads(messages).await.done;
    assert_eq!(heads[0].preview, "This message cannot be shown: it takes too long to be parsed.");
    assert_eq!((heads[1].id, heads[1].subject.as_str(), heads[1].preview.as_str()), (uid(5), "tea", "Steep it."));
}
