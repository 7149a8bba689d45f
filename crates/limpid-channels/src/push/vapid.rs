//! Who sends a push (RFC 8292): a key of this home's own, whose public half a browser is told when it subscribes, and a
//! signature that says so to its push service.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use super::subscription::decoded;

/// How long a signature is good, in seconds; a day is the longest that is taken.
const GOOD_FOR: i64 = 12 * 60 * 60;

/// The key of a sender.
pub struct VapidKey {
    pair: EcdsaKeyPair,
    /// Whom a push service may write to: `mailto:` or a web address.
    contact: Option<String>,
}

impl VapidKey {
    /// Makes a key, as the text in which it is kept.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn make() -> Result<String, String> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| "no key could be made".to_owned())?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode(made.as_ref()))
    }

    /// Reads a key from its text.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str, contact: Option<String>) -> Result<Self, String> {
        let wrong = || "this is no key for web push".to_owned();
        let bytes = decoded(text.trim()).ok_or_else(wrong)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &bytes, &SystemRandom::new());
        Ok(Self { pair: pair.map_err(|_| wrong())?, contact })
    }

    /// The public half, as browsers take it (`applicationServerKey`).
    pub fn public(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// The header that says to a push service who sends.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub(super) fn authorization(&self, origin: &str, now_s: i64, random: &SystemRandom) -> Result<String, String> {
        let mut claims = json!({ "aud": origin, "exp": now_s.saturating_add(GOOD_FOR) });
        if let Some(contact) = &self.contact {
            claims["sub"] = json!(contact);
        }
        let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let said = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ES256" })), part(&claims));
        let signed = self.pair.sign(random, said.as_bytes()).map_err(|_| "nothing could be signed".to_owned())?;
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signed.as_ref());
        Ok(format!("vapid t={said}.{signature}, k={}", self.public()))
    }
}

/// Shows the public half alone.
impl fmt::Debug for VapidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VapidKey").field("public", &self.public()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_signature_is_good_for_one_service_and_half_a_day() {
        let key = VapidKey::parse(&VapidKey::make().unwrap(), Some("mailto:me@example.com".to_owned())).unwrap();
        let header = key.authorization("https://push.example.net", 1_774_699_200, &SystemRandom::new()).unwrap();
        let (token, public) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(public, key.public());
        let (said, signature) = token.rsplit_once('.').unwrap();
        let verifier = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(public).unwrap());
        verifier.verify(said.as_bytes(), &decoded(signature).unwrap()).unwrap();
        let parts: Vec<String> =
            said.split('.').map(|part| String::from_utf8(decoded(part).unwrap()).unwrap()).collect();
        let claims = r#"{"aud":"https://push.example.net","exp":1774742400,"sub":"mailto:me@example.com"}"#;
        assert_eq!(parts, [r#"{"typ":"JWT","alg":"ES256"}"#, claims]);
        assert!(!format!("{key:?}").contains("pair"));
    }

    #[test]
    fn a_text_that_is_no_key_says_so() {
        for text in ["", "hello", "AAAA"] {
            assert!(VapidKey::parse(text, None).is_err(), "{text}");
        }
    }
}
