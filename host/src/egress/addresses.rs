//! Which addresses are the public network's: what a name resolves to counts, not what it says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// A network of private addresses that the operator lets be reached: `10.1.0.0/16`, `fd00::/8`, `127.0.0.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    bits: u128,
    /// How many of the first bits count.
    length: u32,
    is_v6: bool,
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no network: use one such as `10.1.0.0/16`");
        let (address, length) =
            text.split_once('/').map_or((text.as_str(), None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv6() { 128 } else { 32 };
        let length = match length {
            None => most,
            Some(length) => length.parse::<u32>().ok().filter(|length| *length <= most).ok_or_else(wrong)?,
        };
        Ok(Self { bits: bits(address), length, is_v6: address.is_ipv6() })
    }
}

/// An address as a number, its first bit first.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    }
}

impl Network {
    fn has(self, address: IpAddr) -> bool {
        let kept = u128::MAX.checked_shl(128 - self.length).unwrap_or(0);
        self.is_v6 == address.is_ipv6() && bits(address) & kept == self.bits & kept
    }
}

/// True for an address that may be reached: a public one, or one that the operator named.
pub fn may_reach(address: IpAddr, named: &[Network]) -> bool {
    let plain = match address {
        // The same address in another form.
        IpAddr::V6(address) => address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4),
        address @ IpAddr::V4(_) => address,
    };
    named.iter().any(|network| network.has(plain))
        || match plain {
            IpAddr::V4(address) => is_public_v4(address),
            IpAddr::V6(address) => is_public_v6(address),
        }
}

/// IANA's registry of special-purpose IPv4 addresses, all of it.
const fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            // A cloud's metadata, at an address that looks public.
            | (168, 63, 129)
            | (192, 0, 0 | 2)
            | (192, 31, 196)
            | (192, 52, 193)
            | (192, 88, 99)
            | (192, 168, _)
            | (192, 175, 48)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Global unicast without what carries an IPv4 address in it, whose own place would count, or is for documentation.
const fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_global = a & 0xe000 == 0x2000;
    let is_special = matches!((a, b), (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, 0..=0xfff) | (0x2620, 0x4f));
    is_global && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public_is_refused_unless_it_is_named() {
        let may = |text: &str, named: &[&str]| {
            let named: Vec<Network> = named.iter().map(|text| Network::try_from((*text).to_owned()).unwrap()).collect();
            may_reach(text.parse().unwrap(), &named)
        };
        for public in
            ["93.184.216.34", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "2a00::1", "::ffff:8.8.8.8"]
        {
            assert!(may(public, &[]), "{public}");
        }
        for private in [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "169.254.170.2",
            "100.64.0.1",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.2.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:0:1::",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "100::1",
        ] {
            assert!(!may(private, &[]), "{private}");
        }
        assert!(may("127.0.0.1", &["127.0.0.1"]) && !may("127.0.0.2", &["127.0.0.1"]));
        assert!(may("::ffff:10.1.2.3", &["10.1.0.0/16"]) && !may("10.2.0.1", &["10.1.0.0/16"]));
        assert!(may("fd12::1", &["fd00::/8"]) && !may("fc00::1", &["fd00::/8"]));
        assert!(may("10.0.0.1", &["0.0.0.0/0"]) && !may("fd00::1", &["0.0.0.0/0"]));
        for wrong in ["", "x", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/", "10.1"] {
            assert!(Network::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
