//! The output of a program, read while it runs.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long a stream that a process still has open is waited for once the program has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a stream brings.
pub struct Collected(Receiver<Vec<u8>>);

impl Collected {
    /// Reads a stream to its end and keeps the first `most` bytes. The rest is read too, so that the program never waits.
    pub fn start(stream: Option<impl Read + Send + 'static>, most: u64) -> Collected {
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stream) = stream {
                // What cannot be read is not there.
                let _ = stream.by_ref().take(most).read_to_end(&mut bytes);
                let _ = io::copy(&mut stream, &mut io::sink());
            }
            let _ = send.send(bytes);
        });
        Collected(receive)
    }

    /// What there was.
    pub fn bytes(self) -> Vec<u8> {
        self.0.recv_timeout(PATIENCE).unwrap_or_default()
    }
}
