//! Web push: a notice to a browser that may be closed, by way of its maker's server, which cannot read it.
//!
//! # Layout
//! - [`subscription`]: what a browser gives out so that it can be told something.
//! - [`vapid`]: who sends (RFC 8292).
//! - `encrypt`: what is sent, readable for that browser alone (RFC 8291).

mod encrypt;
pub mod subscription;
pub mod vapid;

use ring::rand::SystemRandom;

pub use encrypt::LONGEST;
pub use subscription::Subscription;
pub use vapid::VapidKey;

/// How long a push service keeps a notice for a browser that is not there, in seconds.
const KEPT: u32 = 24 * 60 * 60;

/// Letters of a topic at most (RFC 8030).
const TOPIC: usize = 32;

/// A request to a push service, to be sent by POST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// Where it goes.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// Makes the request that tells a browser something. `topic` names the matter: a later notice of it takes the place of one
/// that still waits. `now_s` is in seconds since 1970.
///
/// # Errors
/// A sentence: the subscription or the text cannot be used.
pub fn push(to: &Subscription, text: &[u8], topic: &str, key: &VapidKey, now_s: i64) -> Result<Push, String> {
    let random = SystemRandom::new();
    let body = encrypt::seal(to, text, &random)?;
    let headers = vec![
        ("authorization", key.authorization(&to.origin()?, now_s, &random)?),
        ("content-encoding", "aes128gcm".to_owned()),
        ("content-type", "application/octet-stream".to_owned()),
        ("ttl", KEPT.to_string()),
        ("urgency", "normal".to_owned()),
        ("topic", topic_of(topic)),
    ];
    Ok(Push { url: to.endpoint.clone(), headers, body })
}

/// A topic has few letters and only plain ones, so it stands for the name of the matter.
fn topic_of(name: &str) -> String {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use sha2::Digest as _;
    let mut topic = BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(name));
    topic.truncate(TOPIC);
    topic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_short_plain_and_the_same_each_time() {
        let topic = topic_of("heartbeat ü");
        assert_eq!(topic.len(), 32);
        assert!(topic.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{topic}");
        assert_eq!(topic, topic_of("heartbeat ü"));
        assert_ne!(topic, topic_of("heartbeat"));
    }
}
