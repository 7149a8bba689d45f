//! Bytes of a message as text that can be read. Whatever the bytes are, something comes back.

use std::fmt;

use limpid_core::inbox::{LINE_CHARS, preview};
use mail_parser::{Addr, Address, HeaderValue, Message, MessageParser, MimeHeaders, PartType};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::depth::{MOST_DEPTH, TooDeep};
use crate::html::readable;

/// Columns that HTML is laid out in.
const WIDTH: usize = 100;

/// Attachments that are told of; more are counted.
const ATTACHMENTS: usize = 50;

/// Bytes of text that are kept of a message; the rest counts as not fetched.
const TEXT: usize = 1024 * 1024;

/// Bytes of a Message-ID that a message is known by; the longest line of a message has as many.
const NAME: usize = 998;

/// A message: its number, and the numbering that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailId {
    /// The UIDVALIDITY.
    pub validity: u32,
    /// The UID.
    pub uid: u32,
}

impl fmt::Display for MailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uid.fmt(f)
    }
}

/// What a list of mail shows of a message. All of it is the sender's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailHead {
    /// Its number.
    pub id: MailId,
    /// What it is known by under every numbering: its Message-ID, or a hash of its head when it has none.
    pub key: String,
    /// Who sent it: `Ada <ada@example.com>`.
    pub from: String,
    /// The subject.
    pub subject: String,
    /// How the text begins, on one line.
    pub preview: String,
    /// When the server got it, in milliseconds since 1970.
    pub at_ms: Option<i64>,
}

/// A whole message. All of it is the sender's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// What a list shows of it.
    pub head: MailHead,
    /// Who it was sent to.
    pub to: Vec<String>,
    /// Who got copies.
    pub cc: Vec<String>,
    /// Where answers are to go; empty: to the sender.
    pub reply_to: Vec<String>,
    /// Its name, without angle brackets.
    pub message_id: Option<String>,
    /// The names of the messages before it, oldest first.
    pub references: Vec<String>,
    /// The text; HTML is laid out as text.
    pub text: String,
    /// What is attached.
    pub attachments: Vec<Attachment>,
    /// Whether it was too large to be fetched whole.
    pub cut: bool,
}

/// Something that is attached to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its type: `application/pdf`.
    pub kind: String,
    /// Its size in bytes.
    pub size: usize,
}

impl MailHead {
    /// The head of a message that could not be parsed, which says why in the place of its beginning.
    pub(crate) fn broken(id: MailId, bytes: &[u8], at_ms: Option<i64>, why: &str) -> Self {
        let preview = format!("This message cannot be shown: {why}.");
        Self { preview, ..nothing(id, bytes, at_ms).head }
    }
}

/// Reads a message, or the beginning of one.
///
/// # Errors
/// [`TooDeep`].
pub(crate) fn read(id: MailId, bytes: &[u8], at_ms: Option<i64>) -> Result<Mail, TooDeep> {
    // What is no message at all is one that says nothing.
    let Some(message) = MessageParser::default().parse(bytes) else { return Ok(nothing(id, bytes, at_ms)) };
    if is_too_deep(&message) {
        // To drop it would take a stack as deep. Its process ends anyway.
        std::mem::forget(message);
        return Err(TooDeep);
    }
    let mut text = text(&message)?;
    let cut = text.len() > TEXT;
    text.truncate(text.floor_char_boundary(TEXT));
    let message_id = message.message_id().map(str::to_owned).filter(|id| !id.trim().is_empty());
    // A longer name would be kept whole with every item.
    let named = message_id.clone().filter(|name| name.len() <= NAME);
    let key = named.unwrap_or_else(|| head_hash(bytes));
    let head = MailHead {
        id,
        key,
        from: people(message.from()).into_iter().next().unwrap_or_default(),
        subject: message.subject().unwrap_or_default().chars().take(LINE_CHARS).collect(),
        preview: preview(&text),
        at_ms: at_ms.or_else(|| Some(message.date()?.to_timestamp().saturating_mul(1000))),
    };
    let attached = message.attachments().take(ATTACHMENTS).map(|part| Attachment {
        name: part.attachment_name().unwrap_or_default().to_owned(),
        kind: kind(part),
        size: part.len(),
    });
    Ok(Mail {
        to: people(message.to()),
        cc: people(message.cc()),
        reply_to: people(message.reply_to()),
        message_id,
        references: names(message.references()).into_iter().chain(names(message.in_reply_to())).fold(
            Vec::new(),
            |mut all, name| {
                if !all.contains(&name) {
                    all.push(name);
                }
                all
            },
        ),
        attachments: attached.collect(),
        text,
        head,
        cut,
    })
}

