//! Ranks the lines of an output by how well they identify its error, from the forms that common
//! tools print.

use super::ErrorLine;
use super::normal::{LinePosition, is_generic, place};

/// The quality with which a line identifies the error, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A count of failures, or a report that another program failed.
    Summary,
    /// A line with a word that errors have.
    Word,
    /// A line with a phrase that errors have: "cannot", "not found".
    Phrase,
    /// A line with "error" after something else.
    Inside,
    /// A line that begins with "error", "fatal" or the name of an exception.
    Begins,
    /// The name of the failed thing: a test, a rejected branch.
    Names,
    /// A compiler's or linter's complaint with its place, or a panic.
    Diagnostic,
    /// The innermost cause, or the last line of a traceback.
    Cause,
}

impl Rank {
    /// Returns whether the last of several such lines counts.
    pub(super) fn takes_last(self) -> bool {
        self == Self::Cause
    }

    /// Returns whether the line says something about the error that a better one may not.
    pub(super) fn is_telling(self) -> bool {
        self >= Self::Phrase
    }

    /// Returns whether almost only failing commands print such a line.
    pub(super) fn is_unmistakable(self) -> bool {
        self >= Self::Begins
    }
}

/// Ranks the lines that may identify an error, in their order.
pub(super) fn ranked(lines: &[String]) -> Vec<(Rank, ErrorLine)> {
    let mut ranked = Vec::new();
    let mut traceback = false;
    let mut causes = false;
    let mut outer = String::new();
    for (at, indented) in lines.iter().enumerate() {
        let line = indented.trim();
        let is_indented = indented.len() > line.len();
        let after = lines.get(at + 1..).unwrap_or_default();
        if line.is_empty() {
            continue;
        }
        if line.starts_with("Traceback (most recent call last)") {
            traceback = true;
            continue;
        }
        if traceback {
            // Frames are indented, the exception is not; a multi-line one begins with its name.
            if !is_indented && (exception(line).is_some() || line.contains(": ")) {
                traceback = false;
                let rank =
                    if line.starts_with("AssertionError") { Rank::Begins } else { Rank::Cause };
                ranked.push((rank, ErrorLine::plain(line)));
            }
            continue;
        }
        if let Some(cause) = line.strip_prefix("Caused by:") {
            // Java prints the cause on the same line, Rust prints causes below it, one per line.
            causes = cause.trim().is_empty();
            if !causes {
                ranked.push((Rank::Cause, ErrorLine::plain(&with_outer(cause.trim(), &outer))));
            }
            continue;
        }
        if causes && is_indented && !line.starts_with("at ") {
            let cause = line.split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok());
            let cause = cause.map_or(line, |(_, cause)| cause);
            ranked.push((Rank::Cause, ErrorLine::plain(&with_outer(cause, &outer))));
            continue;
        }
        causes = false;
        if let Some((rank, found)) = rank(line, after) {
            if rank == Rank::Begins && outer.is_empty() {
                message(&found.text).clone_into(&mut outer);
            }
            ranked.push((rank, found));
        }
    }
    ranked
}

/// Returns a cause. A cause that says nothing alone, such as "No such file or directory", follows
/// the outer message.
fn with_outer(cause: &str, outer: &str) -> String {
    if outer.is_empty() || !is_generic(cause) {
        return cause.to_owned();
    }
    format!("{outer}: {cause}")
}

/// Returns a message without the "Error:" before it.
fn message(line: &str) -> &str {
    line.split_once(": ").filter(|(name, _)| !name.contains(' ')).map_or(line, |(_, text)| text)
}

fn rank(line: &str, after: &[String]) -> Option<(Rank, ErrorLine)> {
    // A linker's error is printed as a note to the compiler's.
    let line =
        line.strip_prefix("= note: ").filter(|note| note.contains(": error: ")).unwrap_or(line);
    if is_noise(line) {
        return None;
    }
    if is_summary(line) {
        return Some((Rank::Summary, ErrorLine::plain(line)));
    }
    let (rank, text) = diagnostic(line, after)
        .map(|found| (Rank::Diagnostic, found))
        .or_else(|| panic(line, after).map(|text| (Rank::Diagnostic, ErrorLine::plain(&text))))
        .or_else(|| exception_of_pytest(line).map(|text| (Rank::Cause, ErrorLine::plain(text))))
        .or_else(|| named(line).map(|text| (Rank::Names, ErrorLine::plain(&text))))
        .or_else(|| begins(line, after).map(|text| (Rank::Begins, ErrorLine::plain(&text))))
        .or_else(|| loose(line).map(|rank| (rank, ErrorLine::plain(line))))?;
    Some((rank, text))
}

