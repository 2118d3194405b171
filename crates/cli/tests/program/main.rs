//! The program as its users meet it.

mod common;
mod files;
mod garbage;
mod generate;
mod golden;
mod models;
mod predict;
mod predict_files;
mod predict_large;
mod query;
mod recorded;
mod stream;
