//! What a browser gives out so that it can be told something.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a point on P-256, uncompressed.
pub(super) const POINT: usize = 65;

/// Bytes of what the browser and the sender share.
pub(super) const AUTH: usize = 16;

/// A subscription of a browser, as its `PushSubscription` writes itself down as JSON. Whoever has it can tell that browser
/// something, so it is kept like a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Where notices for the browser go.
    pub endpoint: String,
    /// With what they are encrypted.
    pub keys: Keys,
}

/// The keys of a subscription, each in Base64 for addresses.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keys {
    /// The browser's public key.
    pub p256dh: String,
    /// What the browser and the sender share.
    pub auth: String,
}

impl Subscription {
    /// Reads what a browser gave out; what else it holds is left aside.
    ///
    /// # Errors
    /// A sentence: it is none, or its keys are wrong.
    pub fn parse(json: &str) -> Result<Self, String> {
        let form = r#"{"endpoint": "https://…", "keys": {"p256dh": "…", "auth": "…"}}"#;
        let wrong = |error| format!("this is no push subscription ({error}); browsers write one as {form}");
        let this: Self = serde_json::from_str(json).map_err(wrong)?;
        this.origin()?;
        this.public_key()?;
        this.auth()?;
        Ok(this)
    }

    /// A short name that is always the same for this browser.
    pub fn id(&self) -> String {
        Sha256::digest(&self.endpoint).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The address of the push service, without a path: what a signature is made out to.
    ///
    /// # Errors
    /// When the endpoint is no web address.
    pub fn origin(&self) -> Result<String, String> {
        let wrong = || format!("the endpoint `{}` is no web address", self.endpoint);
        let is_plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && c != '@');
        let (scheme, rest) = self.endpoint.split_once("://").ok_or_else(wrong)?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_web = matches!(scheme, "https" | "http");
        if is_web && is_plain(host) { Ok(format!("{scheme}://{host}")) } else { Err(wrong()) }
    }

    pub(super) fn public_key(&self) -> Result<Vec<u8>, String> {
        let key = decoded(&self.keys.p256dh).filter(|key| key.len() == POINT && key[0] == 4);
        key.ok_or_else(|| "`keys.p256dh` is no public key of a browser".to_owned())
    }

    pub(super) fn auth(&self) -> Result<Vec<u8>, String> {
        let auth = decoded(&self.keys.auth).filter(|auth| auth.len() == AUTH);
        auth.ok_or_else(|| format!("`keys.auth` has to be {AUTH} bytes in Base64"))
    }
}

/// Shows where it leads and nothing that opens it.
impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, origin) = (self.id(), self.origin());
        f.debug_struct("Subscription").field("id", &id).field("origin", &origin).finish_non_exhaustive()
    }
}

/// Base64 for addresses, with or without its padding.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

    fn json(endpoint: &str, key: &str, auth: &str) -> String {
        serde_json::json!({"endpoint": endpoint, "expirationTime": null, "keys": {"p256dh": key, "auth": auth}})
            .to_string()
    }

    #[test]
    fn a_subscription_is_read_as_browsers_write_it() {
        let text = json("https://push.example.net/a?b#c", KEY, "BTBZMqHH6r4Tts7J_aSIgg==");
        let read = Subscription::parse(&text).unwrap();
        assert_eq!(read.origin().unwrap(), "https://push.example.net");
        assert_eq!(
            format!("{read:?}"),
            r#"Subscription { id: "250c0e82", origin: Ok("https://push.example.net"), .. }"#
        );
        let again = Subscription::parse(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }

    #[test]
    fn what_is_none_says_so() {
        let good = ("https://push.example.net/a", KEY, "BTBZMqHH6r4Tts7J_aSIgg");
        let table = [
            (String::new(), "this is no push subscription"),
            ("{}".to_owned(), "this is no push subscription"),
            (json("push.example.net", good.1, good.2), "is no web address"),
            (json("https://a b/", good.1, good.2), "is no web address"),
            (json("file:///etc/passwd", good.1, good.2), "is no web address"),
            (json(good.0, "BCVx", good.2), "`keys.p256dh` is no public key"),
            (json(good.0, good.1, "abc"), "`keys.auth` has to be 16 bytes"),
        ];
        for (text, why) in table {
            let error = Subscription::parse(&text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        // SEC-044
        #[test]
        fn any_text_is_a_subscription_or_an_error(endpoint in ".{0,60}", key in ".{0,120}", auth in ".{0,40}") {
            let _ = Subscription::parse(&json(&endpoint, &key, &auth));
            let _ = Subscription::parse(&endpoint);
        }
    }
}
