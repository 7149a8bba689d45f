//! The networks that this machine is in, whatever address they have.

use std::net::IpAddr;

use if_addrs::{IfAddr, get_if_addrs};

/// Bits of the network in an IPv6 address, at most: of the rest a home makes networks of its own.
const MOST_BITS_V6: u8 = 56;

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// The network in which a machine has this address, of which so many bits are the network's. Of IPv6 these are at most 56, since a
    /// provider gives a home so many networks.
    pub fn around(address: IpAddr, bits: u8) -> Self {
        let most = if address.is_ipv6() { MOST_BITS_V6 } else { 32 };
        Self { address, bits: bits.min(most) }
    }

    /// Whether an address is in it. One that says nothing of its size is no network.
    pub fn has(self, address: IpAddr) -> bool {
        let differ = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            _ => return false,
        };
        self.address == address || self.bits > 0 && differ >= u32::from(self.bits)
    }
}

/// The networks of the interfaces of this machine, as they are now. None where the system does not tell, as in a service that may not
/// ask it: what a firewall lets through from here is then found by its address.
pub fn own_networks() -> Vec<Network> {
    let network = |address| match address {
        IfAddr::V4(own) => Network::around(own.ip.into(), own.prefixlen),
        IfAddr::V6(own) => Network::around(own.ip.into(), own.prefixlen),
    };
    get_if_addrs().unwrap_or_default().into_iter().map(|interface| network(interface.addr)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-022
    #[test]
    fn a_network_has_what_begins_alike_and_its_machine() {
        let network = |address: &str, bits| Network::around(address.parse().unwrap(), bits);
        let has = |network: Network, address: &str| network.has(address.parse().unwrap());
        assert!(
            has(network("198.51.100.7", 24), "198.51.100.200") && !has(network("198.51.100.7", 24), "198.51.101.7")
        );
        assert!(has(network("198.51.100.7", 32), "198.51.100.7") && !has(network("198.51.100.7", 32), "198.51.100.8"));
        assert!(has(network("198.51.100.7", 0), "198.51.100.7") && !has(network("198.51.100.7", 0), "1.1.1.1"));
        assert!(
            has(network("2606:4700::7", 128), "2606:4700::1")
                && has(network("2606:4700::7", 64), "2606:4700:0:ff::1")
                && !has(network("2606:4700::7", 128), "2606:4700:0:100::1")
        );
        assert!(!has(network("::", 0), "1.1.1.1"));
    }

    // SEC-022
    #[test]
    fn this_machine_is_in_its_own_network() {
        assert!(own_networks().iter().any(|network| network.has("127.0.0.1".parse().unwrap())));
    }
}
