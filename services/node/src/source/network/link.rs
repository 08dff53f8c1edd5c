//! Interfaces, their counters and the neighbours on them.

use super::{Row, System, address};
use crate::failure::Failure;
use crate::number;

/// Columns of `/proc/net/dev` that are answered, by place.
const COUNTERS: [(&str, usize); 8] = [
    ("rx_bytes", 0),
    ("rx_packets", 1),
    ("rx_errors", 2),
    ("rx_dropped", 3),
    ("tx_bytes", 8),
    ("tx_packets", 9),
    ("tx_errors", 10),
    ("tx_dropped", 11),
];

pub(super) fn interfaces(system: &System) -> Result<Vec<Row>, Failure> {
    let addresses = address::addresses(system)?;
    let mut rows = Vec::new();
    for name in system.links() {
        let file = |what: &str| {
            system.maybe(&format!("sys/class/net/{name}/{what}")).map(|text| text.trim().to_owned())
        };
        let own = addresses.iter().filter(|a| a.interface == name);
        let own = own.map(|a| format!("{}/{}", a.address, a.prefix)).collect::<Vec<_>>().join(" ");
        let mut row = Row::from([
            ("name", number::text(&name)),
            ("addresses", number::text(own)),
            // ARPHRD_LOOPBACK
            ("loopback", number::flag(file("type").as_deref() == Some("772"))),
        ]);
        if let Some(state) = file("operstate") {
            row.insert("state", number::text(state));
        }
        if let Some(mac) = file("address").filter(|mac| !mac.is_empty()) {
            row.insert("mac", number::text(mac));
        }
        if let Some(mtu) = file("mtu").and_then(|mtu| number::decimal(&mtu)) {
            row.insert("mtu", mtu);
        }
        // The kernel says -1 when it does not know.
        if let Some(speed) = file("speed").and_then(|speed| speed.parse::<u64>().ok()) {
            row.insert("speed_mbps", number::count(speed));
        }
        rows.push(row);
    }
    Ok(rows)
}

pub(super) fn traffic(system: &System) -> Result<Vec<Row>, Failure> {
    let text = system.text("proc/net/dev")?;
    let mut rows = Vec::new();
    // Two lines of headings.
    for line in text.lines().skip(2) {
        let Some((name, counters)) = line.split_once(':') else { continue };
        let counters: Vec<u64> = counters.split_ascii_whitespace().map_while(|n| n.parse().ok()).collect();
        let mut row = Row::from([("interface", number::text(name.trim()))]);
        for (field, place) in COUNTERS {
            if let Some(n) = counters.get(place) {
                row.insert(field, number::count(*n));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

pub(super) fn neighbours(system: &System) -> Result<Vec<Row>, Failure> {
    let text = system.text("proc/net/arp")?;
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [address, _, flags, mac, _, interface] = columns[..] else { continue };
        let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
        // ATF_COM, ATF_PERM
        let state = match (flags & 0x4 != 0, flags & 0x2 != 0) {
            (true, _) => "permanent",
            (false, true) => "reachable",
            (false, false) => "incomplete",
        };
        rows.push(Row::from([
            ("address", number::text(address)),
            ("interface", number::text(interface)),
            ("mac", number::text(mac)),
            ("state", number::text(state)),
        ]));
    }
    Ok(rows)
}
