//! Files into which lines may have moved.

/// Returns the paths of the files into which lines of a file may have moved, the likeliest first.
/// They have the file's name or its extension. Those in its folder and in near folders come first.
pub fn nearby<'a>(
    path: &str,
    all: impl Iterator<Item = &'a str>,
    files_max: usize,
) -> Vec<&'a str> {
    let (folder, name) = split(path);
    let extension = extension(name);
    let rank = |other: &'a str| {
        let (near, its_name) = split(other);
        let same_name = its_name == name;
        let fits = other != path && (same_name || self::extension(its_name) == extension);
        fits.then(|| (!same_name && near != folder, distance(folder, near), other))
    };
    let mut found: Vec<_> = all.filter_map(rank).collect();
    found.sort_unstable();
    found.truncate(files_max);
    found.into_iter().map(|(_, _, path)| path).collect()
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, extension)| extension)
}

/// Returns the number of steps from one folder to another.
fn distance(from: &str, to: &str) -> usize {
    let parts = |path: &'_ str| path.split('/').filter(|part| !part.is_empty()).count();
    let pairs = from.split('/').zip(to.split('/'));
    let common = pairs.take_while(|(one, other)| one == other && !one.is_empty()).count();
    parts(from) + parts(to) - 2 * common
}

#[cfg(test)]
mod tests {
    use super::nearby;

    #[test]
    fn files_of_its_name_and_folder_come_first() {
        let all =
            ["src/a/b.rs", "b.rs", "src/c.rs", "src/a/x.rs", "src/d/e.rs", "src/b.py", "src/b.rs"];
        let found = nearby("src/b.rs", all.into_iter(), 10);
        assert_eq!(found, ["src/c.rs", "b.rs", "src/a/b.rs", "src/a/x.rs", "src/d/e.rs"]);
        assert_eq!(nearby("src/b.rs", all.into_iter(), 2).len(), 2);
    }
}
