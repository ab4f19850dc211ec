//! The one place that calls the parser of shell grammar, within bounds that keep it fast.
//!
//! brush-parser recurses, and tries some alternatives again at each level. So a text's nesting is
//! bounded before it is parsed. The bounds are counts of tokens, which take linear time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::word::{BraceExpressionMember, BraceExpressionOrText, WordPieceWithSource};
use brush_parser::{ParserOptions, Token, TokenizerOptions};

use crate::limits::{BRACES_MAX, CASES_MAX, COMMAND_BYTES_MAX, NESTING_MAX};
use crate::verdict::Unparsed;

/// Parses a command line.
pub(super) fn program(text: &str) -> Result<Program, Unparsed> {
    if text.len() > COMMAND_BYTES_MAX {
        return Err(too_much("bytes", COMMAND_BYTES_MAX));
    }
    if text.contains('\0') {
        return Err(Unparsed::Syntax("it has a zero byte".to_owned()));
    }
    lexical_nesting(text)?;
    let tokens = guarded(|| {
        brush_parser::uncached_tokenize_str(text, &TokenizerOptions::default())
            .map_err(|error| Unparsed::Syntax(error.to_string()))
    })?;
    token_nesting(&tokens)?;
    let tokens = without_false_arithmetic(&tokens);
    guarded(|| {
        brush_parser::parse_tokens(&tokens, &ParserOptions::default())
            .map_err(|error| Unparsed::Syntax(error.to_string()))
    })
}

/// Parses a word into its pieces.
pub(super) fn word(text: &str) -> Result<Vec<WordPieceWithSource>, Unparsed> {
    lexical_nesting(text)?;
    guarded(|| {
        brush_parser::word::parse(text, &ParserOptions::default())
            .map_err(|error| Unparsed::Syntax(error.to_string()))
    })
}

/// Parses a here-document, in which quotes are plain characters.
pub(super) fn here_document(text: &str) -> Result<Vec<WordPieceWithSource>, Unparsed> {
    lexical_nesting(text)?;
    guarded(|| {
        brush_parser::word::parse_heredoc(text, &ParserOptions::default())
            .map_err(|error| Unparsed::Syntax(error.to_string()))
    })
}

/// Expands the braces of a word. `None` if they make too many words.
pub(super) fn braces(text: &str) -> Result<Option<Vec<String>>, Unparsed> {
    if !text.contains('{') || !(text.contains(',') || text.contains("..")) {
        return Ok(Some(vec![text.to_owned()]));
    }
    lexical_nesting(text)?;
    let parsed = guarded(|| {
        brush_parser::word::parse_brace_expansions(text, &ParserOptions::default())
            .map_err(|error| Unparsed::Syntax(error.to_string()))
    })?;
    Ok(match parsed {
        None => Some(vec![text.to_owned()]),
        Some(parts) => sequence(&parts),
    })
}

fn sequence(parts: &[BraceExpressionOrText]) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for part in parts {
        let choices = match part {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                let mut choices = Vec::new();
                for member in members {
                    choices.extend(member_choices(member)?);
                    if choices.len() > BRACES_MAX {
                        return None;
                    }
                }
                choices
            }
        };
        if all.len().saturating_mul(choices.len()) > BRACES_MAX {
            return None;
        }
        let with = |before: &String| {
            choices.iter().map(|choice| format!("{before}{choice}")).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Some(all)
}

fn member_choices(member: &BraceExpressionMember) -> Option<Vec<String>> {
    match member {
        BraceExpressionMember::Child(parts) => sequence(parts),
        BraceExpressionMember::NumberSequence { start, end, .. } => {
            let (low, high) = (*start.min(end), *start.max(end));
            let count = high.checked_sub(low).and_then(|count| usize::try_from(count).ok())?;
            (count < BRACES_MAX).then(|| (low..=high).map(|number| number.to_string()).collect())
        }
        BraceExpressionMember::CharSequence { start, end, .. } => {
            let (low, high) = (*start.min(end), *start.max(end));
            let chars: Vec<String> = (low..=high).take(BRACES_MAX + 1).map(String::from).collect();
            (chars.len() <= BRACES_MAX).then_some(chars)
        }
    }
}

