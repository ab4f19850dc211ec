//! Single records.
