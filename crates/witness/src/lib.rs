//! Witnesses, and the machine that checks them: the trusted base.
