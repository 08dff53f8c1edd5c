//! The keyring on a real disk.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use weft_chassis::Env;
use weft_seal::{Key, Mode, Secret};

use super::{Keyring, KeyringFault};

fn open(data: &Path) -> Result<Keyring, KeyringFault> {
    Keyring::open(data, "mesh", &Env::system())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Puts a file under `keys/`, private unless told otherwise.
fn put(data: &Path, name: &str, content: &str, mode: u32) {
    let path = data.join("keys").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    chmod(&data.join("keys"), 0o700);
    fs::write(&path, content).unwrap();
    chmod(&path, mode);
}

fn secret(byte: u8) -> String {
    Secret::from_bytes(&[byte; 32]).unwrap().to_base64url().to_string()
}

#[test]
fn the_first_start_makes_a_private_key_and_the_next_one_finds_it() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("deep/er");
    let first = open(&path).unwrap().public();
    assert_eq!(mode(&path.join("keys")), 0o700);
    assert_eq!(mode(&path.join("keys/mesh.pem")), 0o600);
    assert_eq!(fs::read_dir(path.join("keys")).unwrap().count(), 1, "nothing unfinished stays behind");
    assert_eq!(open(&path).unwrap().public(), first);
    let other = tempfile::tempdir().unwrap();
    assert_ne!(open(other.path()).unwrap().public(), first);
}

#[test]
fn starters_at_the_same_time_end_up_with_one_key() {
    let data = tempfile::tempdir().unwrap();
    let keys: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| open(data.path()).unwrap().public())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn what_others_can_reach_is_refused_with_the_remedy() {
    let data = tempfile::tempdir().unwrap();
    open(data.path()).unwrap();
    let keys = data.path().join("keys");
    for (path, good, bad, remedy) in
        [(keys.join("mesh.pem"), 0o600, 0o640, "chmod 600"), (keys.clone(), 0o700, 0o755, "chmod 700")]
    {
        chmod(&path, bad);
        let fault = open(data.path()).unwrap_err();
        assert!(matches!(fault, KeyringFault::TooOpen { .. }));
        let text = fault.to_string();
        assert!(text.contains(path.to_str().unwrap()) && text.contains(remedy), "{text}");
        chmod(&path, good);
    }
    chmod(&keys.join("mesh.pem"), 0o400);
    open(data.path()).expect("a stricter mode is fine");
}

#[test]
fn a_damaged_key_is_refused_and_never_replaced() {
    let data = tempfile::tempdir().unwrap();
    open(data.path()).unwrap();
    let path = data.path().join("keys/mesh.pem");
    let good = fs::read_to_string(&path).unwrap();
    let shifted = good.replacen("MC4C", "MC5C", 1);
    for bad in ["", "garbage", &good[..70], &shifted, &"x".repeat(20_000)] {
        fs::write(&path, bad).unwrap();
        let text = open(data.path()).unwrap_err().to_string();
        assert!(text.contains("mesh.pem"), "{text}");
        assert!(!text.contains(&good[30..60]), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(open(data.path()).is_err());
}

#[test]
fn a_node_is_sealed_to_in_the_strongest_mode_it_has_a_file_for() {
    let data = tempfile::tempdir().unwrap();
    put(data.path(), "secrets/old.shared", &secret(1), 0o600);
    put(data.path(), "secrets/both.shared", &secret(2), 0o600);
    put(data.path(), "secrets/both.derived", &format!("{}\n", secret(3)), 0o600);
    let keyring = open(data.path()).unwrap();
    let used = |node| (keyring.for_node(node).mode(), keyring.for_node(node).id().to_owned());
    assert_eq!(used("old"), (Mode::Shared, "shared:mesh:old".into()));
    assert_eq!(used("both"), (Mode::Derived, "derived:mesh:both".into()));
    assert_eq!(used("crm"), (Mode::Ed25519, keyring.public().id().to_owned()));
}

#[test]
fn files_that_say_too_little_or_too_much_are_refused() {
    let check = |name: &str, content: &str, mode: u32, expected: &str| {
        let data = tempfile::tempdir().unwrap();
        put(data.path(), name, content, mode);
        let text = open(data.path()).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains(expected), "{name}: {text}");
        assert!(content.is_empty() || !text.contains(content), "{text}");
    };
    let key = Key::from_seed(&[7; 32]).public().unwrap();
    let private = key.to_jwk().to_string().replace("\"use\"", "\"d\":\"AAAA\",\"use\"");
    check("secrets/crm.derived", &secret(1), 0o644, "chmod 600");
    check("secrets/crm.derived", "dG9vIHNob3J0", 0o600, "32 to 64 bytes");
    check("secrets/crm.secret", &secret(1), 0o600, "NODE.derived or NODE.shared");
    check("peers/crm.pem", "", 0o644, "NODE.jwk");
    check("peers/crm.jwk", "{}", 0o644, "public key");
    check("peers/crm.jwk", &private, 0o644, "private key");
}

#[test]
fn one_key_cannot_stand_for_two_nodes() {
    let data = tempfile::tempdir().unwrap();
    let key = Key::from_seed(&[7; 32]).public().unwrap();
    put(data.path(), "peers/crm.jwk", &key.to_jwk().to_string(), 0o644);
    put(data.path(), "peers/lan.jwk", &key.to_base64url(), 0o644);
    assert!(open(data.path()).unwrap_err().to_string().contains("already trusted"));
}

#[test]
fn a_keyring_prints_no_secret() {
    let data = tempfile::tempdir().unwrap();
    put(data.path(), "secrets/old.shared", &secret(0x5a), 0o600);
    let keyring = open(data.path()).unwrap();
    let pem = fs::read_to_string(data.path().join("keys/mesh.pem")).unwrap();
    let printed = format!("{keyring:?}");
    assert!(!printed.contains(&secret(0x5a)) && !printed.contains("90, 90"), "{printed}");
    assert!(!printed.contains(pem.lines().nth(1).unwrap()), "{printed}");
}
