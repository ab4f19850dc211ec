//! The cache is bounded, and no damage to it is ever an error.

use std::time::Duration;

use anchord_outline::outline_text;

use super::*;

fn key(number: usize) -> Key {
    Key::new(&format!("{number:064x}"), None)
}

fn cache() -> (tempfile::TempDir, Cache) {
    let scratch = tempfile::tempdir().unwrap();
    let cache = Cache::new(scratch.path().join("outlines"));
    (scratch, cache)
}

#[test]
fn an_outline_outlives_the_cache() {
    let (scratch, cache) = cache();
    assert_eq!(cache.get(&key(1)), None);
    let outline = outline_text("# One\n\n# Two\n");
    cache.put(&key(1), &outline);
    assert_eq!(cache.get(&key(1)), Some(outline.clone()));
    let other = Cache::new(scratch.path().join("outlines"));
    assert_eq!(other.get(&key(1)), Some(outline));
    assert_eq!(other.get(&key(2)), None);
}

#[test]
fn the_language_is_a_part_of_the_key() {
    let rust = Language::by_id("rust");
    assert_ne!(Key::new("00", rust), Key::new("00", None));
}

#[test]
fn a_damaged_outline_is_made_again() {
    let (_scratch, cache) = cache();
    let outline = outline_text("words\n");
    for damage in [
        |text: &str| text[..text.len() - 1].to_owned(),
        |text: &str| text.replace("words", "worms"),
        |_: &str| String::new(),
        |_: &str| "no checksum".to_owned(),
        |_: &str| format!("{}\n{{}}", checksum("{}")),
    ] {
        cache.put(&key(1), &outline);
        let path = cache.path(&key(1));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, damage(&text)).unwrap();
        assert_eq!(cache.get(&key(1)), None);
        assert!(!path.exists(), "it is removed");
    }
    fs::remove_dir_all(&cache.directory).unwrap();
    assert_eq!(cache.get(&key(1)), None);
    cache.put(&key(1), &outline);
    assert_eq!(cache.get(&key(1)), Some(outline), "the directory is made again");
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let cache = Cache::new(file.join("outlines"));
    cache.put(&key(1), &outline_text("words\n"));
    assert_eq!(cache.get(&key(1)), None);
    cache.clear();
}

#[test]
fn the_outlines_used_longest_ago_make_room() {
    let (_scratch, cache) = cache();
    let outline = outline_text("words\n");
    let total = OUTLINES_MAX + 1;
    for number in 0..total {
        // Written past the cache's own count, as by an earlier daemon.
        write(&cache.path(&key(number)), &outline).unwrap();
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64);
        let file = File::options().write(true).open(cache.path(&key(number))).unwrap();
        file.set_modified(used).unwrap();
    }
    assert!(cache.get(&key(0)).is_some(), "now it is the last one used");
    cache.put(&key(total), &outline);
    let left = cache.files().len();
    assert_eq!(left, OUTLINES_MAX * 3 / 4);
    assert!(cache.get(&key(0)).is_some() && cache.get(&key(total)).is_some());
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn outlines_of_another_format_are_removed() {
    let (_scratch, cache) = cache();
    let old = cache.directory.join("v0");
    fs::create_dir_all(&old).unwrap();
    cache.put(&key(1), &outline_text("words\n"));
    assert!(!old.exists() && cache.get(&key(1)).is_some());
}
