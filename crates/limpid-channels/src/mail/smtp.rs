//! Sending by SMTP, one connection a letter, never a second try: a letter whose fate is unknown is not sent again
//! (SEC-040).

use std::fmt;

use lettre::address::Envelope;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use super::{Account, Login, MailError, Security, Server, tls};

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
    let opened = tokio::time::timeout(tls::WHOLE, connect(account, server)).await;
    opened.unwrap_or_else(|_| Err(tls::unreachable(server, "no answer in a minute")))
}

async fn connect(account: &Account, server: &Server) -> Result<AsyncSmtpConnection, MailError> {
    let unreachable = |error| tls::unreachable(server, causes(&error));
    let hello = ClientId::default();
    let parameters = || TlsParameters::new(server.host.clone()).map_err(unreachable);
    let whole = (server.security == Security::Tls).then(parameters).transpose()?;
    let address = (server.host.as_str(), server.port);
    let mut connection = AsyncSmtpConnection::connect_tokio1(address, Some(tls::CONNECT), &hello, whole, None)
        .await
        .map_err(unreachable)?;
    if server.security == Security::StartTls {
        connection.starttls(parameters()?, &hello).await.map_err(unreachable)?;
    }
    let (mechanisms, secret): (&[Mechanism], _) = match &account.login {
        Login::Password(password) => (&[Mechanism::Plain, Mechanism::Login], password),
        Login::Token(token) => (&[Mechanism::Xoauth2], token),
    };
    let credentials = Credentials::new(account.user.clone(), secret.reveal().to_owned());
    if let Err(error) = connection.auth(mechanisms, &credentials).await {
        connection.abort().await;
        let (server, user) = (server.to_string(), account.user.clone());
        return Err(MailError::Login { server, user, why: causes(&error) });
    }
    Ok(connection)
}

fn refused(server: &Server, error: &lettre::transport::smtp::Error) -> MailError {
    MailError::Server { server: server.to_string(), why: format!("the letter was not taken: {}", causes(error)) }
}

/// An error with its causes, which say what the error itself leaves out.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}
