//! What `scripts/package` makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{files, is_there, root, run, try_out};

/// Makes the packages of the program under test.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let script = root().join("scripts/package");
    run(Command::new(script).args(["--quick", "--binary", env!("CARGO_BIN_EXE_reweave")]).arg(folder));
    files(folder)
}

fn with_end<'p>(packages: &'p [PathBuf], end: &str) -> Option<&'p PathBuf> {
    packages.iter().find(|path| path.to_string_lossy().ends_with(end))
}

/// What has to be below a prefix, whoever installed it.
const INSTALLED: &[&str] = &[
    "bin/reweave",
    "share/bash-completion/completions/reweave",
    "share/fish/vendor_completions.d/reweave.fish",
    "share/doc/reweave/README.md",
    "share/doc/reweave/docs/guide/install.md",
];

#[test]
fn release_installs_from_the_tarball_and_from_the_debian_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = packages(folder.path());
    let page = fs::read_to_string(root().join("docs/guide/install.md")).expect("the page");
    for name in made.iter().map(|path| path.file_name().expect("a name").to_string_lossy()) {
        let takes = |line: &str| line.starts_with("tar -xzf ") || line.starts_with("sudo apt install ./");
        let named = page.lines().any(|line| takes(line) && line.contains(&*name));
        assert!(named, "docs/guide/install.md does not install {name}");
    }
    let tarball = with_end(&made, ".tar.gz").expect("there is a tarball");
    let prefix = folder.path().join("prefix");
    fs::create_dir(&prefix).expect("a folder");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(folder.path().join(tarball))
        .arg("-C")
        .arg(&prefix)
        .arg("--strip=1"));
    for path in
        INSTALLED.iter().chain(&["share/man/man1/reweave-predict.1", "share/zsh/site-functions/_reweave"])
    {
        assert!(prefix.join(path).is_file(), "{path}");
    }
    try_out(&prefix.join("bin/reweave"));
    let completions = prefix.join(INSTALLED[1]);
    let asked =
        run(Command::new("bash").args(["-c", "source \"$0\" && complete -p reweave"]).arg(completions));
    assert!(asked.contains("reweave"), "{asked}");

    let Some(package) = with_end(&made, ".deb") else {
        assert!(!is_there("dpkg-deb"), "no Debian package was made");
        return eprintln!("notice: dpkg-deb is not here: no Debian package is made");
    };
    debian(&folder.path().join(package), &folder.path().join("system"));
}

/// Installs the package into a system that has nothing else, tries it and removes it.
fn debian(package: &Path, system: &Path) {
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(system.join("var/lib/dpkg").join(folder)).expect("a folder");
    }
    for file in ["status", "available"] {
        fs::write(system.join("var/lib/dpkg").join(file), "").expect("a file");
    }
    let dpkg = || {
        let mut command = Command::new("dpkg");
        // libc is outside of that folder.
        command.arg(format!("--root={}", system.display())).args(["--force-depends", "--force-not-root"]);
        command.args(["--force-script-chrootless", "--log=/dev/null"]);
        command
    };
    run(dpkg().arg("--install").arg(package));
    let listed = run(dpkg().args(["--listfiles", "reweave"]));
    let also = [
        "share/man/man1/reweave-predict.1.gz",
        "share/zsh/vendor-completions/_reweave",
        "share/doc/reweave/copyright",
    ];
    for path in INSTALLED.iter().chain(&also) {
        assert!(system.join("usr").join(path).is_file(), "{path}");
        assert!(listed.lines().any(|line| line == format!("/usr/{path}")), "{path}");
    }
    let page = run(Command::new("gzip").arg("-dc").arg(system.join("usr").join(also[0])));
    assert!(page.contains(".TH reweave-predict"), "{page}");
    try_out(&system.join("usr/bin/reweave"));
    run(dpkg().args(["--purge", "reweave"]));
    assert!(!system.join("usr").exists(), "the package leaves something behind: {:?}", files(system));
}

#[test]
fn script_says_what_it_takes() {
    let script = root().join("scripts/package");
    let help = run(Command::new(&script).arg("--help"));
    assert!(help.contains("scripts/package [--binary FILE]"), "{help}");
    let wrong = Command::new(&script).args(["--binary", "/nowhere/reweave"]).output().expect("it starts");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("is not a program"));
}
