//! The codes under which errors of a store are reported.

use super::*;
use crate::store::TeamFault;

#[test]
fn what_passes_is_busy_and_what_does_not_is_damaged_or_failed() {
    let why = || "somewhere".to_owned();
    let code = |error: StoreError| store_error(error).code;
    let fault = || TeamFault::refused(why());
    assert_eq!(code(StoreError::TeamBusy(fault())), ErrorCode::Busy);
    assert_eq!(code(StoreError::ShuttingDown), ErrorCode::Busy);
    assert_eq!(code(StoreError::TeamRefused(fault())), ErrorCode::Refused);
    assert_eq!(code(StoreError::TeamAway(fault())), ErrorCode::Failed);
    let damaged = || StoreError::Damaged { at: why(), why: why() };
    assert!(damaged().is_damage() && store_error(damaged()).action.is_some());
    assert_eq!(code(damaged()), ErrorCode::Damaged);
}
