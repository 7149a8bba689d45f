//! What can be asked of a worker, and how both sides write it: a line of JSON, and the bytes that it is about.

use std::io::{self, BufRead as _, BufReader, Read};

use serde::{Deserialize, Serialize};

use crate::mail::{Mail, MailHead, MailId};
use crate::search_page::{self, Found};
use crate::{html, mail, page};

/// Bytes of a question's line at most.
const LINE: u64 = 64 * 1024;

/// Bytes of memory that is too much for a worker.
const TOO_MUCH: usize = 320 * 1024 * 1024;

/// What is asked about some bytes of a stranger's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Question {
    /// Which layers hold the worker, found by trying what each must stop.
    Layers,
    /// A page of the web as text.
    Page {
        /// Its type, as the server says it.
        kind: String,
        /// Whether there was more of it.
        cut: bool,
        /// Characters that are wanted at most.
        most: usize,
    },
    /// Pieces of HTML, each on one line without marks.
    Lines,
    /// The hits of a page of a search engine: elements of one class, each with the one of another class that follows.
    Hits {
        /// The class of links to hits.
        link: String,
        /// The class of what a hit says.
        snippet: String,
    },
    /// What a list shows of a message that the server got at this time.
    Head(MailId, Option<i64>),
    /// A whole message.
    Mail(MailId, Option<i64>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Which layers hold.
    Layers(Layers),
    /// The beginning of the text, and how many characters it has in all.
    Page(String, usize),
    /// The pieces.
    Lines(Vec<String>),
    /// The hits.
    Hits(Vec<Found>),
    /// The head.
    Head(MailHead),
    /// The message.
    Mail(Box<Mail>),
    /// It nests deeper than is read.
    TooDeep,
}

/// What the worker can't do, as it found by trying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// It opens no file.
    pub files: bool,
    /// It makes no socket.
    pub network: bool,
    /// It starts no process.
    pub processes: bool,
    /// It gets no more memory than it may have.
    pub memory: bool,
}

#[derive(Serialize, Deserialize)]
struct Header {
    question: Question,
    /// How many bytes each body has.
    lengths: Vec<usize>,
}

/// Writes a question with the bytes that it is about.
pub(crate) fn write(question: Question, bodies: &[&[u8]]) -> serde_json::Result<Vec<u8>> {
    let lengths = bodies.iter().map(|body| body.len()).collect();
    let mut bytes = serde_json::to_vec(&Header { question, lengths })?;
    bytes.push(b'\n');
    bodies.iter().for_each(|body| bytes.extend_from_slice(body));
    Ok(bytes)
}

/// Reads a question with the bytes that it is about.
pub(crate) fn read(input: impl Read) -> io::Result<(Question, Vec<Vec<u8>>)> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    (&mut input).take(LINE).read_until(b'\n', &mut line)?;
    let Header { question, lengths } = serde_json::from_slice(&line)?;
    let body = |length: usize| {
        let mut body = Vec::new();
        (&mut input).take(length as u64).read_to_end(&mut body).map(|_| body)
    };
    Ok((question, lengths.into_iter().map(body).collect::<io::Result<_>>()?))
}

/// Answers a question in this process. Whoever asks a stranger's question has a [`Parser`](crate::Parser) choose the process.
pub fn answer(question: Question, bodies: &[Vec<u8>]) -> Answer {
    let first = bodies.first().map(Vec::as_slice).unwrap_or_default();
    let answered = match question {
        Question::Layers => Ok(Answer::Layers(tried())),
        Question::Page { kind, cut, most } => page::text(&kind, first, cut).map(|text| {
            let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
            Answer::Page(text[..end].to_owned(), text.chars().count())
        }),
        Question::Lines => {
            let pieces = bodies.iter().map(|piece| html::bare(&String::from_utf8_lossy(piece)));
            pieces.collect::<Result<_, _>>().map(Answer::Lines)
        }
        Question::Hits { link, snippet } => {
            Ok(Answer::Hits(search_page::hits(&String::from_utf8_lossy(first), &link, &snippet)))
        }
        Question::Head(id, at_ms) => mail::read(id, first, at_ms).map(|mail| Answer::Head(mail.head)),
        Question::Mail(id, at_ms) => mail::read(id, first, at_ms).map(|mail| Answer::Mail(Box::new(mail))),
    };
    answered.unwrap_or(Answer::TooDeep)
}

/// Tries what this process must not be able to do.
#[expect(clippy::disallowed_methods, reason = "it must fail")]
fn tried() -> Layers {
    Layers {
        files: std::fs::File::open("/dev/null").is_err(),
        network: std::net::UdpSocket::bind(("127.0.0.1", 0)).is_err(),
        processes: std::thread::Builder::new().spawn(|| ()).is_err(),
        memory: Vec::<u8>::new().try_reserve_exact(TOO_MUCH).is_err(),
    }
}
