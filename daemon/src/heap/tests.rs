//! Memory is returned once after each stretch of work, and not while the daemon works.

use super::*;

fn ticks_until_due(heap: &mut Heap, work: u64) -> Option<u32> {
    (1..=HEAP_QUIET_TICKS * 3).find(|_| heap.is_due(work))
}

#[test]
fn memory_is_returned_once_after_each_burst_of_work() {
    let mut heap = Heap::default();
    assert_eq!(ticks_until_due(&mut heap, 0), Some(HEAP_QUIET_TICKS), "what a start freed");
    assert_eq!(ticks_until_due(&mut heap, 0), None);
    assert_eq!(ticks_until_due(&mut heap, 7), Some(HEAP_QUIET_TICKS + 1));
    assert_eq!(ticks_until_due(&mut heap, 7), None);
    let works = (8..).take(100).any(|work| heap.is_due(work));
    assert!(!works, "it works all the time");
}
