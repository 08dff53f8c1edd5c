//! Declarations: read whole, followed, and kept when an edit is wrong.

use tonic::Code;
use weft_catalog::{Settings, read_fleet};
use weft_chassis::Env;

use crate::world::{MESH, World, next, node, of};

#[tokio::test(start_paused = true)]
async fn the_first_snapshot_is_what_the_folder_declares() {
    let world = World::open(&[
        ("b.toml", &node("b", "one")),
        ("a.toml", &node("a", "one")),
        (".a.toml", "["),
        ("x.txt", "["),
    ]);
    let snapshot = next(&mut world.watch().await).await;
    assert_eq!(snapshot.nodes.iter().map(|n| n.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(snapshot.capabilities.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["a.ask", "b.ask"]);
    assert_eq!(snapshot.mesh.as_ref().unwrap().name, "Weft");
    assert!(snapshot.revision > 0 && snapshot.changed.is_some());
    assert_eq!(of(&snapshot, "a").health, None, "nothing is known of it yet");
}

#[tokio::test(start_paused = true)]
async fn an_edit_reaches_every_reader_without_a_restart() {
    let world = World::open(&[("a.toml", &node("a", "one"))]);
    let mut readers = [world.watch().await, world.watch().await];
    let mut first = 0;
    for reader in &mut readers {
        first = next(reader).await.revision;
    }
    world.write("b.toml", &node("b", "two"));
    for reader in &mut readers {
        let snapshot = next(reader).await;
        assert_eq!((snapshot.nodes.len(), snapshot.revision > first), (2, true));
    }
    std::fs::remove_file(world.folder.path().join("b.toml")).unwrap();
    assert_eq!(next(&mut readers[0]).await.nodes.len(), 1);
    let fleet = world.handle.fleets().borrow().clone();
    assert!(fleet.node("b").is_none() && fleet.node("a").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_wrong_edit_leaves_the_last_good_fleet_and_says_why() {
    let world = World::open(&[("a.toml", &node("a", "one"))]);
    let before = world.handle.snapshot();
    world.write("a.toml", &node("a", "one").replace("fields", "feelds"));
    let problems = world.handle.reload().unwrap_err().to_string();
    assert!(problems.contains("a.toml: `tool(a.rows).feelds`"), "{problems}");
    assert_eq!(world.handle.snapshot(), before);
    assert!(world.env.metrics().render().contains("weft_catalog_manifests_refused 1"));
    world.write("a.toml", &node("a", "mended"));
    assert!(world.handle.reload().unwrap());
    let after = world.handle.snapshot();
    assert_eq!((of(&after, "a").role.as_str(), after.revision > before.revision), ("mended", true));
    assert!(world.env.metrics().render().contains("weft_catalog_manifests_refused 0"));
    assert!(!world.handle.reload().unwrap(), "nothing changed");
    assert_eq!(world.handle.snapshot().revision, after.revision);
}

#[tokio::test(start_paused = true)]
async fn the_revision_is_the_same_after_a_restart() {
    let world = World::open(&[("a.toml", &node("a", "one"))]);
    let before = world.handle.snapshot().revision;
    let again = World::over(world.folder, |_| {});
    assert_eq!(again.handle.snapshot().revision, before);
}

#[tokio::test(start_paused = true)]
async fn one_reader_too_many_hears_when_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.toml"), MESH).unwrap();
    let world = World::over(folder, |settings| settings.watchers_max = 1);
    let held = world.watch().await;
    let refused = world.catalog.clone().watch(weft_proto::weft::WatchRequest {}).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    drop(held);
    let _free = world.watch().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_the_mesh_stops() {
    let world = World::open(&[]);
    let mut reader = world.watch().await;
    next(&mut reader).await;
    assert!(world.env.drain(std::time::Duration::from_secs(5)).await);
    assert!(reader.message().await.unwrap().is_none());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let problems = read_fleet(std::path::Path::new("no/such/folder")).unwrap_err().to_string();
    assert!(problems.starts_with("no/such/folder: cannot be read"), "{problems}");
}

#[tokio::test]
async fn a_wrong_folder_at_the_start_is_an_error_with_every_problem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.toml"), MESH.replace("name", "nom")).unwrap();
    std::fs::write(folder.path().join("a.toml"), node("a", "one").replace("json", "jason")).unwrap();
    let settings = Settings { dir: folder.path().display().to_string(), ..Settings::default() };
    let problems = weft_catalog::routes(&settings, &Env::simulated(1)).err().expect("it opens").to_string();
    for part in
        ["mesh.toml: `mesh.nom`", "mesh.toml: `mesh.name` is missing", "a.toml: `tool(a.rows).source.kind`"]
    {
        assert!(problems.contains(part), "{problems} lacks {part}");
    }
}
