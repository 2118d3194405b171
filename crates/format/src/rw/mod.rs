//! The Reweave binary format.
