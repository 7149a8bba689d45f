//! Encryption for one browser (RFC 8291): a key that both sides can work out, and one record of AES-128-GCM (RFC 8188).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{self, HKDF_SHA256};
use ring::rand::{SecureRandom, SystemRandom};

use super::subscription::{AUTH, POINT, Subscription};

/// Bytes of a message that a push service has to take, less what encryption adds.
pub const LONGEST: usize = RECORD - HEAD - 1 - 16;

/// Bytes of a record, and so of a message.
const RECORD: usize = 4096;

const SALT: usize = 16;

/// Salt, size of a record, length of the key, key.
const HEAD: usize = SALT + 4 + 1 + POINT;

/// What stands after the text in the last record.
const END: u8 = 2;

/// Both public keys and what follows from them.
struct Agreed<'a> {
    browser: &'a [u8],
    ours: &'a [u8],
    secret: &'a [u8],
    auth: &'a [u8],
}

/// Encrypts a text for a browser, with a key that is used this once.
pub(super) fn seal(to: &Subscription, text: &[u8], random: &SystemRandom) -> Result<Vec<u8>, String> {
    if text.len() > LONGEST {
        return Err(format!("a notice has at most {LONGEST} bytes, this one has {}", text.len()));
    }
    let failed = |_| "the notice could not be encrypted".to_owned();
    let (browser, auth) = (to.public_key()?, to.auth()?);
    let key = EphemeralPrivateKey::generate(&ECDH_P256, random).map_err(failed)?;
    let ours = key.compute_public_key().map_err(failed)?;
    let mut salt = [0; SALT];
    random.fill(&mut salt).map_err(failed)?;
    let browser_key = UnparsedPublicKey::new(&ECDH_P256, &browser);
    let sealed = agree_ephemeral(key, &browser_key, |secret| {
        record(&Agreed { browser: &browser, ours: ours.as_ref(), secret, auth: &auth }, salt, text)
    });
    sealed.map_err(|_| "`keys.p256dh` is no public key of a browser".to_owned())
}

/// The one record of a message, with its head.
fn record(agreed: &Agreed<'_>, salt: [u8; SALT], text: &[u8]) -> Vec<u8> {
    let (key, nonce) = key_and_nonce(agreed, salt);
    let mut sealed = [text, &[END]].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).expect("the key has the length of the cipher"));
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
        .expect("a record is shorter than the cipher allows");
    let size = (RECORD as u32).to_be_bytes();
    [&salt, size.as_slice(), &[POINT as u8], agreed.ours, &sealed].concat()
}

/// The key of the cipher and its nonce.
fn key_and_nonce(agreed: &Agreed<'_>, salt: [u8; SALT]) -> ([u8; 16], [u8; 12]) {
    debug_assert_eq!(agreed.auth.len(), AUTH);
    let info: [&[u8]; 3] = [b"WebPush: info\0", agreed.browser, agreed.ours];
    let material: [u8; 32] = derived(agreed.auth, agreed.secret, &info);
    let key = derived(&salt, &material, &[b"Content-Encoding: aes128gcm\0"]);
    (key, derived(&salt, &material, &[b"Content-Encoding: nonce\0"]))
}

/// HKDF with SHA-256.
fn derived<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut out = [0; N];
    let material = hkdf::Salt::new(HKDF_SHA256, salt).extract(secret);
    let filled = material.expand(info, Length(N)).and_then(|material| material.fill(&mut out));
    filled.expect("what is asked for is shorter than HKDF can give");
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    use super::super::subscription::{Keys, decoded};
    use super::*;

    /// The example of RFC 8291, section 5 and appendix A.
    #[test]
    fn the_example_of_the_rfc_comes_out_the_same() {
        let read = |text| decoded(text).unwrap();
        let agreed = Agreed {
            browser: &read("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            ours: &read("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"),
            secret: &read("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            auth: &read("BTBZMqHH6r4Tts7J_aSIgg"),
        };
        let salt = read("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let (key, nonce) = key_and_nonce(&agreed, salt);
        assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(key), "oIhVW04MRdy2XN9CiKLxTg");
        assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(nonce), "4h_95klXJ5E_qnoN");
        let body = record(&agreed, salt, b"When I grow up, I want to be a watermelon");
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8\
                        wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(BASE64_URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn the_longest_text_fills_a_message_and_a_longer_one_is_refused() {
        let random = SystemRandom::new();
        let browser = EphemeralPrivateKey::generate(&ECDH_P256, &random).unwrap().compute_public_key().unwrap();
        let keys =
            Keys { p256dh: BASE64_URL_SAFE_NO_PAD.encode(browser), auth: BASE64_URL_SAFE_NO_PAD.encode([7; AUTH]) };
        let to = Subscription { endpoint: "https://push.example.net/a".to_owned(), keys };
        assert_eq!(seal(&to, &vec![b'x'; LONGEST], &random).unwrap().len(), 4096);
        assert!(seal(&to, &vec![b'x'; LONGEST + 1], &random).unwrap_err().contains("at most"));
    }
}
