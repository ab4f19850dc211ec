//! Programs that stay where they are, and those that do not.

use super::*;

#[test]
fn a_program_in_a_build_folder_is_refused() {
    let refused = Programs::next_to(Path::new("/src/anchord/target/debug/anchord"));
    assert!(matches!(refused, Err(ProgramsError::InBuildFolder(_))));
    let programs = Programs::next_to(Path::new("/opt/my tools/anchord")).unwrap();
    assert_eq!(programs.hook_line("codex"), "'/opt/my tools/anchord' hook codex");
}
