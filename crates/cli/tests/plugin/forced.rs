//! Reorderings that model `branch` accepts, forced on the real program: every thread does what it did, as far as it runs.

use reweave_format::{LoadOptions, load};
use reweave_trace::{EventId, Kind, Links, Model, ProgramOrder, Space, ThreadId, Trace};
use reweave_witness::Checker;

use crate::common::{Program, Run, is_there, reweave};

/// Three threads that pass numbers on, some of which decide what is done next and some not.
const PASSING: &str = "
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
int first, second, third, plain, out[4];
static void *a(void *u) {
    plain = 1;
    pthread_mutex_lock(&m); first = 1; pthread_mutex_unlock(&m);
    pthread_mutex_lock(&k); second = plain + 1; pthread_mutex_unlock(&k);
    return u;
}
static void *b(void *u) {
    pthread_mutex_lock(&m); int f = first; pthread_mutex_unlock(&m);
    third = f;
    pthread_mutex_lock(&k); int s = second; pthread_mutex_unlock(&k);
    out[0] = s + plain;
    if (s > 0) out[1] = 1; else out[2] = 2;
    return u;
}
static void *c(void *u) {
    pthread_mutex_lock(&k); second += 3; pthread_mutex_unlock(&k);
    int t = third;
    out[3] = t + 1;
    return u;
}
int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, a, 0); pthread_create(&t[1], 0, b, 0); pthread_create(&t[2], 0, c, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// What a value that was read decides: an index, a callee, how often.
const DECIDING: &str = "
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int index_, count, log_[8], noted;
static void one(void) { noted = 1; }
static void two(void) { noted = 2; }
void (*what)(void) = one;
static void *a(void *u) {
    pthread_mutex_lock(&m); index_ = 2; count = 3; what = two; pthread_mutex_unlock(&m);
    noted = 5;
    return u;
}
static void *b(void *u) {
    pthread_mutex_lock(&m); int i = index_; pthread_mutex_unlock(&m);
    noted = 6;
    log_[i] = 1;
    pthread_mutex_lock(&m); int n = count; pthread_mutex_unlock(&m);
    noted = 7;
    for (int j = 0; j < n; j++) log_[j + 3]++;
    pthread_mutex_lock(&m); void (*f)(void) = what; pthread_mutex_unlock(&m);
    f();
    return u;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, a, 0); pthread_create(&t[1], 0, b, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return log_[2] + noted > 100;
}
";

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A schedule that the machine accepts: at each step any thread that may go on, until none may or it is enough.
fn walk(trace: &Trace, model: Model, random: &mut Random) -> Vec<EventId> {
    let (links, order) = (Links::new(trace), ProgramOrder::new(trace));
    let checker = Checker::new(trace, &links, &order);
    let mut machine = checker.machine(model).expect("the trace has branches");
    let threads: Vec<Vec<EventId>> =
        (0..trace.count(Space::Thread)).map(|number| order.of(ThreadId(number as u32)).to_vec()).collect();
    let (mut next, mut schedule) = (vec![0; threads.len()], Vec::new());
    let length = trace.len() / 2 + random.below(trace.len() / 2);
    while schedule.len() < length {
        let start = random.below(threads.len());
        let runs = (0..threads.len()).map(|at| (start + at) % threads.len()).find(|&thread| {
            threads[thread].get(next[thread]).is_some_and(|&event| machine.step(event).is_ok())
        });
        let Some(thread) = runs else { break };
        schedule.push(threads[thread][next[thread]]);
        next[thread] += 1;
    }
    schedule
}

/// The last plain access of a schedule: all before it has to come, in this order, or it is not reached.
fn last_access(trace: &Trace, schedule: &[EventId]) -> Option<EventId> {
    schedule.iter().rev().copied().find(|&event| matches!(trace.kind(event), Kind::Read | Kind::Write))
}

fn force(program: &Program, run: &Run, trace: &Trace, model: Model, seed: u64) -> Option<(bool, String)> {
    let mut schedule = walk(trace, model, &mut Random(seed));
    let last = last_access(trace, &schedule)?;
    schedule.truncate(schedule.iter().position(|&event| event == last)? + 1);
    let steps: Vec<u32> = schedule.iter().map(|event| event.0).collect();
    let file = program.folder.path().join(format!("witness-{seed}.json"));
    let text = format!(
        "{{\"model\": \"{model}\", \"witness_prefix\": 0, \"witness\": {steps:?}, \
         \"claim\": {{\"sequence\": [{}]}}}}",
        last.0
    );
    std::fs::write(&file, text).expect("it is written");
    let mut replay = reweave();
    replay.args(["replay", "--strict"]).arg(&run.trace).arg(&file).arg("--").arg(&program.path);
    let ran = replay.output().expect("the command starts");
    let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    Some((said.contains("confirmed"), format!("seed {seed}, {steps:?}: {said}")))
}

#[test]
fn what_model_branch_accepts_can_be_forced_on_the_program() {
    if !is_there() {
        return;
    }
    let mut astray = 0;
    for (text, level) in [(PASSING, "-O0"), (PASSING, "-O1"), (DECIDING, "-O0"), (DECIDING, "-O1")] {
        let program = Program::new(text, "c", "plugin", &[level]);
        let run = program.record("run", &[]);
        let loaded = load(&run.trace, &LoadOptions::default()).expect("a trace");
        let mut forced = 0;
        for seed in 0..25 {
            if let Some((confirmed, said)) = force(&program, &run, &loaded.trace, Model::Branch, seed) {
                assert!(confirmed, "{level}: {said}");
                forced += 1;
            }
            // A model that ignores what is read accepts what the program does not do: else this test shows nothing.
            let loose = force(&program, &run, &loaded.trace, Model::Sync, seed);
            astray += usize::from(loose.is_some_and(|(confirmed, _)| !confirmed));
        }
        assert!(forced >= 15, "only {forced} schedules had something to look at");
    }
    assert!(astray > 0, "no schedule of model sync led another way");
}
