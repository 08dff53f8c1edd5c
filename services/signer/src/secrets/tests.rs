//! The store on a real disk.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use weft_chassis::Env;

use super::*;

fn store(data: &Path) -> Secrets {
    Secrets { dir: data.join("secrets"), source: Source::choose(None, "", data) }
}

fn got(secrets: &Secrets, name: &str) -> Option<Vec<u8>> {
    secrets.get(name).unwrap().map(|secret| secret.to_vec())
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_secret_comes_back_by_its_name_and_lies_encrypted_and_private() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let secrets = store(data.path());
    assert_eq!((got(&secrets, "crm"), secrets.list().unwrap().len()), (None, 0));
    secrets.set("crm", b"hunter2", &env).unwrap();
    secrets.set("crm", b"hunter3", &env).unwrap();
    secrets.set("a.b-c_D", &[0xff; SECRET_BYTES_MAX], &env).unwrap();
    assert_eq!(got(&secrets, "crm"), Some(b"hunter3".to_vec()));
    let names: Vec<_> = secrets.list().unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(names, ["a.b-c_D", "crm"]);
    let file = data.path().join("secrets/crm");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(data.path().join("secrets")).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!fs::read(&file).unwrap().windows(6).any(|bytes| bytes == b"hunter"));
    assert!(secrets.remove("crm").unwrap() && !secrets.remove("crm").unwrap());
    assert_eq!(got(&secrets, "crm"), None);
}

#[test]
fn names_that_lead_elsewhere_and_empty_secrets_are_refused() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let secrets = store(data.path());
    for bad in ["", ".", "..", ".lock", "a/b", "../keys/mesh.pem", "a b", "é", &"x".repeat(65)] {
        assert!(matches!(secrets.set(bad, b"x", &env), Err(SecretFault::Name)), "{bad}");
        assert!(matches!(secrets.get(bad), Err(SecretFault::Name)), "{bad}");
    }
    for bad in [Vec::new(), vec![0; SECRET_BYTES_MAX + 1]] {
        assert!(matches!(secrets.set("a", &bad, &env), Err(SecretFault::Length)));
    }
}

#[test]
fn a_file_that_was_renamed_changed_or_made_elsewhere_does_not_open() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let secrets = store(data.path());
    secrets.set("low", b"hunter2", &env).unwrap();
    let file = |name: &str| data.path().join("secrets").join(name);
    fs::rename(file("low"), file("high")).unwrap();
    assert!(matches!(secrets.get("high"), Err(SecretFault::Closed { .. })));
    secrets.set("low", b"hunter2", &env).unwrap();
    let good = fs::read(file("low")).unwrap();
    for at in [0, 5, 20, 40, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(file("low"), bad).unwrap();
        assert!(matches!(secrets.get("low"), Err(SecretFault::Closed { .. })), "{at}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    store(elsewhere.path()).set("low", b"other", &env).unwrap();
    fs::copy(elsewhere.path().join("secrets/low"), file("low")).unwrap();
    assert!(secrets.get("low").unwrap_err().to_string().contains("secrets.key"));
}

#[test]
fn a_key_of_the_operators_is_taken_from_the_variable_or_the_file() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let text = URL_KEY;
    let path = data.path().join("mounted");
    fs::write(&path, format!("{text}\n")).unwrap();
    chmod(&path, 0o440);
    let by_file = Secrets {
        dir: data.path().join("secrets"),
        source: Source::choose(None, path.to_str().unwrap(), data.path()),
    };
    let by_variable = Secrets {
        dir: data.path().join("secrets"),
        source: Source::choose(Some(text.to_owned()), "/nowhere", data.path()),
    };
    by_file.set("crm", b"hunter2", &env).unwrap();
    assert_eq!(got(&by_variable, "crm"), Some(b"hunter2".to_vec()));
    assert!(!data.path().join("keys").exists(), "no key of our own is made");
    assert!(!format!("{by_variable:?}").contains(text));
    chmod(&path, 0o444);
    assert!(by_file.get("crm").unwrap_err().to_string().contains("chmod 600"));
    let bad = Secrets { source: Source::choose(Some("short".to_owned()), "", data.path()), ..by_variable };
    let problem = bad.get("crm").unwrap_err().to_string();
    assert!(problem.contains("WEFT_SECRETS_KEY") && !problem.contains("short"), "{problem}");
}