/// Separates the brackets of nested subshells, as in `( (a) )`. The parser would take them for
/// arithmetic, `((a))`, which runs nothing.
fn without_false_arithmetic(tokens: &[Token]) -> Vec<Token> {
    let is = |at: usize, text: &str| matches!(tokens.get(at), Some(Token::Operator(operator, _)) if operator == text);
    let touch = |at: usize| match (tokens.get(at), tokens.get(at + 1)) {
        (Some(first), Some(second)) => first.location().end.index == second.location().start.index,
        _ => false,
    };
    // Where each bracket is closed.
    let (mut open, mut closed) = (Vec::new(), vec![None; tokens.len()]);
    for at in 0..tokens.len() {
        if is(at, "(") {
            open.push(at);
        } else if is(at, ")")
            && let Some(slot) = open.pop().and_then(|from| closed.get_mut(from))
        {
            *slot = Some(at);
        }
    }
    let close = |at: usize| closed.get(at).copied().flatten();
    let mut separated = Vec::with_capacity(tokens.len());
    let mut in_test = false;
    for (at, token) in tokens.iter().enumerate() {
        in_test = (in_test || token.to_str() == "[[") && token.to_str() != "]]";
        separated.push(token.clone());
        let is_pair = !in_test && is(at, "(") && is(at + 1, "(");
        let ends_together = match (close(at), close(at + 1)) {
            (Some(outer), Some(inner)) => outer == inner + 1 && touch(inner),
            _ => false,
        };
        if is_pair && !(touch(at) && ends_together) {
            let span = token.location().clone();
            separated.push(Token::Word("true".to_owned(), span.clone()));
            separated.push(Token::Operator(";".to_owned(), span));
        }
    }
    separated
}

/// Answers a panic of the parser as an error, where panics unwind.
fn guarded<T>(parse: impl FnOnce() -> Result<T, Unparsed>) -> Result<T, Unparsed> {
    catch_unwind(AssertUnwindSafe(parse))
        .unwrap_or_else(|_| Err(Unparsed::Syntax("the parser failed on it".to_owned())))
}

fn too_much(what: &str, max: usize) -> Unparsed {
    Unparsed::TooMuch { what: what.to_owned(), max }
}

/// Bounds the nesting of brackets, whatever quotes are around them.
fn lexical_nesting(text: &str) -> Result<(), Unparsed> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_MAX * 2 {
            return Err(too_much("levels", NESTING_MAX));
        }
    }
    Ok(())
}

/// Bounds the nesting of clauses. Every `(` needs a `)` behind it, and every `case` an `esac`: the
/// parser's time grows exponentially with those that lack one.
fn token_nesting(tokens: &[Token]) -> Result<(), Unparsed> {
    let (mut closers, mut esacs, mut cases) = (0_usize, 0_usize, 0_usize);
    for token in tokens.iter().rev() {
        match (token.to_str(), matches!(token, Token::Operator(..))) {
            (")", true) => closers += 1,
            ("(", true) => {
                closers = closers
                    .checked_sub(1)
                    .ok_or_else(|| Unparsed::Syntax("a `(` is not closed".to_owned()))?;
            }
            ("esac", false) => esacs += 1,
            ("case", false) => {
                cases += 1;
                esacs = esacs.saturating_sub(1);
            }
            _ => {}
        }
    }
    if cases > CASES_MAX {
        return Err(too_much("case clauses", CASES_MAX));
    }
    let (mut depth, mut negations) = (0_usize, 0_usize);
    for token in tokens {
        let text = token.to_str();
        match text {
            "if" | "while" | "until" | "for" | "select" | "case" | "{" | "(" | "coproc" | "[["
            | "function" | "elif" | "else" => depth += 1,
            "fi" | "done" | "esac" | "}" | ")" | "]]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        negations = if text == "!" { negations + 1 } else { 0 };
        if depth > NESTING_MAX * 4 || negations > NESTING_MAX {
            return Err(too_much("levels", NESTING_MAX));
        }
    }
    Ok(())
}
