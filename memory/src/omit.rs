//! Fields that say nothing and are left out of what is stored.

/// Returns whether a field has its default, so that serde skips it.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
