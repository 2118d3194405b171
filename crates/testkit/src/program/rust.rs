//! Programs as Rust.
//!
//! As in C, many programs make one binary, whose argument is the number of the case. Where std has nothing of a kind, the nearest
//! takes its place: a robust mutex is one that may be poisoned, a semaphore has a condition variable, a pipe is a channel.

mod prelude;

use std::fmt::Write;

use super::{Atomic, HandOver, LockKind, Mode, Program, Region, State, Statement, Step};

/// The source of a binary with these programs as its cases, from 0. They have no bugs.
pub fn rust_binary(programs: &[Program]) -> String {
    let mut text = prelude::PRELUDE.to_owned();
    for (case, program) in programs.iter().enumerate() {
        let mut printer = Printer { program, text };
        let _ = writeln!(printer.text, "\n/// Seed {}.\nmod case_{case} {{\nuse super::*;", program.seed);
        printer.shared();
        for (number, statements) in program.threads.iter().enumerate() {
            printer.thread(number, statements);
        }
        printer.first_thread();
        text = printer.text;
        text.push_str("}\n");
    }
    text.push_str("fn main() -> ExitCode {\n    let _ = *START;\n    let _ = &*FILE;\n");
    text.push_str(
        "    let good = match std::env::args().nth(1).and_then(|text| text.parse::<u32>().ok()) {\n",
    );
    for case in 0..programs.len() {
        let _ = writeln!(text, "        Some({case}) => case_{case}::run(),");
    }
    text.push_str("        _ => false,\n    };\n    ExitCode::from(u8::from(!good))\n}\n");
    text
}

struct Printer<'p> {
    program: &'p Program,
    text: String,
}

/// Appends a line.
macro_rules! line {
    ($printer:expr, $($format:tt)*) => {{ let _ = writeln!($printer.text, $($format)*); }};
}

fn lock(kind: LockKind) -> &'static str {
    match kind {
        LockKind::Normal | LockKind::Recursive | LockKind::ErrorCheck | LockKind::Robust => "Mutex",
        LockKind::ReadWrite | LockKind::Stream => "RwLock",
        LockKind::Spin | LockKind::Atomic => "Spin",
        LockKind::Semaphore => "Permit",
        LockKind::Pipe => "Carried",
    }
}

fn how(how: HandOver) -> &'static str {
    match how {
        HandOver::Semaphore => "Sent",
        HandOver::Condition => "Queue",
        HandOver::Pipe => "Bound",
        HandOver::Flag => "Flag",
    }
}

