//! How an account logs in, by IMAP as by SMTP.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Account, MailError, Said, Secret, Server};

/// How to log in.
#[derive(Clone, Debug)]
pub enum Login {
    /// With a password, best one that is for this program alone.
    Password(Secret),
    /// With an OAuth 2 access token (XOAUTH2) that the owner has put in.
    Token(Secret),
    /// With OAuth 2 access tokens that are fetched when they are needed.
    Tokens(Arc<dyn TokenSource>),
}

/// Where access tokens come from.
#[async_trait]
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// An access token; when a server has refused one, another one.
    ///
    /// # Errors
    /// A sentence: why there is none.
    async fn token(&self, refused: Option<&Secret>) -> Result<Secret, String>;
}

/// What is said to a server.
pub(super) enum Credential {
    Password(Secret),
    Token(Secret),
}

/// What an account logs in with.
pub(super) async fn credential(account: &Account, server: &Server) -> Result<Credential, MailError> {
    match &account.login {
        Login::Password(password) => Ok(Credential::Password(password.clone())),
        Login::Token(token) => Ok(Credential::Token(token.clone())),
        Login::Tokens(source) => Ok(Credential::Token(given(account, server, source.token(None).await)?)),
    }
}

/// What it logs in with when the first one is refused: a token may have run out before its time. None when there is
/// nothing else.
pub(super) async fn another(
    account: &Account,
    server: &Server,
    refused: &Credential,
) -> Result<Option<Credential>, MailError> {
    let (Login::Tokens(source), Credential::Token(refused)) = (&account.login, refused) else { return Ok(None) };
    Ok(Some(Credential::Token(given(account, server, source.token(Some(refused)).await)?)))
}

fn given(account: &Account, server: &Server, token: Result<Secret, String>) -> Result<Secret, MailError> {
    let refused =
        |why: String| MailError::Login { server: server.to_string(), user: account.user.clone(), why: Said::new(why) };
    token.map_err(refused)
}
