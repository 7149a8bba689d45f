//! A message to be sent.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lettre::Address;
use lettre::address::Envelope;
use limpid_core::line::is_break;

use super::encode::{base64_lines, folded, is_plain, phrase, words};
use super::{Account, MailError};

/// People that one letter goes to at most.
const RECIPIENTS: usize = 50;

/// Letters of a message's name at most.
const LONGEST_NAME: usize = 250;

/// Names of messages before it that an answer repeats at most, besides that of the first.
const LAST_NAMES: usize = 20;

/// A message to be sent. What its sender is stands in the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Who gets it: `ada@example.com` or `Ada <ada@example.com>`.
    pub to: Vec<String>,
    /// Who gets a copy.
    pub cc: Vec<String>,
    /// The subject; line breaks in it become spaces.
    pub subject: String,
    /// The text.
    pub text: String,
    /// Its own name, without angle brackets: nothing else is ever called so.
    pub message_id: String,
    /// When it was written.
    pub at: Timestamp,
    /// The message that it answers.
    pub answers: Option<Answered>,
}

/// What a letter has to say of the message that it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// That message's name.
    pub message_id: Option<String>,
    /// The names of the messages before it, oldest first.
    pub references: Vec<String>,
}

impl Letter {
    /// The letter as it goes out, and whom it goes to.
    pub(super) fn form(&self, account: &Account) -> Result<(Envelope, Vec<u8>), MailError> {
        if self.to.is_empty() {
            return Err(MailError::Invalid("the letter goes to nobody; name somebody in `to`".to_owned()));
        }
        if self.to.len() + self.cc.len() > RECIPIENTS {
            return Err(MailError::Invalid(format!("a letter goes to {RECIPIENTS} people at most")));
        }
        let people = |list: &[String]| list.iter().map(|text| Person::parse(text)).collect::<Result<Vec<_>, _>>();
        let (to, cc) = (people(&self.to)?, people(&self.cc)?);
        let sender = Person { name: account.name.clone(), ..Person::parse(&account.address)? };

        let mut lines = vec![format!("From: {}", sender.shown()), line_of("To", &to)];
        if !cc.is_empty() {
            lines.push(line_of("Cc", &cc));
        }
        lines.push(format!("Subject: {}", words(&one_line(&self.subject))));
        let at = self.at.to_zoned(TimeZone::UTC);
        lines.push(format!("Date: {}", at.strftime("%a, %d %b %Y %H:%M:%S +0000")));
        lines.push(format!("Message-ID: <{}>", self.message_id));
        lines.extend(self.answers.iter().flat_map(Answered::lines));
        lines.push("MIME-Version: 1.0".to_owned());
        lines.push("Content-Type: text/plain; charset=utf-8".to_owned());
        let text = self.text.lines().collect::<Vec<_>>().join("\r\n");
        let (encoding, text) = if is_plain(&text) { ("7bit", text) } else { ("base64", base64_lines(text.as_bytes())) };
        lines.push(format!("Content-Transfer-Encoding: {encoding}"));

        let all = to.into_iter().chain(cc).map(|person| person.address).collect();
        let envelope = Envelope::new(Some(sender.address), all);
        let envelope = envelope.map_err(|error| MailError::Invalid(format!("this letter cannot be: {error}")))?;
        Ok((envelope, format!("{}\r\n\r\n{text}\r\n", lines.join("\r\n")).into_bytes()))
    }
}

impl Answered {
    /// The lines that put an answer into its thread.
    ///
    /// Strangers chose the names: what is no name as it has to be, or so long that a server may refuse the line, is left out.
    fn lines(&self) -> Vec<String> {
        let name = |name: &String| {
            let is_one = name.len() <= LONGEST_NAME
                && name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'));
            (is_one && !name.is_empty()).then(|| format!("<{name}>"))
        };
        let mut names: Vec<String> = self.references.iter().filter_map(name).collect();
        let own = self.message_id.iter().find_map(name);
        if names.len() > LAST_NAMES + 1 {
            names.drain(1..names.len() - LAST_NAMES);
        }
        let mut lines: Vec<String> = own.iter().map(|id| format!("In-Reply-To: {id}")).collect();
        names.extend(own);
        if !names.is_empty() {
            lines.push(folded("References:", &names, ""));
        }
        lines
    }
}

/// The bare address of `Ada <ada@example.com>`, in lower case: that of ASCII, for a letter of another script whose lower case is
/// ASCII (the sign for Kelvin) is another mailbox.
///
/// # Errors
/// When it is none, or holds a line break or another control character.
///
/// ```
/// use limpid_channels::mail::address;
/// assert_eq!(address("Ada <Ada@Example.com>").unwrap(), "ada@example.com");
/// assert_eq!(address("ada@ex\u{430}mple.com").unwrap(), "ada@xn--exmple-4nf.com", "its second letter is Cyrillic");
/// assert!(address("ada@example.com\r\nBcc: eve@example.com").is_err());
/// ```
pub fn address(text: &str) -> Result<String, MailError> {
    Ok(Person::parse(text)?.address.to_string().to_ascii_lowercase())
}

