//! Bugs that are predicted from a run in which nothing went wrong, and then made to happen.

mod bugs;
mod calls;
mod common;
mod deepen;
mod drivers;
mod ends;
mod not_confirmed;
mod outcomes;
mod recorded;
mod reports;
mod waits;
