//! Schedules that no run of a correct program follows, made by hand: none is confirmed.
//!
//! Each program is recorded in a run where both events come, in the order that is right. The schedule asks for them the other
//! way round, as a wrong finding would.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use reweave_capture::{About, Step, read_steps};
use reweave_format::{LoadOptions, load};
use reweave_replay::{Named, Order, Outcome, Run, Schedule, Shape, Thread, Wish, text};
use reweave_trace::{EventId, Op, Trace};

use crate::common::{Program, ran, reweave};

/// An event that a schedule asks for: the beginning of its operation, and a part of the name of what it is about. Of several, it
/// is the first of a thread that was made.
type Asked = (&'static str, &'static str);

struct Recorded {
    program: Program,
    trace: Trace,
    steps: Vec<Step>,
    about: About,
}

impl Recorded {
    /// Records a program that reads "AB" from its standard input, with its threads one after another as far as they can.
    fn new(source: &str) -> Recorded {
        let program = Program::of_text(source);
        let input = program.folder.path().join("input");
        fs::write(&input, "AB").expect("it is written");
        let mut command = reweave();
        command.args(["record", "--quiet", "--policy", "plain", "-o"]).arg(&program.trace);
        command.arg("--").arg(&program.path).stdin(File::open(&input).expect("the input"));
        let recorded = ran(&mut command);
        assert_eq!(recorded.code, Some(0), "{}", recorded.err);
        let trace = load(&program.trace, &LoadOptions::default()).expect("a trace").trace;
        let mut steps = Vec::new();
        let file = File::open(beside(&program, ".steps")).expect("the steps");
        let about = read_steps(file, &trace, |_, step| steps.push(step)).expect("steps");
        Recorded { program, trace, steps, about }
    }

    fn find(&self, (operation, target): Asked) -> EventId {
        let found = self.trace.events().find(|(_, event)| {
            self.trace.thread_name(event.thread) != "main"
                && format!("{:?}", event.op.kind()).starts_with(operation)
                && self.trace.target_name(event.op).unwrap_or_default().contains(target)
        });
        found.map(|(id, _)| id).unwrap_or_else(|| panic!("there is no {operation} of {target}"))
    }

    fn named(&self, threads: &[Thread], event: EventId) -> Named {
        let name = self.trace.thread_name(self.trace.thread(event));
        let thread = threads.iter().position(|thread| thread.name == name).expect("a thread");
        let Step { place, occurrence, own } = self.steps[event.index()];
        Named { thread, place, occurrence, own, note: name.to_owned() }
    }

    /// Where the thread of an event gives its lock back.
    fn release_after(&self, event: EventId) -> Option<EventId> {
        let mut later = self.trace.events().filter(|&(id, _)| id > event);
        later
            .find(|(_, later)| later.thread == self.trace.thread(event) && matches!(later.op, Op::Release(_)))
            .map(|(id, _)| id)
    }

    /// All threads are made, then the events come in this order; of a race, they are next at once.
    fn schedule(&self, shape: Shape, asked: &[Asked]) -> Schedule {
        let mut threads = vec![Thread { name: "main".to_owned(), made: None, note: String::new() }];
        for (name, made) in self.about.threads.iter().filter(|(_, made)| made.parent == "main") {
            let made = Some((0, made.place, made.nth));
            threads.push(Thread { name: name.clone(), made, note: String::new() });
        }
        let forks = self.trace.events().filter(|(_, event)| matches!(event.op, Op::Fork(_)));
        let last_fork = forks.map(|(id, _)| id).next_back().expect("threads are made");
        let events: Vec<Named> = asked.iter().map(|&asked| self.named(&threads, self.find(asked))).collect();
        let mut segments = vec![self.named(&threads, last_fork)];
        let pairs: Vec<(usize, usize)> = (1..events.len()).map(|event| (event - 1, event)).collect();
        let ordered = shape == Shape::Sequence;
        if ordered {
            let last = asked.len() - 1;
            assert!(self.find(asked[last]) < self.find(asked[0]), "they came in the right order");
            for (&asked, event) in asked.iter().zip(&events) {
                segments.push(event.clone());
                segments
                    .extend(self.release_after(self.find(asked)).map(|event| self.named(&threads, event)));
            }
            // After the last one nothing is asked for.
            segments.truncate(segments.iter().rposition(|segment| events.contains(segment)).unwrap_or(0) + 1);
        }
        Schedule {
            modules: self.about.modules.clone(),
            fingerprint: "0".to_owned(),
            kind: "wrong".to_owned(),
            title: "made by hand".to_owned(),
            shape,
            threads,
            events,
            same: pairs.clone(),
            order: if ordered { pairs } else { Vec::new() },
            alike: Vec::new(),
            segments,
        }
    }

