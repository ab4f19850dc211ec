//! Session rows on the pages of a load while sessions keep saving.

use super::*;

fn saved(memory: &mut Memory, session: usize, on: i64) {
    let summary = format!("session {session} on {on}. {}", "what was done then ".repeat(12));
    let by = origin(&format!("session {session}"), on);
    let save =
        crate::Save { started: by.time, session_summary: &summary, ..crate::Save::default() };
    let plan = crate::plan_save(memory, &by, save).unwrap();
    apply(memory, plan);
}

#[test]
fn a_save_between_two_pages_moves_no_row_past_the_cursor() {
    for again in 0..14 {
        let mut memory = Memory::default();
        for session in 0..14 {
            saved(&mut memory, session, i64::try_from(session).unwrap() + 1);
        }
        let tokens_max = Some(limits::LOAD_TOKENS_MIN);
        let mut asked = Asked { sections: vec![Kind::SessionRow], tokens_max, ..Asked::default() };
        let mut full = Vec::new();
        for page in 0.. {
            assert!(page < 50, "pages without an end");
            let text = loaded(&memory, &asked).text;
            let shown = (0..14).filter(|at| text.contains(&format!(": session {at} on ")));
            full.extend(shown.filter(|at| {
                let row = text.split_once(&format!(": session {at} on ")).unwrap().1;
                !row.lines().next().unwrap().ends_with('…')
            }));
            let next = loaded(&memory, &asked).next;
            if page == 1 {
                saved(&mut memory, again, 40);
            }
            let Some(next) = next else { break };
            asked.cursor = Some(next);
        }
        full.sort_unstable();
        assert_eq!(full, (0..14).collect::<Vec<_>>(), "session {again} saved again");
    }
}

/// Hooks alone wrote the row of the session that just ended. The next one continues from it.
#[test]
fn the_newest_session_comes_first_whoever_wrote_its_row() {
    let mut memory = Memory::default();
    for session in 0..20 {
        saved(&mut memory, session, i64::try_from(session).unwrap() + 1);
    }
    let by = origin("hooks", 30);
    let mut activity = crate::activity::SessionActivity::of("");
    let asked = "count the open questions about Easter Monday";
    activity.saw(&crate::lifecycle::Event::PromptSubmitted { prompt: asked.to_owned() }, by.time);
    let plan = crate::plan_capture(&memory, &by, activity).unwrap();
    apply(&mut memory, plan);
    let cause = NoticeCause::Ended;
    let plan = plan_keep(&memory, &by.session, &by, cause, false).unwrap();
    apply(&mut memory, plan);
    let text = loaded(&memory, &Asked::default()).text;
    let sessions = text.split_once("## Sessions").unwrap().1;
    assert!(sessions.lines().nth(1).unwrap().contains("Easter Monday"), "{sessions}");
}
