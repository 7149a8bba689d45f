//! Which addresses of the network are the public web.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use limpid_core::{Labelled, Sentence, sentence};

use super::network::Network;

/// The addresses that may be connected to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// Those of the public web.
    #[default]
    Public,
    /// Those, and some that the owner names.
    PublicAnd(Vec<IpAddr>),
    /// Any: for a service that the owner has set, wherever it is.
    Any,
    /// The same but for some.
    Except(Box<Addresses>, Vec<IpAddr>),
}

impl Addresses {
    /// Whether an address may be connected to from a machine in these networks.
    pub fn admit(&self, address: IpAddr, own: &[Network]) -> bool {
        match self {
            Self::Public => is_of_the_web(address, own),
            Self::PublicAnd(more) => is_of_the_web(address, own) || more.contains(&address),
            Self::Any => true,
            Self::Except(all, others) => !others.contains(&address) && all.admit(address, own),
        }
    }

    /// These but for others.
    pub(super) fn without(&self, others: &[IpAddr]) -> Self {
        Self::Except(Box::new(self.clone()), others.to_vec())
    }

    /// These and others.
    pub(super) fn and(&self, others: &[IpAddr]) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Public => Self::PublicAnd(others.to_vec()),
            Self::PublicAnd(more) => Self::PublicAnd(more.iter().chain(others).copied().collect()),
            Self::Except(all, _) => all.and(others),
        }
    }
}

/// Why an address is not connected to.
pub(super) fn refusal(address: IpAddr) -> Sentence {
    sentence!(
        "{} is not an address of the public web, so nothing was sent to it; the owner can allow it in `also` of `[web]`",
        Labelled::outside(address)
    )
}

/// Whether an address is one of the public web, and in none of these networks: from within one it leads past a firewall, also where
/// anybody has a way to it.
pub fn is_of_the_web(address: IpAddr, own: &[Network]) -> bool {
    is_public(address) && !own.iter().any(|network| network.has(address))
}

/// Whether an address is one of the public web: none of this machine, of a private or local network, of a cloud's own
/// services, and none that stands for another address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks that are no part of the public web (IANA's registry of special addresses), and one that clouds keep for
/// their own services.
const SPECIAL_V4: [(Ipv4Addr, u32); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Groups of machines, and what is reserved above them.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Parts of 2000::/3 that are no part of the public web or stand for other addresses.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !SPECIAL_V4.iter().any(|(network, length)| (bits ^ network.to_bits()) >> (32 - length) == 0)
}

/// Only 2000::/3 is given out to the public; everything else is local, a group, or another address in disguise.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    let special = SPECIAL_V6.iter().any(|(network, length)| (bits ^ network.to_bits()) >> (128 - length) == 0);
    bits >> 125 == 0b001 && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-022
    #[test]
    fn only_addresses_of_the_public_web_are_public() {
        let public = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "2606:4700::1111"];
        let others = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
        ];
        for (addresses, expected) in [(&public[..], true), (&others[..], false)] {
            for address in addresses {
                assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
            }
        }
        // The machine is in networks that have public addresses.
        let around = Network::around("93.184.216.34".parse().unwrap(), 24);
        let admits = |addresses: &Addresses, address: &str| addresses.admit(address.parse().unwrap(), &[around]);
        assert!(!admits(&Addresses::Public, "93.184.216.1") && admits(&Addresses::Public, "93.184.217.1"));
        let named = Addresses::PublicAnd(vec!["93.184.216.1".parse().unwrap()]);
        assert!(admits(&named, "93.184.216.1") && !admits(&named, "93.184.216.2"));
        let own = Addresses::PublicAnd(vec!["192.168.1.9".parse().unwrap()]);
        assert!(own.admit("192.168.1.9".parse().unwrap(), &[]) && !own.admit("192.168.1.8".parse().unwrap(), &[]));
        let without = Addresses::Public.without(&["93.184.216.1".parse().unwrap()]);
        assert!(!without.admit("93.184.216.1".parse().unwrap(), &[]));
        assert!(without.admit("93.184.216.2".parse().unwrap(), &[]));
    }
}
