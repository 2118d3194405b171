//! The crates as a registry has them: packaged, away from the checkout, and installed by cargo.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{root, run, try_out};

/// Crates that are not published: for tests only, or built into the command.
const NOT_PUBLISHED: &[&str] = &["reweave-bench", "reweave-testkit", "reweave-plugin", "reweave-runtime"];

fn cargo(home: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo says to the programs that it runs does not hold for another cargo.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let is_told = name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST");
        if is_told || name == "RUSTFLAGS" || name == "CARGO_ENCODED_RUSTFLAGS" {
            command.env_remove(&*name);
        }
    }
    command.current_dir(home);
    command
}

/// Packages everything that is published, and unpacks it elsewhere: the folders of the crates, by name.
fn packaged(folder: &Path) -> BTreeMap<String, PathBuf> {
    let target = folder.join("target");
    let mut package = cargo(root());
    package.args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "--quiet",
        "--target-dir",
    ]);
    package.arg(&target);
    for name in NOT_PUBLISHED {
        package.args(["--exclude", name]);
    }
    run(&mut package);
    let mut unpacked = BTreeMap::new();
    for entry in fs::read_dir(target.join("package")).expect("cargo leaves them there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "crate") {
            continue;
        }
        // With the time of now: cargo gives all files in packages the same, and would take them for unchanged.
        run(Command::new("tar").arg("-xzmf").arg(&path).arg("-C").arg(folder));
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let name = stem.rsplit_once('-').expect("a name and a version").0.to_owned();
        unpacked.insert(name, folder.join(stem));
    }
    unpacked
}

/// The line of the page is what is done here, but for where and how fast.
#[test]
fn the_page_packages_the_same_crates() {
    let page = fs::read_to_string(root().join("docs/guide/install.md")).expect("the page");
    let excluded: String = NOT_PUBLISHED.iter().map(|name| format!(" --exclude {name}")).collect();
    let line = format!("cargo package --workspace --no-verify{excluded}");
    assert!(page.lines().any(|of_page| of_page == line), "no `{line}`");
    let made = concat!("ls target/package/reweave-cli-", env!("CARGO_PKG_VERSION"), ".crate");
    assert!(page.lines().any(|of_page| of_page == made), "no `{made}`");
    assert!(page.contains("\ncargo install --path crates/cli "), "the line that installs a checkout");
}

#[test]
fn command_installs_from_packaged_crates() {
    // One folder for all runs: its path is part of what cargo keeps.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged-sources");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let crates = packaged(&folder);
    assert!(crates.len() > 10, "{crates:?}");
    // A workspace of their own: the folder may lie below the checkout, whose workspace they are not part of.
    let members = crates.values().map(|path| path.file_name().expect("a name")).collect::<Vec<_>>();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
    fs::write(folder.join("Cargo.toml"), workspace).expect("a file");
    // The other crates are not in a registry yet: cargo is told where they are unpacked.
    let config = folder.join("config.toml");
    let others = crates.iter().filter(|(name, _)| *name != "reweave-cli");
    let lines =
        others.map(|(name, path)| format!("{name} = {{ path = {:?} }}\n", path.display().to_string()));
    fs::write(&config, format!("[patch.crates-io]\n{}", lines.collect::<String>())).expect("a file");
    let installed = folder.join("installed");
    let mut install = cargo(&folder);
    install.args(["install", "--offline", "--debug", "--quiet", "--config"]).arg(&config);
    install.arg("--path").arg(&crates["reweave-cli"]).arg("--root").arg(&installed);
    // Kept from one run of the tests to the next, for what comes from elsewhere.
    install.arg("--target-dir").arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged"));
    install.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    run(&mut install);
    try_out(&installed.join("bin/reweave"));
    fs::remove_dir_all(&folder).expect("it can be removed");
}

/// The packages of a lock file with their versions.
fn locked(path: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).expect("a lock file");
    let value = |line: Option<&str>, key: &str| {
        line.and_then(|line| line.strip_prefix(key)).map(|line| line.trim_matches(['"', ' ', '=']).to_owned())
    };
    text.split("[[package]]")
        .filter_map(|package| {
            let mut lines = package.trim().lines();
            Some((value(lines.next(), "name")?, value(lines.next(), "version")?))
        })
        .collect()
}

#[test]
fn plugin_is_built_with_the_versions_of_the_workspace() {
    let ours = locked(&root().join("Cargo.lock"));
    let embedded = locked(&root().join("crates/cli/embed/plugin.lock"));
    assert!(embedded.iter().any(|(name, _)| name == "llvm-sys"), "{embedded:?}");
    for package in embedded {
        assert!(ours.contains(&package), "{package:?} of crates/cli/embed/plugin.lock is not in Cargo.lock");
    }
}