/// Returns whether a line never says what went wrong.
fn is_noise(line: &str) -> bool {
    const BEGINS: [&str; 26] = [
        "at ",
        "File \"",
        "hint:",
        "note:",
        "= note:",
        "help:",
        "= help:",
        "warning",
        "WARN",
        "Warning",
        "Require stack:",
        "--> ",
        "| ",
        "Compiling ",
        "Downloading ",
        "Downloaded ",
        "Finished ",
        "Running ",
        "Collecting ",
        "For more information",
        "Some errors have",
        "INFO",
        "DEBUG",
        "During handling of",
        "The above exception",
        "+ ",
    ];
    const NPM: [&str; 9] = [
        "code ",
        "errno ",
        "syscall ",
        "path ",
        "A complete log",
        "Found:",
        "node_modules/",
        "This is probably not",
        "Node.js ",
    ];
    let npm = line.strip_prefix("npm ERR!").or_else(|| line.strip_prefix("npm error"));
    let aside = npm.is_some_and(|rest| {
        rest.trim().is_empty() || NPM.iter().any(|begin| rest.trim_start().starts_with(begin))
    });
    aside
        || says_status(line)
        || BEGINS.iter().any(|begin| line.starts_with(begin))
        || !line.contains(char::is_alphabetic)
        || ["0 errors", "0 failed", "no errors", "0 error(s)"].iter().any(|no| {
            // Matches `Tests: 0 failed`, not `port 8080 failed`.
            says(line, &format!(" {no}")) || line.starts_with(no)
        })
}