/// An address whose domain is in the form that is looked up: one with a letter of another script that looks the same is another one.
fn ascii_domain(address: &str) -> Option<String> {
    match address.rsplit_once('@') {
        Some((name, domain)) if !domain.is_ascii() => Some(format!("{name}@{}", idna::domain_to_ascii(domain).ok()?)),
        _ => Some(address.to_owned()),
    }
}

/// Somebody who sends or gets a letter.
struct Person {
    name: Option<String>,
    address: Address,
}

impl Person {
    fn parse(text: &str) -> Result<Self, MailError> {
        if text.contains(|letter: char| letter.is_control() || is_break(letter)) {
            let shown = text.escape_debug();
            let why = format!("the address \"{shown}\" holds a line break or another control character");
            return Err(MailError::Invalid(why));
        }
        let text = text.trim();
        let (name, bare) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, bare)) => (name.trim().trim_matches('"').trim(), bare.trim()),
            None => ("", text),
        };
        let address = ascii_domain(bare).and_then(|bare| bare.parse().ok()).ok_or_else(|| {
            MailError::Invalid(format!("`{text}` is no address; write ada@example.com or Ada <ada@example.com>"))
        })?;
        Ok(Self { name: Some(name.to_owned()).filter(|name| !name.is_empty()), address })
    }

    fn shown(&self) -> String {
        match &self.name {
            Some(name) => format!("{} <{}>", phrase(&one_line(name)), self.address),
            None => self.address.to_string(),
        }
    }
}

fn line_of(name: &str, people: &[Person]) -> String {
    folded(&format!("{name}:"), &people.iter().map(Person::shown).collect::<Vec<_>>(), ",")
}

fn one_line(text: &str) -> String {
    text.split(|letter: char| letter.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::{Login, Secret, servers::servers_of};

    fn account() -> Account {
        let (imap, smtp, _) = servers_of("example.com");
        Account {
            address: "me@example.com".into(),
            name: Some("Müller, M.".into()),
            user: "me".into(),
            login: Login::Password(Secret::new("x")),
            imap,
            smtp,
            folder: "INBOX".into(),
            sent: None,
            copies: true,
            roots: None,
        }
    }

    fn letter() -> Letter {
        Letter {
            to: vec!["Ada <ada@example.com>".into(), "bob@example.org".into()],
            cc: vec!["carl@example.net".into()],
            subject: "Grüße".into(),
            text: "Hallo Ada,\n\nschöne Grüße.\n".into(),
            message_id: "0011@example.com".into(),
            at: "2026-03-28T12:00:00Z".parse().unwrap(),
            answers: None,
        }
    }

    fn headers(letter: &Letter) -> String {
        String::from_utf8(letter.form(&account()).unwrap().1).unwrap()
    }

    #[test]
    fn a_letter_is_formed_whole() {
        let answers = Answered { message_id: Some("b@x".into()), references: vec!["a@x".into()] };
        insta::assert_snapshot!(headers(&Letter { answers: Some(answers), ..letter() }).replace("\r\n", "\n"));
    }

    // KAI-096 SEC-075
    #[test]
    fn an_answer_repeats_names_of_messages_and_nothing_else_that_a_stranger_wrote() {
        let wrong = ["a b@x", "\u{fc}@x", "a\u{202e}@x", &"a".repeat(251), "<a@x>", ""].map(str::to_owned);
        for message_id in wrong.clone() {
            let answers = Answered { message_id: Some(message_id), references: wrong.to_vec() };
            assert_eq!(answers.lines(), [""; 0], "{answers:?}");
        }
        let references = (0..3000).map(|number| format!("{number}@x")).collect();
        let lines = Answered { message_id: Some("own@x".into()), references }.lines().join("\n");
        let names: Vec<&str> = lines.split_whitespace().filter(|word| word.starts_with('<')).collect();
        assert_eq!((names.len(), names[1], names[2], names[22]), (23, "<0@x>", "<2980@x>", "<own@x>"), "{lines}");
    }

    // SEC-071
    #[test]
    fn a_letter_of_another_script_is_not_one_of_ascii() {
        assert_ne!(address("\u{212a}ate@example.com").unwrap(), address("kate@example.com").unwrap());
    }

    // KAI-096
    #[test]
    fn a_line_break_in_an_address_is_an_error_and_elsewhere_makes_no_header() {
        for wrong in
            ["ada@example.com\nBcc: eve@x.test", "Ada\r\n <ada@example.com>", "ada@example.com\u{0}", "ada", ""]
        {
            for letter in [Letter { to: vec![wrong.into()], ..letter() }, Letter { cc: vec![wrong.into()], ..letter() }]
            {
                assert!(matches!(letter.form(&account()), Err(MailError::Invalid(_))), "{wrong:?}");
            }
            assert!(address(wrong).is_err(), "{wrong:?}");
        }
        let answers =
            Answered { message_id: Some("b@x>\r\nBcc: eve@x.test".into()), references: vec!["a\r\nX: y".into()] };
        let text = headers(&Letter { subject: "Hi\r\nBcc: eve@x.test".into(), answers: Some(answers), ..letter() });
        assert!(!text.lines().any(|line| line.starts_with("Bcc") || line.starts_with("X:")), "{text}");
        assert!(Letter { to: vec![], ..letter() }.form(&account()).is_err());
        assert!(Letter { to: vec!["a@example.com".into(); 51], ..letter() }.form(&account()).is_err());
    }
}
