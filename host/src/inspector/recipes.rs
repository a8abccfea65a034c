//! Commands that stand in files of tasks: recipes of a makefile, scripts of a package. They are read as commands are.

use std::collections::HashMap;
use std::path::Path;

use bashgate_shared::classify::{Argv, paths};
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::{programs, variables};
use serde_json::Value;

/// What stands for a part of a recipe that only make knows.
pub(super) const OPEN: &str = "make-variable";
/// Most times that a variable is put in for its name.
const DEEPEST: usize = 8;

/// True for a file of tasks, by its name.
pub(super) fn is_one(path: &str) -> bool {
    let name = paths::file_name(path);
    let ending = Path::new(name).extension();
    name.to_ascii_lowercase().ends_with("makefile")
        || ending.is_some_and(|end| end == "mk" || end == "mak")
        || name == "package.json"
}

/// The commands of a file of tasks that these calls may start, as a script. `None` for another file.
pub(super) fn commands_of(file: &FileEvidence, calls: &[Argv]) -> Option<String> {
    let name = paths::file_name(&file.path);
    let ending = Path::new(name).extension();
    let is_of_make =
        name.to_ascii_lowercase().ends_with("makefile") || ending.is_some_and(|end| end == "mk" || end == "mak");
    let steers = |call: &Argv, is: &dyn Fn(&str) -> bool| {
        let name = call.first().and_then(Option::as_deref).map(paths::file_name).unwrap_or_default();
        programs::row(name).is_some_and(|row| row.steered_by.iter().any(|file| is(file)))
    };
    let makes = |call: &Argv| steers(call, &|file| file.to_ascii_lowercase().ends_with("makefile"));
    if is_of_make && calls.iter().any(makes) {
        return Some(recipes(&file.head));
    }
    if name == "package.json" {
        let words: Vec<&str> = calls
            .iter()
            .filter(|call| steers(call, &|file| file == name))
            .flat_map(|call| call.iter().flatten().map(String::as_str))
            .collect();
        return (!words.is_empty()).then(|| scripts(&file.head, &words));
    }
    None
}

/// The scripts of a package whose names stand in a command, with what runs before and after each.
fn scripts(head: &str, words: &[&str]) -> String {
    let Ok(package) = serde_json::from_str::<Value>(head) else { return format!("{OPEN}\n") };
    let Some(scripts) = package.get("scripts").and_then(Value::as_object) else { return String::new() };
    let mut text = String::new();
    let installs = ["install", "ci", "i", "add", "rebuild", "link", "pack", "publish", "version", "prepare"];
    for (name, script) in scripts {
        let stem = ["pre", "post"].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name);
        let is_named = |name: &str| {
            words.iter().any(|word| *word == name || name == "test" && ["t", "tst", "it", "cit"].contains(word))
        };
        let is_of_install = || {
            ["install", "prepare", "version", "publish", "pack"].contains(&stem)
                && words.iter().any(|word| installs.contains(word))
        };
        if is_named(name) || is_named(stem) || is_of_install() {
            text.push_str(script.as_str().unwrap_or(OPEN));
            text.push('\n');
        }
    }
    // Without a script of that name it runs a file.
    let is_given = |name: &str| scripts.get(name).is_some();
    if words.contains(&"start") && !is_given("start") {
        text.push_str(OPEN);
        text.push('\n');
    }
    text
}