    fn replay(&self, schedule: &Schedule) -> Outcome {
        let inputs = beside(&self.program, ".inputs");
        let input = self.program.folder.path().join("input");
        let run = Run {
            program: &self.program.path,
            arguments: &[],
            input: Some(&input),
            timeout: Duration::from_secs(2),
            recorded_inputs: Some(inputs.as_path()).filter(|path| path.exists()),
            recording: None,
            folder: None,
            follows_child: false,
        };
        // As a colleague would get it.
        let schedule = text::read(&text::write(schedule)).expect("it is read again");
        let wish = Wish { order: Order::Ab, strict: false, stops: false, patience: None };
        run.start(&schedule, wish).expect("it is replayed").report.outcome
    }
}

fn beside(program: &Program, ending: &str) -> PathBuf {
    let mut path = program.trace.clone().into_os_string();
    path.push(ending);
    path.into()
}

#[track_caller]
fn is_not_confirmed(source: &str, shape: Shape, asked: &[Asked]) {
    let recorded = Recorded::new(source);
    let outcome = recorded.replay(&recorded.schedule(shape, asked));
    assert_ne!(outcome, Outcome::Confirmed);
}

/// Two threads, the first of which takes something and then uses the block, while the second frees it.
fn first_takes(declarations: &str, setup: &str, is_first: &str) -> String {
    format!(
        r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *block;
int got;
{declarations}
static int is_first(void) {{ {is_first} }}
static void *work(void *unused) {{
    pthread_mutex_lock(&m);
    if (is_first()) got = *block; else free(block);
    pthread_mutex_unlock(&m);
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    block = malloc(sizeof *block);
    *block = 5;
    {setup}
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}}
"#
    )
}

/// The block is freed by the second thread, and then used by the first.
const FREED: &[Asked] = &[("Free", "heap block"), ("Read", "heap block")];

#[test]
fn what_is_read_by_one_thread_is_not_read_by_another() {
    let read = first_takes("", "", "char c = 0; return read(0, &c, 1) == 1 && c == 'A';");
    is_not_confirmed(&read, Shape::Sequence, FREED);
    is_not_confirmed(&first_takes("", "", "return getchar() == 'A';"), Shape::Sequence, FREED);
}

#[test]
fn what_is_received_by_one_thread_is_not_received_by_another() {
    let socket = first_takes(
        "static int ends[2];",
        r#"if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || write(ends[1], "A", 1) < 0 || write(ends[1], "B", 1) < 0) return 1;"#,
        "char c = 0; return read(ends[0], &c, 1) == 1 && c == 'A';",
    );
    is_not_confirmed(&socket, Shape::Sequence, FREED);
    let counter = first_takes(
        "static int counter;",
        "counter = eventfd(1, EFD_NONBLOCK);",
        "uint64_t value; return read(counter, &value, 8) == 8;",
    );
    is_not_confirmed(&counter, Shape::Sequence, FREED);
}

/// The block is used before the deadline only, and freed after it only.
#[test]
fn the_clock_does_not_go_back() {
    let source = r#"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *block;
int got;
static long deadline;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }
static void *user(void *unused) {
    pthread_mutex_lock(&m);
    if (now() < deadline) got = *block;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *reaper(void *unused) {
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, 0);
    pthread_mutex_lock(&m);
    if (now() >= deadline) free(block);
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t a, b;
    block = malloc(sizeof *block);
    *block = 5;
    deadline = now() + 500000;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, reaper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;
    is_not_confirmed(source, Shape::Sequence, FREED);
    // The same with a look in whole seconds, and with the end of a sleep in place of a look.
    let seconds = source
        .replace("struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec;", "return time(0);")
        .replace("{0, 1000000}", "{3, 0}")
        .replace("500000", "2");
    is_not_confirmed(&seconds, Shape::Sequence, FREED);
    let sleeps = source.replace("if (now() >= deadline) free(block);", "free(block);");
    is_not_confirmed(&sleeps, Shape::Sequence, FREED);
}

