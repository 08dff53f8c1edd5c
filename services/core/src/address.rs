//! Which network addresses belong to everybody's internet, and which others an operator allows by name or range.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// False for loopback, private, link-local, shared, documentation, multicast and reserved addresses, also when they
/// are wrapped in an IPv6 one.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => embedded(v6).map_or_else(|| is_public_v6(v6), is_public_v4),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared address space (RFC 6598), protocol assignments (RFC 6890), benchmarks (RFC 2544), 6to4 relays
        // (RFC 7526).
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
        || (a == 192 && b == 88 && c == 99))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is assigned for global unicast.
    (0x2000..0x4000).contains(&first)
        // Documentation (RFC 3849, RFC 9637) and protocol assignments, Teredo among them.
        && !(first == 0x2001 && (second == 0x0db8 || second < 0x0200))
        && !(first == 0x3fff && second < 0x1000)
}

/// The IPv4 address within a mapped, translated (NAT64) or 6to4 one.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x0064, 0xff9b, 0, 0, 0, 0) => Some(join(high, low)),
        (0x2002, ..) => Some(join(b, c)),
        _ => None,
    }
}

/// What an operator allows beyond the public addresses: ranges, and hosts by name whatever their addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    ranges: Vec<Range>,
    hosts: Vec<String>,
}

/// Addresses whose first bits are those of `base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    base: IpAddr,
    bits: u32,
}

impl Allowed {
    /// Reads a list of CIDR ranges (`10.0.0.0/8`), addresses (`127.0.0.1`) and host names (`hooks.internal`).
    ///
    /// # Errors
    /// The entry that is none of them, with what would be right.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Allowed, String> {
        let mut allowed = Allowed::default();
        for entry in entries {
            let text = entry.trim();
            if let Some(range) = Range::parse(text) {
                allowed.ranges.push(range);
            } else if is_host(text) {
                allowed.hosts.push(host(text));
            } else {
                return Err(format!(
                    "`{entry}` is no range, address or host name: write 10.0.0.0/8, 127.0.0.1 or hooks.internal"
                ));
            }
        }
        Ok(allowed)
    }

    /// True when `address`, by which `name` is reached, is public or allowed.
    #[must_use]
    pub fn takes(&self, name: &str, address: IpAddr) -> bool {
        is_public(address)
            || self.ranges.iter().any(|range| range.holds(address))
            || self.hosts.contains(&host(name))
    }
}

/// A name as it is compared: lower case, without the dot of the root.
fn host(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    text.len() <= 253
        && host(text).split('.').all(label)
        // What begins with a digit in its last label would be read as an address.
        && host(text).rsplit('.').next().is_some_and(|last| last.bytes().any(|b| b.is_ascii_alphabetic()))
}

impl Range {
    fn parse(text: &str) -> Option<Range> {
        let (base, bits) = match text.split_once('/') {
            None => (text.parse().ok()?, None),
            Some((base, bits)) => (base.parse().ok()?, Some(bits.parse::<u32>().ok()?)),
        };
        let most = if matches!(base, IpAddr::V4(_)) { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then_some(Range { base, bits })
    }

    fn holds(&self, address: IpAddr) -> bool {
        let same = |a: u128, b: u128, width: u32| self.bits == 0 || (a ^ b) >> (width - self.bits) == 0;
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(v4)) => same(base.to_bits().into(), v4.to_bits().into(), 32),
            (IpAddr::V6(base), IpAddr::V6(v6)) => same(base.to_bits(), v6.to_bits(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_whole_internet_are_public() {
        for public in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for not in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001::1",
        ] {
            assert!(!is_public(not.parse().unwrap()), "{not}");
        }
    }

    #[test]
    fn an_operator_allows_ranges_addresses_and_names() {
        let allowed =
            Allowed::parse(["10.0.0.0/8", "127.0.0.1", "fd00::/8", "Hooks.Internal.", " 192.168.7.0/24 "])
                .unwrap();
        let takes = |name: &str, address: &str| allowed.takes(name, address.parse().unwrap());
        for address in ["10.255.0.1", "127.0.0.1", "::ffff:10.1.2.3", "fd12::1", "192.168.7.255", "1.1.1.1"] {
            assert!(takes("x", address), "{address}");
        }
        for address in ["127.0.0.2", "192.168.8.1", "fe80::1", "169.254.169.254", "64:ff9b::a00:1"] {
            assert!(!takes("x", address), "{address}");
        }
        assert!(takes("hooks.internal", "172.16.0.1") && takes("HOOKS.internal.", "::1"));
        assert!(!takes("evil.hooks.internal", "172.16.0.1"));
        assert!(Allowed::parse(["0.0.0.0/0"]).unwrap().takes("x", "127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn an_entry_that_is_nothing_is_named() {
        for bad in ["", "10.0.0.0/33", "fd00::/129", "http://x", "a b", "10.0.0", "-", "1.2.3.4.5", "x/8"] {
            let listed = Allowed::parse(["localhost", bad]);
            assert!(listed.is_err_and(|error| error.contains(&format!("`{bad}`"))), "{bad}");
        }
    }
}
