//! Sending by SMTP, one connection a letter, never a second try: a letter whose fate is unknown is not sent again. All that comes before the letter itself is done first, so that little can be unknown.

mod starttls;

use std::fmt::Display;

use async_trait::async_trait;
use lettre::address::Envelope;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use limpid_core::causes;

use super::link::{Link, Protocol};
use super::login::{self, Credential};
use super::mailbox::Offered;
use super::tls;
use super::{Account, MailError, Said, Security, Server};

/// A letter that the server waits for, on a connection of its own.
pub(super) struct Offer {
    connection: AsyncSmtpConnection,
    letter: Vec<u8>,
    server: Server,
}

/// Logs in and says who sends a letter and who gets it.
pub(super) async fn offer(account: &Account, envelope: &Envelope, letter: Vec<u8>) -> Result<Offer, MailError> {
    let server = &account.smtp;
    let mut connection = open(account).await?;
    let said = tokio::time::timeout(tls::WHOLE, announce(&mut connection, envelope)).await;
    let silent = |_| tls::unreachable(server, "no answer in a minute");
    said.map_err(silent)?.map_err(|why| MailError::Server { server: server.to_string(), why })?;
    Ok(Offer { connection, letter, server: server.clone() })
}

#[async_trait]
impl Offered for Offer {
    async fn hand_over(mut self: Box<Self>) -> Result<(), MailError> {
        let Self { connection, letter, server } = &mut *self;
        let unknown = |why: &dyn Display| MailError::Unknown { server: server.to_string(), why: Said::new(why) };
        match tokio::time::timeout(tls::WHOLE, connection.message(letter)).await {
            Ok(Ok(_)) => {
                // The server has taken it, whatever becomes of the goodbye.
                let _ = tokio::time::timeout(tls::CONNECT, connection.quit()).await;
                Ok(())
            }
            // An answer that says no is known; silence is not.
            Ok(Err(error)) if error.is_permanent() || error.is_transient() => {
                Err(MailError::Server { server: server.to_string(), why: not_taken(&causes(&error)) })
            }
            Ok(Err(error)) => Err(unknown(&causes(&error))),
            Err(_) => Err(unknown(&"no answer in a minute")),
        }
    }
}

/// Says everything that comes before a letter. Letters are ASCII; addresses need not be.
async fn announce(connection: &mut AsyncSmtpConnection, envelope: &Envelope) -> Result<(), Said> {
    let mut options = Vec::new();
    let mut all = envelope.from().into_iter().chain(envelope.to());
    if all.any(|address| !address.to_string().is_ascii()) {
        if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            return Err(not_taken(&"the server takes no addresses with other letters than those of ASCII"));
        }
        options.push(MailParameter::SmtpUtfEight);
    }
    let failed = |error| not_taken(&causes(&error));
    connection.command(Mail::new(envelope.from().cloned(), options)).await.map_err(failed)?;
    for to in envelope.to() {
        connection.command(Rcpt::new(to.clone(), Vec::new())).await.map_err(failed)?;
    }
    connection.command(Data).await.map(drop).map_err(failed)
}

/// Logs in and leaves again.
pub(super) async fn test(account: &Account) -> Result<(), MailError> {
    let mut connection = open(account).await?;
    let _ = tokio::time::timeout(tls::CONNECT, connection.quit()).await;
    Ok(())
}

async fn open(account: &Account) -> Result<AsyncSmtpConnection, MailError> {
    let server = &account.smtp;
    server.check()?;
    let opened = tokio::time::timeout(tls::WHOLE, log_in(account, server)).await;
    opened.unwrap_or_else(|_| Err(tls::unreachable(server, "no answer in a minute")))
}

async fn log_in(account: &Account, server: &Server) -> Result<AsyncSmtpConnection, MailError> {
    let credential = login::credential(account, server).await?;
    let refused = match connect(account, server, &credential).await {
        Err(refused @ MailError::Login { .. }) => refused,
        other => return other,
    };
    match login::another(account, server, &credential).await? {
        Some(another) => connect(account, server, &another).await,
        None => Err(refused),
    }
}

async fn connect(
    account: &Account,
    server: &Server,
    credential: &Credential,
) -> Result<AsyncSmtpConnection, MailError> {
    let hello = ClientId::default();
    let link = link(account, server, &hello).await?;
    let connected = AsyncSmtpConnection::connect_with_transport(Box::new(link), &hello).await;
    let mut connection = connected.map_err(|error| tls::failed(server, &error))?;
    let (mechanisms, secret): (&[Mechanism], _) = match credential {
        Credential::Password(password) => (&[Mechanism::Plain, Mechanism::Login], password),
        Credential::Token(token) => (&[Mechanism::Xoauth2], token),
    };
    let credentials = Credentials::new(account.user.clone(), secret.reveal().to_owned());
    if let Err(error) = connection.auth(mechanisms, &credentials).await {
        // A server explains the refusal of a token and expects an empty answer first, which counts as an error here.
        let explained = error.is_client() && connection.server_info().supports_auth_mechanism(Mechanism::Xoauth2);
        let why = match credential {
            Credential::Token(_) if explained => Said::new("the token is not taken"),
            Credential::Token(_) | Credential::Password(_) => Said::new(causes(&error)),
        };
        connection.abort().await;
        return Err(MailError::Login { server: server.to_string(), user: account.user.clone(), why });
    }
    Ok(connection)
}

/// The connection, secured as the account wants it; the server's greeting is the next that is read.
async fn link(account: &Account, server: &Server, hello: &ClientId) -> Result<Link, MailError> {
    let mut plain = tls::connect(server, Protocol::Smtp).await?;
    match server.security {
        Security::None => Ok(plain),
        Security::Tls => tls::secure(server, account.roots.as_ref(), plain).await,
        Security::StartTls => {
            starttls::ask(server, &mut plain, hello).await?;
            Ok(tls::secure(server, account.roots.as_ref(), plain).await?.greeted())
        }
    }
}

fn not_taken(why: &dyn Display) -> Said {
    Said::new(format_args!("the letter was not taken: {why}"))
}
