//! Which addresses belong to everybody's internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// False for loopback, private, link-local, shared, documentation, multicast and reserved addresses, also when they
/// are wrapped in an IPv6 one.
pub(super) fn is_public(address: IpAddr) -> bool {
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
        // Shared address space (RFC 6598), protocol assignments (RFC 6890), benchmarks (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19)))
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
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::1",
            "2001::1",
        ] {
            assert!(!is_public(not.parse().unwrap()), "{not}");
        }
    }
}
