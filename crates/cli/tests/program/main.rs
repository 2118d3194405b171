//! The program as its users meet it.

mod calls;
mod common;
mod explain;
mod files;
mod garbage;
mod generate;
mod golden;
mod hostile;
mod install;
mod models;
mod observed;
mod predict;
mod predict_files;
mod predict_large;
mod progress;
mod query;
mod recorded;
mod spec;
mod stream;
