//! Processes of a trial.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command takes longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Waits for a command to end, but not for ever.
pub(crate) fn ended(mut child: Child) -> Result<Output, String> {
    let started = Instant::now();
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let read = |stream: &mut Option<_>| stream.take();
    let (out, err) = (read(&mut out).map(collect), err.take().map(collect));
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if started.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it hangs".to_owned());
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text = |stream: Option<std::sync::mpsc::Receiver<Vec<u8>>>| {
        stream.and_then(|stream| stream.recv_timeout(Duration::from_secs(5)).ok()).unwrap_or_default()
    };
    Ok(Output { status, stdout: text(out), stderr: text(err) })
}

fn collect(mut stream: impl std::io::Read + Send + 'static) -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

/// The program that a recorder has started.
pub(crate) fn child_of(recorder: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{recorder}/task/{recorder}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

pub(crate) fn send(name: &str, process: u32) {
    let _ =
        Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).stderr(Stdio::null()).status();
}
