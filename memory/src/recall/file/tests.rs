//! The texts that are about a file, and their nearness to it.

use super::*;
use crate::testing::{anchor, anchors, apply, day, lesson, lessons, note, origin, save};
use crate::{Lesson, NewNote, plan_notes};

fn with_notes(notes: impl IntoIterator<Item = NewNote>) -> Memory {
    let mut memory = Memory::default();
    let items = notes.into_iter().map(Ok).collect();
    let plan = plan_notes(&memory, &origin("one", 1), items).unwrap();
    apply(&mut memory, plan);
    memory
}

fn about(memory: &Memory, file: &str, given: &BTreeSet<RecordId>) -> Vec<String> {
    let of = FileQuery { reader: &Reader::anyone(), file, given, now: day(5) };
    about_file(memory, &of).iter().take(3).map(ToString::to_string).collect()
}

#[test]
fn a_text_is_about_a_file_if_it_names_the_file_or_its_directory() {
    use Nearness::{Directory, File, Name};
    for (text, expected) in [
        ("src/billing/invoice.rs rounds up", Some(File)),
        ("in ./src/billing/invoice.rs, amounts are rounded", Some(File)),
        ("it is `billing/invoice.rs` that rounds", Some(File)),
        ("invoice.rs rounds up", Some(Name)),
        ("./invoice.rs rounds up", Some(Name)),
        ("my-invoice.rs rounds up", None),
        // Other directories may have a file of the same name.
        ("ERROR: a deadlock in src/auth/invoice.rs", None),
        ("../invoice.rs rounds up", None),
        ("src/billing is frozen", Some(Directory)),
        ("src/billing/ is frozen", Some(Directory)),
        ("src/billing/* is frozen", Some(Directory)),
        ("src/<area>/*.rs are generated", Some(Directory)),
        ("src/billing/refund.rs rounds up", None),
        ("billing is frozen", None),
        ("src is frozen", None),
        // The first is another directory, the second another file in it.
        ("my-src/billing and src/billing/x.rs", None),
        ("src/billing/x.rs, and all of src/billing", Some(Directory)),
    ] {
        let file = "src/billing/invoice.rs";
        assert_eq!(FileParts::of(file).unwrap().text_nearness(text), expected, "{text}");
        let found = about(&with_notes([note(text)]), file, &BTreeSet::new());
        assert_eq!(found.len(), usize::from(expected.is_some()), "{text}");
    }
}

#[test]
fn a_lesson_may_list_a_directory_and_an_anchor_is_about_its_own_file_alone() {
    let mut memory = Memory::default();
    let frozen = Lesson { files: vec!["src/billing".to_owned()], ..lesson("Wait", "for review") };
    save(&mut memory, &origin("one", 1), lessons([frozen]));
    save(&mut memory, &origin("one", 2), anchors([anchor("src/billing", "1-9", "here")]));
    let found = about(&memory, "src/billing/invoice.rs", &BTreeSet::new());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with('l'), "{found:?}");
}

#[test]
fn the_closest_records_come_first_without_expired_or_given_ones() {
    let past = NewNote { expires: Some(day(3)), ..note("jobs/sync/run.py is slow") };
    let mut memory = with_notes([note("jobs/sync is slow"), note("run.py is slow"), past]);
    let about_it = lessons([lesson("jobs/sync/run.py hangs", "Give it a timeout.")]);
    save(&mut memory, &origin("one", 2), about_it);
    let elsewhere = anchors([anchor("jobs/other/run_all.py", "1-9", "starts every job")]);
    save(&mut memory, &origin("one", 3), elsewhere);
    let mut given = BTreeSet::new();
    let found = about(&memory, "./jobs/sync/run.py", &given);
    assert!(found[0].starts_with('l'), "{found:?}");
    assert_eq!(found[1..], ["n2", "n1"]);
    given.insert("n2".parse().unwrap());
    assert_eq!(about(&memory, "jobs/sync/run.py", &given)[1..], ["n1"]);
    assert_eq!(about(&memory, "", &given), [""; 0]);
}

#[test]
fn all_records_about_a_file_are_found() {
    let notes = (0..90).map(|number| note(&format!("src/billing/invoice.rs has rule {number}")));
    let memory = with_notes(notes.chain([note("src/auth is another directory")]));
    let (reader, given) = (Reader::anyone(), BTreeSet::new());
    let file = "src/billing/invoice.rs";
    let of = FileQuery { reader: &reader, file, given: &given, now: day(5) };
    let all = about_file(&memory, &of);
    assert_eq!(all.len(), 90);
    let given = all.into_iter().take(3).collect();
    assert_eq!(about_file(&memory, &FileQuery { given: &given, ..of }).len(), 87);
}

#[test]
fn a_pattern_stands_for_the_files_that_match_it() {
    let place = FileParts::of("templates/en/mail.j2").unwrap();
    for (text, expected) in [
        ("each is `templates/<lang>/<code>.j2`", true),
        ("they are generated (templates/{lang}/*.j2).", true),
        ("en/*.j2: not by hand", true),
        ("see templates/en/mail.j2", false),
        ("jobs/*.py are other files", false),
        ("templates/de/*.j2", false),
        ("assets/templates/en/*.j2", false),
        ("*/* is everything", false),
    ] {
        assert_eq!(place.is_meant_by(text), expected, "{text}");
    }
}

#[test]
fn a_wildcard_matches_at_least_one_character() {
    for (name, pattern, expected) in [
        ("mail.j2", "<code>.j2", true),
        ("mail.j2", "*", true),
        ("mail.j2", "mail.j2", true),
        ("job_sync.py", "job_{name}.py", true),
        (".j2", "<code>.j2", false),
        ("mail.txt", "*.j2", false),
        ("mail.j2", "mail", false),
    ] {
        assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
    }
}

#[test]
fn a_directory_is_named_by_two_parts_or_more() {
    for (directory, expected) in [
        ("src/billing/tax", vec!["src/billing/tax", "billing/tax"]),
        ("src/billing", vec!["src/billing"]),
        ("src", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(endings(directory).collect::<Vec<_>>(), expected);
    }
}
