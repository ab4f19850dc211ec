//! Replies.
