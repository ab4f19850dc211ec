//! Follows a parsed command line: its lists, clauses, functions, redirections and assignments.
//!
//! All branches are followed, and a variable keeps every value that it is given. So the order of
//! evaluation only matters where a value is used before it is known, which counts as unknown.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, CompoundListItem, ExtendedTestExpr,
    Pipeline, SeparatorOperator, SimpleCommand,
};

use super::programs::is_run_by_programs;
use super::scopes::{Scope, ScopeEffect, Values};
use super::streams::{Stream, concatenated, unknown_unless_text};
use super::words::{Alternatives, product};
use super::{Invocation, Reading, Word, grammar};
use crate::limits::{INVOCATIONS_MAX, NESTING_MAX, SHOWN_CHARS_MAX, STEPS_MAX};
use crate::verdict::Unparsed;
use crate::wild::{Sym, syms};

/// The state while a command line is read.
pub(super) struct Reader<'a> {
    pub(super) reading: Reading,
    seen: HashSet<Vec<Vec<Option<char>>>>,
    pub(super) variables: HashMap<String, Values>,
    pub(super) arrays: HashMap<String, Option<Vec<Word>>>,
    pub(super) scopes: Vec<Scope>,
    functions: HashMap<String, Rc<CompoundCommand>>,
    called: HashSet<String>,
    pub(super) aliases: HashMap<String, Option<String>>,
    /// Other names under which a program may run, as after `ln -s`.
    pub(super) renamed: HashMap<String, String>,
    pub(super) files: HashMap<String, Stream>,
    /// Texts that are written to files of which only the run shows the name.
    pub(super) unnamed_files: Vec<(Word, Stream)>,
    positional: Option<Vec<Word>>,
    depth: usize,
    steps: usize,
    command: &'a str,
}

impl<'a> Reader<'a> {
    /// Reads a command line.
    pub(crate) fn read(command: &'a str) -> Reading {
        let known = |name: &str, value: &str| (name.to_owned(), Some(vec![syms(value)]));
        let mut reader = Self {
            reading: Reading::default(),
            seen: HashSet::new(),
            variables: [known("HOME", "~"), known("PWD", "."), known("IFS", " ")].into(),
            arrays: HashMap::new(),
            scopes: Vec::new(),
            functions: HashMap::new(),
            called: HashSet::new(),
            aliases: HashMap::new(),
            renamed: HashMap::new(),
            files: HashMap::new(),
            unnamed_files: Vec::new(),
            positional: None,
            depth: 0,
            steps: 0,
            command,
        };
        reader.script(reader.command);
        reader.uncalled_functions();
        reader.reading
    }

    /// Follows functions that nothing called by name. A trap or another program may call them.
    fn uncalled_functions(&mut self) {
        let mut names: Vec<String> = self.functions.keys().cloned().collect();
        names.retain(|name| !self.called.contains(name));
        names.sort();
        for name in names {
            self.call(&name, &[Word::unknown()], &Stream::None);
        }
    }

    /// Records the first part that cannot be read.
    pub(super) fn unparsed(&mut self, why: Unparsed) {
        self.reading.unparsed.get_or_insert(why);
    }

    /// Records a program that only the run shows.
    pub(super) fn unknown_program(&mut self, part: &str) {
        self.record(Invocation { words: vec![Word::unknown()] });
        self.unparsed(Unparsed::Dynamic(part.chars().take(SHOWN_CHARS_MAX).collect()));
    }

    pub(super) fn record(&mut self, invocation: Invocation) {
        if self.reading.invocations.len() >= INVOCATIONS_MAX {
            self.unparsed(too_much("commands", INVOCATIONS_MAX));
            return;
        }
        let key = |word: &Word| {
            let mut key: Vec<Option<char>> = word
                .syms
                .iter()
                .map(|sym| match sym {
                    Sym::Char(c) => Some(*c),
                    Sym::Any => None,
                })
                .collect();
            key.extend(word.splits.then_some(None));
            key
        };
        if self.seen.insert(invocation.words.iter().map(key).collect()) {
            self.reading.invocations.push(invocation);
        }
    }

    pub(super) fn changes_directory(&mut self, to: &Word) {
        if !self.reading.directories.contains(to) {
            self.reading.directories.push(to.clone());
        }
    }

