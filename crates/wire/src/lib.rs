//! The binary event encoding shared by recorder and reader.