/// Whether parts and messages nest deeper than is read.
fn is_too_deep(message: &Message<'_>) -> bool {
    let mut open: Vec<(&Message<'_>, u32, usize)> = vec![(message, 0, 1)];
    while let Some((message, part, depth)) = open.pop() {
        if depth > MOST_DEPTH {
            return true;
        }
        match message.part(part).map(|part| &part.body) {
            Some(PartType::Multipart(parts)) => open.extend(parts.iter().map(|part| (message, *part, depth + 1))),
            Some(PartType::Message(within)) => open.push((within, 0, depth + 1)),
            _ => {}
        }
    }
    false
}

fn nothing(id: MailId, bytes: &[u8], at_ms: Option<i64>) -> Mail {
    let (from, subject, preview) = (String::new(), String::new(), String::new());
    Mail {
        head: MailHead { id, key: head_hash(bytes), from, subject, preview, at_ms },
        to: Vec::new(),
        cc: Vec::new(),
        reply_to: Vec::new(),
        message_id: None,
        references: Vec::new(),
        text: String::new(),
        attachments: Vec::new(),
        cut: false,
    }
}

/// The texts of a message one after the other.
fn text(message: &Message<'_>) -> Result<String, TooDeep> {
    let mut texts = Vec::new();
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => texts.push(text.replace("\r\n", "\n").trim_end().to_owned()),
            PartType::Html(html) => texts.push(from_html(html)?),
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(texts.join("\n\n"))
}

fn from_html(html: &str) -> Result<String, TooDeep> {
    let text = readable(html, WIDTH)?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    // Mails are laid out with empty tables: one blank line parts as well as five.
    let mut kept: Vec<&str> = Vec::with_capacity(lines.len());
    for line in lines {
        if !(line.is_empty() && kept.last().is_none_or(|last| last.is_empty())) {
            kept.push(line);
        }
    }
    Ok(kept.join("\n").trim_end().to_owned())
}

fn people(address: Option<&Address<'_>>) -> Vec<String> {
    address.map(|all| all.iter().filter_map(person).collect()).unwrap_or_default()
}

/// A person as lists show them. A name gives way to the address behind it, which says more of who it is.
fn person(person: &Addr<'_>) -> Option<String> {
    let address = line(person.address.as_deref().unwrap_or_default(), LINE_CHARS);
    let room = LINE_CHARS.saturating_sub(address.chars().count() + " <>".len());
    match (line(person.name.as_deref().unwrap_or_default(), room), address) {
        (name, address) if name.is_empty() => Some(address).filter(|address| !address.is_empty()),
        (name, address) if address.is_empty() => Some(name),
        (name, address) => Some(format!("{name} <{address}>")),
    }
}

/// What a list shows of a header, which may be as long as a letter.
fn line(text: &str, room: usize) -> String {
    text.trim().chars().take(room).collect()
}

fn names(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(name) => vec![name.clone().into_owned()],
        HeaderValue::TextList(names) => names.iter().map(|name| name.clone().into_owned()).collect(),
        _ => Vec::new(),
    }
}

fn kind(part: &mail_parser::MessagePart<'_>) -> String {
    match part.content_type() {
        Some(kind) => format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("*")).to_lowercase(),
        None if part.is_message() => "message/rfc822".to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}

/// What a message without a name is known by: everything before the first empty line, which no server changes.
fn head_hash(bytes: &[u8]) -> String {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(bytes.len());
    let digest = Sha256::digest(&bytes[..end]);
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

#[cfg(test)]
mod tests;
