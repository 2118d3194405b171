//! What is written for people, word for word, and for programs, there and back.

mod common;
mod json;
mod random;
mod refutations;
mod schedules;
mod views;
