//! OAuth 2 for mail: access tokens, each good for an hour or so, fetched with the refresh token that the owner has put in.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_channels::mail::{Secret, TokenSource};
use limpid_config::{Clock, Redactor, TextKind, private_file};
use limpid_core::Sentence;
use limpid_tools::outlet::post_bytes;
use serde::Deserialize;

use crate::mail::accounts::AccountFiles;
use crate::mail::secrets::Source;
use crate::mail::settings::{AccountSettings, settings_of};
use crate::mail::tokens::{Fetched, Tokens};

/// An access token is not used any more this long before it runs out, in milliseconds.
const BEFORE_END_MS: i64 = 60_000;

/// How long an access token is good when the server does not say, in seconds.
const USUAL_SECONDS: i64 = 3600;

/// Fetches the access tokens of one account.
pub(crate) struct Refresher {
    address: String,
    token_url: String,
    client_id: String,
    client_secret: Option<Secret>,
    scope: Option<String>,
    refresh: Secret,
    /// The file that the refresh token stands in, when it stands in one.
    file: Option<PathBuf>,
    tokens: Tokens,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
}

/// What a server of tokens answers: one or the other half.
#[derive(Deserialize)]
struct Answered {
    access_token: Option<String>,
    expires_in: Option<i64>,
    refresh_token: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl AccountFiles {
    /// What fetches an account's tokens; `refresh` is what the owner has put in.
    ///
    /// # Errors
    /// A sentence: what the settings lack.
    pub(crate) async fn refresher(&self, settings: &AccountSettings, refresh: Secret) -> Result<Refresher, String> {
        let (oauth, token_url) = settings_of(settings)?;
        let address = &settings.address;
        let client_secret = match Source::named(oauth.client_secret_env.as_ref(), &oauth.client_secret_command) {
            Some(source) => source.read(&self.environment).await?,
            None => None,
        };
        if let Some(secret) = &client_secret {
            self.redactor.learn(&format!("client of {address}"), secret.reveal());
        }
        Ok(Refresher {
            address: address.clone(),
            token_url: token_url.to_owned(),
            client_id: oauth.client_id.clone(),
            client_secret,
            scope: oauth.scope.clone(),
            refresh,
            file: match self.source(settings)? {
                Source::File(path) => Some(path),
                Source::Variable(_) | Source::Program(_) => None,
            },
            tokens: Arc::clone(&self.tokens),
            clock: Arc::clone(&self.clock),
            redactor: self.redactor.clone(),
        })
    }
}

#[async_trait]
impl TokenSource for Refresher {
    async fn token(&self, refused: Option<&Secret>) -> Result<Secret, String> {
        // Whoever comes meanwhile waits and takes what was fetched.
        let mut tokens = self.tokens.lock().await;
        let known = tokens.get(&self.address);
        let now_ms = self.clock.now().as_millisecond();
        if let Some(known) = known.filter(|known| known.until_ms > now_ms && Some(&known.token) != refused) {
            return Ok(known.token.clone());
        }
        let refresh = known.and_then(|known| known.renewed.clone()).unwrap_or_else(|| self.refresh.clone());
        let fetched = self.fetch(&refresh, now_ms).await?;
        let token = fetched.token.clone();
        tokens.insert(self.address.clone(), fetched);
        Ok(token)
    }
}

impl Refresher {
    async fn fetch(&self, refresh: &Secret, now_ms: i64) -> Result<Fetched, String> {
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")];
        let answer = post_bytes(&self.token_url, &headers, self.form(refresh).into_bytes()).await;
        let answer = answer.map_err(Sentence::into_text)?;
        let Ok(answered) = serde_json::from_str::<Answered>(&answer.body) else {
            // Whatever it is, it may hold a token.
            return Err(format!("{} answered with status {} and no token", self.token_url, answer.status));
        };
        let Some(token) = answered.access_token.filter(|_| answer.status < 300) else {
            return Err(self.refused(answered.error, answered.error_description));
        };
        self.redactor.learn_given(&self.address, &token);
        let seconds = answered.expires_in.unwrap_or(USUAL_SECONDS);
        let until_ms = now_ms.saturating_add(seconds.saturating_mul(1000)).saturating_sub(BEFORE_END_MS);
        let renewed = answered.refresh_token.filter(|renewed| renewed != refresh.reveal()).map(Secret::new);
        if let Some(renewed) = &renewed {
            self.redactor.learn_given(&self.address, renewed.reveal());
            self.keep(renewed)?;
        }
        let renewed = renewed.or_else(|| (*refresh != self.refresh).then(|| refresh.clone()));
        Ok(Fetched { token: Secret::new(token), until_ms, renewed })
    }

    /// Some providers take a refresh token once and give another one. One that came from a variable or a program cannot
    /// be put back there; it serves as long as this process runs.
    fn keep(&self, renewed: &Secret) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        private_file::write(file, renewed.reveal()).map_err(|error| error.to_string())
    }

    fn form(&self, refresh: &Secret) -> String {
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
            ("client_id", self.client_id.as_str()),
        ];
        fields.extend(self.client_secret.as_ref().map(|secret| ("client_secret", secret.reveal())));
        fields.extend(self.scope.as_deref().map(|scope| ("scope", scope)));
        fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
    }

    fn refused(&self, error: Option<String>, description: Option<String>) -> String {
        let address = &self.address;
        let said = [error, description].into_iter().flatten().collect::<Vec<_>>().join(": ");
        let advice = format!("enter a new refresh token with `limpid inbox mail add {address}`");
        self.redactor.clean_as(TextKind::Failure, format!("{} gives no token ({said}); {advice}", self.token_url))
    }
}

impl fmt::Debug for Refresher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refresher").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A value of a form: every byte that is not plain is written as `%` and two digits.
fn escaped(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escape = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_leave_its_field() {
        assert_eq!(escaped("1//a-b_c.~"), "1%2F%2Fa-b_c.~");
        assert_eq!(escaped("a&b=c +é"), "a%26b%3Dc%20%2B%C3%A9");
    }
}
