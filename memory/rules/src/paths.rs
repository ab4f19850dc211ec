//! The paths that an action touches, and their globs.

use crate::access;
use crate::shell::{Reading, Word, program_name};
use crate::verdict::{Access, Action};
use crate::wild::{Match, Sym, Wild, shown, syms};

/// A path that an action touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathWord {
    syms: Vec<Sym>,
    is_rooted: bool,
    access: Access,
}

/// Programs whose arguments are texts, not paths.
const TEXT_ONLY: [&str; 4] = ["echo", "printf", "true", ":"];

/// Returns the paths of an action: those given, and the words and redirections of its command. A
/// word that is no path does not match a glob of one. A word counts in the project's root, in the
/// directory in which the command runs, and in those to which it changes.
pub(crate) fn touched(action: &Action<'_>, reading: &Reading) -> Vec<PathWord> {
    let of_given = |path: &String| {
        let is_written = action.writes.contains(path);
        (syms(path), if is_written { Access::Write } else { action.access })
    };
    let mut all = Vec::new();
    for (path, access) in action.paths.iter().chain(action.writes).map(of_given) {
        push(&mut all, &path, access);
    }
    let mut words: Vec<(Vec<Sym>, Access)> = Vec::new();
    words.extend(reading.files.iter().map(|(word, access)| (word.syms.clone(), *access)));
    for invocation in &reading.invocations {
        let name = invocation.words.first().and_then(program_name).unwrap_or_default();
        if TEXT_ONLY.contains(&name.as_str()) {
            continue;
        }
        for (word, access) in invocation.words.iter().zip(access::of(invocation)) {
            words.extend(of_word(word).into_iter().map(|word| (word, access)));
        }
    }
    let here = action.directory.map(syms);
    let mut directories: Vec<Vec<Sym>> = here.iter().cloned().collect();
    for directory in &reading.directories {
        directories.push(directory.syms.clone());
        directories.extend(here.iter().filter_map(|here| below(here, &directory.syms)));
    }
    for (word, access) in words {
        push(&mut all, &word, access);
        for path in directories.iter().filter_map(|directory| below(directory, &word)) {
            push(&mut all, &path, access);
        }
    }
    all
}

/// Returns a relative path as it is named from above the directory; `None` for another path.
fn below(directory: &[Sym], path: &[Sym]) -> Option<Vec<Sym>> {
    let is_relative = !matches!(path.first(), Some(Sym::Char('/' | '~') | Sym::Any));
    is_relative.then(|| [directory, &[Sym::Char('/')], path].concat())
}

fn push(all: &mut Vec<PathWord>, word: &[Sym], access: Access) {
    let syms = normal(word);
    match all.iter_mut().find(|touched| touched.syms == syms) {
        Some(touched) => touched.access = touched.access.max(access),
        None => all.push(PathWord { is_rooted: is_rooted(&syms), syms, access }),
    }
}

/// Returns a word and what follows its `=` or `:`, as in `of=/dev/sda` and `host:path`.
fn of_word(word: &Word) -> Vec<Vec<Sym>> {
    let mut all = Vec::new();
    if !word.is_flag() {
        all.push(word.syms.clone());
    }
    for (at, sym) in word.syms.iter().enumerate() {
        if matches!(sym, Sym::Char('=' | ':' | '@')) {
            all.push(word.syms.get(at + 1..).unwrap_or_default().to_vec());
        }
    }
    // An option's value may be attached, as in `-o/path`.
    if let [Sym::Char('-'), Sym::Char(letter), rest @ ..] = &word.syms[..]
        && *letter != '-'
        && !rest.is_empty()
    {
        all.push(rest.to_vec());
    }
    all
}

fn is_rooted(path: &[Sym]) -> bool {
    matches!(path.first(), Some(Sym::Char('/' | '~') | Sym::Any)) || path.starts_with(&syms(".."))
}

/// Removes `.`, `..` and repeated slashes.
pub(crate) fn normal(path: &[Sym]) -> Vec<Sym> {
    let mut parts: Vec<&[Sym]> = Vec::new();
    for part in path.split(|sym| *sym == Sym::Char('/')) {
        let text = shown(part);
        let can_go_up = parts.last().is_some_and(|last| {
            !last.is_empty() && !last.contains(&Sym::Any) && shown(last) != ".."
        });
        match text.as_str() {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if can_go_up => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    match parts.as_slice() {
        [[]] => vec![Sym::Char('/')],
        parts => parts.join(&Sym::Char('/')),
    }
}

/// Whether a known part of a path occurs in a glob. A path that is wholly unknown may be any, but
/// asking for each would ask for every variable.
fn hints_at(glob: &str, path: &[Sym]) -> bool {
    const CHARS_MIN: usize = 2;
    let parts = path.split(|sym| matches!(sym, Sym::Any | Sym::Char('/'))).map(shown);
    let mut telling = parts.filter(|part| part.chars().count() >= CHARS_MIN || part == ".");
    telling.any(|part| glob.contains(&part))
}

/// Matches a glob with the paths, or only with those that are written. A glob without a slash
/// matches a file's name in any directory. A relative one also matches the end of an absolute path,
/// since the project's directory is not known here.
pub(crate) fn matches(
    glob: &str,
    touched: &[PathWord],
    only_writes: bool,
) -> Option<(Match, String)> {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let is_rooted = glob.starts_with(['/', '~']);
    let anywhere = (!is_rooted).then(|| format!("**/{glob}"));
    let exact = Wild::glob(glob);
    let loose = anywhere.map(|glob| Wild::glob(&glob));
    let is_name = !glob.trim_end_matches("/**").contains('/');
    let each = touched.iter().map(|path| {
        let wild = match &loose {
            Some(loose) if is_name || path.is_rooted => loose,
            _ => &exact,
        };
        // A glob that cannot be read may match anything.
        let found = wild.as_ref().map_or(Match::Maybe, |wild| wild.matches(&path.syms));
        let is_guess = found == Match::Maybe && wild.is_ok() && !hints_at(glob, &path.syms);
        let of_access = match path.access {
            Access::Read if only_writes => Match::No,
            Access::Unknown if only_writes => Match::Maybe,
            _ => Match::Yes,
        };
        (if is_guess { Match::No } else { found.min(of_access) }, path)
    });
    let (found, path) = each.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (found != Match::No).then(|| (found, shown(&path.syms)))
}
