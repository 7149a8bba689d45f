//! A browser that subscribed to pushes: it reads what a push service would hand on to it (RFC 8291).

#![allow(clippy::unwrap_used, reason = "a part of tests, which may stop at the first surprise")]

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;
use ring::signature::{self, ECDSA_P256_SHA256_FIXED};
use serde_json::{Value, json};

const AUTH: [u8; 16] = *b"shared by us two";

/// A browser that can read one push.
pub struct Browser {
    key: EphemeralPrivateKey,
    public: Vec<u8>,
}

impl Browser {
    /// A browser with a key of its own.
    pub fn new() -> Self {
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = key.compute_public_key().unwrap().as_ref().to_vec();
        Self { key, public }
    }

    /// Its subscription, as browsers write it.
    pub fn subscription(&self, endpoint: &str) -> String {
        let keys = json!({ "p256dh": BASE64.encode(&self.public), "auth": BASE64.encode(AUTH) });
        json!({ "endpoint": endpoint, "expirationTime": null, "keys": keys }).to_string()
    }

    /// Reads the body of a push.
    pub fn read(self, body: &[u8]) -> String {
        let (salt, rest) = body.split_at(16);
        let (size, rest) = rest.split_at(4);
        assert_eq!(u32::from_be_bytes(size.try_into().unwrap()), 4096, "one record");
        let (sender, sealed) = rest[1..].split_at(usize::from(rest[0]));
        let their_key = UnparsedPublicKey::new(&ECDH_P256, sender);
        let info = [b"WebPush: info\0".as_slice(), &self.public, sender];
        let secret = agree_ephemeral(self.key, &their_key, |shared| derived(&AUTH, shared, &info, 32)).unwrap();
        let key = derived(salt, &secret, &[b"Content-Encoding: aes128gcm\0"], 16);
        let nonce = derived(salt, &secret, &[b"Content-Encoding: nonce\0"], 12);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
        let text = key.open_in_place(nonce, Aad::empty(), &mut sealed).unwrap();
        let text = text.strip_suffix(&[2]).expect("the last record ends with 2");
        String::from_utf8(text.to_vec()).unwrap()
    }
}

impl Default for Browser {
    fn default() -> Self {
        Self::new()
    }
}

/// What a sender claims in its `Authorization`, and the public key with which it signed that (RFC 8292).
pub fn signed_claims(authorization: &str) -> (Value, String) {
    let (token, public) = authorization.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    let (said, sign) = token.rsplit_once('.').unwrap();
    let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, BASE64.decode(public).unwrap());
    key.verify(said.as_bytes(), &BASE64.decode(sign).unwrap()).expect("the signature is good");
    let claims = BASE64.decode(said.split_once('.').unwrap().1).unwrap();
    (serde_json::from_slice(&claims).unwrap(), public.to_owned())
}

fn derived(salt: &[u8], secret: &[u8], info: &[&[u8]], length: usize) -> Vec<u8> {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut out = vec![0; length];
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(info, Length(length)).unwrap().fill(&mut out).unwrap();
    out
}
