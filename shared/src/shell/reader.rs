//! The strict reader: one pass from left to right, recursive descent with a limited depth.
//!
//! INVARIANT: every byte is consumed by exactly one rule, or the whole text is refused. Nothing is skipped, so what
//! the tree holds is all that can run. The grammar is that of the bash manual; where bash, dash and zsh read a text
//! differently and the shell is not known to be bash, the text is refused too.

use super::quoting;
use super::syntax::{
    Assignment, Command, Document, HereId, Join, Piece, Redirect, RedirectTarget, Script, Simple, Span, Step, Word,
};

/// Longest text that is read, in bytes. A longer command is never Safe.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Deepest nesting of compound commands and substitutions.
pub const MAX_DEPTH: usize = 16;
/// Most words, redirections and commands of one text.
pub const MAX_NODES: usize = 20_000;

/// The shell that will read the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shell {
    /// bash, not interactive.
    #[default]
    Bash,
    /// Some other shell: only what bash, dash and zsh read alike is accepted.
    Other,
}

/// Why a text was not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{trouble} at byte {at}")]
pub struct NotUnderstood {
    /// What stands there.
    pub trouble: Trouble,
    /// Byte offset in the text.
    pub at: usize,
}

/// What the reader does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The text is over [`MAX_TEXT_BYTES`].
    #[error("text longer than {MAX_TEXT_BYTES} bytes")]
    TooLong,
    /// Nesting over [`MAX_DEPTH`].
    #[error("nesting deeper than {MAX_DEPTH}")]
    TooDeep,
    /// More parts than [`MAX_NODES`].
    #[error("more than {MAX_NODES} parts")]
    TooManyParts,
    /// Not a sentence of the grammar.
    #[error("a syntax error ({0})")]
    Syntax(&'static str),
    /// Valid shell, but outside of what the reader takes.
    #[error("{0}, which is not read")]
    Unsupported(&'static str),
    /// Read differently by bash, dash and zsh, and the shell is not known to be bash.
    #[error("{0}, which shells read differently")]
    ShellsDisagree(&'static str),
}

type Read<T> = Result<T, NotUnderstood>;

/// Reads a text as the given shell would, or says why it cannot.
pub fn read(text: &str, shell: Shell) -> Read<Document> {
    let mut reader = Reader::new(text, shell);
    if text.len() > MAX_TEXT_BYTES {
        return reader.fail(Trouble::TooLong);
    }
    let script = reader.list(Until::End)?;
    if reader.peek().is_some() {
        return reader.fail(Trouble::Syntax("text after the end"));
    }
    reader.no_open_here_document()?;
    Ok(Document { script, bodies: reader.bodies })
}

/// Where a list ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    Words(&'static [&'static str]),
    CaseArm,
}

const CLOSING: &[&str] = &["then", "elif", "else", "fi", "do", "done", "esac", "in", "}", "]]"];

struct PendingHere {
    id: usize,
    delimiter: String,
    expands: bool,
    strip_tabs: bool,
    depth: usize,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    shell: Shell,
    depth: usize,
    nodes: usize,
    pending: Vec<PendingHere>,
    bodies: Vec<Word>,
    /// Set in the copy of a backtick substitution or here-document: its offsets mean nothing outside.
    outer: Option<Span>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, shell: Shell) -> Self {
        Self { text, at: 0, shell, depth: 0, nodes: 0, pending: Vec::new(), bodies: Vec::new(), outer: None }
    }

    // Looking and moving.

    fn ahead(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    fn starts_with(&self, what: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn slice(&self, start: usize, end: usize) -> Read<&'a str> {
        self.text.get(start..end).map_or_else(|| self.fail(Trouble::Syntax("a broken character")), Ok)
    }

    fn fail<T>(&self, trouble: Trouble) -> Read<T> {
        Err(NotUnderstood { trouble, at: self.outer.map_or(self.at, |span| span.start) })
    }

    fn span(&self, start: usize) -> Span {
        self.outer.unwrap_or(Span { start, end: self.at })
    }

    fn count(&mut self) -> Read<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { self.fail(Trouble::TooManyParts) } else { Ok(()) }
    }

    fn only_bash(&self, what: &'static str) -> Read<()> {
        match self.shell {
            Shell::Bash => Ok(()),
            Shell::Other => self.fail(Trouble::ShellsDisagree(what)),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return self.fail(Trouble::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads an unescaped copy of a part of the text with a reader of its own, which shares limits and bodies.
    fn copy<T>(&mut self, text: &str, span: Span, inner: impl FnOnce(&mut Reader<'_>) -> Read<T>) -> Read<T> {
        self.nested(|outer| {
            let mut reader = Reader {
                text,
                at: 0,
                shell: outer.shell,
                depth: outer.depth,
                nodes: outer.nodes,
                pending: Vec::new(),
                bodies: std::mem::take(&mut outer.bodies),
                outer: Some(span),
            };
            let result = inner(&mut reader);
            outer.nodes = reader.nodes;
            outer.bodies = reader.bodies;
            result
        })
    }

    // Blanks, newlines and here-documents.

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// At the start of a token only: a comment runs to the end of its line.
    fn comment(&mut self) {
        if self.peek() == Some(b'#') {
            while self.peek().is_some_and(|byte| byte != b'\n') {
                self.at += 1;
            }
        }
    }

    fn blank_lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            self.comment();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        for here in std::mem::take(&mut self.pending) {
            if here.depth != self.depth {
                return self.fail(Trouble::Unsupported("a here-document that starts inside another construct"));
            }
            self.here_document(&here)?;
        }
        Ok(())
    }

    fn no_open_here_document(&self) -> Read<()> {
        if self.pending.iter().any(|here| here.depth >= self.depth) {
            return self.fail(Trouble::Unsupported("a here-document without a body"));
        }
        Ok(())
    }

    fn here_document(&mut self, here: &PendingHere) -> Read<()> {
        let begin = self.at;
        let mut body = String::new();
        loop {
            let start = self.at;
            let Some(length) = self.text.as_bytes().get(start..).and_then(|rest| {
                let end = rest.iter().position(|byte| *byte == b'\n');
                if rest.is_empty() { None } else { Some(end.unwrap_or(rest.len())) }
            }) else {
                return self.fail(Trouble::Syntax("a here-document without its end"));
            };
            let line = self.slice(start, start + length)?;
            let line = if here.strip_tabs { line.trim_start_matches('\t') } else { line };
            self.at = start + length;
            if line == here.delimiter {
                // The newline behind the delimiter belongs to the body; at the end of the text there may be none.
                if self.peek() == Some(b'\n') {
                    self.at += 1;
                }
                break;
            }
            // Bash joins such a line with the next before it looks for the delimiter.
            if here.expands && line.ends_with('\\') {
                return self.fail(Trouble::Unsupported("a line continuation in a here-document"));
            }
            if self.peek() != Some(b'\n') {
                return self.fail(Trouble::Syntax("a here-document without its end"));
            }
            self.at += 1;
            body.push_str(line);
            body.push('\n');
        }
        let span = self.span(begin);
        let word = if here.expands {
            self.copy(&body, span, |reader| {
                let pieces = reader.expanding_text(None)?;
                Ok(Word { pieces, span })
            })?
        } else {
            Word { pieces: vec![Piece::Text { text: body, quoted: true }], span }
        };
        match self.bodies.get_mut(here.id) {
            Some(slot) => *slot = word,
            None => return self.fail(Trouble::Syntax("a here-document out of order")),
        }
        // The delimiter's newline also ended the line of whatever follows, so the caller goes on at a line's start.
        Ok(())
    }

    // Lists and pipelines.

    fn list(&mut self, until: Until) -> Read<Script> {
        let mut steps = Vec::new();
        loop {
            self.blank_lines()?;
            if self.list_ends(until)? {
                break;
            }
            self.and_or(&mut steps)?;
            self.blanks();
            self.comment();
            match self.peek() {
                Some(b';') if self.ahead(1) != Some(b';') => self.at += 1,
                Some(b'&') if !matches!(self.ahead(1), Some(b'&' | b'>')) => self.background(&mut steps),
                Some(b'\n') => self.newline()?,
                None | Some(b')' | b';') => {}
                // A compound command may be followed by the word that closes the one around it, but only after a
                // separator; anything else here is an error in every shell.
                Some(_) => return self.fail(Trouble::Syntax("a missing separator")),
            }
        }
        if steps.is_empty() && until != Until::End && until != Until::CaseArm {
            return self.fail(Trouble::Syntax("nothing to run"));
        }
        Ok(Script { steps })
    }

    fn background(&mut self, steps: &mut [Step]) {
        self.at += 1;
        for step in steps.iter_mut().rev() {
            step.background = true;
            if step.join == Join::Then {
                break;
            }
        }
    }

    fn list_ends(&mut self, until: Until) -> Read<bool> {
        match self.peek() {
            None => {
                return if until == Until::End {
                    Ok(true)
                } else {
                    self.fail(Trouble::Syntax("something is not closed"))
                };
            }
            Some(b')') => {
                return if until == Until::Parenthesis { Ok(true) } else { self.fail(Trouble::Syntax("a stray `)`")) };
            }
            Some(b';') => {
                let ends = until == Until::CaseArm && self.starts_with(";;");
                return if ends { Ok(true) } else { self.fail(Trouble::Syntax("a stray `;`")) };
            }
            Some(b'&' | b'|') if !self.starts_with("&>") => return self.fail(Trouble::Syntax("a stray operator")),
            _ => {}
        }
        let Some(word) = self.reserved() else { return Ok(false) };
        if !CLOSING.contains(&word) {
            return Ok(false);
        }
        match until {
            Until::Words(words) if words.contains(&word) => Ok(true),
            Until::CaseArm if word == "esac" => Ok(true),
            _ => self.fail(Trouble::Syntax("a reserved word out of place")),
        }
    }

    /// The reserved word or reserved-looking bare word that stands here, if a whole token is one.
    fn reserved(&self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let length = rest
            .bytes()
            .position(|b| matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'));
        let token = rest.get(..length.unwrap_or(rest.len()))?;
        let known = matches!(
            token,
            "if" | "then"
                | "elif"
                | "else"
                | "fi"
                | "do"
                | "done"
                | "case"
                | "esac"
                | "in"
                | "while"
                | "until"
                | "for"
                | "select"
                | "function"
                | "coproc"
                | "{"
                | "}"
                | "[["
                | "]]"
                | "!"
        );
        known.then_some(token)
    }

    fn and_or(&mut self, steps: &mut Vec<Step>) -> Read<()> {
        let mut join = Join::Then;
        loop {
            let (negated, pipeline) = self.pipeline()?;
            steps.push(Step { join, background: false, negated, pipeline });
            self.blanks();
            if self.take("&&") {
                join = Join::And;
            } else if self.take("||") {
                join = Join::Or;
            } else {
                return Ok(());
            }
            self.blank_lines()?;
        }
    }

    fn pipeline(&mut self) -> Read<(bool, Vec<Command>)> {
        let mut negated = false;
        while self.reserved() == Some("!") {
            if negated {
                return self.fail(Trouble::Unsupported("`!` twice"));
            }
            negated = true;
            self.at += 1;
            if !matches!(self.peek(), Some(b' ' | b'\t')) {
                return self.fail(Trouble::Syntax("`!` before nothing"));
            }
            self.blanks();
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.ahead(1) == Some(b'|') {
                return Ok((negated, commands));
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.only_bash("`|&`")?;
                self.at += 1;
            }
            self.blank_lines()?;
            if self.reserved() == Some("!") {
                return self.fail(Trouble::Syntax("`!` inside a pipeline"));
            }
            commands.push(self.command()?);
        }
    }

    // Commands.

    fn command(&mut self) -> Read<Command> {
        self.count()?;
        let start = self.at;
        if self.peek() == Some(b'(') {
            if self.ahead(1) == Some(b'(') {
                return self.fail(Trouble::Unsupported("`((`"));
            }
            self.at += 1;
            let script = self.nested(|r| r.list(Until::Parenthesis))?;
            self.close_parenthesis()?;
            return self.compound(start, None, Vec::new(), vec![script]);
        }
        match self.reserved() {
            Some("{") => {
                self.at += 1;
                if !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
                    return self.fail(Trouble::Syntax("`{` without a blank"));
                }
                let script = self.nested(|r| r.list(Until::Words(&["}"])))?;
                self.at += 1;
                self.compound(start, None, Vec::new(), vec![script])
            }
            Some("if") => {
                self.at += 2;
                let scripts = self.nested(Self::branches)?;
                self.compound(start, None, Vec::new(), scripts)
            }
            Some(word @ ("while" | "until")) => {
                self.at += word.len();
                let scripts = self.nested(|r| {
                    let condition = r.list(Until::Words(&["do"]))?;
                    Ok(vec![condition, r.body()?])
                })?;
                self.compound(start, None, Vec::new(), scripts)
            }
            Some("for") => {
                self.at += 3;
                let (variable, words) = self.for_header()?;
                let body = self.nested(Self::body)?;
                self.compound(start, Some(variable), words, vec![body])
            }
            Some("case") => {
                self.at += 4;
                let (words, scripts) = self.nested(Self::case_arms)?;
                self.compound(start, None, words, scripts)
            }
            Some("[[") => self.fail(Trouble::Unsupported("`[[ … ]]`")),
            Some("select") => self.fail(Trouble::Unsupported("`select`")),
            Some("function") => self.fail(Trouble::Unsupported("a function")),
            Some("coproc") => self.fail(Trouble::Unsupported("`coproc`")),
            Some(_) => self.fail(Trouble::Syntax("a reserved word out of place")),
            None => self.simple().map(Command::Simple),
        }
    }

    fn compound(
        &mut self,
        start: usize,
        variable: Option<String>,
        words: Vec<Word>,
        scripts: Vec<Script>,
    ) -> Read<Command> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            let digits = self.descriptor_digits();
            match self.ahead(digits) {
                Some(b'<' | b'>') => {
                    self.at += digits;
                    redirects.push(self.redirect()?);
                }
                Some(b'&') if digits == 0 && self.ahead(1) == Some(b'>') => redirects.push(self.redirect()?),
                _ => break,
            }
        }
        let repeats = ["while", "until", "for"]
            .iter()
            .any(|word| self.text.get(start..).is_some_and(|text| text.starts_with(word)));
        Ok(Command::Compound { variable, words, scripts, repeats, redirects, span: self.span(start) })
    }

    fn close_parenthesis(&mut self) -> Read<()> {
        // A body that has not come yet would have to be looked for behind the parenthesis.
        if self.pending.iter().any(|here| here.depth > self.depth) {
            return self.fail(Trouble::Unsupported("a here-document without a body"));
        }
        if self.take(")") { Ok(()) } else { self.fail(Trouble::Syntax("a missing `)`")) }
    }

    fn closing_word(&mut self) -> Read<&'a str> {
        match self.reserved() {
            Some(word) => {
                self.at += word.len();
                Ok(word)
            }
            None => self.fail(Trouble::Syntax("a missing reserved word")),
        }
    }

    fn branches(&mut self) -> Read<Vec<Script>> {
        let mut scripts = Vec::new();
        loop {
            scripts.push(self.list(Until::Words(&["then"]))?);
            self.closing_word()?;
            scripts.push(self.list(Until::Words(&["elif", "else", "fi"]))?);
            match self.closing_word()? {
                "elif" => {}
                "else" => {
                    scripts.push(self.list(Until::Words(&["fi"]))?);
                    self.closing_word()?;
                    return Ok(scripts);
                }
                _ => return Ok(scripts),
            }
        }
    }

    /// `do … done`
    fn body(&mut self) -> Read<Script> {
        self.blank_lines()?;
        if self.reserved() != Some("do") {
            return self.fail(Trouble::Syntax("a loop without `do`"));
        }
        self.at += 2;
        let script = self.list(Until::Words(&["done"]))?;
        self.closing_word()?;
        Ok(script)
    }

    fn for_header(&mut self) -> Read<(String, Vec<Word>)> {
        self.blanks();
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        let variable = self.slice(start, self.at)?.to_owned();
        if !is_name(&variable) || !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            return self.fail(Trouble::Unsupported("this form of `for`"));
        }
        self.blank_lines()?;
        if self.reserved() != Some("in") {
            return self.fail(Trouble::Unsupported("`for` without `in`"));
        }
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.blanks();
            self.comment();
            match self.peek() {
                Some(b';') if self.ahead(1) != Some(b';') => {
                    self.at += 1;
                    return Ok((variable, words));
                }
                Some(b'\n') => {
                    self.newline()?;
                    return Ok((variable, words));
                }
                _ => words.push(self.word_or_process()?),
            }
        }
    }

    fn case_arms(&mut self) -> Read<(Vec<Word>, Vec<Script>)> {
        self.blanks();
        let mut words = vec![self.word()?];
        let mut scripts = Vec::new();
        self.blank_lines()?;
        if self.reserved() != Some("in") {
            return self.fail(Trouble::Syntax("`case` without `in`"));
        }
        self.at += 2;
        loop {
            self.blank_lines()?;
            if self.reserved() == Some("esac") {
                self.at += 4;
                return Ok((words, scripts));
            }
            self.take("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return self.fail(Trouble::Syntax("a `case` pattern without `)`"));
                }
            }
            scripts.push(self.list(Until::CaseArm)?);
            if self.starts_with(";;&") || self.starts_with(";&") {
                return self.fail(Trouble::Unsupported("`;&` in `case`"));
            }
            self.take(";;");
        }
    }

    fn simple(&mut self) -> Read<Simple> {
        let start = self.at;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::<Word>::new(), Vec::new());
        let mut end = start;
        loop {
            self.blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')' | b'#') => break,
                Some(b'&') if self.ahead(1) != Some(b'>') => break,
                Some(b'(') => return self.fail(Trouble::Unsupported("a function or an array")),
                _ => {}
            }
            let digits = self.descriptor_digits();
            if matches!(self.ahead(digits), Some(b'<' | b'>')) || self.starts_with("&>") {
                if digits == 0 && (self.starts_with("<(") || self.starts_with(">(")) {
                    words.push(self.word_or_process()?);
                } else {
                    self.at += digits;
                    redirects.push(self.redirect()?);
                }
            } else {
                let word = self.word()?;
                match assignment(word) {
                    Ok(assigned) if words.is_empty() => assignments.push(assigned),
                    Ok(assigned) => words.push(unassign(assigned)),
                    Err(word) => words.push(word),
                }
            }
            end = self.at;
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.fail(Trouble::Syntax("a missing command"));
        }
        let span = self.outer.unwrap_or(Span { start, end });
        Ok(Simple { assignments, words, redirects, span })
    }

    // Redirections.

    /// How many digits stand here, as the descriptor of a redirection would.
    fn descriptor_digits(&self) -> usize {
        let mut digits = 0;
        while self.ahead(digits).is_some_and(|byte| byte.is_ascii_digit()) {
            digits += 1;
        }
        digits
    }

    fn redirect(&mut self) -> Read<Redirect> {
        self.count()?;
        if self.starts_with("&>") {
            self.only_bash("`&>`")?;
            self.at += 2;
            self.take(">");
            return self.path(false, true);
        }
        if self.take("<<<") {
            self.only_bash("`<<<`")?;
            self.blanks();
            let word = self.word()?;
            return Ok(Redirect { writes: false, reads: false, target: RedirectTarget::Text(word) });
        }
        if self.take("<<") {
            return self.here_redirect();
        }
        for operator in [">&", "<&"] {
            if self.take(operator) {
                return self.duplicate(operator);
            }
        }
        if self.take("<>") {
            self.path(true, true)
        } else if self.take(">>") || self.take(">|") || self.take(">") {
            self.path(false, true)
        } else {
            self.at += 1;
            self.path(true, false)
        }
    }

    fn path(&mut self, reads: bool, writes: bool) -> Read<Redirect> {
        self.blanks();
        let word = self.word()?;
        Ok(Redirect { writes, reads, target: RedirectTarget::Path(word) })
    }

    fn duplicate(&mut self, operator: &str) -> Read<Redirect> {
        self.blanks();
        let word = self.word()?;
        let plain = word.bare().is_some_and(|text| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            text == "-" || !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        });
        if plain {
            return Ok(Redirect { writes: false, reads: false, target: RedirectTarget::Descriptor });
        }
        if operator == ">&" && word.literal().is_some() {
            self.only_bash("`>&` with a file")?;
            return Ok(Redirect { writes: true, reads: false, target: RedirectTarget::Path(word) });
        }
        self.fail(Trouble::Unsupported("a descriptor that is only known when it runs"))
    }

    fn here_redirect(&mut self) -> Read<Redirect> {
        let strip_tabs = self.take("-");
        self.blanks();
        let word = self.word()?;
        let delimiter = match word.literal() {
            Some(text) if !text.is_empty() && !text.contains('\n') && !text.starts_with('~') => text.into_owned(),
            _ => return self.fail(Trouble::Unsupported("this delimiter of a here-document")),
        };
        let id = self.bodies.len();
        self.bodies.push(Word::default());
        self.pending.push(PendingHere { id, delimiter, expands: word.bare().is_some(), strip_tabs, depth: self.depth });
        Ok(Redirect { writes: false, reads: false, target: RedirectTarget::Here(HereId(id)) })
    }

    // Words.

    fn word_or_process(&mut self) -> Read<Word> {
        if !(self.starts_with("<(") || self.starts_with(">(")) {
            return self.word();
        }
        self.only_bash("process substitution")?;
        let start = self.at;
        self.at += 2;
        let script = self.substituted()?;
        if !self.at_token_end() {
            return self.fail(Trouble::Unsupported("text glued to a process substitution"));
        }
        Ok(Word { pieces: vec![Piece::Process(script)], span: self.span(start) })
    }

    fn at_token_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')'))
    }

    fn word(&mut self) -> Read<Word> {
        self.count()?;
        let start = self.at;
        let mut pieces = Vec::new();
        if self.peek() == Some(b'#') {
            return self.fail(Trouble::Syntax("a comment where a word belongs"));
        }
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>' => break,
                b'(' => return self.fail(Trouble::Unsupported("`(` in a word")),
                b'\\' => self.escaped(&mut pieces)?,
                b'\'' => {
                    let text = self.until_quote("a single quote is not closed")?;
                    push(&mut pieces, text, true);
                }
                b'"' => {
                    self.at += 1;
                    // An empty text keeps `""` a word.
                    push(&mut pieces, "", true);
                    let inner = self.expanding_text(Some(b'"'))?;
                    pieces.extend(inner);
                }
                b'$' => {
                    let piece = self.dollar(Quoted::No)?;
                    pieces.push(piece);
                }
                b'`' => {
                    let piece = self.backticks(Quoted::No)?;
                    pieces.push(piece);
                }
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    pieces.push(Piece::Glob(char::from(byte)));
                }
                b'{' if self.ahead(1) == Some(b'}') => {
                    self.at += 2;
                    push(&mut pieces, "{}", false);
                }
                b'{' => {
                    self.only_bash("braces")?;
                    self.at += 1;
                    pieces.push(Piece::Brace);
                }
                b'~' if tilde_expands(&pieces) => {
                    if self.shell == Shell::Other && !matches!(self.ahead(1), Some(b'/' | b' ')) {
                        return self.fail(Trouble::ShellsDisagree("this tilde"));
                    }
                    self.at += 1;
                    pieces.push(Piece::Tilde);
                }
                b'=' if pieces.is_empty() => {
                    self.only_bash("a word that starts with `=`")?;
                    self.at += 1;
                    push(&mut pieces, "=", false);
                }
                0x21..=0x7e => {
                    let from = self.at;
                    self.at += 1;
                    while self.peek().is_some_and(is_plain) {
                        self.at += 1;
                    }
                    push(&mut pieces, self.slice(from, self.at)?, false);
                }
                0x80.. => return self.fail(Trouble::Unsupported("unquoted text outside ASCII")),
                _ => return self.fail(Trouble::Unsupported("an unquoted control character")),
            }
        }
        if pieces.is_empty() {
            return self.fail(Trouble::Syntax("a missing word"));
        }
        if matches!(self.peek(), Some(b'<' | b'>')) {
            // `{fd}>file` opens a descriptor, `a<(b)` is one word.
            if self.ahead(1) == Some(b'(') || pieces.iter().any(|piece| matches!(piece, Piece::Brace)) {
                return self.fail(Trouble::Unsupported("a redirection glued to a word"));
            }
        }
        // A lone `[` is the program of that name, not a pattern.
        if let [Piece::Glob('[')] = pieces.as_slice() {
            pieces = vec![Piece::Text { text: "[".to_owned(), quoted: false }];
        }
        Ok(Word { pieces, span: self.span(start) })
    }

    fn escaped(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        let rest = self.slice(self.at + 1, self.text.len())?;
        let Some(next) = rest.chars().next() else {
            return self.fail(Trouble::Syntax("a backslash at the end"));
        };
        if !next.is_ascii() || next.is_ascii_control() && next != '\n' {
            return self.fail(Trouble::Unsupported("an escaped character outside printable ASCII"));
        }
        self.at += 2;
        if next != '\n' {
            push(pieces, next.encode_utf8(&mut [0; 4]), true);
        }
        Ok(())
    }

    /// From an opening single quote to the closing one.
    fn until_quote(&mut self, trouble: &'static str) -> Read<&'a str> {
        let start = self.at + 1;
        let Some(length) = self.text.as_bytes().get(start..).and_then(|rest| rest.iter().position(|b| *b == b'\''))
        else {
            return self.fail(Trouble::Syntax(trouble));
        };
        self.at = start + length + 1;
        self.slice(start, start + length)
    }

    /// Text in which only `$`, backticks and `\` are special: inside double quotes (up to `"`), or the whole text of
    /// a here-document.
    fn expanding_text(&mut self, close: Option<u8>) -> Read<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|b| !matches!(b, b'\\' | b'$' | b'`') && Some(b) != close) {
                self.at += 1;
            }
            if self.at > start {
                push(&mut pieces, self.slice(start, self.at)?, true);
            }
            match self.peek() {
                None if close.is_none() => return Ok(pieces),
                None => return self.fail(Trouble::Syntax("a double quote is not closed")),
                Some(b'\\') => match self.ahead(1) {
                    Some(b'\n') => self.at += 2,
                    Some(next @ (b'$' | b'`' | b'\\')) => {
                        self.at += 2;
                        push(&mut pieces, char::from(next).encode_utf8(&mut [0; 4]), true);
                    }
                    Some(b'"') if close.is_some() => {
                        self.at += 2;
                        push(&mut pieces, "\"", true);
                    }
                    _ => {
                        self.at += 1;
                        push(&mut pieces, "\\", true);
                    }
                },
                Some(b'$') => {
                    let piece = self.dollar(if close.is_some() { Quoted::Yes } else { Quoted::HereDocument })?;
                    pieces.push(piece);
                }
                Some(b'`') => {
                    let piece = self.backticks(if close.is_some() { Quoted::Yes } else { Quoted::HereDocument })?;
                    pieces.push(piece);
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(pieces);
                }
            }
        }
    }

    // Expansions.

    fn dollar(&mut self, quoted: Quoted) -> Read<Piece> {
        let is_quoted = quoted != Quoted::No;
        if self.shell == Shell::Other {
            // zsh has forms of its own behind many of these characters.
            match self.ahead(1) {
                Some(b'(' | b'{' | b'?' | b'$' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {}
                Some(b'"') if is_quoted => {}
                _ => return self.fail(Trouble::ShellsDisagree("this dollar sign")),
            }
        }
        match self.ahead(1) {
            Some(b'(') if self.ahead(2) == Some(b'(') => self.arithmetic(),
            Some(b'(') => {
                self.at += 2;
                let script = self.substituted()?;
                Ok(Piece::Substitution { script, quoted: is_quoted })
            }
            Some(b'{') => {
                self.at += 2;
                self.nested(|r| r.braced(is_quoted))
            }
            Some(b'\'') if quoted == Quoted::No => {
                self.only_bash("`$'…'`")?;
                self.at += 2;
                self.ansi_c()
            }
            Some(b'"') if quoted == Quoted::No => self.fail(Trouble::Unsupported("`$\"…\"`")),
            Some(b'[') => self.fail(Trouble::Unsupported("`$[…]`")),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                let name = self.name()?;
                if self.peek() == Some(b'[') {
                    self.only_bash("a subscript")?;
                }
                Ok(Piece::Variable { name, quoted: is_quoted, operand: None })
            }
            Some(byte @ (b'0'..=b'9' | b'?' | b'#' | b'$' | b'!' | b'@' | b'*' | b'-')) => {
                self.at += 2;
                Ok(Piece::Variable { name: char::from(byte).to_string(), quoted: is_quoted, operand: None })
            }
            // A dollar that starts nothing stands for itself.
            _ => {
                self.at += 1;
                Ok(Piece::Text { text: "$".to_owned(), quoted: true })
            }
        }
    }

    fn name(&mut self) -> Read<String> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        Ok(self.slice(start, self.at)?.to_owned())
    }

    /// Behind `$(` or `<(`, up to and with the `)`.
    fn substituted(&mut self) -> Read<Script> {
        let script = self.nested(|r| r.list(Until::Parenthesis))?;
        self.close_parenthesis()?;
        Ok(script)
    }

    fn ansi_c(&mut self) -> Read<Piece> {
        let start = self.at;
        loop {
            match self.peek() {
                None => return self.fail(Trouble::Syntax("a single quote is not closed")),
                Some(b'\\') => self.at += if self.ahead(1).is_some() { 2 } else { 1 },
                Some(b'\'') => break,
                Some(_) => self.at += 1,
            }
        }
        let raw = self.slice(start, self.at)?;
        self.at += 1;
        match quoting::ansi_c(raw) {
            Some(text) => Ok(Piece::Text { text, quoted: true }),
            None => self.fail(Trouble::Unsupported("an escape in `$'…'`")),
        }
    }

    /// `$((…))` on numbers. A name would be evaluated again, subscripts and all, so it is refused.
    fn arithmetic(&mut self) -> Read<Piece> {
        self.at += 3;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(b')') if open == 0 => {
                    self.at += 1;
                    return if self.take(")") {
                        Ok(Piece::Number)
                    } else {
                        self.fail(Trouble::Syntax("`$((` without `))`"))
                    };
                }
                Some(b')') => open -= 1,
                Some(b'(') => open += 1,
                Some(
                    b'0'..=b'9'
                    | b' '
                    | b'\t'
                    | b'\n'
                    | b'+'
                    | b'-'
                    | b'*'
                    | b'/'
                    | b'%'
                    | b'<'
                    | b'>'
                    | b'='
                    | b'!'
                    | b'&'
                    | b'|'
                    | b'^'
                    | b'~'
                    | b','
                    | b'?'
                    | b':',
                ) => {}
                _ => return self.fail(Trouble::Unsupported("arithmetic on anything but numbers")),
            }
            self.at += 1;
        }
    }

    /// Behind `${`, up to and with the `}`.
    fn braced(&mut self, quoted: bool) -> Read<Piece> {
        let length = self.peek() == Some(b'#') && self.ahead(1) != Some(b'}');
        if length {
            self.at += 1;
        }
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.name()?,
            Some(b'0'..=b'9') => {
                let start = self.at;
                self.at += self.descriptor_digits();
                self.slice(start, self.at)?.to_owned()
            }
            Some(byte @ (b'?' | b'#' | b'$' | b'@' | b'*' | b'-')) => {
                self.at += 1;
                char::from(byte).to_string()
            }
            _ => return self.fail(Trouble::Unsupported("this form of `${…}`")),
        };
        if self.take("}") {
            return Ok(if length { Piece::Number } else { Piece::Variable { name, quoted, operand: None } });
        }
        let operator =
            [":-", ":+", "-", "+", "%%", "%", "##", "#"].into_iter().find(|operator| self.starts_with(operator));
        let Some(operator) = operator.filter(|_| !length) else {
            return self.fail(Trouble::Unsupported("this form of `${…}`"));
        };
        self.at += operator.len();
        let operand = self.operand(quoted)?;
        Ok(Piece::Variable { name, quoted, operand: Some(operand) })
    }

    /// The word of `${name:-word}`, without quotes of its own: those mean different things in different places.
    fn operand(&mut self, quoted: bool) -> Read<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Word { pieces, span: self.span(start) });
                }
                Some(b'$') if !matches!(self.ahead(1), Some(b'\'' | b'"')) => {
                    let piece = self.dollar(if quoted { Quoted::Yes } else { Quoted::No })?;
                    pieces.push(piece);
                }
                Some(byte @ (b'*' | b'?')) => {
                    self.at += 1;
                    pieces.push(Piece::Glob(char::from(byte)));
                }
                Some(byte) if byte.is_ascii_alphanumeric() || b"_./,:@%+=- ".contains(&byte) => {
                    self.at += 1;
                    push(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]), false);
                }
                _ => return self.fail(Trouble::Unsupported("this text in `${…}`")),
            }
        }
    }

    fn backticks(&mut self, quoted: Quoted) -> Read<Piece> {
        let start = self.at;
        self.at += 1;
        let mut inner = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail(Trouble::Syntax("a backtick is not closed")),
                Some(b'`') => break,
                Some(b'\\') => {
                    let unescaped = match self.ahead(1) {
                        Some(next @ (b'`' | b'\\' | b'$')) => Some(next),
                        Some(b'"') if quoted == Quoted::Yes => Some(b'"'),
                        None => return self.fail(Trouble::Syntax("a backtick is not closed")),
                        Some(_) => None,
                    };
                    if let Some(next) = unescaped {
                        inner.push(next);
                        self.at += 2;
                    } else {
                        inner.push(b'\\');
                        self.at += 1;
                    }
                }
                Some(byte) => {
                    inner.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let Ok(inner) = String::from_utf8(inner) else {
            return self.fail(Trouble::Syntax("a broken character"));
        };
        let span = self.span(start);
        let script = self.copy(&inner, span, |reader| {
            let script = reader.list(Until::End)?;
            reader.no_open_here_document()?;
            if script.steps.is_empty() { reader.fail(Trouble::Syntax("nothing to run")) } else { Ok(script) }
        })?;
        Ok(Piece::Substitution { script, quoted: quoted != Quoted::No })
    }
}

