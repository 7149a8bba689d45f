//! Asks questions about strangers' bytes, each of a process of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::lanes::{Lanes, QUICK_AT_ONCE, Share};
use crate::mail::{Mail, MailHead, MailId};
use crate::question::{Answer, Layers, Question, answer, write};
use crate::search_page::Found;
use crate::worker::{PARSE, SECONDS};

/// Bytes of an answer at most.
const ANSWER: usize = 2 * 1024 * 1024;

/// Bytes of a type of content that are looked at.
const KIND: usize = 1024;

/// Seconds that the beginning of a message may be computed on, so that many of them end soon.
pub(crate) const HEAD_SECONDS: u64 = 1;

/// How long heads of one list are begun: whatever they are, the list is there before its server is given up.
const HEADS: Duration = Duration::from_secs(15);

/// Where a program has strangers' formats parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parsing {
    /// By processes of the helper, whose [`crate::worker::main`] answers. Without a helper nothing is parsed.
    #[default]
    ByHelper,
    /// In this process: a page or a mail may take all its memory, hold a thread for good, or end it. It is for programs that
    /// embed the agent, read nothing of strangers, and have no helper.
    InThisProcess,
}

/// Parses what strangers wrote. Each part of the agent has its own, so that what one stranger sends holds up no other.
#[derive(Clone, Debug)]
pub struct Parser(Way);

#[derive(Clone, Debug)]
enum Way {
    Nowhere,
    Here,
    Worker { program: PathBuf, lanes: Arc<Lanes>, share: Share },
}

/// What a list shows of messages, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Those that were parsed, or that used up their own time: nothing better will come of them.
    pub done: Vec<MailHead>,
    /// Those that nobody got to, since others took all the time there was. They say so, and may be asked for again.
    pub late: Vec<MailHead>,
}

/// Why something could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It took too long.
    Time,
    /// There was no free place for it in time.
    Late,
    /// What parses it broke off: it took too much memory, or there is a fault in it.
    Ended,
    /// What came of it is too much.
    Answer,
    /// It nests too deep.
    Deep,
    /// The process could not be started.
    NotStarted,
    /// There is no program that parses.
    NoHelper,
}

impl Broken {
    /// The reason, as a sentence's end.
    pub fn why(self) -> &'static str {
        match self {
            Self::Time => "it takes too long to be parsed",
            Self::Late => "others took all the time there was to parse it; look again later",
            Self::Ended => "what parses it broke off; it may need more than 256 MiB of memory",
            Self::Answer => "it is longer than 2 MiB as text",
            Self::Deep => "it nests its parts more than 512 deep",
            Self::NotStarted => "the process that parses it could not be started; `limpid doctor` says more",
            Self::NoHelper => "this program was set up without a helper that parses what strangers write",
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())
    }
}

impl Parser {
    /// One that parses there. `helper` is the program whose [`crate::worker::main`] answers.
    pub fn new(parsing: Parsing, helper: Option<PathBuf>) -> Self {
        Self(match (parsing, helper) {
            (Parsing::InThisProcess, _) => Way::Here,
            (Parsing::ByHelper, None) => Way::Nowhere,
            (Parsing::ByHelper, Some(program)) => {
                Way::Worker { program, lanes: Arc::new(Lanes::new()), share: Share::whole() }
            }
        })
    }

    /// The same for one reader, a turn for instance, which gets half of the workers at most: pages that take long hold up
    /// whoever asked for them, and others for a moment at most.
    #[must_use]
    pub fn for_reader(&self, name: &str) -> Self {
        let Way::Worker { program, lanes, .. } = &self.0 else { return self.clone() };
        Self(Way::Worker { program: program.clone(), lanes: Arc::clone(lanes), share: lanes.share_of(name) })
    }

    /// One that parses in this process; see [`Parsing::InThisProcess`].
    pub const fn in_this_process() -> Self {
        Self(Way::Here)
    }

    /// Which layers hold the processes that it asks; none when it asks none.
    ///
    /// # Errors
    /// [`Broken`] when there is no answer.
    pub async fn layers(&self) -> Result<Option<Layers>, Broken> {
        if matches!(self.0, Way::Here) {
            return Ok(None);
        }
        match self.ask(Question::Layers, Vec::new()).await? {
            Answer::Layers(layers) => Ok(Some(layers)),
            _ => Err(Broken::Ended),
        }
    }

