//! Traces that others recorded, where somebody put some beside the project.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a collection, sorted: those in a folder of that name under `traces` in any folder beside the project,
/// or under the folder that `REWEAVE_RECORDED` names. Empty, with a notice, where there are none.
pub fn recorded(collection: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = roots()
        .into_iter()
        .filter_map(|root| fs::read_dir(root.join(collection)).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .collect();
    files.sort();
    files.dedup();
    if files.is_empty() {
        println!("the recorded traces `{collection}` are not here: nothing to check");
    }
    files
}

fn roots() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os("REWEAVE_RECORDED") {
        return vec![PathBuf::from(folder)];
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folders = fs::read_dir(beside).into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join("traces")).filter(|folder| folder.is_dir()).collect()
}
