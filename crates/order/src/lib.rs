//! Clocks, chain orders and acyclicity.
