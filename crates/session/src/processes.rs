//! The processes of a program, and their end.
//!
//! A process that [adopts](adopt) what its descendants leave behind has every process of the program below it, wherever that
//! moved to and whatever it changed: orphans become its children. Elsewhere, as in tests that run several programs at once, a
//! run's processes are known by their group and by the name of the run's folder in their environment.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::ExitStatusExt;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};

/// How long killed processes are waited for: one may be in a call of the system that nothing interrupts.
const DYING: Duration = Duration::from_secs(10);
const NAP: Duration = Duration::from_millis(1);

/// The children that were there before this process adopted any: they are none of the program's.
static BEFORE: OnceLock<Vec<i32>> = OnceLock::new();

/// From now on this process is the parent of every orphan among its descendants, and all of them count as the program's.
/// For processes that run one program at a time and start nothing else meanwhile.
pub fn adopt() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    BEFORE.get_or_init(|| {
        let me = getpid().as_raw_pid();
        let all = all();
        all.iter().filter(|(_, process)| process.parent == me).map(|(&id, _)| id).collect()
    });
    Ok(())
}

/// Whether this process adopts orphans.
pub(crate) fn adopts() -> bool {
    BEFORE.get().is_some()
}

/// What is known of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    parent: i32,
    is_dead: bool,
}

/// All processes that can be seen.
fn all() -> BTreeMap<i32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: &fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    entries.filter_map(|entry| number(&entry)).filter_map(|id| Some((id, look(id)?))).collect()
}

fn look(id: i32) -> Option<Process> {
    let bytes = fs::read(format!("/proc/{id}/stat")).ok()?;
    // The name before may have any characters, parentheses too.
    let after = bytes.get(bytes.iter().rposition(|&byte| byte == b')')? + 1..)?;
    let text = String::from_utf8_lossy(after);
    let mut words = text.split_whitespace();
    let is_dead = matches!(words.next()?, "Z" | "X");
    Some(Process { parent: words.next()?.parse().ok()?, is_dead })
}

/// The living descendants of this process that are the program's, parents first.
pub(crate) fn descendants() -> Vec<i32> {
    let (all, before) = (all(), BEFORE.get().map(Vec::as_slice).unwrap_or_default());
    let mut found = vec![getpid().as_raw_pid()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let is_child = |&(id, process): &(&i32, &Process)| process.parent == parent && !before.contains(id);
        found.extend(all.iter().filter(is_child).map(|(&id, _)| id));
        next += 1;
    }
    let is_alive = |id: &i32| all.get(id).is_some_and(|process| !process.is_dead);
    found.into_iter().skip(1).filter(is_alive).collect()
}

/// Whether a process is alive and below this one.
pub(crate) fn is_descendant(id: i32) -> bool {
    let me = getpid().as_raw_pid();
    let mut at = id;
    // A chain of parents is never long, and never a circle, but it is read while it changes.
    for depth in 0..1000 {
        match look(at) {
            Some(process) if depth == 0 && process.is_dead => return false,
            Some(process) if process.parent == me => return true,
            Some(process) if process.parent > 1 => at = process.parent,
            _ => return false,
        }
    }
    false
}

/// Sends a signal; a process that is gone needs none.
pub(crate) fn send(id: i32, signal: i32) {
    if let (Some(id), Some(signal)) = (Pid::from_raw(id), Signal::from_named_raw(signal)) {
        let _ = kill_process(id, signal);
    }
}

/// Takes leave of dead orphans, but not of `child`, whose status somebody else asks for. Gives their numbers and statuses.
pub(crate) fn bury(child: i32) -> Vec<(i32, ExitStatus)> {
    let mut buried = Vec::new();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while adopts() {
        let Ok(Some(_)) = waitid(WaitId::All, options) else { break };
        let Some(dead) = dead_child(child) else { break };
        match waitpid(Pid::from_raw(dead), WaitOptions::NOHANG) {
            Ok(Some((_, ended))) => buried.push((dead, ExitStatus::from_raw(ended.as_raw()))),
            _ => break,
        }
    }
    buried
}

/// A dead child of this process other than `child`.
fn dead_child(child: i32) -> Option<i32> {
    let me = getpid().as_raw_pid();
    let ours = |(&id, process): (&i32, &Process)| {
        (process.parent == me && process.is_dead && id != child).then_some(id)
    };
    all().iter().find_map(ours)
}

/// Ends every process of the program, and waits until they are gone. The program's own process, `child`, stays to be waited for.
pub(crate) fn end_all(child: i32, has_group: bool, folder: &Path) {
    let started = Instant::now();
    loop {
        if has_group && let Some(group) = Pid::from_raw(child) {
            // It may have ended with nothing left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        send(child, Signal::KILL.as_raw());
        let left = if adopts() { descendants() } else { with_mark(folder) };
        left.iter().for_each(|&id| send(id, Signal::KILL.as_raw()));
        bury(child);
        if left.iter().all(|&id| id == child) || started.elapsed() > DYING {
            break;
        }
        thread::sleep(NAP);
    }
}

/// Ends what a command of ours, which is gone itself, left running. Only where this process adopts.
pub(crate) fn end_rest() {
    let started = Instant::now();
    while adopts() && started.elapsed() <= DYING {
        let left = descendants();
        left.iter().for_each(|&id| send(id, Signal::KILL.as_raw()));
        bury(0);
        if left.is_empty() {
            break;
        }
        thread::sleep(NAP);
    }
}

/// The living processes that were started with this folder in their environment.
fn with_mark(folder: &Path) -> Vec<i32> {
    let mark = folder.as_os_str().as_encoded_bytes();
    let (all, me) = (all(), getpid().as_raw_pid());
    let is_marked = |id: i32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
    };
    all.into_iter()
        .filter(|&(id, process)| !process.is_dead && id != me && is_marked(id))
        .map(|(id, _)| id)
        .collect()
}

/// The descendants that a signal is for: those that are not below another process of this command, which passes it on.
pub(crate) fn outermost() -> Vec<i32> {
    let (ours, all) = (fs::read_link("/proc/self/exe").ok(), all());
    let is_ours = |id: i32| ours.is_some() && fs::read_link(format!("/proc/{id}/exe")).ok() == ours;
    let me = getpid().as_raw_pid();
    let is_below_ours = |id: i32| {
        let parents = std::iter::successors(all.get(&id), |process| all.get(&process.parent));
        parents.take(1000).map(|process| process.parent).take_while(|&parent| parent != me).any(is_ours)
    };
    descendants().into_iter().filter(|&id| !is_below_ours(id)).collect()
}

/// Whether another process of this command is below this one.
pub(crate) fn is_nested_running() -> bool {
    let ours = fs::read_link("/proc/self/exe").ok();
    descendants().iter().any(|id| ours.is_some() && fs::read_link(format!("/proc/{id}/exe")).ok() == ours)
}
