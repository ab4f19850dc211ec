//! The archive policy.
