//! The kernel's files as they were found on a machine, and what is read of them.

use std::fs;

use serde_json::{Value, json};
use weft_core::manifest::source::NetworkTable;
use weft_core::manifest::{Manifest, Tool};

use super::rows;
use crate::arguments::Arguments;
use crate::rows::Sink;

const ROUTE: &str = "\
Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";
const TRIE: &str = "\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
           |-- 127.0.0.1
              /32 host LOCAL
     +-- 192.0.2.0/24 2 0 2
           |-- 192.0.2.2
              /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
Local:
           |-- 192.0.2.2
              /32 host LOCAL
";
const INET6: &str = "\
fd000000000000000000000000000002 04 40 00 82     eth0
00000000000000000000000000000001 01 80 10 80       lo
fe8000000000000000fc00fffe000001 04 40 20 80     eth0
";
const ARP: &str = "\
IP address       HW type     Flags       HW address            Mask     Device
192.0.2.1        0x1         0x2         02:fc:00:00:00:05     *        eth0
192.0.2.9        0x1         0x0         00:00:00:00:00:00     *        eth0
";
const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0
  eth0:18446744073709551615 20 1 2 0 0 0 0 30 40 3 4 0 0 0 0
";
const RESOLV: &str = "\
# made for this test
search lan.example home.example ; and no more
nameserver 192.0.2.53
options edns0
nameserver 2001:db8::53
";

/// The rows of a table of that machine, these fields of them.
fn read(table: NetworkTable, fields: &[&str]) -> Value {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("proc/net/route", ROUTE);
    write("proc/net/fib_trie", TRIE);
    write("proc/net/if_inet6", INET6);
    write("proc/net/arp", ARP);
    write("proc/net/dev", DEV);
    write("etc/resolv.conf", RESOLV);
    write("sys/class/net/bonding_masters", "");
    for (name, speed, kind) in [("lo", "", "772"), ("eth0", "1000\n", "1"), ("down", "-1\n", "1")] {
        write(&format!("sys/class/net/{name}/operstate"), "up\n");
        write(&format!("sys/class/net/{name}/mtu"), "1500\n");
        write(&format!("sys/class/net/{name}/speed"), speed);
        write(&format!("sys/class/net/{name}/type"), kind);
    }
    let tool = tool(fields);
    let arguments = Arguments::read(&tool, None).unwrap();
    let mut sink = Sink::new(&tool, &arguments);
    rows(root.path(), table, &mut sink).unwrap();
    let result = weft_proto::json::encode(&sink.finish().result.unwrap()).unwrap();
    serde_json::from_slice::<Value>(&result).unwrap()["rows"].clone()
}

fn tool(fields: &[&str]) -> Tool {
    let text = format!(
        "[node]\nid = \"n\"\nname = \"N\"\nrole = \"r\"\n[[tool]]\nname = \"t\"\ndescription = \"d\"\n\
         source = {{ kind = \"network\", table = \"dns\" }}\nfields = {fields:?}"
    );
    Manifest::parse("n.toml", &text).unwrap().tools.remove(0)
}

#[test]
fn addresses_are_given_to_the_interface_whose_route_holds_them() {
    let expected = json!([
        {"interface": "lo", "address": "127.0.0.1", "prefix": 8, "scope": "host"},
        {"interface": "eth0", "address": "192.0.2.2", "prefix": 24, "scope": "global"},
        {"interface": "eth0", "address": "fd00::2", "prefix": 64, "scope": "global"},
        {"interface": "lo", "address": "::1", "prefix": 128, "scope": "host"},
        {"interface": "eth0", "address": "fe80::fc:ff:fe00:1", "prefix": 64, "scope": "link"},
    ]);
    assert_eq!(read(NetworkTable::Addresses, &["interface", "address", "prefix", "scope"]), expected);
}

#[test]
fn interfaces_have_what_the_kernel_knows_of_them_and_null_for_the_rest() {
    let expected = json!([
        {"name": "down", "speed_mbps": null, "loopback": false, "addresses": "", "mtu": 1500},
        {"name": "eth0", "speed_mbps": 1000, "loopback": false, "mtu": 1500,
         "addresses": "192.0.2.2/24 fd00::2/64 fe80::fc:ff:fe00:1/64"},
        {"name": "lo", "speed_mbps": null, "loopback": true, "addresses": "127.0.0.1/8 ::1/128", "mtu": 1500},
    ]);
    assert_eq!(
        read(NetworkTable::Interfaces, &["name", "speed_mbps", "loopback", "addresses", "mtu"]),
        expected
    );
}

#[test]
fn neighbours_leave_without_their_hardware_address_when_it_is_not_listed() {
    let expected = json!([
        {"address": "192.0.2.1", "state": "reachable"},
        {"address": "192.0.2.9", "state": "incomplete"},
    ]);
    assert_eq!(read(NetworkTable::Neighbours, &["address", "state"]), expected);
}

#[test]
fn counters_that_a_double_cannot_hold_are_text() {
    let expected = json!([
        {"interface": "lo", "rx_bytes": 100, "tx_dropped": 0},
        {"interface": "eth0", "rx_bytes": "18446744073709551615", "tx_dropped": 4},
    ]);
    assert_eq!(read(NetworkTable::Traffic, &["interface", "rx_bytes", "tx_dropped"]), expected);
}

#[test]
fn routes_and_resolvers_are_read_in_order() {
    let expected = json!([
        {"destination": "0.0.0.0/0", "gateway": "192.0.2.1", "metric": 100},
        {"destination": "192.0.2.0/24", "gateway": null, "metric": 0},
    ]);
    assert_eq!(read(NetworkTable::Routes, &["destination", "gateway", "metric"]), expected);
    let expected = json!([
        {"kind": "search", "value": "lan.example", "order": 1},
        {"kind": "search", "value": "home.example", "order": 2},
        {"kind": "nameserver", "value": "192.0.2.53", "order": 1},
        {"kind": "nameserver", "value": "2001:db8::53", "order": 2},
    ]);
    assert_eq!(read(NetworkTable::Dns, &["kind", "value", "order"]), expected);
}
