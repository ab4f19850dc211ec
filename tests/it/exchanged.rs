//! Two memories whose files a person exchanged. Neither is shown in the other's project.

use std::fs;
use std::path::{Path, PathBuf};

use anchord_tests::{Instance, Project, Shell, walk};

use crate::damage::noted;

/// Returns the journal of the project whose memory has this text.
fn journal_with(instance: &Instance, text: &str) -> PathBuf {
    let mut found = None;
    walk(&instance.home(), &mut |path: &Path| {
        let is_it = path.ends_with("journal/000001.jsonl")
            && !path.ends_with("daemon/journal/000001.jsonl")
            && fs::read_to_string(path).is_ok_and(|journal| journal.contains(text));
        if is_it {
            found = Some(path.to_owned());
        }
    });
    found.expect("there is a journal")
}

/// A person who puts files back by hand may mix up two directories.
#[test]
fn journals_that_changed_places_show_no_other_projects_memory() {
    let instance = Instance::new();
    let (one, other) = (Project::git(), Project::git());
    let shells = [&one, &other].map(|project| Shell::new(&instance, project.path()));
    noted(&shells[0], &["the heron fishes here"]);
    noted(&shells[1], &["the otter swims here", "the otter dives here", "the otter eats here"]);
    let paths = ["heron", "otter"].map(|text| journal_with(&instance, text));
    let [first, second] = [&paths[0], &paths[1]].map(|path| fs::read(path).unwrap());
    fs::write(&paths[0], &second).unwrap();
    fs::write(&paths[1], &first).unwrap();

    for (shell, own, foreign) in [(&shells[0], "heron", "otter"), (&shells[1], "otter", "heron")] {
        let loaded = shell.done(&["load"]);
        assert!(loaded.starts_with("READ-ONLY, nothing can be saved: "), "{loaded}");
        assert!(loaded.contains("another memory's"), "{loaded}");
        assert!(loaded.contains(own) && !loaded.contains(foreign), "{loaded}");
        let (code, refused) = shell.said(&["note", "into the wrong one"]);
        assert_eq!(code, 5, "{refused}");
        let (_, found) = shell.said(&["search", foreign]);
        assert!(!found.contains(&format!("the {foreign}")), "{found}");
        let (code, doctor) = shell.said(&["doctor"]);
        assert!(code == 1 && doctor.contains("another memory's"), "{doctor}");
        let (code, plan) = shell.said(&["journal", "repair"]);
        assert_eq!(code, 2, "it asks: {plan}");
        assert!(plan.contains("1 segment of another memory's journal"), "{plan}");
    }
    shells[0].done(&["stop"]);
    assert_eq!(fs::read(&paths[0]).unwrap(), second, "nothing was changed");
    // Each is put back in another way: by a repair, and by hand.
    shells[0].done(&["journal", "repair", "--yes"]);
    shells[0].done(&["note", "the heron flies"]);
    assert!(shells[0].done(&["load"]).contains("the heron fishes"));
    shells[0].done(&["stop"]);
    fs::write(&paths[1], &second).unwrap();
    shells[1].done(&["note", "the otter sleeps"]);
    let loaded = shells[1].done(&["load"]);
    assert!(loaded.contains("the otter dives") && !loaded.contains("READ-ONLY"), "{loaded}");
}

/// A person exchanges two memories as a whole, so that no index shows it.
#[test]
fn memories_that_changed_places_are_not_shown_in_each_other_s_project() {
    let instance = Instance::new();
    let (one, other) = (Project::git(), Project::git());
    let shells = [&one, &other].map(|project| Shell::new(&instance, project.path()));
    noted(&shells[0], &["the heron fishes here"]);
    noted(&shells[1], &["the otter swims here"]);
    let [first, second] = ["heron", "otter"].map(|text| {
        let journal = journal_with(&instance, text);
        journal.ancestors().nth(2).expect("a journal lies in a store").to_owned()
    });
    let exchange = || {
        let aside = first.with_extension("aside");
        fs::rename(&first, &aside).unwrap();
        fs::rename(&second, &first).unwrap();
        fs::rename(&aside, &second).unwrap();
    };
    exchange();
    let ids = [&second, &first].map(|store| store.file_name().unwrap().to_string_lossy());
    for (shell, (here, of)) in shells.iter().zip([&first, &second].into_iter().zip(&ids)) {
        let why = format!("{} holds the memory of {of}", here.display());
        for command in [
            &["load"][..],
            &["note", "into the wrong one"],
            &["search", "here"],
            &["doctor"],
            &["journal", "verify"],
            &["journal", "repair", "--yes"],
        ] {
            let (code, said) = shell.said(command);
            assert!(code != 0 && said.contains(&why), "{command:?}: {code} {said}");
            assert_eq!(said.matches(&why).count(), 1, "{command:?}: {said}");
            assert!(!said.contains("fishes") && !said.contains("swims"), "{command:?}: {said}");
        }
    }
    shells[0].done(&["stop"]);
    // A journal without an index, so that only its own line proves whose it is.
    fs::remove_dir_all(first.join("sled")).unwrap();
    let (code, said) = shells[0].said(&["load"]);
    assert!(code != 0 && said.contains("holds the memory of"), "{code} {said}");
    shells[0].done(&["stop"]);
    exchange();
    assert!(shells[0].done(&["load"]).contains("the heron fishes here"));
    assert!(shells[1].done(&["load"]).contains("the otter swims here"));
    // A backup is restored once the directory from elsewhere is gone.
    let backup = one.path().join("heron.gz");
    shells[0].done(&["backup", "--to", backup.to_str().unwrap()]);
    shells[0].done(&["stop"]);
    exchange();
    let restore = ["restore", "--yes", backup.to_str().unwrap()];
    let (code, said) = shells[0].said(&restore);
    assert!(code != 0 && said.contains("or move this one away"), "{said}");
    fs::rename(&first, first.with_extension("moved")).unwrap();
    shells[0].done(&restore);
    let loaded = shells[0].done(&["load"]);
    assert!(loaded.contains("the heron fishes here"), "{loaded}");
}
