//! Embeds a console that was built after the last build: the folder's files are tracked one by one, its coming and
//! going is not. Unoptimised builds read the folder as they run.

const DIST: &str = "../console/dist";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rerun-if-changed={DIST}");
    }
}