/// Returns whether a line only gives the command's status.
pub(super) fn says_status(line: &str) -> bool {
    let line = line.trim();
    [
        "Exit code",
        "Exit Code",
        "exit status ",
        "Process exited with",
        "Process Group PGID",
        "Command exited with",
        "…",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
}

/// Returns whether a line only says that another program failed, or counts failures.
fn is_summary(line: &str) -> bool {
    const HAS: [&str; 19] = [
        "could not compile",
        "aborting due to",
        "test failed, to rerun",
        "didn't exit successfully",
        "did not complete successfully",
        "subprocess-exited-with-error",
        "exited with code",
        "exited with exit code",
        "Command failed with",
        "command failed with",
        "Lifecycle script",
        "ELIFECYCLE",
        "returned 1 exit status",
        "linking with `",
        "test result: FAILED",
        "Tests run:",
        "Build failed with an exception",
        "COMPILATION ERROR",
        "Process completed with",
    ];
    let count = line.trim_start_matches(['=', '-', '✖', '✗', '(', ' ']);
    let count = ["Found ", "Tests: ", "Test Files ", "Tests "]
        .iter()
        .find_map(|begin| count.strip_prefix(begin))
        .unwrap_or(count);
    let mut words = count.split(' ');
    let found = words.next().is_some_and(|number| number.parse::<u32>().is_ok())
        && words.next().is_some_and(|word| {
            const COUNTED: [&str; 8] = [
                "errors", "error", "failed", "problems", "problem", "failures", "failing",
                "failure",
            ];
            COUNTED.contains(&word.trim_end_matches([')', '.', ';', ':', ',']))
        });
    HAS.iter().any(|has| line.contains(has))
        || found
        || line.starts_with("make") && line.contains("*** [")
        || line.starts_with("ninja: build stopped")
        || is_bare_failure(line)
}

/// Returns whether a line says "failed" and nothing else.
pub(super) fn is_bare_failure(line: &str) -> bool {
    let line = line.trim().trim_matches(['=', '-', '!', ' ', '.']);
    let made = line.starts_with("make") && line.contains("*** [") && line.contains("] Error ");
    let run =
        line.starts_with("test result: FAILED") || line.starts_with("error Command failed with");
    let counted = line.starts_with("FAILED (") || line.starts_with("Tests failed");
    made || run
        || counted
        || matches!(line, "FAILED" | "FAIL" | "BUILD FAILED" | "BUILD FAILURE" | "failures:")
}

/// Returns whether the last line of an output reports success.
pub(super) fn is_success(line: &str) -> bool {
    let line = line.trim();
    ["Finished ", "test result: ok", "BUILD SUCCESS", "Successfully ", "Done in ", "Build complete"]
        .iter()
        .any(|begin| line.starts_with(begin))
        || line.trim_matches(['=', ' ']).starts_with(|c: char| c.is_ascii_digit())
            && line.contains(" passed")
            && !line.contains(" failed")
}

/// Reads a complaint about a place in the code.
fn diagnostic(line: &str, after: &[String]) -> Option<ErrorLine> {
    let below = || after.iter().take(2).find_map(|next| next.trim().strip_prefix("--> "));
    let at = |text: &str, file: Option<&str>| {
        let named = file.filter(|_| text.chars().count() < crate::limits::ERROR_LINE_CHARS_MIN);
        let text = named.map_or_else(|| text.to_owned(), |file| format!("{file}: {text}"));
        Some(ErrorLine { text, is_diagnostic: true, file: file.map(str::to_owned) })
    };
    if line.starts_with("error[") || line.starts_with("error: ") {
        // Without a place below it, it is not a complaint about the code.
        let place = below().and_then(place);
        let file = place.as_ref().map(|place| place.file);
        return (line.starts_with("error[") || file.is_some()).then(|| at(line, file)).flatten();
    }
    // A complaint of eslint, printed below the file's name.
    if line.starts_with(|c: char| c.is_ascii_digit())
        && let Some((position, rest)) = line.split_once(' ')
        && position.split(':').filter(|part| part.parse::<u32>().is_ok()).count() == 2
    {
        return rest
            .trim_start()
            .strip_prefix("error ")
            .and_then(|text| at(&format!("error {}", text.trim_start()), None));
    }
    let line = line.strip_prefix("[ERROR] ").unwrap_or(line);
    let LinePosition { file, rest, column } = place(line)?;
    let rest = rest.trim_start_matches([':', '-', ' ']);
    if rest.starts_with("warning") || rest.starts_with("note") || rest.is_empty() {
        return None;
    }
    let is_error = rest.starts_with("error") || rest.starts_with("fatal error");
    (is_error || column).then(|| at(rest, Some(file))).flatten()
}

/// Reads the message of a panic. Prefixes the thread's name (for a test, the test's name) if the
/// message is short or only says that two values differ.
fn panic(line: &str, after: &[String]) -> Option<String> {
    if let Some(message) = line.strip_prefix("panic: ") {
        return Some(format!("panic: {message}"));
    }
    let rest = line.strip_prefix("thread '")?;
    let (thread, rest) = rest.split_once('\'')?;
    let (_, rest) = rest.split_once("panicked at ")?;
    let quoted = rest.strip_prefix('\'').and_then(|rest| rest.split_once("', "));
    let message = match quoted {
        Some((message, _)) => message,
        None => after.first()?.trim(),
    };
    let says_all = !message.starts_with("assertion ")
        && message.chars().count() >= crate::limits::ERROR_LINE_CHARS_MIN;
    Some(if says_all { message.to_owned() } else { format!("{thread}: {message}") })
}

/// Reads an exception in pytest's report. A failed assertion is identified by its test instead.
fn exception_of_pytest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("E ")?.trim_start();
    let name = exception(rest)?;
    (name != "AssertionError").then_some(rest)
}

/// Reads a line that names the thing that failed.
fn named(line: &str) -> Option<String> {
    let test = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
    if test.is_some() || line.starts_with("--- FAIL: ") || line.starts_with("! [rejected]") {
        return Some(line.to_owned());
    }
    if let Some(rest) = line.strip_prefix("fatal: [")
        && let Some((host, rest)) = rest.split_once("]: ")
        && let Some((_, after)) = rest.split_once("\"msg\": \"")
    {
        let message = after.split("\", \"").next().unwrap_or(after).trim_end_matches(['"', '}']);
        return Some(format!("fatal: [{host}]: {message}"));
    }
    let pytest = ["FAILED ", "ERROR "].iter().find_map(|word| line.strip_prefix(word));
    let is_test = |rest: &str| {
        rest.contains("::")
            || rest
                .split(' ')
                .next()
                .is_some_and(|file| file.rsplit_once('.').is_some_and(|(_, end)| end == "py"))
    };
    let jest = (line.starts_with("● ") || line.starts_with("FAIL "))
        && (line.contains(" › ") || line.contains(" > "));
    let other = ["FAIL: ", "CONFLICT (", "rspec ./"].iter().any(|begin| line.starts_with(begin));
    (pytest.is_some_and(is_test) || jest || other).then(|| line.to_owned())
}