    /// A page as text, at most so many characters of it, and how many there are.
    ///
    /// # Errors
    /// [`Broken`] when it could not be parsed.
    pub async fn page(&self, kind: &str, body: Vec<u8>, cut: bool, most: usize) -> Result<(String, usize), Broken> {
        // A type is a few words; whatever is longer names none.
        let kind = kind.get(..kind.floor_char_boundary(KIND)).unwrap_or_default().to_owned();
        match self.ask(Question::Page { kind, cut, most }, vec![body]).await? {
            Answer::Page(text, all) => Ok((text, all)),
            _ => Err(Broken::Ended),
        }
    }

    /// Pieces of HTML that one stranger wrote, each on one line without marks.
    ///
    /// # Errors
    /// [`Broken`] when they could not be parsed.
    pub async fn lines(&self, pieces: Vec<String>) -> Result<Vec<String>, Broken> {
        // What has no marks needs no parser.
        if !pieces.iter().any(|piece| piece.contains(['<', '&'])) {
            let line = |piece: &String| piece.split_whitespace().collect::<Vec<_>>().join(" ");
            return Ok(pieces.iter().map(line).collect());
        }
        match self.ask(Question::Lines, pieces.into_iter().map(String::into_bytes).collect()).await? {
            Answer::Lines(lines) => Ok(lines),
            _ => Err(Broken::Ended),
        }
    }

    /// The hits of a page of a search engine: links of a class, each with the next link of another class.
    ///
    /// # Errors
    /// [`Broken`] when it could not be parsed.
    pub async fn hits(&self, page: Vec<u8>, link: &str, snippet: &str) -> Result<Vec<Found>, Broken> {
        let question = Question::Hits { link: link.to_owned(), snippet: snippet.to_owned() };
        match self.ask(question, vec![page]).await? {
            Answer::Hits(hits) => Ok(hits),
            _ => Err(Broken::Ended),
        }
    }

    /// What a list shows of messages, begun in their order. Each is parsed alone; one that could not be says that and nothing else.
    pub async fn heads(&self, messages: Vec<(MailId, Option<i64>, Vec<u8>)>) -> Heads {
        self.heads_within(messages, HEADS).await
    }

    async fn heads_within(&self, messages: Vec<(MailId, Option<i64>, Vec<u8>)>, limit: Duration) -> Heads {
        let mut asked = JoinSet::new();
        let until = Instant::now() + limit;
        let begun = Arc::new(Semaphore::new(QUICK_AT_ONCE));
        for (at, (id, at_ms, bytes)) in messages.into_iter().enumerate() {
            let place = tokio::time::timeout_at(until, Arc::clone(&begun).acquire_owned()).await;
            let parser = self.clone();
            asked.spawn(async move {
                let parsed = match place {
                    Ok(_place) => parser.head((id, at_ms), &bytes, until).await,
                    Err(_) => Err(Broken::Late),
                };
                let is_late = matches!(parsed, Err(Broken::Late));
                (at, is_late, parsed.unwrap_or_else(|broken| MailHead::broken(id, &bytes, at_ms, broken.why())))
            });
        }
        let mut all = asked.join_all().await;
        all.sort_by_key(|(at, ..)| *at);
        let mut heads = Heads::default();
        for (_, is_late, head) in all {
            let list = if is_late { &mut heads.late } else { &mut heads.done };
            list.push(head);
        }
        heads
    }

    async fn head(&self, (id, at_ms): (MailId, Option<i64>), bytes: &[u8], until: Instant) -> Result<MailHead, Broken> {
        match self.ask_until(Some(until), Question::Head(id, at_ms), vec![bytes.to_vec()]).await? {
            Answer::Head(head) => Ok(MailHead { id, ..head }),
            _ => Err(Broken::Ended),
        }
    }

    /// A whole message, or the beginning of one.
    ///
    /// # Errors
    /// [`Broken`] when it could not be parsed.
    pub async fn mail(&self, id: MailId, bytes: &[u8], at_ms: Option<i64>) -> Result<Mail, Broken> {
        match self.ask(Question::Mail(id, at_ms), vec![bytes.to_vec()]).await? {
            Answer::Mail(mail) => Ok(Mail { head: MailHead { id, ..mail.head }, ..*mail }),
            _ => Err(Broken::Ended),
        }
    }

