//! Fingerprints hold over edits elsewhere, other builds and other folders, so that a baseline lasts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Compiler, compilers, reweave};

/// The files of a small project with races: of a counter with itself, of a field, of a block of the heap, and two in one function.
const PROJECT: [(&str, &str); 4] = [
    (
        "stats.h",
        "\
struct stats { long hits; long misses; };
struct queue { int length; int limit; };
extern struct stats stats;
void stats_hit(int n);
void stats_miss(void);
long stats_total(void);
struct queue *queue_new(int limit);
void queue_push(struct queue *q);
",
    ),
    (
        "stats.c",
        "\
#include \"stats.h\"
struct stats stats;
static int seen;
static inline void mark(int n) {
    seen += n;
}
void stats_hit(int n) {
    stats.hits += n;
    mark(1);
}
void stats_miss(void) {
    stats.misses++;
    mark(2);
}
long stats_total(void) {
    return stats.hits + stats.misses;
}
",
    ),
    (
        "queue.c",
        "\
#include <stdlib.h>
#include \"stats.h\"
struct queue *queue_new(int limit) {
    struct queue *q = malloc(sizeof *q);
    q->length = 0;
    q->limit = limit;
    return q;
}
void queue_push(struct queue *q) {
    if (q->length < q->limit)
        q->length++;
}
",
    ),
    (
        "main.c",
        "\
#include <pthread.h>
#include <stdio.h>
#include \"stats.h\"
static struct queue *queue;
static void *first(void *arg) {
    stats_hit(1);
    queue_push(queue);
    return arg;
}
static void *second(void *arg) {
    stats_hit(2);
    stats_miss();
    queue_push(queue);
    return arg;
}
int main(void) {
    pthread_t a, b;
    queue = queue_new(10);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    stats_miss();
    printf(\"%d\\n\", stats_total() >= 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
",
    ),
];

/// A project of a few files.
#[derive(Clone)]
struct Project(Vec<(&'static str, String)>);

impl Project {
    fn new() -> Project {
        Project(PROJECT.map(|(name, text)| (name, text.to_owned())).to_vec())
    }

    /// Puts `to` in the place of `from`, which must be there once.
    fn edit(&mut self, file: &str, from: &str, to: &str) {
        let (_, text) = self.0.iter_mut().find(|(name, _)| *name == file).expect("a file");
        assert_eq!(text.matches(from).count(), 1, "{file}: {from:?}");
        *text = text.replace(from, to);
    }

    /// Builds it in `folder`, records it there, and predicts its races with more `options`: the exit code and the fingerprints.
    fn races(
        &self,
        folder: &Path,
        compiler: Compiler,
        flags: &[&str],
        options: &[&Path],
    ) -> (Option<i32>, Vec<String>) {
        fs::create_dir_all(folder).expect("a folder");
        for (name, text) in &self.0 {
            fs::write(folder.join(name), text).expect("a source");
        }
        let run = |arguments: &[&str]| {
            let ran = reweave()
                .env("REWEAVE_CC", compiler.c)
                .current_dir(folder)
                .args(arguments)
                .output()
                .expect("the command starts");
            assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        };
        let sources = ["main.c", "stats.c", "queue.c", "-pthread", "-o", "program"];
        run(&[&["cc"], flags, &sources].concat());
        run(&["record", "--timeout", "60s", "--seed", "1", "-o", "trace.rw", "--", "./program"]);
        let found = folder.join("found.json");
        let ran = reweave()
            .args(["predict", "--quiet", "--kinds", "race", "--json"])
            .arg(&found)
            .args(options)
            .arg(folder.join("trace.rw"))
            .output()
            .expect("the command starts");
        let text = fs::read_to_string(&found).expect("a document");
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let findings = document["findings"].as_array().expect("findings");
        let prints = findings.iter().map(|one| one["fingerprint"].as_str().expect("a text").to_owned());
        (ran.status.code(), prints.collect())
    }
}

fn set(prints: Vec<String>) -> BTreeSet<String> {
    let (count, set) = (prints.len(), BTreeSet::from_iter(prints));
    assert_eq!(set.len(), count, "two findings have one fingerprint");
    set
}

#[test]
fn fingerprints_hold_over_inserted_lines_other_builds_and_other_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::new();
    let mut longer = project.clone();
    for (_, text) in &mut longer.0 {
        text.insert_str(0, &"/* nothing */\n".repeat(40));
    }
    for compiler in compilers() {
        let at = |name: &str| folder.path().join(compiler.c).join(name);
        let (code, prints) = project.races(&at("here"), compiler, &["-g"], &[]);
        let expected = set(prints);
        assert_eq!(code, Some(1), "{compiler:?}");
        // Of hits, misses, seen and length.
        assert!(expected.len() >= 4, "{compiler:?}: {expected:?}");
        for (place, project, flags) in [
            ("here", &longer, &["-g"][..]),
            ("a/folder/further/down", &project, &["-g"]),
            ("here", &project, &["-O1", "-g"]),
            ("here", &longer, &["-O2", "-g"]),
        ] {
            let (_, prints) = project.races(&at(place), compiler, flags, &[]);
            assert_eq!(set(prints), expected, "{compiler:?} {flags:?} {place}");
        }
    }
}

/// What twenty commits change: file, from, to.
const COMMITS: [(&str, &str, &str); 20] = [
    ("stats.c", "#include", "/*\n * Counters of the program.\n */\n#include"),
    ("stats.h", "long stats_total", "void stats_reset(void);\nlong stats_total"),
    ("stats.c", "long stats_total", "void stats_reset(void) {\n    seen = 0;\n}\nlong stats_total"),
    ("main.c", "#include <stdio.h>\n", "#include <stdio.h>\n#include <string.h>\n\n"),
    ("stats.h", "long hits; long misses;", "long runs; long hits; long spare; long misses;"),
    ("main.c", "    return 0;\n", "    puts(\"done\");\n    return 0;\n"),
    ("queue.c", "    return q;\n", "    if (limit < 0)\n        q->limit = 0;\n    return q;\n"),
    ("queue.c", "malloc(sizeof *q)", "calloc(2, sizeof *q)"),
    ("stats.c", "static int seen;\n", "static int other[7];\nstatic int seen;\n"),
    ("stats.c", "    seen = 0;\n", "    seen = 0;\n    other[3] = 0;\n"),
    // A function that races is moved to the end of its file, and one below another.
    ("stats.c", "void stats_hit(int n) {\n    stats.hits += n;\n    mark(1);\n}\n", ""),
    (
        "stats.c",
        "hits + stats.misses;\n}\n",
        "hits + stats.misses;\n}\n\nvoid stats_hit(int n) {\n    stats.hits += n;\n    mark(1);\n}\n",
    ),
    (
        "queue.c",
        "void queue_push",
        "int queue_full(struct queue *q) { return q->limit == 0; }\nvoid queue_push",
    ),
    ("stats.h", "struct queue {", "struct queue { long id;"),
    (
        "main.c",
        "static struct queue *queue;\n",
        "static const char *name = \"main\";\nstatic struct queue *queue;\n",
    ),
    ("main.c", "printf(\"%d\\n\", stats", "printf(\"%zu %d\\n\", strlen(name), stats"),
    ("main.c", "queue_new(10)", "queue_new(20)"),
    ("stats.c", "struct stats stats;\n", "int version = 2;\n\nstruct stats stats;\n"),
    ("queue.c", "#include <stdlib.h>\n", "#include <errno.h>\n#include <stdlib.h>\n"),
    ("queue.c", "    q->limit = limit;\n", "    q->limit = limit; /* at most */\n    q->id = 7;\n"),
];

#[test]
fn a_baseline_lasts_for_twenty_commits_and_hides_nothing_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = compilers()[0];
    let mut project = Project::new();
    let flags = &["-O1", "-g"][..];
    let (code, old) = project.races(folder.path(), compiler, flags, &[]);
    assert!(code == Some(1) && old.len() >= 4, "{code:?} {old:?}");
    let baseline = folder.path().join("baseline.json");
    fs::rename(folder.path().join("found.json"), &baseline).expect("a baseline");
    let options = [Path::new("--baseline"), &baseline];
    for (number, (file, from, to)) in COMMITS.into_iter().enumerate() {
        project.edit(file, from, to);
        if from.starts_with("void stats_hit") && to.is_empty() {
            // The next commit puts it back elsewhere.
            continue;
        }
        let found = project.races(folder.path(), compiler, flags, &options);
        assert_eq!(found, (Some(0), Vec::new()), "commit {number}");
    }
    // One more line in a function that has a known race, on a variable that has one.
    project.edit(
        "stats.c",
        "    stats.misses++;\n",
        "    stats.misses++;\n    stats.misses -= stats.hits;\n",
    );
    let (code, new) = project.races(folder.path(), compiler, flags, &options);
    assert!(code == Some(1) && !new.is_empty(), "{code:?} {new:?}");
    assert!(new.iter().all(|print| !old.contains(print)), "{new:?}");
}
