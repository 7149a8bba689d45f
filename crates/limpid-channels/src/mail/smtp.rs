//! Sending by SMTP, one connection a letter, never a second try: a letter whose fate is unknown is not sent again
//! (SEC-040).

use std::fmt;

use lettre::address::Envelope;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::extension::ClientId;

use super::login::{self, Credential};
use super::tls::{self, causes};
use super::{Account, MailError, Security, Server};

/// Sends a letter.
pub(super) async fn send(account: &Account, envelope: &Envelope, letter: &[u8]) -> Result<(), MailError> {
    let server = &account.smtp;
    let mut connection = open(account).await?;
    let sending = tokio::time::timeout(tls::WHOLE, connection.send(envelope, letter)).await;
    let unknown = |why: &dyn fmt::Display| MailError::Unknown { server: server.to_string(), why: why.to_string() };
    match sending {
        Ok(Ok(_)) => {
            // The server has taken it, whatever becomes of the goodbye.
            let _ = tokio::time::timeout(tls::CONNECT, connection.quit()).await;
            Ok(())
        }
        // An answer that says no is known, and so is a letter that this side would not send; silence is not.
        Ok(Err(error)) if error.is_permanent() || error.is_transient() || error.is_client() => {
            Err(refused(server, &error))
        }
        Ok(Err(error)) => Err(unknown(&causes(&error))),
        Err(_) => Err(unknown(&"no answer in a minute")),
    }
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
    let failed = |error| tls::failed(server, &error);
    let hello = ClientId::default();
    let parameters = || tls::parameters(server, account.roots.as_ref());
    let whole = (server.security == Security::Tls).then(parameters).transpose()?;
    let address = (server.host.as_str(), server.port);
    let mut connection =
        AsyncSmtpConnection::connect_tokio1(address, Some(tls::CONNECT), &hello, whole, None).await.map_err(failed)?;
    if server.security == Security::StartTls {
        connection.starttls(parameters()?, &hello).await.map_err(failed)?;
    }
    let (mechanisms, secret): (&[Mechanism], _) = match credential {
        Credential::Password(password) => (&[Mechanism::Plain, Mechanism::Login], password),
        Credential::Token(token) => (&[Mechanism::Xoauth2], token),
    };
    let credentials = Credentials::new(account.user.clone(), secret.reveal().to_owned());
    if let Err(error) = connection.auth(mechanisms, &credentials).await {
        // A server explains the refusal of a token and expects an empty answer first, which counts as an error here.
        let explained = error.is_client() && connection.server_info().supports_auth_mechanism(Mechanism::Xoauth2);
        let why = match credential {
            Credential::Token(_) if explained => "the token is not taken".to_owned(),
            Credential::Token(_) | Credential::Password(_) => causes(&error),
        };
        connection.abort().await;
        return Err(MailError::Login { server: server.to_string(), user: account.user.clone(), why });
    }
    Ok(connection)
}

fn refused(server: &Server, error: &lettre::transport::smtp::Error) -> MailError {
    MailError::Server { server: server.to_string(), why: format!("the letter was not taken: {}", causes(error)) }
}
