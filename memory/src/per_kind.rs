//! One value for each kind of record.

use serde::{Deserialize, Serialize};

use crate::ids::Kind;
use crate::kinds::each_kind;

macro_rules! per_kind {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident,)*) => {
        /// A value for each kind of record.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct PerKind<T> {
            $($(#[$doc])* pub $field: T,)*
        }

        impl<T: Copy> PerKind<T> {
            /// Returns the value of one kind.
            pub fn of(&self, kind: Kind) -> T {
                match kind {
                    $(Kind::$kind => self.$field,)*
                }
            }

            pub(crate) fn of_mut(&mut self, kind: Kind) -> &mut T {
                match kind {
                    $(Kind::$kind => &mut self.$field,)*
                }
            }
        }
    };
}
each_kind!(per_kind);