/// Reads a line that begins as errors do.
fn begins(line: &str, after: &[String]) -> Option<String> {
    const WORDS: [&str; 12] = [
        "error",
        "Error",
        "ERROR",
        "fatal",
        "Fatal",
        "FATAL",
        "FAILED",
        "CRITICAL",
        "Failed",
        "failed",
        "npm ERR!",
        "npm error",
    ];
    let line = line.strip_prefix("> ").unwrap_or(line);
    if line == "* What went wrong:" || line.starts_with("CMake Error at ") {
        let below = after.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        let below: Vec<&str> = below.take(2).collect();
        // Gradle prints the task first, and the reason below it.
        let why =
            below.iter().find_map(|line| line.strip_prefix("> ")).or(below.first().copied())?;
        return Some(why.to_owned());
    }
    let word = WORDS.iter().find_map(|word| line.strip_prefix(word));
    if let Some(rest) = word {
        let ends = rest.starts_with(':')
            || [" from ", " response ", " [", " TS", " acquiring"]
                .iter()
                .any(|next| rest.starts_with(next))
            || line.starts_with("npm ")
            || rest.starts_with('!')
            || line.starts_with("error ");
        if ends {
            return Some(without_logger(line));
        }
    }
    let not_found = line.contains("command not found") || line.ends_with(": not found");
    let made = line.starts_with("make") && line.contains("*** ");
    let known = [
        "ERR_",
        "E: ",
        "curl: (",
        "docker: ",
        "psql:",
        "Exception in thread",
        "java.lang.",
        "kubectl: ",
        "ssh: ",
        "Segmentation fault",
    ];
    let known = known.iter().any(|begin| line.starts_with(begin));
    (not_found || made || known || exception(line).is_some()).then(|| line.to_owned())
}

/// Returns the name, without modules, of an exception at the start of a line:
/// `sqlalchemy.exc.OperationalError: …`.
fn exception(line: &str) -> Option<&str> {
    let name = line.split([':', ' ']).next()?;
    let last = name.rsplit('.').next()?;
    let ends = ["Error", "Exception", "NotFound", "Interrupt", "Exit"];
    let is_name = last.starts_with(char::is_uppercase)
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
        && ends.iter().any(|end| last.ends_with(end) && last.len() > end.len());
    let has_text = line
        .get(name.len()..)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" ["));
    (is_name && has_text).then_some(last)
}

/// Removes the logger between a line's level and its text: `ERROR [alembic.util] …`.
fn without_logger(line: &str) -> String {
    if let Some((level, rest)) = line.split_once(" [")
        && !level.contains(' ')
        && let Some((logger, text)) = rest.split_once("] ")
        && !logger.contains(' ')
    {
        return format!("{level}: {text}");
    }
    line.to_owned()
}

/// Ranks any other line by how clearly it reports an error.
fn loose(line: &str) -> Option<Rank> {
    const INSIDE: [&str; 6] =
        [": error: ", " ERROR: ", " error: ", " Error: ", "[ERROR]", ": fatal: "];
    const PHRASES: [&str; 38] = [
        "cannot ",
        "can't ",
        "could not ",
        "couldn't ",
        "not found",
        "no such ",
        "denied",
        "refused",
        "undefined",
        "unable to ",
        "missing ",
        "invalid ",
        "unexpected ",
        "unresolved",
        "timed out",
        "timeout",
        "must be ",
        "is required",
        "not set",
        "not supported",
        "does not exist",
        "doesn't exist",
        "already exists",
        "already in use",
        "not permitted",
        "unknown ",
        "unrecognized",
        "unsupported",
        "killed",
        "fault",
        "out of memory",
        "no space left",
        "conflict",
        "mismatch",
        "expired",
        "is not ",
        "did you ",
        "deadlock",
    ];
    if INSIDE.iter().any(|inside| line.contains(inside)) {
        return Some(Rank::Inside);
    }
    if PHRASES.iter().any(|phrase| says(line, phrase)) {
        return Some(Rank::Phrase);
    }
    ["error", "fail", "exception", "abort", "panic"]
        .iter()
        .any(|word| says(line, word))
        .then_some(Rank::Word)
}

/// Returns whether a line has a phrase, ignoring case.
fn says(line: &str, phrase: &str) -> bool {
    line.to_ascii_lowercase().contains(&phrase.to_ascii_lowercase())
}
