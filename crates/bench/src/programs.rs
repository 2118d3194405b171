//! The programs that are recorded: compressors with two threads, from Debian's source packages.
//!
//! Where those cannot be had, a small program of the same shape takes their place. The compressed files are machine code: the
//! start of this very program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// What is built, and how it is called.
pub(crate) struct Program {
    /// What it is, for people.
    pub(crate) about: String,
    /// What its files begin with.
    pub(crate) name: &'static str,
    /// The sources of C and of C++.
    pub(crate) sources: [Vec<PathBuf>; 2],
    pub(crate) flags: &'static [&'static str],
    pub(crate) arguments: Vec<String>,
}

/// pbzip2, with bzip2 compiled in.
pub(crate) fn pbzip2(folder: &Path) -> Result<Program> {
    const BYTES: usize = 1_000_000;
    let [pbzip2, bzip2] = fetched(folder, ["pbzip2", "bzip2"])?;
    let library = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];
    let c = library.map(|name| bzip2.join(name).with_extension("c")).to_vec();
    Ok(Program {
        about: format!("pbzip2 -p2 -b1 on {BYTES} bytes of machine code, bzip2 compiled in"),
        name: "pbzip2",
        sources: [c, sources_in(&pbzip2, "cpp")?],
        flags: &["-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION"],
        arguments: arguments(&["-p2", "-b1", "-kc"], &input(folder, "input", BYTES)?),
    })
}

/// zstd, in four equal pieces.
pub(crate) fn zstd(folder: &Path) -> Result<Program> {
    const BYTES: usize = 2 << 20;
    let [zstd] = fetched(folder, ["libzstd"])?;
    let mut c = Vec::new();
    for part in ["lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs"] {
        c.extend(sources_in(&zstd.join(part), "c")?);
    }
    Ok(Program {
        about: format!("zstd -3 -T2 -B{} on {BYTES} bytes of machine code", BYTES / 4),
        name: "zstd",
        sources: [c, Vec::new()],
        flags: &[
            "-DZSTD_MULTITHREAD",
            "-DZSTD_LEGACY_SUPPORT=0",
            "-DZSTD_DISABLE_ASM",
            "-DXXH_NAMESPACE=ZSTD_",
        ],
        arguments: arguments(&["-q", "-c", "-3", "-T2", "-B524288"], &input(folder, "input-2", BYTES)?),
    })
}

/// The small program's name.
pub(crate) const OWN: &str = "blocks";

/// The small program.
pub(crate) fn own() -> Program {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/blocks.c");
    Program {
        about: "a small program of the same shape".to_owned(),
        name: OWN,
        sources: [vec![source], Vec::new()],
        flags: &[],
        arguments: Vec::new(),
    }
}

fn arguments(words: &[&str], input: &Path) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).chain([input.display().to_string()]).collect()
}

/// A file of so many bytes.
fn input(folder: &Path, name: &str, bytes: usize) -> Result<PathBuf> {
    let path = folder.join(name);
    let code = fs::read(std::env::current_exe()?)?;
    fs::write(&path, code.get(..bytes).context("this program is too small to be compressed")?)?;
    Ok(path)
}

fn sources_in(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == end));
    found.sort();
    Ok(found)
}

/// Debian's sources of packages in `folder`, fetched where they are missing.
fn fetched<const N: usize>(folder: &Path, packages: [&str; N]) -> Result<[PathBuf; N]> {
    let find = |package: &str| -> Option<PathBuf> {
        let prefix = format!("{package}-");
        let mut entries = fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
        entries.find(|path| {
            path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
    };
    if packages.iter().any(|package| find(package).is_none()) {
        fetch(folder, &packages)?;
    }
    let mut found = [const { PathBuf::new() }; N];
    for (place, package) in found.iter_mut().zip(packages) {
        *place = find(package).with_context(|| format!("no {package}"))?;
    }
    Ok(found)
}

fn fetch(folder: &Path, packages: &[&str]) -> Result<()> {
    let release = fs::read_to_string("/etc/os-release")?;
    let name =
        release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).context("no Debian")?;
    let (list, state) = (folder.join("sources.list"), folder.join("lists"));
    fs::write(&list, format!("deb-src {} {name} main\n", mirror(name)?))?;
    fs::create_dir_all(state.join("partial"))?;
    let apt = |arguments: &[&str]| {
        checked(
            Command::new("apt-get")
                .current_dir(folder)
                .arg("-o")
                .arg(format!("Dir::Etc::SourceList={}", list.display()))
                .args(["-o", "Dir::Etc::SourceParts=/dev/null", "-o"])
                .arg(format!("Dir::State::lists={}", state.display()))
                .args(arguments),
        )
    };
    apt(&["update"])?;
    apt(&[&["source"], packages].concat())?;
    Ok(())
}

/// Where this machine has the packages of a release from; their sources are there, too.
fn mirror(release: &str) -> Result<String> {
    let mut command = Command::new("apt-get");
    command.args([
        "indextargets",
        "--format",
        "$(REPO_URI) $(CODENAME) $(COMPONENT)",
        "Created-By: Packages",
    ]);
    let said = String::from_utf8(command.output()?.stdout)?;
    let main = said.lines().find_map(|line| line.strip_suffix(&format!(" {release} main")));
    Ok(main.context("apt does not know where packages are")?.to_owned())
}

/// Runs a command that must succeed.
pub(crate) fn checked(command: &mut Command) -> Result<Output> {
    let ran = command.stdin(Stdio::null()).output().with_context(|| format!("{command:?}"))?;
    if !ran.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    Ok(ran)
}
