//! Bugs that are predicted from a run in which nothing went wrong, and then made to happen.

mod bugs;
mod common;
mod ends;
mod outcomes;
mod reports;
