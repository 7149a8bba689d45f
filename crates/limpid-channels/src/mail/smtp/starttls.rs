//! TLS after STARTTLS. It is done here because the library keeps what came behind the server's answer and takes it for something that was
//! said with TLS: whoever is on the way could then answer in the server's place (as in CVE-2021-38084).

use lettre::transport::smtp::commands::{Ehlo, Starttls};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::mail::link::Link;
use crate::mail::{MailError, Said, Server, tls};

/// Asks a server for TLS, after which its next bytes are those of TLS. What it said before counts for nothing.
pub(super) async fn ask(server: &Server, link: &mut Link, hello: &ClientId) -> Result<(), MailError> {
    let mut talk = Talk(BufReader::new(link));
    talk.run(hello).await.map_err(|why| tls::unreachable(server, format_args!("no TLS: {why}")))
}

struct Talk<'a>(BufReader<&'a mut Link>);

impl Talk<'_> {
    async fn run(&mut self, hello: &ClientId) -> Result<(), Said> {
        self.answer("220").await?;
        self.say(&Ehlo::new(hello.clone()).to_string()).await?;
        let able = self.answer("250").await?;
        if !able.iter().any(|word| word.eq_ignore_ascii_case("STARTTLS")) {
            return Err(Said::new("the server does not offer STARTTLS"));
        }
        self.say(&Starttls.to_string()).await?;
        self.answer("220").await?;
        if self.0.buffer().is_empty() {
            return Ok(());
        }
        Err(Said::new("something stands behind the answer to STARTTLS, which somebody on the way may have put there"))
    }

    async fn say(&mut self, line: &str) -> Result<(), Said> {
        let link = self.0.get_mut();
        link.write_all(line.as_bytes()).await.map_err(Said::new)?;
        link.flush().await.map_err(Said::new)
    }

    /// What an answer with this code says, line by line; any other answer is an error. The connection bounds how much it can be.
    async fn answer(&mut self, code: &str) -> Result<Vec<String>, Said> {
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            self.0.read_until(b'\n', &mut line).await.map_err(Said::new)?;
            if line.is_empty() {
                return Err(Said::new("it closed the connection"));
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            let Some(rest) = line.strip_prefix(code) else { return Err(Said::new(line)) };
            lines.push(rest.get(1..).unwrap_or_default().to_owned());
            if !rest.starts_with('-') {
                return Ok(lines);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::mail::Security;
    use crate::mail::link::Protocol;

    /// What comes of asking a server that answers so, and what it was asked.
    async fn asked(greeting: &str, able: &str, answer: &str) -> (Result<(), String>, String) {
        let (mut far, near) = tokio::io::duplex(4096);
        let mut link = Link::new(Protocol::Smtp, near);
        let server = Server { host: "mail.example.com".to_owned(), port: 587, security: Security::StartTls };
        let hello = ClientId::Domain("me".to_owned());
        let serve = async {
            let mut heard = String::new();
            far.write_all(greeting.as_bytes()).await.unwrap();
            for said in [able, answer] {
                let mut word = [0; 9];
                let Ok(_) = far.read_exact(&mut word).await else { break };
                heard.push_str(std::str::from_utf8(&word).unwrap());
                far.write_all(said.as_bytes()).await.unwrap();
            }
            heard
        };
        let ask = async {
            let asked = ask(&server, &mut link, &hello).await;
            drop(link);
            asked.map_err(|error| error.to_string())
        };
        let (asked, heard) = tokio::join!(ask, serve);
        (asked, heard)
    }

    // SEC-044
    #[tokio::test]
    async fn nothing_that_came_without_tls_is_taken_for_what_came_with_it() {
        let (greeting, able) = ("220 mail.example.com\r\n", "250-mail\r\n250-SIZE 9\r\n250 starttls\r\n");
        assert_eq!(asked(greeting, able, "220 go\r\n").await, (Ok(()), "EHLO me\r\nSTARTTLS\r".to_owned()));
        let cases = [
            (greeting, able, "220 go\r\n250 AUTH PLAIN\r\n235 in\r\n", "no TLS: something stands behind the answer"),
            (greeting, able, "454 not now\r\n", "no TLS: 454 not now"),
            (greeting, "250 AUTH PLAIN\r\n", "", "no TLS: the server does not offer STARTTLS"),
            ("554 no\r\n", able, "", "no TLS: 554 no"),
        ];
        for (greeting, able, answer, why) in cases {
            let (asked, _) = asked(greeting, able, answer).await;
            let error = asked.unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
