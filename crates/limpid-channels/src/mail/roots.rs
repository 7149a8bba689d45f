//! Authorities whose signature the owner trusts for an account's servers, in place of those that the system trusts.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Certificates of authorities; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots(Arc<[CertificateDer<'static>]>);

impl Roots {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// A sentence: it holds none, or one that cannot be used.
    pub fn parse(pem: &[u8]) -> Result<Self, String> {
        let found: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Err("it holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)".to_owned());
        }
        let mut store = RootCertStore::empty();
        for (at, certificate) in found.iter().enumerate() {
            let added = store.add(certificate.clone());
            added.map_err(|error| format!("certificate {} cannot be used: {error}", at + 1))?;
        }
        Ok(Self(found.into()))
    }

    /// The certificates as TLS compares with them.
    pub(super) fn store(&self) -> RootCertStore {
        let mut store = RootCertStore::empty();
        // Each was added once before, when they were read.
        store.add_parsable_certificates(self.0.iter().cloned());
        store
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_certificate_says_so() {
        let block = |inside: &str| format!("-----BEGIN CERTIFICATE-----\n{inside}\n-----END CERTIFICATE-----\n");
        let table = [
            ("", "holds no certificate"),
            ("hello", "holds no certificate"),
            (&block("aGVsbG8="), "certificate 1 cannot be used"),
            (&block("!"), ""),
        ];
        for (pem, why) in table {
            let error = Roots::parse(pem.as_bytes()).unwrap_err();
            assert!(error.contains(why) && !error.is_empty(), "{pem}: {error}");
        }
    }

    proptest! {
        // SEC-044
        #[test]
        fn any_bytes_are_certificates_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let framed = [b"-----BEGIN CERTIFICATE-----\n".as_slice(), &bytes, b"\n-----END CERTIFICATE-----\n"].concat();
            prop_assert!(Roots::parse(&bytes).is_err());
            prop_assert!(Roots::parse(&framed).is_err());
        }
    }
}