const URL_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

#[test]
fn a_rotation_leaves_no_file_under_the_old_key() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let secrets = store(data.path());
    for name in ["a", "b", "c"] {
        secrets.set(name, name.as_bytes(), &env).unwrap();
    }
    let key = data.path().join("keys/secrets.key");
    let old = fs::read_to_string(&key).unwrap();
    assert_eq!(secrets.rotate(None, &env).unwrap(), 3);
    assert_ne!(fs::read_to_string(&key).unwrap(), old);
    assert!(!data.path().join("keys/secrets.key.next").exists());
    for name in ["a", "b", "c"] {
        assert_eq!(got(&secrets, name), Some(name.into()));
    }
    let with_old = Secrets { source: Source::choose(Some(old), "", data.path()), ..secrets };
    assert!(["a", "b", "c"].iter().all(|name| with_old.get(name).is_err()));
}

/// The states in which a kill can leave the folder: after the next key was written, after some files were, and after
/// all of them were but the key has not yet moved.
#[test]
fn a_rotation_that_was_killed_at_any_point_loses_nothing_and_is_gone_on_with() {
    let env = Env::system();
    for done in 0..=3 {
        let data = tempfile::tempdir().unwrap();
        let secrets = store(data.path());
        let names = ["a", "b", "c"];
        for name in names {
            secrets.set(name, name.as_bytes(), &env).unwrap();
        }
        let next = key::fresh(&env);
        key::write(&key::next_of(&data.path().join("keys/secrets.key")), &next, &env).unwrap();
        let cipher = cipher::Cipher::new(&next);
        for name in &names[..done] {
            let sealed = cipher.seal(name, name.as_bytes(), &env).unwrap();
            fs::write(data.path().join("secrets").join(name), sealed).unwrap();
        }
        let all = |secrets: &Secrets| names.iter().all(|name| got(secrets, name) == Some((*name).into()));
        assert!(all(&secrets), "{done} files were written");
        secrets.set("later", b"x", &env).unwrap();
        assert_eq!(secrets.rotate(None, &env).unwrap(), 4);
        assert!(all(&secrets) && got(&secrets, "later") == Some(b"x".to_vec()));
        assert!(!data.path().join("keys/secrets.key.next").exists());
    }
}

#[test]
fn a_key_from_outside_is_followed_by_one_from_outside() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let dir = data.path().join("secrets");
    let given = |text: &str| Secrets {
        dir: dir.clone(),
        source: Source::choose(Some(text.to_owned()), "", data.path()),
    };
    let secrets = given(URL_KEY);
    secrets.set("a", b"x", &env).unwrap();
    assert!(secrets.rotate(None, &env).unwrap_err().to_string().contains("--to FILE"));
    let file = data.path().join("next");
    let next = URL_KEY.replace("AAEC", "AQEC");
    fs::write(&file, &next).unwrap();
    chmod(&file, 0o600);
    assert_eq!(secrets.rotate(Some(&file), &env).unwrap(), 1);
    assert!(secrets.get("a").is_err());
    assert_eq!(got(&given(&next), "a"), Some(b"x".to_vec()));
    // A second time changes nothing: what was done is seen to be.
    assert_eq!(secrets.rotate(Some(&file), &env).unwrap(), 1);
    assert!(store(data.path()).rotate(Some(&file), &env).is_err());
}

#[test]
fn readers_and_a_rotation_do_not_disturb_each_other() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let secrets = store(data.path());
    for at in 0..10 {
        secrets.set(&format!("s{at}"), b"x", &env).unwrap();
    }
    std::thread::scope(|scope| {
        let rotating =
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(secrets.rotate(None, &env).unwrap(), 10)));
        while !rotating.is_finished() {
            for at in 0..10 {
                assert_eq!(got(&secrets, &format!("s{at}")), Some(b"x".to_vec()));
            }
        }
        rotating.join().unwrap();
    });
}
