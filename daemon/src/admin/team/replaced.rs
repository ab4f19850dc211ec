//! Names the team's records that a merge replaced, and the place of what it left out. The newer
//! text of two wins, whoever wrote it.

use std::path::PathBuf;

use anchord_memory::{Body, Memory, Record, RecordState, Revision, render};

use crate::admin::text;
use crate::limits::TEAM_NAMED_MAX;

/// Returns a remark about the records of `before` whose text the commit `revision` replaced, if it
/// replaced any.
pub(super) fn remark(before: &Memory, after: &Memory, revision: Revision) -> Option<String> {
    let is_replaced = |now: &Record| {
        let earlier = before.record(now.id).filter(|it| it.state != RecordState::Forgotten);
        earlier.is_some_and(|earlier| differs(&earlier.body, &now.body))
    };
    let written = after.records().filter(|now| now.revision == revision);
    let replaced: Vec<_> = written.filter(|now| is_replaced(now)).collect();
    let mut names: Vec<String> = replaced.iter().take(TEAM_NAMED_MAX).map(|it| name(it)).collect();
    if replaced.len() > names.len() {
        names.push(format!("{} more", replaced.len() - names.len()));
    }
    let names = names.join(", ");
    match replaced.len() {
        0 => None,
        1 => Some(format!(
            "1 of the team's records is older than yours and was replaced: {names}; its text is \
             in history"
        )),
        several => Some(format!(
            "{several} of the team's records are older than yours and were replaced: {names}; \
             their texts are in history"
        )),
    }
}

/// Returns a remark about the place of the records that a merge left out, if a memory that was set
/// aside is still there.
pub(super) fn remain(asides: &[PathBuf]) -> Option<String> {
    let places: Vec<String> = asides.iter().map(|aside| text(aside)).collect();
    let places = places.join(", ");
    (!places.is_empty()).then(|| {
        format!("the texts of what was left out remain in the memory that was set aside: {places}")
    })
}

/// Returns whether a text took another one's place. Records of other kinds unite theirs.
fn differs(earlier: &Body, now: &Body) -> bool {
    match (earlier, now) {
        (Body::Note(earlier), Body::Note(now)) => earlier.content != now.content,
        (Body::Blueprint(earlier), Body::Blueprint(now)) => earlier.content != now.content,
        _ => false,
    }
}

fn name(record: &Record) -> String {
    let key = record.note().and_then(|note| note.key.clone());
    format!("{} {}", record.id, key.unwrap_or_else(|| render::plain_name(record)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::World;

    #[test]
    fn the_place_of_what_was_left_out_is_named_if_it_is_there() {
        assert_eq!(remain(&[]), None);
        let said = remain(&[PathBuf::from("/data/api.aside-1")]).unwrap();
        assert!(said.ends_with("in the memory that was set aside: /data/api.aside-1"), "{said}");
    }

    #[tokio::test]
    async fn a_replaced_text_is_named_and_an_added_one_is_not() {
        let world = World::new().await;
        let mut shim = world.shim().await;
        let fact = |content: &str| json!({ "key": "deploy", "content": content });
        shim.call("memory_note", fact("make deploy")).await;
        let projects = &world.daemon.sessions.projects;
        let id = projects.registry.snapshot().projects().next().unwrap().id;
        let memory = || projects.open.get(id).unwrap().memory();
        let before = memory();
        shim.call("memory_note", json!({ "content": "another note" })).await;
        let added = memory();
        assert_eq!(remark(&before, &added, added.revision()), None);
        shim.call("memory_note", fact("kubectl apply")).await;
        let replaced = memory();
        let expected = "1 of the team's records is older than yours and was replaced: n1 deploy; \
                        its text is in history";
        assert_eq!(remark(&added, &replaced, replaced.revision()).as_deref(), Some(expected));
    }
}
