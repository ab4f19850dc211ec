//! The forms of COMPAT.