impl Printer<'_> {
    /// What all threads share: each field with its type, and how it is made.
    fn fields(&self) -> Vec<(String, String, String)> {
        let program = self.program;
        let mut fields = Vec::new();
        for (number, &kind) in program.locks.iter().enumerate() {
            let name = lock(kind);
            let of =
                if matches!(name, "Mutex" | "RwLock") { format!("{name}<Data>") } else { name.to_owned() };
            fields.push((format!("m{number}"), of, format!("{name}::new(data({number}))")));
        }
        for (number, token) in program.tokens.iter().enumerate() {
            let name = how(token.how);
            fields.push((format!("t{number}"), name.to_owned(), format!("{name}::new()")));
        }
        for (number, feed) in program.feeds.iter().enumerate() {
            let name = how(feed.how);
            fields.push((format!("f{number}"), name.to_owned(), format!("{name}::new()")));
        }
        for number in 0..program.meetings {
            let made = format!("Barrier::new({})", program.threads.len());
            fields.push((format!("b{number}"), "Barrier".to_owned(), made));
        }
        for name in ["z0", "z1", "sum", "total0", "total1", "total2"] {
            fields.push((name.to_owned(), "AtomicI32".to_owned(), "AtomicI32::new(0)".to_owned()));
        }
        fields.push(("o0".to_owned(), "OnceLock<i32>".to_owned(), "OnceLock::new()".to_owned()));
        fields.push((
            "o1".to_owned(),
            "LazyLock<Box<i32>>".to_owned(),
            "LazyLock::new(|| Box::new(4))".to_owned(),
        ));
        fields
    }

    fn shared(&mut self) {
        let fields = self.fields();
        line!(self, "pub struct All {{");
        fields.iter().for_each(|(name, of, _)| line!(self, "    {name}: {of},"));
        line!(self, "}}\nfn made() -> All {{\n    All {{");
        fields.iter().for_each(|(name, _, made)| line!(self, "        {name}: {made},"));
        line!(self, "    }}\n}}");
    }

    fn thread(&mut self, number: usize, statements: &[Statement]) {
        line!(self, "fn thread{number}(all: &All) {{");
        line!(self, "    let (mut a, mut c, mut done) = ({number}i32, 0i32, [0i32; 3]);");
        for statement in statements {
            self.statement(statement);
        }
        for lock in 0..self.program.locks.len() {
            line!(self, "    all.total{lock}.fetch_add(done[{lock}], SeqCst);");
        }
        line!(self, "    all.sum.fetch_add(a, SeqCst);\n}}");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Locked(region) => self.region(region),
            Statement::Atomic(which, access) => self.atomic(&format!("all.z{which}"), *access),
            Statement::Give(token) if self.program.tokens[*token].block => {
                line!(self, "    let kept = Arc::new(Box::new(a));");
                line!(self, "    all.t{token}.give(Item::Block(Arc::clone(&kept)));");
                line!(self, "    a = (a + **kept) & 7; drop(kept);");
            }
            Statement::Give(token) => line!(self, "    all.t{token}.give(Item::Number(a));"),
            Statement::Take(token) => self.take(*token),
            Statement::Eat(feed) => {
                line!(self, "    c = all.f{feed}.take().map_or(0, |item| item.number());");
                line!(
                    self,
                    "    if c & 1 == 1 {{ all.z0.fetch_add(c, SeqCst); }} else {{ all.z1.store(c, SeqCst); }}"
                );
            }
            Statement::Meet(meeting) => {
                line!(self, "    if all.b{meeting}.wait().is_leader() {{ all.z0.fetch_add(1, SeqCst); }}");
            }
            Statement::Once(0) => line!(self, "    a = (a + all.o0.get_or_init(|| 3)) & 7;"),
            Statement::Once(_) => line!(self, "    a = (a + **all.o1) & 7;"),
            Statement::Helper => line!(self, "    a = helper(a);"),
            Statement::Abandon(lock) => {
                line!(self, "    let _ = catch_unwind(AssertUnwindSafe(|| all.m{lock}.with(|d| {{");
                line!(self, "        d.x[0] = a; resume_unwind(Box::new(()));");
                line!(self, "    }})));");
            }
        }
    }

    fn take(&mut self, number: usize) {
        let token = self.program.tokens[number];
        let way = match (token.looks, token.patient) {
            (true, _) => "look",
            (false, true) => "take",
            (false, false) => "timed",
        };
        line!(self, "    match all.t{number}.{way}() {{");
        line!(
            self,
            "        Some(item) => a = (a + item.number()) & 7,\n        None => a = (a + 1) & 7,\n    }}"
        );
    }

    fn atomic(&mut self, name: &str, access: Atomic) {
        match access {
            Atomic::Load => {
                line!(
                    self,
                    "    if {name}.load(SeqCst) > 3 {{ a = (a + 1) & 7 }} else {{ {name}.fetch_add(2, SeqCst); }}"
                );
            }
            Atomic::Store(value) => line!(self, "    {name}.store({value}, SeqCst);"),
            Atomic::Add(value) => line!(self, "    a = (a + {name}.fetch_add({value}, SeqCst)) & 7;"),
            Atomic::Swap(value) => line!(self, "    a = (a + {name}.swap({value}, SeqCst)) & 7;"),
            Atomic::Compare(old, new) => {
                line!(self, "    match {name}.compare_exchange({old}, {new}, SeqCst, SeqCst) {{");
                line!(self, "        Ok(_) => a = (a + 1) & 7,");
                line!(self, "        Err(now) => if now > 4 {{ {name}.fetch_add(-2, SeqCst); }}\n    }}");
            }
            Atomic::Loop => {
                line!(self, "    c = {name}.load(SeqCst);");
                line!(
                    self,
                    "    while let Err(now) = {name}.compare_exchange_weak(c, (c + 1) & 15, SeqCst, SeqCst) {{"
                );
                line!(self, "        c = now; a = (a + 1) & 7;\n    }}");
            }
        }
    }

    fn region(&mut self, region: &Region) {
        let (number, kind) = (region.lock, lock(self.program.locks[region.lock]));
        let shared = kind == "RwLock" && matches!(region.mode, Mode::Shared | Mode::TryShared);
        let name = format!("all.m{number}");
        let conditional = !matches!(region.mode, Mode::Wait | Mode::Shared);
        match region.mode {
            Mode::Shared => line!(self, "    {{ let d = {name}.read().unwrap(); let d = &*d;"),
            Mode::TryShared => line!(self, "    if let Ok(d) = {name}.try_read() {{ let d = &*d;"),
            Mode::Wait => line!(self, "    {name}.with(|d: &mut Data| {{"),
            Mode::Try => line!(self, "    if {name}.attempt(|d: &mut Data| {{"),
            Mode::Timed => line!(self, "    if {name}.timed(|d: &mut Data| {{"),
        }
        if shared {
            region.steps.iter().for_each(|step| self.step(number, step));
            line!(self, "    if d.u != d.v {{ std::process::exit(7); }}");
        } else {
            line!(self, "    d.u += 1;");
            region.steps.iter().for_each(|step| self.step(number, step));
            line!(self, "    d.v += 1; done[{number}] += 1;");
        }
        let otherwise = "all.z0.fetch_add(1, SeqCst);";
        match (shared, conditional) {
            (true, true) => line!(self, "    }} else {{ {otherwise} }}"),
            (true, false) => line!(self, "    }}"),
            (false, true) => line!(self, "    }}).is_none() {{ {otherwise} }}"),
            (false, false) => line!(self, "    }});"),
        }
    }

    fn step(&mut self, number: usize, step: &Step) {
        match step {
            Step::Load(variable) => line!(self, "    a = (a + d.x[{variable}]) & 7;"),
            Step::Store(variable, value) => line!(self, "    d.x[{variable}] = (a + {value}) & 7;"),
            Step::Add(variable, value) => {
                line!(self, "    d.x[{variable}] = (d.x[{variable}] + {value}) & 7;")
            }
            Step::If(variable, value, then, other) => {
                line!(self, "    if d.x[{variable}] > {value} {{");
                then.iter().for_each(|step| self.step(number, step));
                line!(self, "    }} else {{");
                other.iter().for_each(|step| self.step(number, step));
                line!(self, "    }}");
            }
            Step::Index => line!(self, "    d.a[(a & 3) as usize] += 1;"),
            Step::Divide(variable) => line!(self, "    a = (a + 20 / (d.x[{variable}] + 1)) & 7;"),
            Step::Use => line!(self, "    if let Some(p) = &d.p {{ a = (a + **p) & 7; }}"),
            Step::Replace(value) => line!(self, "    d.p = Some(Box::new({value}));"),
            Step::Drop => line!(self, "    d.p = None;"),
            Step::Call(state) => {
                let call = match state {
                    State::Offset => "offset()",
                    State::Environment => "environment()",
                    _ => "d.x[0] + 1",
                };
                line!(self, "    c = {call};");
                line!(self, "    if c & 1 == 1 {{ d.x[0] = c & 7 }} else {{ d.x[1] = (c + 1) & 7 }}");
            }
            Step::Clock(micros) => {
                line!(
                    self,
                    "    if START.elapsed().as_micros() > {micros} {{ d.x[0] = a }} else {{ d.x[1] = a }}"
                );
            }
            Step::Again if lock(self.program.locks[number]) == "Mutex" => {
                line!(
                    self,
                    "    if let Err(TryLockError::WouldBlock) = all.m{number}.try_lock() {{ d.x[0] = (d.x[0] + 1) & 7 }}"
                );
            }
            Step::Again => line!(self, "    d.x[0] = (d.x[0] + 1) & 7;"),
            Step::Inner(region) => self.region(region),
        }
    }

    fn first_thread(&mut self) {
        line!(
            self,
            "pub fn run() -> bool {{\n    let all = Arc::new(made());\n    let mut threads = Vec::new();"
        );
        for thread in 0..self.program.threads.len() {
            line!(self, "    let given = Arc::clone(&all);");
            line!(self, "    threads.push(std::thread::spawn(move || thread{thread}(&given)));");
        }
        for (number, feed) in self.program.feeds.iter().enumerate() {
            for item in 0..feed.count {
                line!(self, "    all.f{number}.give(Item::Number({item}));");
            }
        }
        line!(self, "    for thread in threads {{ thread.join().unwrap(); }}");
        line!(self, "    let mut good = true;");
        for lock in 0..self.program.locks.len() {
            line!(
                self,
                "    all.m{lock}.with(|d| good &= d.u == d.v && d.v == all.total{lock}.load(SeqCst));"
            );
        }
        line!(self, "    good\n}}");
    }
}