/// The recipes of a makefile, with variables put in where the file says what they are.
fn recipes(head: &str) -> String {
    let joined = head.replace("\\\n", " ");
    let mut variables: HashMap<&str, &str> = programs::MAKE_VARIABLES.iter().copied().collect();
    let mut text = String::new();
    for line in joined.lines() {
        let recipe = line.strip_prefix('\t').or_else(|| {
            let (rule, recipe) = line.split_once(';')?;
            rule.contains(':').then_some(recipe)
        });
        if let Some(recipe) = recipe {
            text.push_str(&expanded(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']), &variables, 0));
            text.push('\n');
            continue;
        }
        let plain = line.split('#').next().unwrap_or_default().trim();
        let first = plain.split_whitespace().next().unwrap_or_default();
        // What make runs itself, reads besides, or reads otherwise than it stands here.
        let is_more = sets_what_runs(plain)
            || ["define", "include", "-include", "sinclude", "load", ".RECIPEPREFIX", ".ONESHELL:"].contains(&first)
            || plain.contains("$(shell")
            || plain.contains("${shell")
            || plain.contains("$(eval")
            || plain.contains("!=")
            || plain.starts_with("SHELL")
            || plain.starts_with(".SHELLFLAGS")
            || plain.starts_with(".RECIPEPREFIX");
        if is_more {
            text.push_str(OPEN);
            text.push('\n');
        }
        if let Some((name, value)) = plain.split_once('=') {
            let name = name.trim_end_matches([':', '?', '+', '!']).trim();
            let name = name.strip_prefix("export ").unwrap_or(name).trim();
            // One that is set twice is whichever make takes.
            let value = if variables.contains_key(name) && !programs::MAKE_VARIABLES.iter().any(|(own, _)| *own == name)
            {
                OPEN
            } else {
                value.trim()
            };
            variables.insert(name, value);
        }
    }
    text
}

/// True for an assignment, of a target or of all, by which another shell, another PATH or another program runs.
fn sets_what_runs(line: &str) -> bool {
    const PROGRAMS: [&str; 12] =
        ["SHELL", ".SHELLFLAGS", "PATH", "MAKEFLAGS", "BASH_ENV", "ENV", "FC", "LEX", "YACC", "GREP", "SED", "AWK"];
    let Some((before, value)) = line.split_once('=') else { return false };
    let name = before.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.rsplit([' ', '\t', ':']).next().unwrap_or_default();
    // What stands there for a program of the same kind is none of the project's own.
    let is_path = value.split_whitespace().next().is_some_and(|word| word.contains('/') && !word.starts_with("/usr/"));
    let is_program = programs::MAKE_VARIABLES.iter().any(|(known, _)| *known == name);
    PROGRAMS.contains(&name)
        || name.contains('$')
        || name.starts_with("COMPILE.")
        || name.starts_with("LINK.")
        || variables::is_code(name)
        || is_program && is_path
}

/// A recipe with its variables put in; what only make knows is [`OPEN`].
fn expanded(text: &str, variables: &HashMap<&str, &str>, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let behind = rest.get(at + 1..).unwrap_or_default();
        let Some(next) = behind.chars().next() else { break };
        rest = behind.get(next.len_utf8()..).unwrap_or_default();
        match next {
            '$' => out.push('$'),
            '(' | '{' => {
                let end = if next == '(' { ')' } else { '}' };
                let Some((name, after)) = rest.split_once(end) else { return OPEN.to_owned() };
                let value = variables.get(name).filter(|_| depth < DEEPEST);
                out.push_str(&value.map_or_else(|| OPEN.to_owned(), |value| expanded(value, variables, depth + 1)));
                rest = after;
                // A function of make's in it has ends of its own.
                if name.contains(['$', '(', '{']) {
                    return OPEN.to_owned();
                }
            }
            // The rule's own files.
            '@' | '<' | '^' | '?' | '*' | '+' | '%' | '|' => out.push_str("file-of-the-rule"),
            _ => out.push_str(OPEN),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_commands() {
        let head =
            "PY = python3\nall: a\n\t@$(PY) t/o.py\n\t-$(CC) -o $@ $<\nb: ; echo $$HOME\nc:\n\t$(subst X,,cXurl) x\n";
        assert_eq!(
            recipes(head),
            "python3 t/o.py\ncc -o file-of-the-rule file-of-the-rule\necho $HOME\nmake-variable x\n"
        );
        for more in [
            "all: SHELL=./tool",
            "all: private override SHELL=./tool",
            "S = SHELL\n$(S)=./tool",
            "export PATH := p/r:$(PATH)",
            "all: export PATH := p",
            "CC=./tool",
            "all: CC=./tool",
            "COMPILE.c=sh ./tool",
            "LD_PRELOAD = ./x.so",
        ] {
            assert!(recipes(more).contains(OPEN), "{more}");
        }
        for fine in ["CC = gcc", "CFLAGS = -O2", "CC ?= /usr/bin/clang", "OUT = build/$(NAME)", "all: NAME = x"] {
            assert_eq!(recipes(fine), "", "{fine}");
        }
        for more in ["include t/*.mk", "SHELL=./tool", "x := $(shell id)", "define r", ".RECIPEPREFIX = >", "x != id"] {
            assert!(recipes(more).contains(OPEN), "{more}");
        }
    }

    #[test]
    fn scripts_are_found_by_their_names() {
        let head = r#"{"scripts": {"test": "node t.js", "pretest": "a", "build": "b", "install": "c"}}"#;
        assert_eq!(scripts(head, &["npm", "test"]), "a\nnode t.js\n");
        assert_eq!(scripts(head, &["npm", "run", "build"]), "b\n");
        assert_eq!(scripts(head, &["npm", "ci"]), "c\n");
        assert!(scripts("{", &["npm", "test"]).contains(OPEN));
        assert!(scripts(head, &["npm", "start"]).contains(OPEN));
    }
}
