//! State outside of the program's memory that calls depend on: what a recorder and whoever reads a recording call it.

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $code:literal $text:literal,)*) => {
        /// State that calls of libc depend on, or change, besides memory that the program can see.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum State {
            $($(#[$doc])* $name = $code,)*
        }

        impl State {
            /// All of them, in order of their codes.
            pub const ALL: &[State] = &[$(State::$name,)*];

            /// The one whose code is `code`.
            pub fn from_code(code: u8) -> Option<State> {
                match code {
                    $($code => Some(State::$name),)*
                    _ => None,
                }
            }

            /// What a variable that stands for it is called. Where there are several, a number follows.
            pub fn text(self) -> &'static str {
                match self {
                    $(State::$name => $text,)*
                }
            }
        }
    };
}

states! {
    /// Whatever a function that is on no list may depend on.
    Outside = 0 "outside",
    /// The variables of the environment.
    Environment = 1 "environment",
    /// The generators of `rand`, `random` and `drand48`.
    Random = 2 "random numbers",
    /// What a function keeps between two calls: `strtok`, `asctime`, `getopt`, `strerror`…
    Hidden = 3 "hidden state",
    /// The time zone, and the result that `localtime` and `gmtime` share.
    TimeZone = 4 "time zone",
    /// The locale, and what is chosen with it.
    Locale = 5 "locale",
    /// Which descriptors are in use.
    Descriptors = 6 "descriptors",
    /// The names in all directories, and the attributes of what they name.
    Names = 7 "file names",
    /// The contents, attributes and offsets of one file.
    File = 8 "file",
    /// A stream of stdio.
    Stream = 9 "stream",
    /// A directory that is being read.
    Directory = 10 "directory stream",
    /// Dispositions, masks and pending signals, and requests to end.
    Signals = 11 "signals",
    /// The child processes.
    Children = 12 "children",
    /// The working directory.
    WorkingDirectory = 13 "working directory",
    /// The mask of new files' permissions.
    Umask = 14 "umask",
    /// Message queues, semaphores and shared memory of System V and POSIX.
    Ipc = 15 "message queues",
    /// Users, groups, hosts, services: the databases that libc reads.
    Databases = 16 "databases",
    /// What the process is and may do: limits, identity, priorities.
    Process = 17 "process",
    /// What is mapped where.
    Mappings = 18 "mappings",
    /// Timers.
    Timers = 19 "timers",
    /// The terminal, and the log of the system.
    Terminal = 20 "terminal",
    /// The clock.
    Clock = 21 "clock",
    /// Loaded libraries.
    Libraries = 22 "libraries",
    /// Which descriptors of epoll sets are ready.
    Sets = 23 "epoll sets",
    /// Whether a thread has ended, where somebody asked.
    Ends = 24 "end of thread",
}

/// How many bits of a variable's number are its state's code; those above tell several of a kind apart.
const CODE_BITS: u32 = 8;

impl State {
    /// The number of the variable that stands for the state with this number among those of its kind.
    #[inline]
    pub fn variable(self, number: u64) -> u64 {
        number << CODE_BITS | self as u64
    }

    /// The state that a variable stands for, and its number among those of its kind.
    #[inline]
    pub fn of_variable(variable: u64) -> Option<(State, u64)> {
        State::from_code(variable as u8).map(|state| (state, variable >> CODE_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_found_by_its_variable() {
        for (place, &state) in State::ALL.iter().enumerate() {
            assert_eq!(state as usize, place, "{state:?}");
            assert_eq!(State::of_variable(state.variable(77)), Some((state, 77)));
            assert!(State::ALL.iter().all(|&other| other == state || other.text() != state.text()));
        }
        assert_eq!(State::of_variable(0xFF), None);
    }
}
