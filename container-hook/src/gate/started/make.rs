//! What `make` and its like read, as lines of a shell: of the rules that a task means, with what they name put in.

use std::collections::HashSet;
use std::path::Path;

use bashgate_shared::programs::MAKE_VARIABLES;

/// Deepest function in a function.
const DEEPEST: usize = 8;
/// Most rules that are told apart; what stands behind them belongs to all.
const MOST_RULES: usize = 1024;
/// Most bytes of what rules need that are put in, and of a text with what is put in.
const MOST_NEEDS: usize = 4 * 1024;
const MOST_TEXT: usize = 512 * 1024;

/// The ending of what makefiles include.
pub(super) const ENDING: &str = "mk";

/// True for what `make` and its like read.
pub(super) fn is_read(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let ending = Path::new(&name).extension().is_some_and(|ending| ending == ENDING);
    ending || ["makefile", "gnumakefile", "bsdmakefile", "justfile", ".justfile"].contains(&name.as_str())
}

/// A rule of such a text: its names, what it needs, and what it does.
struct Rule<'t> {
    names: Vec<&'t str>,
    needs: Vec<&'t str>,
    does: String,
}

/// What a text includes, by the words that name it.
pub(super) fn included(text: &str) -> impl Iterator<Item = &str> {
    let words = text.lines().filter_map(|line| {
        let (first, rest) = line.split_once(char::is_whitespace)?;
        let is_one = matches!(first, "include" | "-include" | "sinclude");
        is_one.then(|| rest.split(|c: char| c.is_whitespace() || "(),".contains(c)))
    });
    words.flatten().filter(|word| !word.is_empty() && !word.starts_with('$'))
}

/// Of such a text what belongs to these tasks and to what they need, and what belongs to none.
pub(super) fn of_tasks(text: &str, tasks: &HashSet<String>) -> String {
    let mut kept = String::new();
    let mut rules: Vec<Rule<'_>> = Vec::new();
    for line in text.lines() {
        let is_heading = |before: &str, behind: &str| {
            !line.starts_with(char::is_whitespace) && !before.contains(['=', '#', '$']) && !behind.starts_with('=')
        };
        let heading = line.split_once(':').filter(|(before, behind)| is_heading(before, behind));
        let has_room = rules.len() < MOST_RULES;
        let into = match (heading, rules.last_mut()) {
            // `task: NAME = value`
            (Some((_, behind)), _) if setting(behind).is_some() => {
                kept.push_str(behind.trim());
                kept.push('\n');
                continue;
            }
            (Some((names, behind)), _) if has_room => {
                let (needs, does) = behind.split_once(';').unwrap_or((behind, ""));
                let (names, needs) = (names.split_whitespace().collect(), needs.split_whitespace().collect());
                rules.push(Rule { names, needs, does: format!("{does}\n") });
                continue;
            }
            (None, Some(rule)) if line.starts_with(char::is_whitespace) => &mut rule.does,
            (_, _) => &mut kept,
        };
        into.push_str(line);
        into.push('\n');
    }
    let is_named =
        |rule: &Rule<'_>, wanted: &[&str]| rule.names.iter().any(|name| name.contains('%') || wanted.contains(name));
    let mut wanted: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let goal = kept.lines().filter_map(|line| line.trim().strip_prefix(".DEFAULT_GOAL")).next_back();
    wanted.extend(goal.map(|value| value.trim_start_matches([':', '?', '=', ' '])));
    if !rules.iter().any(|rule| is_named(rule, &wanted)) {
        wanted.extend(rules.iter().flat_map(|rule| &rule.names).find(|name| !name.starts_with('.')));
    }
    let mut done = 0;
    while let Some(task) = wanted.get(done).copied() {
        let needs = rules.iter().filter(|rule| rule.names.contains(&task)).flat_map(|rule| &rule.needs);
        for need in needs {
            if !wanted.contains(need) {
                wanted.push(need);
            }
        }
        done += 1;
    }
    let known = MAKE_VARIABLES.iter().filter(|(name, _)| *name != "SHELL");
    let mut lines = String::new();
    for (name, value) in known {
        lines.push_str(&format!("{name}=\"{value}\"\n"));
    }
    for line in kept.lines() {
        lines.push_str(&setting(line).unwrap_or_else(|| as_shell(line, "*", "*")));
        lines.push('\n');
    }
    let meant: Vec<&Rule<'_>> = rules.iter().filter(|rule| is_named(rule, &wanted)).collect();
    // A rule may say in one place what it needs, and in another what it does.
    let needs_of = |rule: &Rule<'_>| {
        let same = meant.iter().filter(|other| other.names.iter().any(|name| rule.names.contains(name)));
        let mut all = String::new();
        for need in same.flat_map(|other| &other.needs) {
            if all.len() + need.len() > MOST_NEEDS {
                return format!("{all}*");
            }
            all.push_str(need);
            all.push(' ');
        }
        all
    };
    for rule in &meant {
        lines.push_str(&as_shell(&rule.does, &rule.names.join(" "), &as_shell(&needs_of(rule), "*", "*")));
    }
    lines
}

