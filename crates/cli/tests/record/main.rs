//! Programs of C and C++, compiled, recorded and looked at, with every compiler that is installed.
//!
//! Every trace must be well formed and have every value; that its reads observe what was written last is checked here
//! once more, naively, from its text.

mod building;
mod common;
mod company;
mod correct;
mod ends;
mod entries;
mod findings;
mod lost;
mod outside;
mod primitives;
mod reuse;
mod reviewed;
mod safe;
mod spins;
mod stable;
mod stacks;
mod stand_ins;
mod time;
mod unmade;