/// Where an expansion stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Yes,
    HereDocument,
}

/// Unquoted bytes that never mean anything inside a word once it has begun.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./,@%+-^#!]}".contains(&byte)
}

fn push(pieces: &mut Vec<Piece>, more: &str, quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted: same }) if *same == quoted => text.push_str(more),
        _ => pieces.push(Piece::Text { text: more.to_owned(), quoted }),
    }
}

/// At a word's start, and behind an unquoted `=` or `:`, where bash expands it in words that look like assignments.
fn tilde_expands(pieces: &[Piece]) -> bool {
    match pieces.last() {
        None => true,
        Some(Piece::Text { text, quoted: false }) => text.ends_with(['=', ':']),
        Some(_) => false,
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Splits `name=value`, or gives the word back.
fn assignment(mut word: Word) -> Result<Assignment, Word> {
    let Some(Piece::Text { text, quoted: false }) = word.pieces.first_mut() else { return Err(word) };
    let Some((name, value)) = text.split_once('=') else { return Err(word) };
    let bare_name = name.strip_suffix('+').unwrap_or(name);
    if !is_name(bare_name) {
        return Err(word);
    }
    let name = name.to_owned();
    *text = value.to_owned();
    Ok(Assignment { name, value: word })
}

/// Puts a word together again that only looks like an assignment.
fn unassign(assigned: Assignment) -> Word {
    let Assignment { name, mut value } = assigned;
    if let Some(Piece::Text { text, .. }) = value.pieces.first_mut() {
        *text = format!("{name}={text}");
    }
    value
}
