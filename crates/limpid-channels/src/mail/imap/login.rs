//! Connecting and logging in.

use async_imap::{Authenticator, Client, Session};

use crate::mail::link::{Link, Protocol};
use crate::mail::login::{self, Credential};
use crate::mail::{Account, MailError, Said, Security, Server, tls};

/// Connects and logs in; gives up after a minute.
pub(super) async fn session(account: &Account) -> Result<Session<Link>, MailError> {
    let server = &account.imap;
    server.check()?;
    let opened = tokio::time::timeout(tls::WHOLE, log_in(account, server)).await;
    opened.unwrap_or_else(|_| Err(tls::unreachable(server, "no answer in a minute")))
}

async fn log_in(account: &Account, server: &Server) -> Result<Session<Link>, MailError> {
    let credential = login::credential(account, server).await?;
    let refused = match enter(account, server, &credential).await {
        Err(refused @ MailError::Login { .. }) => refused,
        other => return other,
    };
    match login::another(account, server, &credential).await? {
        Some(another) => enter(account, server, &another).await,
        None => Err(refused),
    }
}

async fn enter(account: &Account, server: &Server, credential: &Credential) -> Result<Session<Link>, MailError> {
    let client = connect(account, server).await?;
    let session = match credential {
        Credential::Password(password) => client.login(&account.user, password.reveal()).await,
        Credential::Token(token) => client.authenticate("XOAUTH2", Bearer::new(&account.user, token.reveal())).await,
    };
    session.map_err(|(error, _)| MailError::Login {
        server: server.to_string(),
        user: account.user.clone(),
        why: Said::new(error),
    })
}

async fn connect(account: &Account, server: &Server) -> Result<Client<Link>, MailError> {
    let plain = tls::connect(server, Protocol::Imap).await?;
    let unreachable = |why: Said| tls::unreachable(server, why);
    if server.security == Security::StartTls {
        let mut client = Client::new(plain);
        greeted(client.read_response().await).map_err(unreachable)?;
        let started = client.run_command_and_check_ok("STARTTLS", None).await;
        started.map_err(|error| unreachable(Said::new(format_args!("no TLS: {error}"))))?;
        // What came behind the answer goes with the client: nothing that was said without TLS is read with it.
        return Ok(Client::new(tls::secure(server, account.roots.as_ref(), client.into_inner()).await?));
    }
    let link = match server.security {
        Security::Tls => tls::secure(server, account.roots.as_ref(), plain).await?,
        Security::StartTls | Security::None => plain,
    };
    let mut client = Client::new(link);
    greeted(client.read_response().await).map_err(unreachable)?;
    Ok(client)
}

fn greeted<T>(greeting: std::io::Result<Option<T>>) -> Result<(), Said> {
    match greeting {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Said::new("it closed the connection before it said anything")),
        Err(error) => Err(Said::new(error)),
    }
}

/// The answer of XOAUTH2; when the server then explains why it refuses, an empty one.
struct Bearer(Option<String>);

impl Bearer {
    fn new(user: &str, token: &str) -> Self {
        Self(Some(format!("user={user}\x01auth=Bearer {token}\x01\x01")))
    }
}

impl Authenticator for Bearer {
    type Response = String;

    fn process(&mut self, _challenge: &[u8]) -> Self::Response {
        self.0.take().unwrap_or_default()
    }
}