/// `NAME := value` as a shell has it.
fn setting(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").or_else(|| name.strip_prefix("override ")).unwrap_or(name).trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // What runs to say it is a command of its own.
    let runs = ["$(shell", "${shell", "`"].iter().any(|mark| value.contains(mark));
    let value = as_shell(value.trim().trim_matches(['"', '\'']), "*", "*");
    let value = value.replace(['"', '\\'], "");
    let set = match name {
        // What runs each line, and what that reads first.
        "SHELL" | "BASH_ENV" | "ENV" => format!("sh {value}"),
        // Where what is needed lies.
        "VPATH" => format!("cd {}", value.replace([':', ' '], "\ncd ")),
        _ => format!("{name}=\"{value}\""),
    };
    (is_name && !runs).then_some(set)
}

/// A text with make's variables as a shell has them: the rule's own names and what it needs are put in.
fn as_shell(text: &str, names: &str, needs: &str) -> String {
    expanded(text, (names, needs), 0)
}

fn expanded(text: &str, (names, needs): (&str, &str), depth: usize) -> String {
    // What is deeper in functions of functions stands open.
    if depth > DEEPEST {
        return "*".to_owned();
    }
    let inner = |text: &str| expanded(text, (names, needs), depth + 1);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at).unwrap_or_default());
        if out.len() > MOST_TEXT {
            break;
        }
        let behind = rest.get(at + 1..).unwrap_or_default();
        let Some(next) = behind.chars().next() else { break };
        rest = behind.get(next.len_utf8()..).unwrap_or_default();
        match next {
            '$' => out.push('$'),
            '<' | '^' | '?' | '+' | '|' => out.push_str(needs),
            '@' => out.push_str(names),
            '*' | '%' => out.push('*'),
            '(' | '{' => {
                let end = if next == '(' { ')' } else { '}' };
                let name = rest.split(end).next().unwrap_or_default();
                let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let after = rest.get(name.len() + 1..).filter(|_| is_name);
                match (after, name) {
                    (Some(after), _) => {
                        out.push_str(&format!("${{{name}}}"));
                        rest = after;
                    }
                    // `$(<D)`, `$(@F)`: a part of them.
                    (None, part) if part.starts_with(['<', '^', '?', '+']) => {
                        out.push_str(needs);
                        rest = rest.get(part.len() + 1..).unwrap_or_default();
                    }
                    // A function of make's: its words stand for themselves, and for what lies in a folder that one names.
                    (None, _) => {
                        let inside = closed(rest, next, end);
                        rest = rest.get(inside.len() + 1..).unwrap_or_default();
                        let (function, words) = inside.split_once(char::is_whitespace).unwrap_or(("", inside));
                        if function == "shell" {
                            out.push_str(&format!("$({})", inner(words)));
                        } else if let Some((name, list, body)) = loop_of(words).filter(|_| function == "foreach") {
                            let (list, body) = (inner(list), inner(body));
                            out.push_str(&format!("for {name} in {list}; do {body}; done"));
                        } else {
                            let words = inner(words).replace([',', '<'], " ").replace("/ ", "/* ");
                            out.push_str(&format!(" {words} "));
                        }
                    }
                }
            }
            letter => out.push_str(&format!("${{{letter}}}")),
        }
    }
    out.push_str(rest);
    out
}