    /// Runs a step one level deeper, unless a limit is reached.
    pub(super) fn deeper<T: Default>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.steps += 1;
        if self.depth >= NESTING_MAX {
            self.unparsed(too_much("levels", NESTING_MAX));
            return T::default();
        }
        if self.steps > STEPS_MAX {
            self.unparsed(too_much("steps", STEPS_MAX));
            return T::default();
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Follows a text as a script, and returns what it prints.
    pub(super) fn script(&mut self, text: &str) -> Stream {
        self.script_with(text, &Stream::None)
    }

    pub(super) fn script_with(&mut self, text: &str, stdin: &Stream) -> Stream {
        self.deeper(|reader| match grammar::program(text) {
            Ok(program) => {
                let lists: Vec<&CompoundList> = program.complete_commands.iter().collect();
                let mut printed = Vec::new();
                for list in lists {
                    printed.push(reader.list(list, stdin));
                }
                concatenated(printed)
            }
            Err(why) => {
                reader.unparsed(why);
                Stream::Unknown
            }
        })
    }

    /// Follows a text of which parts may be unknown as a script.
    pub(super) fn script_of(&mut self, text: &[Sym], stdin: &Stream) -> Stream {
        let word = Word { syms: text.to_vec(), splits: false };
        if let Some(text) = word.text() {
            return self.script_with(&text, stdin);
        }
        // An unknown part may be any script. The rest is followed as if it were a variable.
        self.unknown_program(&word.shown());
        let filled: String = text
            .iter()
            .map(|sym| match sym {
                Sym::Char(c) => c.to_string(),
                Sym::Any => "${ANCHORD_UNKNOWN}".to_owned(),
            })
            .collect();
        let before = self.reading.unparsed.clone();
        self.script_with(&filled, stdin);
        self.reading.unparsed = before;
        Stream::Unknown
    }

    /// Follows what may not be a script at all. If it cannot be read, it is not one.
    pub(super) fn speculative<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.reading.unparsed.clone();
        let result = run(self);
        if matches!(self.reading.unparsed, Some(Unparsed::Syntax(_))) {
            self.reading.unparsed = before;
        }
        result
    }

    /// Follows what a stream contains as a script.
    pub(super) fn script_from(&mut self, stream: &Stream, shown: &str) {
        match stream {
            Stream::None => {}
            Stream::Text(text) => {
                self.script_of(text, &Stream::None);
            }
            Stream::File(name) => {
                let name = name.clone();
                self.file_as_script(&name, &[]);
            }
            Stream::Unknown => self.unknown_program(shown),
        }
    }

    /// Follows a file as a script: by its text if the command line wrote it, else by its name.
    #[expect(clippy::single_match_else, reason = "both cases are as common")]
    pub(super) fn file_as_script(&mut self, file: &Word, arguments: &[Word]) {
        match self.written_text(file) {
            Some(content) => {
                let before = self.positional.replace(arguments.to_vec());
                self.deeper(|reader| reader.script_from(&content, &file.shown()));
                self.positional = before;
            }
            None => {
                let words = [std::slice::from_ref(file), arguments].concat();
                self.record(Invocation { words });
            }
        }
    }

    /// Returns the text of a file, if the command line wrote it.
    pub(super) fn written_text(&self, file: &Word) -> Option<Stream> {
        let name = file_key(&file.text()?);
        let unnamed = || {
            let may_be = |(written, text): &&(Word, Stream)| {
                written.may_be(&name) && matches!(text, Stream::Text(_))
            };
            self.unnamed_files.iter().rfind(may_be).map(|(_, text)| text.clone())
        };
        self.files.get(&name).cloned().or_else(unnamed)
    }

    /// Returns what a substitution prints, if it is known.
    pub(super) fn output_of(&mut self, script: &str) -> Option<Vec<Sym>> {
        let before = self.positional.clone();
        let printed = self.scoped(ScopeEffect::Restores, |reader| reader.script(script));
        self.positional = before;
        match printed {
            Stream::Text(text) => Some(text),
            Stream::None => Some(Vec::new()),
            Stream::File(_) | Stream::Unknown => None,
        }
    }

    pub(super) fn list(&mut self, list: &CompoundList, stdin: &Stream) -> Stream {
        let mut printed = Vec::new();
        for CompoundListItem(item, separator) in &list.0 {
            printed.push(match separator {
                SeparatorOperator::Sequence => self.and_or(item, stdin),
                SeparatorOperator::Async => {
                    self.scoped(ScopeEffect::Restores, |reader| reader.and_or(item, stdin))
                }
            });
        }
        concatenated(printed)
    }

