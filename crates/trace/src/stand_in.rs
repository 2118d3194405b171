//! Variables that stand for something that is no memory of the program.
//!
//! A recorder has names of its own for them. They order what threads do and are in no finding themselves: nobody wrote the code
//! that accesses them.

/// What their names begin with, where more follows.
const BEGINNINGS: [&str; 21] = [
    "barrier ",
    "channel ",
    "descriptor ",
    "directory stream",
    "events of descriptor ",
    "file ",
    "futex ",
    "hidden state",
    "initialisation ",
    "library ",
    "memory of ",
    "opening of barrier ",
    "owner of ",
    "pipe ",
    "random numbers",
    "right to go on of ",
    "scope ",
    "semaphore ",
    "stream ",
    "thread ",
    "time zone",
];

/// Names that are whole.
const NAMES: [&str; 24] = [
    "children",
    "clock",
    "databases",
    "descriptors",
    "environment",
    "epoll sets",
    "file names",
    "inline assembly",
    "libraries",
    "locale",
    "mappings",
    "message queues",
    "outside",
    "process",
    "signals",
    "sockets",
    "standard error",
    "standard input",
    "standard output",
    "stream",
    "terminal",
    "timers",
    "umask",
    "working directory",
];

/// Whether a variable of this name stands for something outside of memory.
pub fn is_stand_in(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::is_stand_in;

    #[test]
    fn memory_is_no_stand_in() {
        let memory = [
            "x",
            "global barrier",
            "heap block of 4 bytes from main at a.c:3.0",
            "stack of T1-40",
            "memory 0x1000",
        ];
        assert!(memory.iter().all(|name| !is_stand_in(name)));
        let others = [
            "barrier global b",
            "initialisation global o",
            "owner of global m",
            "memory of heap block of 4 bytes",
        ];
        assert!(others.iter().all(|name| is_stand_in(name)));
    }
}
