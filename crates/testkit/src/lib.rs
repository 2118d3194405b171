//! Trace literals, generators and the brute-force oracle, for tests.
