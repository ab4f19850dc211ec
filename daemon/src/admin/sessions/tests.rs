//! Past sessions over the admin interface: they go to the right project, and only once.

use anchord_memory::lifecycle::Event;
use anchord_memory::{Kind, SessionActivity, Timestamp};

use super::*;
use crate::testing::{World, holding};

/// Returns a token that is assembled here, so that no file of ours contains one.
fn token() -> String {
    ["gh", "p_", "0042", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"].concat()
}

fn session(key: &str, cwd: &str, prompt: &str) -> PastSessionParams {
    let mut captured = SessionActivity::of(key);
    captured.saw(&Event::PromptSubmitted { prompt: prompt.to_owned() }, Timestamp(1_000));
    PastSessionParams { client: "codex".to_owned(), cwd: cwd.to_owned(), captured }
}

async fn import(
    world: &World,
    sessions: Vec<PastSessionParams>,
    dry_run: bool,
) -> PastSessionsReply {
    past_sessions(&world.daemon.sessions, PastSessionsParams { sessions, dry_run }).await.unwrap()
}

#[tokio::test]
async fn each_session_has_one_row_in_the_project_of_its_directory() {
    let world = World::new().await;
    let cwd = world.hello().cwd.unwrap();
    let gone = format!("{cwd}/gone");
    let sessions = || {
        vec![
            session("codex:1", &cwd, "first"),
            session("codex:2", &cwd, "second"),
            session("codex:3", &gone, "third"),
        ]
    };
    let plan = import(&world, sessions(), true).await;
    assert_eq!(plan.projects.iter().map(|p| (p.added, p.known)).collect::<Vec<_>>(), [(2, 0)]);
    assert_eq!(
        (plan.left_out[0].cwd.as_str(), plan.left_out[0].why.as_str()),
        (gone.as_str(), "is gone")
    );
    assert!(world.daemon.projects.open.all().is_empty(), "a plan makes nothing");

    let done = import(&world, sessions(), false).await;
    assert_eq!(done.projects[0].added, 2);
    let open = world.daemon.projects.open.all().remove(0);
    assert_eq!(open.memory().totals().active.of(Kind::SessionRow), 2);
    let revision = open.memory().revision();

    let again = import(&world, sessions(), false).await;
    assert_eq!((again.projects[0].added, again.projects[0].known), (0, 2));
    assert_eq!(open.memory().revision(), revision);

    let mut grown = sessions();
    let more = Event::PromptSubmitted { prompt: "and more".to_owned() };
    grown[0].captured.saw(&more, Timestamp(2_000));
    for (dry_run, updated, commits) in [(true, 1, 0), (false, 1, 1), (false, 0, 1)] {
        let reply = import(&world, grown.clone(), dry_run).await;
        assert_eq!((reply.projects[0].added, reply.projects[0].updated), (0, updated));
        assert_eq!(open.memory().revision().0, revision.0 + commits);
    }
    assert_eq!(open.memory().totals().active.of(Kind::SessionRow), 2);
}

#[tokio::test]
async fn no_secret_is_imported_with_a_session() {
    let world = World::new().await;
    let cwd = world.hello().cwd.unwrap();
    let planted = session("codex:1", &cwd, "PLANTED here");
    let mut json = serde_json::to_value(planted).unwrap();
    json["captured"]["prompt"] = format!("use {}", token()).into();
    let reply = import(&world, vec![serde_json::from_value(json).unwrap()], false).await;
    assert_eq!(reply.remarks, ["secrets were taken out: GitHub token"]);
    world.daemon.projects.open.close_all().await;
    let instance = world.directory("instance");
    assert_eq!(holding(&instance, &token()), Vec::<PathBuf>::new());
}
