//! Addresses and routes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Row, System};
use crate::failure::Failure;
use crate::number;

/// One address of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) interface: String,
    pub(super) address: IpAddr,
    pub(super) prefix: u8,
    scope: &'static str,
}

/// One IPv4 route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    interface: String,
    destination: Ipv4Addr,
    prefix: u8,
    gateway: Ipv4Addr,
    metric: u64,
}

/// Every address, IPv4 first.
pub(super) fn addresses(system: &System) -> Result<Vec<Address>, Failure> {
    let routes = routes(system)?;
    let mut found = system.maybe("proc/net/fib_trie").map_or_else(Vec::new, |text| v4(&text, &routes));
    found.extend(system.maybe("proc/net/if_inet6").into_iter().flat_map(|text| v6(&text)));
    Ok(found)
}

pub(super) fn row(address: &Address) -> Row {
    let family = if address.address.is_ipv4() { "ipv4" } else { "ipv6" };
    Row::from([
        ("interface", number::text(&address.interface)),
        ("family", number::text(family)),
        ("address", number::text(address.address.to_string())),
        ("prefix", number::count(address.prefix.into())),
        ("scope", number::text(address.scope)),
    ])
}

/// `/proc/net/route`: addresses are hexadecimal in the machine's byte order.
pub(super) fn routes(system: &System) -> Result<Vec<Route>, Failure> {
    let text = system.text("proc/net/route")?;
    let hex = |text: &str| Some(Ipv4Addr::from(u32::from_str_radix(text, 16).ok()?.to_ne_bytes()));
    let mut routes = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [interface, destination, gateway, _, _, _, metric, mask, ..] = columns[..] else { continue };
        let (Some(destination), Some(gateway), Some(mask)) = (hex(destination), hex(gateway), hex(mask))
        else {
            continue;
        };
        let prefix = u8::try_from(u32::from(mask).leading_ones()).unwrap_or(32);
        let metric = metric.parse().unwrap_or(0);
        routes.push(Route { interface: interface.to_owned(), destination, prefix, gateway, metric });
    }
    Ok(routes)
}

pub(super) fn route_row(route: &Route) -> Row {
    let mut row = Row::from([
        ("destination", number::text(format!("{}/{}", route.destination, route.prefix))),
        ("interface", number::text(&route.interface)),
        ("metric", number::count(route.metric)),
    ]);
    if !route.gateway.is_unspecified() {
        row.insert("gateway", number::text(route.gateway.to_string()));
    }
    row
}

/// Local addresses of `/proc/net/fib_trie`. It does not name interfaces: the longest directly connected route that
/// holds an address does.
fn v4(trie: &str, routes: &[Route]) -> Vec<Address> {
    let mut found: Vec<Address> = Vec::new();
    let mut leaf = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        }
        let Some(address) = leaf.filter(|_| line.starts_with("/32 host LOCAL")) else { continue };
        // The same leaf is in the tables `main` and `local`.
        if found.iter().any(|known| known.address == address) {
            continue;
        }
        let connected =
            routes.iter().filter(|r| r.gateway.is_unspecified() && r.prefix > 0 && holds(r, address));
        let (interface, prefix) = match connected.max_by_key(|r| r.prefix) {
            Some(route) => (route.interface.clone(), route.prefix),
            None if address.is_loopback() => ("lo".to_owned(), 8),
            None => (String::new(), 32),
        };
        let scope = if address.is_loopback() { "host" } else { "global" };
        found.push(Address { interface, address: address.into(), prefix, scope });
    }
    found
}

fn holds(route: &Route, address: Ipv4Addr) -> bool {
    let mask = u32::MAX.checked_shl(32 - u32::from(route.prefix)).unwrap_or(0);
    u32::from(address) & mask == u32::from(route.destination) & mask
}

/// `/proc/net/if_inet6`: address, index, prefix, scope, flags, interface, all hexadecimal but the last.
fn v6(text: &str) -> Vec<Address> {
    let read = |line: &str| {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [address, _, prefix, scope, _, interface] = columns[..] else { return None };
        let scope = match u8::from_str_radix(scope, 16).ok()? {
            0x00 => "global",
            0x10 => "host",
            0x20 => "link",
            0x40 => "site",
            _ => "other",
        };
        Some(Address {
            interface: interface.to_owned(),
            address: Ipv6Addr::from(u128::from_str_radix(address, 16).ok()?).into(),
            prefix: u8::from_str_radix(prefix, 16).ok()?,
            scope,
        })
    };
    text.lines().filter_map(read).collect()
}
