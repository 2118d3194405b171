//! A patch: which lines went, which came, and where the others are now.
//!
//! Reads unified diffs, as `git diff` and `diff -u` write them. Files are found by the ends of their paths, since debug
//! information names them from another folder than a patch does.

use std::collections::BTreeSet;

/// What a patch does to the lines of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Diff {
    files: Vec<Changed>,
}

/// A file that a patch changes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Changed {
    old: Vec<String>,
    new: Vec<String>,
    removed: BTreeSet<u32>,
    added: BTreeSet<u32>,
}

/// What became of a line of the old program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// It is at this line now.
    At(u32),
    /// It is gone.
    Gone,
}

/// How far the reader of a hunk has come in both files, and what is left of it.
struct Place {
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

impl Diff {
    /// Reads a patch; an error says what is wrong in which line of it.
    pub fn parse(text: &str) -> Result<Diff, String> {
        let mut diff = Diff::default();
        let (mut old, mut hunk): (Option<Vec<String>>, Option<Place>) = (None, None);
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &str| format!("line {}: {what}: `{line}`", number + 1);
            if let Some(place) = hunk.as_mut().filter(|place| place.old_left + place.new_left > 0) {
                let file = diff.files.last_mut().ok_or_else(|| wrong("a hunk of no file"))?;
                place.step(line, file).ok_or_else(|| {
                    wrong(
                        "a line of a hunk begins with a space, -, + or \\, and there are as many as it says",
                    )
                })?;
            } else if let Some(name) = line.strip_prefix("--- ") {
                (old, hunk) = (Some(path(name)), None);
            } else if let Some(name) = line.strip_prefix("+++ ") {
                let old = old.take().ok_or_else(|| wrong("+++ without --- before it"))?;
                diff.files.push(Changed {
                    old,
                    new: path(name),
                    removed: BTreeSet::new(),
                    added: BTreeSet::new(),
                });
            } else if let Some(head) = line.strip_prefix("@@ -") {
                hunk = Some(Place::read(head).ok_or_else(|| wrong("this is no head of a hunk"))?);
            }
        }
        if hunk.is_some_and(|place| place.old_left + place.new_left > 0) {
            return Err("its last hunk is cut off".to_owned());
        }
        Ok(diff)
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.removed.is_empty() && file.added.is_empty())
    }

    /// What became of a line of a file of the old program; none where the patch does not touch the file.
    pub fn moved(&self, file: &str, line: u32) -> Option<Line> {
        let changed = find(file, &self.files, |changed| &changed.old)?;
        if changed.removed.contains(&line) {
            return Some(Line::Gone);
        }
        // The lines that stay keep their order: it is as many kept lines from the start as before.
        let kept = line.checked_sub(changed.removed.range(..line).count() as u32)?;
        let mut at = kept;
        for &added in &changed.added {
            if added > at {
                break;
            }
            at += 1;
        }
        Some(Line::At(at))
    }

    /// Whether a line of the new program came with the patch.
    pub fn is_added(&self, file: &str, line: u32) -> bool {
        find(file, &self.files, |changed| &changed.new).is_some_and(|changed| changed.added.contains(&line))
    }

    /// Whether a line of the old program went with the patch.
    pub fn is_removed(&self, file: &str, line: u32) -> bool {
        self.moved(file, line) == Some(Line::Gone)
    }
}

impl Place {
    /// `12,3 +14,5 @@ …`
    fn read(head: &str) -> Option<Place> {
        let (old, rest) = head.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| -> Option<(u32, u32)> {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse().ok()?, count.parse().ok()?))
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        // A file that has no lines begins at 0, and where none are on one side, the line before is named.
        let first = |start: u32, count: u32| if count == 0 { start + 1 } else { start };
        Some(Place { old: first(old, old_left), new: first(new, new_left), old_left, new_left })
    }

    fn step(&mut self, line: &str, file: &mut Changed) -> Option<()> {
        let (goes, comes) = match line.as_bytes().first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            // Mail programs take the space of an empty line away.
            Some(b' ') | None => (true, true),
            Some(b'\\') => return Some(()),
            _ => return None,
        };
        if goes {
            self.old_left = self.old_left.checked_sub(1)?;
            if !comes {
                file.removed.insert(self.old);
            }
            self.old += 1;
        }
        if comes {
            self.new_left = self.new_left.checked_sub(1)?;
            if !goes {
                file.added.insert(self.new);
            }
            self.new += 1;
        }
        Some(())
    }
}

