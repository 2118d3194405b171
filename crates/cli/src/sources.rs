//! Source files: where they lie, how their paths are shown, and excerpts of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use reweave_report::json::predict::Finding;
use reweave_report::view::SourceText;
use serde_json::Value;

use crate::args::Showing;

/// Larger files are no source.
const MOST: u64 = 1 << 22;

/// The sources that the sites of a trace are in.
///
/// Nothing outside of the root is read: a trace may name any file of the machine, and reports are passed on.
pub(crate) struct Sources {
    root: PathBuf,
    excerpts: bool,
    recorded: Option<SystemTime>,
    files: RefCell<BTreeMap<String, Option<Read>>>,
}

/// The text of a file, and whether it is newer than the trace.
type Read = (Rc<str>, bool);

impl Sources {
    /// The sources of the program that `trace` is of.
    pub(crate) fn new(showing: &Showing, trace: &Path) -> Sources {
        let root = showing.source_root.clone().or_else(|| repository(Path::new(".")));
        let root = root.unwrap_or_else(|| PathBuf::from("."));
        let recorded = trace.metadata().and_then(|about| about.modified()).ok();
        let root = root.canonicalize().unwrap_or(root);
        Sources { root, excerpts: !showing.no_source, recorded, files: RefCell::default() }
    }

    /// The finding with paths from the root.
    pub(crate) fn shown(&self, finding: &mut Finding) {
        let root = format!("{}/", self.root.display());
        let Ok(mut value) = serde_json::to_value(&*finding) else { return };
        if root.len() > 1
            && replace(&mut value, &root)
            && let Ok(changed) = serde_json::from_value(value)
        {
            *finding = changed;
        }
    }

    /// A text with paths from the root.
    pub(crate) fn shown_text(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
    }

    fn read(&self, file: &str) -> Option<Read> {
        let path = self.find(file)?;
        let about = path.metadata().ok().filter(|about| about.is_file() && about.len() <= MOST)?;
        let newer = self.recorded.zip(about.modified().ok()).is_some_and(|(then, now)| now > then);
        let bytes = std::fs::read(&path).ok()?;
        Some((String::from_utf8_lossy(&bytes).into(), newer))
    }

    /// The file below the root that a site means: a path from the root or from here, or the longest end of a path of
    /// another machine that there is.
    fn find(&self, file: &str) -> Option<PathBuf> {
        let below = |path: PathBuf| path.canonicalize().ok().filter(|path| path.starts_with(&self.root));
        if let Some(found) = below(self.root.join(file)).or_else(|| below(PathBuf::from(file))) {
            return Some(found);
        }
        let parts: Vec<_> = Path::new(file).components().collect();
        (1..parts.len()).find_map(|from| {
            below(parts[from..].iter().fold(self.root.clone(), |path, part| path.join(part)))
        })
    }
}

impl SourceText for Sources {
    fn text(&self, file: &str) -> Option<(Rc<str>, bool)> {
        if !self.excerpts {
            return None;
        }
        let known = self.files.borrow().get(file).cloned();
        known.unwrap_or_else(|| {
            let read = self.read(file);
            self.files.borrow_mut().insert(file.to_owned(), read.clone());
            read
        })
    }
}

/// The nearest folder around `path` that is the root of a repository.
fn repository(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    path.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Takes `root` out of every text; whether there was one that had it.
fn replace(value: &mut Value, root: &str) -> bool {
    match value {
        Value::String(text) if text.contains(root) => {
            *text = text.replace(root, "");
            true
        }
        Value::Array(list) => list.iter_mut().fold(false, |any, value| replace(value, root) | any),
        Value::Object(map) => map.values_mut().fold(false, |any, value| replace(value, root) | any),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_root_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.c"), "int a;\n").unwrap();
        std::fs::write(folder.path().join("secret.c"), "secret\n").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.c"), root.join("link.c")).unwrap();
        let showing = Showing { source_root: Some(root.clone()), no_source: false };
        let sources = Sources::new(&showing, Path::new("none.rw"));
        let text = |file: &str| sources.text(file).map(|(text, _)| text.to_string());
        let absolute = root.join("src/a.c");
        for file in ["src/a.c", "/home/other/project/src/a.c", absolute.to_str().unwrap()] {
            assert_eq!(text(file).as_deref(), Some("int a;\n"), "{file}");
        }
        let secret = folder.path().join("secret.c");
        for file in ["../secret.c", "link.c", "/etc/passwd", secret.to_str().unwrap(), "none.c", ""] {
            assert_eq!(text(file), None, "{file}");
        }
        let showing = Showing { no_source: true, ..showing };
        assert!(Sources::new(&showing, Path::new("none.rw")).text("src/a.c").is_none());
    }
}
