//! Where the mail servers of large providers are, and where those of others most likely are.

use super::{Security, Server};

/// The servers of a domain: IMAP, then SMTP.
struct Known {
    domains: &'static [&'static str],
    imap: &'static str,
    smtp: (&'static str, u16, Security),
    /// Whether the provider keeps copies of what is sent by SMTP.
    copies: bool,
}

const TLS: u16 = 465;
const STARTTLS: u16 = 587;

const KNOWN: [Known; 9] = [
    known(&["gmail.com", "googlemail.com"], "imap.gmail.com", ("smtp.gmail.com", TLS, Security::Tls), true),
    known(
        &["outlook.com", "hotmail.com", "live.com", "msn.com"],
        "outlook.office365.com",
        ("smtp-mail.outlook.com", STARTTLS, Security::StartTls),
        true,
    ),
    known(&["yahoo.com", "ymail.com"], "imap.mail.yahoo.com", ("smtp.mail.yahoo.com", TLS, Security::Tls), true),
    known(
        &["icloud.com", "me.com", "mac.com"],
        "imap.mail.me.com",
        ("smtp.mail.me.com", STARTTLS, Security::StartTls),
        false,
    ),
    known(&["fastmail.com", "fastmail.fm"], "imap.fastmail.com", ("smtp.fastmail.com", TLS, Security::Tls), false),
    known(&["gmx.de", "gmx.net", "gmx.at", "gmx.ch"], "imap.gmx.net", ("mail.gmx.net", TLS, Security::Tls), false),
    known(&["web.de"], "imap.web.de", ("smtp.web.de", STARTTLS, Security::StartTls), false),
    known(&["posteo.de", "posteo.net"], "posteo.de", ("posteo.de", TLS, Security::Tls), false),
    known(&["mailbox.org"], "imap.mailbox.org", ("smtp.mailbox.org", TLS, Security::Tls), false),
];

/// Where access tokens are fetched with a refresh token.
const TOKENS: [(&[&str], &str); 3] = [
    (&["gmail.com", "googlemail.com"], "https://oauth2.googleapis.com/token"),
    (
        &["outlook.com", "hotmail.com", "live.com", "msn.com"],
        "https://login.microsoftonline.com/consumers/oauth2/v2.0/token",
    ),
    (&["yahoo.com", "ymail.com"], "https://api.login.yahoo.com/oauth2/get_token"),
];

/// Where the mail of a domain is read and sent, and whether the provider keeps copies of what is sent.
///
/// ```
/// use limpid_channels::mail::servers::servers_of;
/// let (imap, smtp, copies) = servers_of("Example.org");
/// assert_eq!((imap.to_string().as_str(), smtp.to_string().as_str()), ("imap.example.org:993", "smtp.example.org:465"));
/// assert!(!copies && servers_of("gmail.com").2);
/// ```
pub fn servers_of(domain: &str) -> (Server, Server, bool) {
    let domain = domain.to_lowercase();
    let imap = |host: String| Server { host, port: 993, security: Security::Tls };
    match KNOWN.iter().find(|known| known.domains.contains(&domain.as_str())) {
        Some(known) => {
            let (host, port, security) = known.smtp;
            (imap(known.imap.to_owned()), Server { host: host.to_owned(), port, security }, known.copies)
        }
        None => {
            let smtp = Server { host: format!("smtp.{domain}"), port: TLS, security: Security::Tls };
            (imap(format!("imap.{domain}")), smtp, false)
        }
    }
}

/// Where access tokens of a domain are fetched, when that is known.
///
/// ```
/// use limpid_channels::mail::servers::token_url_of;
/// assert_eq!(token_url_of("gmail.com"), Some("https://oauth2.googleapis.com/token"));
/// assert_eq!(token_url_of("example.com"), None);
/// ```
pub fn token_url_of(domain: &str) -> Option<&'static str> {
    let domain = domain.to_lowercase();
    TOKENS.into_iter().find(|(domains, _)| domains.contains(&domain.as_str())).map(|(_, url)| url)
}

const fn known(
    domains: &'static [&'static str],
    imap: &'static str,
    smtp: (&'static str, u16, Security),
    copies: bool,
) -> Known {
    Known { domains, imap, smtp, copies }
}
