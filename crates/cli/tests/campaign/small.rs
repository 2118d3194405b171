//! Small programs of which a schedule once was not followed: calls of several events, between which others may run.

use reweave_testkit::Rng;

use crate::build::{Binary, Front};
use crate::{force, models, record, walk};

/// Who was woken does not have the lock yet.
const CONDITION: &str = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int count;
static void *eat(void *unused) {
    pthread_mutex_lock(&m);
    while (!count) pthread_cond_wait(&c, &m);
    count--;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *pass(void *unused) {
    for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, eat, 0);
    pthread_create(&b, 0, pass, 0);
    pthread_mutex_lock(&m); count = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// A thread that ends as the owner of a robust mutex holds it until it is gone.
const ROBUST: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static int first, second;
static void *die(void *unused) {
    pthread_mutex_lock(&m);
    for (int i = 0; i < 6; i++) first++;
    return unused;
}
static void *try(void *unused) {
    for (int i = 0; i < 4; i++) {
        int error = pthread_mutex_trylock(&m);
        if (error == EBUSY) { second += 1; continue; }
        if (error == EOWNERDEAD) pthread_mutex_consistent(&m);
        second += first;
        pthread_mutex_unlock(&m);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &how);
    pthread_create(&a, 0, die, 0);
    pthread_create(&b, 0, try, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// An attempt at a stream that another thread has locked uses nothing of the stream.
const STREAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static FILE *s;
int taken, missed;
static void *take(void *unused) {
    for (int i = 0; i < 2; i++) {
        flockfile(s); taken += fgetc(s); taken += fgetc(s); funlockfile(s);
    }
    return unused;
}
static void *try(void *unused) {
    for (int i = 0; i < 3; i++) {
        if (ftrylockfile(s)) { missed++; continue; }
        taken += 1;
        funlockfile(s);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    int made = memfd_create("file", 0);
    if (write(made, "123456", 6) != 6) return 8;
    lseek(made, 0, SEEK_SET);
    s = fdopen(made, "r+");
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, try, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// Recordings of a program with these seeds, and so many schedules of each in each model.
#[track_caller]
fn follows(name: &str, source: &str, seeds: std::ops::RangeInclusive<u64>, walks: usize) {
    for front in Front::all() {
        let binary = Binary::of(source, front);
        for seed in seeds.clone() {
            let run = record::record(&binary, 0, seed);
            assert_eq!(run.status, Some(0), "{name}, {front:?}, seed {seed}: {}", run.notes);
            let (walker, mut rng) = (walk::Walker::new(&run.trace), Rng::new(seed));
            for model in models(run.trace.capabilities()) {
                for _ in 0..walks {
                    let Some(walk) = walker.walk(model, &mut rng) else { continue };
                    let forced = force::force(&binary, 0, &run, &walker, &walk);
                    assert!(
                        forced.is_ok(),
                        "{name}, {front:?}, seed {seed}, {model}: {}",
                        forced.unwrap_err()
                    );
                }
            }
        }
    }
}

#[test]
fn others_may_run_between_the_end_of_a_wait_and_its_lock() {
    follows("condition", CONDITION, 3..=6, 4);
}

#[test]
fn others_may_try_a_robust_mutex_while_its_owner_ends() {
    follows("robust", ROBUST, 6..=6, 30);
}

#[test]
fn an_attempt_at_a_locked_stream_orders_nothing_but_the_lock() {
    follows("stream", STREAM, 1..=3, 4);
}