/// The parts of a path, without the date that `diff` writes after it.
fn path(name: &str) -> Vec<String> {
    parts(name.split('\t').next().unwrap_or(name).trim_matches('"'))
}

fn parts(name: &str) -> Vec<String> {
    name.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
}

/// The file of a patch that a path of debug information is: one ends with the other, where the patch's first part (`a/`, `b/`, the
/// folder of the old program) may be missing.
fn find<'f>(
    file: &str,
    files: &'f [Changed],
    side: impl Fn(&'f Changed) -> &'f Vec<String>,
) -> Option<&'f Changed> {
    let mine = parts(file);
    let common = |theirs: &[String]| {
        let is_it = !theirs.is_empty() && (mine.ends_with(theirs) || theirs.ends_with(&mine));
        is_it.then(|| theirs.len().min(mine.len()))
    };
    let likeness = |changed: &'f Changed| {
        let theirs = side(changed).as_slice();
        common(theirs).into_iter().chain(common(theirs.get(1..)?)).max()
    };
    let found = files.iter().filter_map(|changed| Some((likeness(changed)?, changed)));
    found.max_by_key(|(likeness, _)| *likeness).map(|(_, changed)| changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/src/cache.c b/src/cache.c\n--- a/src/cache.c\n+++ b/src/cache.c\n\
        @@ -2,4 +2,5 @@ static void x\n two\n-three\n+three and\n+a half\n four\n five\n\
        @@ -20,1 +21,0 @@\n--- twenty\n";

    #[test]
    fn lines_move() {
        let diff = Diff::parse(PATCH).expect("it is a patch");
        let file = "/tmp/build/src/cache.c";
        for (old, new) in [(1, 1), (2, 2), (4, 5), (5, 6), (19, 20), (21, 21), (300, 300)] {
            assert_eq!(diff.moved(file, old), Some(Line::At(new)), "line {old}");
        }
        assert_eq!([3, 20].map(|line| diff.moved(file, line)), [Some(Line::Gone); 2]);
        assert!(diff.is_added("cache.c", 3) && diff.is_added(file, 4) && !diff.is_added(file, 5));
        assert_eq!(diff.moved("src/other.c", 3), None);
        assert_eq!(diff.moved("lib/cache.c", 3), None, "another file of that name");
    }

    /// Line by line, against what `diff` says of two texts.
    #[test]
    fn every_line_that_stays_is_found_again() {
        let mut state = 3u32;
        let mut next = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        for _ in 0..200 {
            let (mut text, mut old, mut new) = (String::new(), Vec::new(), Vec::new());
            for line in 0..next(12) {
                match next(3) {
                    0 => {
                        text += &format!("-gone {line}\n");
                        old.push(format!("gone {line}"));
                    }
                    1 => {
                        text += &format!("+come {line}\n");
                        new.push(format!("come {line}"));
                    }
                    _ => {
                        text += &format!(" stays {line}\n");
                        old.push(format!("stays {line}"));
                        new.push(format!("stays {line}"));
                    }
                }
            }
            let start = |lines: &[String]| u32::from(!lines.is_empty());
            let head = format!("@@ -{},{} +{},{} @@", start(&old), old.len(), start(&new), new.len());
            let diff = Diff::parse(&format!("--- old/f.c\n+++ new/f.c\n{head}\n{text}")).expect("a patch");
            for (place, line) in old.iter().enumerate() {
                let expected = match new.iter().position(|other| other == line) {
                    Some(at) => Line::At(at as u32 + 1),
                    None => Line::Gone,
                };
                assert_eq!(diff.moved("f.c", place as u32 + 1), Some(expected), "{line} of {text}");
            }
            for (place, line) in new.iter().enumerate() {
                assert_eq!(diff.is_added("f.c", place as u32 + 1), line.starts_with("come"), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        assert!(Diff::parse("--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n").is_err(), "cut off");
        let said = Diff::parse("--- a\n+++ b\n@@ -1 +1 @@\n?\n").expect_err("no line of a patch");
        assert!(said.starts_with("line 4: "), "{said}");
        assert!(Diff::parse("--- a\n+++ b\n@@ -x +1 @@\n").is_err());
        assert!(Diff::parse("nothing").expect("no files").is_empty());
    }
}
