//! HTTP: the admin API on the Unix socket (everything), the status port on loopback (counts alone).

pub mod api;
