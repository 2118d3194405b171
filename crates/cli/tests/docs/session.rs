//! A session in a shell: commands one after another, in a folder of their own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The folder that the commands of one page run in.
pub(crate) struct Session {
    folder: TempDir,
}

impl Session {
    /// A folder with a copy of `examples` in it.
    pub(crate) fn new(examples: &Path) -> Session {
        let folder = tempfile::tempdir().expect("a folder");
        copy(examples, &folder.path().join("examples"));
        Session { folder }
    }

    /// Runs a command; gives what it printed, and its exit code as `[N]` where that is not 0.
    pub(crate) fn run(&self, command: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_reweave"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            [binary.parent().expect("a folder").to_owned()].into_iter().chain(std::env::split_paths(&path));
        let output = Command::new("bash")
            .arg("-c")
            .arg(format!("exec 2>&1\n{command}"))
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(folders).expect("folders without colons"))
            // What is printed must not depend on which compilers are installed; pages that are about the plugin name it.
            .env("REWEAVE_FRONT", "tsan")
            .stdin(Stdio::null())
            .output()
            .expect("bash starts");
        let folder = self.folder.path().to_string_lossy().into_owned();
        let mut text = String::from_utf8_lossy(&output.stdout).replace(&format!("{folder}/"), "");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => text += &format!("[{code}]\n"),
            None => text += "[ended by a signal]\n",
        }
        text
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("it is copied");
        }
    }
}
