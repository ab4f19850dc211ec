//! The end of a wait for commits that do not come.

use super::*;

#[test]
fn the_wait_for_commits_begins_again_with_each_that_comes() {
    let start = clock::start();
    let mut progress = Progress::new(start);
    let mut waited = |revision, seconds| {
        progress.time_without(Revision(revision), start + Duration::from_secs(seconds)).as_secs()
    };
    assert_eq!([waited(1, 0), waited(1, 15), waited(2, 19), waited(2, 30)], [0, 15, 0, 11]);
    assert!(waited(2, 39) >= TEAM_ANSWER_MAX.as_secs());
}