    fn and_or(&mut self, list: &AndOrList, stdin: &Stream) -> Stream {
        let mut printed = vec![self.pipeline(&list.first, stdin)];
        // What follows may not run, and is then not assigned.
        self.scoped(ScopeEffect::MayNotHaveRun, |reader| {
            for next in &list.additional {
                let (AndOr::And(next) | AndOr::Or(next)) = next;
                printed.push(reader.pipeline(next, stdin));
            }
        });
        concatenated(printed)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, stdin: &Stream) -> Stream {
        let mut stream = stdin.clone();
        for (at, command) in pipeline.seq.iter().enumerate() {
            let run = |reader: &mut Self| reader.deeper(|reader| reader.command(command, &stream));
            // Only some shells run the last one themselves.
            stream = match pipeline.seq.len() - at {
                1 if at == 0 => run(self),
                1 => self.scoped(ScopeEffect::MayNotHaveRun, run),
                _ => self.scoped(ScopeEffect::Restores, run),
            };
        }
        stream
    }

    fn command(&mut self, command: &Command, stdin: &Stream) -> Stream {
        match command {
            Command::Simple(simple) => self.simple(simple, stdin),
            Command::Compound(compound, redirects) => {
                let stdin = self.redirected(redirects.as_ref(), stdin);
                let printed = self.compound(compound, &stdin.0);
                self.written(&stdin.1, printed)
            }
            Command::Function(function) => {
                if let Some(redirects) = &function.body.1 {
                    self.redirected(Some(redirects), &Stream::None);
                }
                let body = Rc::new(function.body.0.clone());
                self.functions.insert(function.fname.value.clone(), body);
                Stream::None
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirected(redirects.as_ref(), stdin);
                self.test(&test.expr);
                Stream::None
            }
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(_, word) => {
                self.value(&word.value);
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.value(&left.value);
                self.value(&right.value);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, stdin: &Stream) -> Stream {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                self.value(&arithmetic.expr.value);
                Stream::None
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let exprs = [&clause.initializer, &clause.condition, &clause.updater];
                for expr in exprs.into_iter().flatten() {
                    self.value(&expr.value);
                }
                self.maybe([&clause.body.list], stdin);
                Stream::Unknown
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, stdin),
            CompoundCommand::Subshell(group) => {
                self.scoped(ScopeEffect::Restores, |reader| reader.list(&group.list, stdin))
            }
            CompoundCommand::ForClause(clause) => {
                let words = match &clause.values {
                    Some(words) => {
                        words.iter().flat_map(|word| self.argument(&word.value)).flatten().collect()
                    }
                    None => self.positional.clone().unwrap_or_else(|| vec![Word::unknown()]),
                };
                let values = words.into_iter().map(|word| word.syms).collect();
                self.scoped(ScopeEffect::MayNotHaveRun, |reader| {
                    reader.assign(&clause.variable_name, values);
                    reader.list(&clause.body.list, stdin);
                });
                Stream::Unknown
            }
            CompoundCommand::CaseClause(clause) => {
                self.value(&clause.value.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.value(&pattern.value);
                    }
                    self.maybe(&case.cmd, stdin);
                }
                Stream::Unknown
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, stdin);
                self.maybe([&clause.then], stdin);
                for other in clause.elses.iter().flatten() {
                    self.maybe(&other.condition, stdin);
                    self.maybe([&other.body], stdin);
                }
                Stream::Unknown
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, stdin);
                // The second round sees what the first has assigned.
                self.maybe([&clause.1.list, &clause.0, &clause.1.list], stdin);
                Stream::Unknown
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.scoped(ScopeEffect::Restores, |reader| reader.command(&coprocess.body, stdin));
                Stream::Unknown
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, stdin: &Stream) -> Stream {
        if simple.word_or_name.is_none() || simple.prefix.is_none() {
            return self.simple_here(simple, stdin);
        }
        // An assignment before a command is for that command.
        self.scoped(ScopeEffect::MayNotHaveRun, |reader| reader.simple_here(simple, stdin))
    }

    fn simple_here(&mut self, simple: &SimpleCommand, stdin: &Stream) -> Stream {
        let mut words: Alternatives = vec![Vec::new()];
        let mut stream = stdin.clone();
        let mut targets = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut assignments = Vec::new();
        for item in prefix {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    assignments.push(assignment);
                }
                item => self.item(item, &mut words, &mut stream, &mut targets),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words = product(&words, &self.argument(&name.value));
        }
        let declares = simple.word_or_name.as_ref().is_some_and(|name| {
            ["declare", "export", "local", "readonly", "typeset"].contains(&name.value.as_str())
        });
        for item in suffix {
            if let CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item
                && declares
            {
                self.assignment(assignment, true);
            }
            self.item(item, &mut words, &mut stream, &mut targets);
        }
        // The command's words are expanded before.
        for assignment in assignments {
            self.assignment(assignment, simple.word_or_name.is_some());
        }
        let mut printed = Vec::new();
        for words in words {
            printed.push(self.invoke(&words, &stream));
        }
        let printed = match (printed.pop(), printed.is_empty()) {
            (Some(one), true) => one,
            _ => Stream::Unknown,
        };
        self.written(&targets, printed)
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Alternatives,
        stream: &mut Stream,
        targets: &mut Vec<Word>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, stream, targets);
            }
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                *words = product(words, &self.argument(&word.value));
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => {
                // The command reads its output as a file, or writes its input.
                let printed = self.scoped(ScopeEffect::Restores, |reader| {
                    reader.list(&shell.list, &Stream::Unknown)
                });
                let name = format!("/dev/fd/{}", self.steps);
                self.files.insert(file_key(&name), unknown_unless_text(printed));
                *words = product(words, &vec![vec![Word::literal(&name)]]);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment, has_command: bool) {
        match (&assignment.name, &assignment.value) {
            (AssignmentName::VariableName(name), AssignmentValue::Scalar(word)) => {
                let mut values = self.value(&word.value);
                if assignment.append {
                    let before = self.variable(name).unwrap_or_else(|| vec![vec![Sym::Any]]);
                    values = before
                        .iter()
                        .flat_map(|before| values.iter().map(move |v| [&**before, v].concat()))
                        .collect();
                }
                if has_command || is_run_by_programs(name) {
                    self.environment(name, &values);
                }
                self.assign(name, values);
            }
            (AssignmentName::VariableName(name), AssignmentValue::Array(items)) => {
                let mut words = Vec::new();
                for (index, item) in items {
                    if let Some(index) = index {
                        self.value(&index.value);
                    }
                    let mut each = self.argument(&item.value);
                    match (each.pop(), each.is_empty()) {
                        (Some(each), true) => words.extend(each),
                        _ => words.push(Word::unknown()),
                    }
                }
                if assignment.append {
                    let before = self.array(name).unwrap_or_else(|| vec![Word::unknown()]);
                    words = [before, words].concat();
                }
                self.assign(name, words.iter().map(|word| word.syms.clone()).take(1).collect());
                self.assign_array(name, words);
            }
            (AssignmentName::ArrayElementName(name, index), value) => {
                self.value(index);
                if self.is_unknown_array(name) {
                    // Its other elements are not known, and one more tells nothing of them.
                    return;
                }
                if let AssignmentValue::Scalar(word) = value {
                    let values = self.value(&word.value);
                    let mut words = self.array(name).unwrap_or_default();
                    words.extend(values.into_iter().map(|syms| Word { syms, splits: false }));
                    self.assign_array(name, words);
                }
            }
        }
    }

    pub(super) fn positional(&self) -> Option<Vec<Word>> {
        self.positional.clone()
    }

    pub(super) fn set_positional(&mut self, words: Vec<Word>) {
        self.positional = Some(words);
    }

    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Follows the body of a function with its arguments.
    pub(super) fn call(&mut self, name: &str, arguments: &[Word], stdin: &Stream) -> Stream {
        let Some(body) = self.functions.get(name).cloned() else { return Stream::Unknown };
        self.called.insert(name.to_owned());
        let before = self.positional.replace(arguments.to_vec());
        // Its variables may be local.
        let printed = self.scoped(ScopeEffect::MayNotHaveRun, |reader| {
            reader.deeper(|reader| reader.compound(&body, stdin))
        });
        self.positional = before;
        printed
    }
}

/// Returns the name under which a file is remembered.
pub(super) fn file_key(name: &str) -> String {
    name.strip_prefix("./").unwrap_or(name).to_owned()
}

pub(super) fn too_much(what: &str, max: usize) -> Unparsed {
    Unparsed::TooMuch { what: what.to_owned(), max }
}
