//! Reading `/proc` where there is one.

use std::process::Command;

use super::*;

#[test]
fn brackets_and_spaces_in_a_name_do_not_shift_the_fields() {
    let stat = "77 (a) b (c)) S 12 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 1 2";
    let name = "a) b (c)".to_owned();
    let expected = ProcessStat { name, ended: false, stopped: false, parent: 12, start: 123_456 };
    assert_eq!(ProcessStat::parse(stat), Some(expected));
}

#[test]
fn a_zombie_has_ended() {
    let stat = "77 (x) Z 12 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 5 99 1 2";
    assert!(ProcessStat::parse(stat).is_some_and(|process| process.ended));
}

#[test]
fn a_truncated_line_gives_no_result() {
    assert_eq!(ProcessStat::parse("77 (x) S 12 77"), None);
    assert_eq!(ProcessStat::parse(""), None);
}

#[cfg(target_os = "linux")]
#[test]
fn this_process_is_alive_and_another_start_time_is_another_process() {
    let pid = std::process::id();
    let start = process_start(pid);
    assert!(start.is_some());
    assert_eq!(process_alive(pid, start), Some(true));
    assert_eq!(process_alive(pid, start.map(|start| start + 1)), Some(false));
    assert_eq!(process_alive(pid, None), None);
    assert_eq!(process_parent(pid).map(|(parent, _)| parent), parent_pid());
    assert!(boot_id().is_some_and(|id| id.len() == 36));
    assert!(pid_namespace().is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_is_dead_as_a_zombie_and_after_being_reaped() {
    let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let start = process_start(child.id());
    assert_eq!(process_alive(child.id(), start), Some(true));
    drop(child.stdin.take());
    // Waits for the end without reaping.
    rustix::process::waitid(
        rustix::process::WaitId::Pid(Pid::from_child(&child)),
        rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
    )
    .unwrap();
    assert_eq!(process_alive(child.id(), start), Some(false));
    child.wait().unwrap();
    assert_eq!(process_alive(child.id(), start), Some(false));
}

#[test]
fn impossible_process_ids_give_no_result() {
    assert_eq!(process_alive(0, None), None);
    assert_eq!(process_alive(u32::MAX, None), None);
}