/// The block that is read is always the newest: its address may be that of one that was freed.
#[test]
fn a_block_with_a_used_address_is_another_block() {
    for swap in [
        "free(block); block = malloc(4); *block = 6;",
        "int *old = block; block = 0; free(old); block = malloc(4); *block = 5;",
        "free(block); block = calloc(1, 4);",
    ] {
        let source = format!(
            r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *block;
int got;
static void *user(void *unused) {{
    pthread_mutex_lock(&m);
    got = *block;
    pthread_mutex_unlock(&m);
    return unused;
}}
static void *swapper(void *unused) {{
    pthread_mutex_lock(&m);
    {swap}
    pthread_mutex_unlock(&m);
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    block = malloc(4);
    *block = 5;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, swapper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(block);
    return 0;
}}
"#
        );
        is_not_confirmed(&source, Shape::Sequence, FREED);
    }
}

/// Who waits in a loop is not asleep for ever because of a signal that came too early: it does not even begin to wait.
#[test]
fn an_early_signal_is_not_lost_on_a_loop() {
    let source = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *waiter(void *unused) {
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return unused;
}
static void *notifier(void *unused) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, notifier, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;
    is_not_confirmed(source, Shape::Sequence, &[("Notify", "c"), ("Release", "m")]);
}

/// Two accesses of one variable that the lock of a stream keeps apart, and two at once that are of different blocks.
#[test]
fn accesses_that_a_stream_keeps_apart_or_of_two_blocks_are_no_race() {
    let threads = |first: &str, second: &str| {
        format!(
            r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int counted, *blocks[2];
int got;
static void *one(void *unused) {{ {first} return unused; }}
static void *other(void *unused) {{ {second} return unused; }}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(blocks[0]);
    free(blocks[1]);
    return 0;
}}
"#
        )
    };
    let stream = threads(
        "flockfile(stdin); counted = 1; funlockfile(stdin);",
        "flockfile(stdin); got = counted; funlockfile(stdin);",
    );
    is_not_confirmed(&stream, Shape::Race, &[("Write", "global counted"), ("Read", "global counted")]);
    let blocks =
        threads("blocks[0] = malloc(4); *blocks[0] = 1;", "blocks[1] = calloc(1, 4); got = *blocks[1];");
    is_not_confirmed(&blocks, Shape::Race, &[("Write", "heap block"), ("Read", "heap block")]);
    // Without the lock they are a race, or this shows nothing.
    let unlocked = stream.replace("funlockfile(stdin);", "").replace("flockfile(stdin);", "");
    let recorded = Recorded::new(&unlocked);
    let asked = [("Write", "global counted"), ("Read", "global counted")];
    assert_eq!(recorded.replay(&recorded.schedule(Shape::Race, &asked)), Outcome::Confirmed);
}

/// The same by hand for a bug that is there: what is asked for is then confirmed, or this file shows nothing.
#[test]
fn a_true_bug_is_confirmed_by_a_schedule_made_by_hand() {
    let source = first_takes("", "", "return 1;")
        .replace("if (is_first()) got = *block; else free(block);", "got = *block;");
    let source = source.replace("    return unused;\n}\nint main", "    return unused;\n}\nstatic void *end(void *unused) { pthread_mutex_lock(&m); free(block); pthread_mutex_unlock(&m); return unused; }\nint main");
    let source = source.replace("pthread_create(&b, 0, work, 0);", "pthread_create(&b, 0, end, 0);");
    let recorded = Recorded::new(&source);
    assert_eq!(recorded.replay(&recorded.schedule(Shape::Sequence, FREED)), Outcome::Confirmed);
}