    async fn ask(&self, question: Question, bodies: Vec<Vec<u8>>) -> Result<Answer, Broken> {
        self.ask_until(None, question, bodies).await
    }

    /// Asks, unless it cannot be begun until then.
    async fn ask_until(
        &self,
        until: Option<Instant>,
        question: Question,
        bodies: Vec<Vec<u8>>,
    ) -> Result<Answer, Broken> {
        let seconds = if matches!(question, Question::Head(..)) { HEAD_SECONDS } else { SECONDS };
        let answered = match &self.0 {
            Way::Nowhere => return Err(Broken::NoHelper),
            Way::Here => {
                let answered = tokio::task::spawn_blocking(move || answer(question, &bodies)).await;
                answered.map_err(|_| Broken::Ended)?
            }
            Way::Worker { program, lanes, share, .. } => {
                let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
                let bytes = write(question, &bodies).map_err(|_| Broken::NotStarted)?;
                let limits = (until, Duration::from_secs(SECONDS));
                lanes.run(share, limits, || ask_worker(program, seconds, &bytes)).await??
            }
        };
        if answered == Answer::TooDeep { Err(Broken::Deep) } else { Ok(answered) }
    }
}

/// Starts a process, writes to it and reads from it. It ends when this is dropped.
async fn ask_worker(program: &Path, seconds: u64, bytes: &[u8]) -> Result<Answer, Broken> {
    let mut child = Command::new(program)
        .args([PARSE, &seconds.to_string()])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| Broken::NotStarted)?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Broken::NotStarted);
    };
    let ask = async move {
        // One that has ended reads no more; its answer says so.
        let _ = stdin.write_all(bytes).await;
        drop(stdin);
    };
    let mut said = Vec::new();
    let mut stdout = stdout.take(ANSWER as u64 + 1);
    let ((), heard) = tokio::join!(ask, stdout.read_to_end(&mut said));
    heard.map_err(|_| Broken::Ended)?;
    if said.len() > ANSWER {
        return Err(Broken::Answer);
    }
    let ended = child.wait().await.map_err(|_| Broken::Ended)?;
    if used_up_its_time(ended) {
        return Err(Broken::Time);
    }
    serde_json::from_slice(&said).map_err(|_| Broken::Ended)
}

#[cfg(unix)]
fn used_up_its_time(ended: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    ended.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn used_up_its_time(_: std::process::ExitStatus) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(uids: std::ops::RangeInclusive<u32>) -> Vec<(MailId, Option<i64>, Vec<u8>)> {
        uids.map(|uid| (MailId { validity: 7, uid }, Some(5), b"Subject: x".to_vec())).collect()
    }

    fn broken(uids: std::ops::RangeInclusive<u32>, why: Broken) -> Vec<MailHead> {
        uids.map(|uid| MailHead::broken(MailId { validity: 7, uid }, b"Subject: x", Some(5), why.why())).collect()
    }

    // SEC-093
    #[tokio::test]
    async fn a_list_of_heads_is_there_in_time_whatever_they_are() {
        let parser = Parser::new(Parsing::ByHelper, Some(PathBuf::from("/none")));
        let Way::Worker { lanes, .. } = &parser.0 else { panic!() };
        // Nobody gets a place, as while others take long.
        let _held = lanes.fill().await;
        let heads = parser.heads_within(messages(1..=50), Duration::ZERO).await;
        assert_eq!(heads, Heads { done: Vec::new(), late: broken(1..=50, Broken::Late) });
    }

    // SEC-093
    #[tokio::test]
    async fn a_message_that_was_begun_has_its_own_time_and_the_others_are_late() {
        let parser = Parser::new(Parsing::ByHelper, Some(PathBuf::from("/none")));
        let heads = parser.heads_within(messages(1..=50), Duration::ZERO).await;
        let begun = heads.done.len() as u32;
        assert!(begun >= 4, "{heads:?}");
        let (done, late) = (broken(1..=begun, Broken::NotStarted), broken(begun + 1..=50, Broken::Late));
        assert_eq!(heads, Heads { done, late });
    }
}