/// The variable, the list and the body of `foreach`.
fn loop_of(words: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = words.split_once(',')?;
    let mut depth = 0_usize;
    let comma = rest.char_indices().find(|(_, letter)| {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *letter == ',' && depth == 0
    });
    let (list, body) = rest.split_at_checked(comma?.0)?;
    Some((name.trim(), list, body.get(1..)?))
}

/// What stands in front of the sign that closes what was opened.
fn closed(text: &str, open: char, close: char) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return text.get(..at).unwrap_or_default(),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        of_tasks(text, &HashSet::from(["lint".to_owned()]))
    }

    #[test]
    fn what_a_rule_names_is_put_in() {
        for (text, want) in [
            ("lint: tools/a.sh\n\tsh $<\n", "sh tools/a.sh"),
            ("lint: a b\n\tsh $^\n", "sh a b"),
            ("lint: a\nlint:\n\tsh $<\n", "sh a"),
            ("lint: a; sh $<\n", "sh a"),
            ("X = tools/a\nlint:\n\tsh $(X).sh\n", "X=\"tools/a\"\n\n\tsh ${X}.sh"),
            ("export X ?= 'a'\nlint:\n\tsh ${X}\n", "X=\"a\"\n\n\tsh ${X}"),
            ("X := $(D)/a\nlint:\n\tsh $X\n", "X=\"${D}/a\"\n\n\tsh ${X}"),
            ("lint:\n\techo $$HOME $(wildcard *.c)\n", "echo $HOME  *.c "),
            ("X := $(shell sh a)\nlint:\n\ttrue\n", "X := $(sh a)"),
            ("lint:\n\tsh $(addprefix tools/,a.sh)\n", "sh  tools/* a.sh "),
            ("lint:\n\tcd sub && $(MAKE) lint\n", "cd sub && ${MAKE} lint"),
            ("SHELL = ./tools/sh\nlint:\n\ttrue\n", "sh ./tools/sh\n"),
            ("lint: X=tools/a\nlint:\n\tsh $(X).sh\n", "X=\"tools/a\"\n\n\tsh ${X}.sh"),
            ("a:\n\ttrue\n.DEFAULT_GOAL := b\nb:\n\tsh x\n", "sh x"),
        ] {
            assert!(lines(text).contains(want), "{text:?}: {:?}", lines(text));
        }
        // However many there are, and however much each puts in.
        let many = format!("lint: {}\n{}", "a".repeat(3000), "\tsh $^ $^ $^ $^ $^ $^ $^ $^\n".repeat(8_000));
        assert!(lines(&many).len() < 2 * MOST_TEXT);
        let rules: String = (0..60_000).flat_map(|_| ["%:\n", "\tx\n"]).collect();
        assert!(lines(&rules).len() < 2 * MOST_TEXT);
        // However deep they stand in one another.
        let deep = format!("lint:\n\tsh {}a{}\n", "$(x ".repeat(60_000), ")".repeat(60_000));
        assert!(lines(&deep).contains('*'));
        assert_eq!(included("include $(wildcard mk/*)\n").collect::<Vec<_>>(), ["wildcard", "mk/*"]);
        assert_eq!(
            included("include a.mk\n-include b/*.mk c\nall: include\n").collect::<Vec<_>>(),
            ["a.mk", "b/*.mk", "c"]
        );
    }
}
