//! Commands that git is given to run: they are judged as what they are, wherever and how often git runs them.

use super::super::Judge;
use crate::classify::call::{Arg, Call};
use crate::classify::judge::calls::Suspicion;
use crate::shell::Shell;

/// Subcommands that run the rest of their words, by the word behind them, with the options in front of these words.
const REST: &[(&str, &str)] = &[("submodule", "foreach"), ("bisect", "run")];
/// Subcommands with options whose value is run.
const VALUES: &[(&str, &[&str])] = &[
    ("rebase", &["-x", "--exec"]),
    ("difftool", &["-x", "--extcmd"]),
    (
        "filter-branch",
        &[
            "--setup",
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
    ),
];

/// Judges what git is given to run. What git itself does with it is never Safe, so the class of what is run comes on top.
/// True when it runs somewhere else than where git stands.
pub(super) fn run(
    judge: &mut Judge<'_>,
    call: &Call,
    subcommand: &str,
    rest: &[Arg],
) -> (Option<super::Judgement>, bool) {
    let at = |word: &str| rest.iter().position(|arg| arg.exact() == Some(word));
    for (of, word) in REST.iter().filter(|(of, _)| *of == subcommand) {
        let Some(at) = at(word) else { continue };
        let behind = rest.get(at + 1..).unwrap_or_default();
        let options = behind.iter().take_while(|arg| arg.start().starts_with('-')).count();
        let words = behind.get(options..).unwrap_or_default();
        let mut judgement = judge.suspect_with(call, words, Suspicion::At(0));
        // Git puts the words together for a shell.
        if let Some(words) = words.iter().map(Arg::exact).collect::<Option<Vec<_>>>().filter(|words| !words.is_empty())
        {
            judgement = judgement.max(judge.inner_script(&words.join(" "), Shell::Bash));
        }
        return (Some(judgement), *of == "submodule");
    }
    // The rest are words of git's own, in each repository of a list.
    if subcommand == "for-each-repo" {
        let own = rest.iter().take_while(|arg| arg.start().starts_with('-')).count();
        let words = rest.get(own..).unwrap_or_default();
        let git: Vec<Arg> = std::iter::once(Arg::literal("git")).chain(words.iter().cloned()).collect();
        return (Some(judge.inner_call(&git, call)), true);
    }
    let Some((_, options)) = VALUES.iter().find(|(of, _)| *of == subcommand) else { return (None, false) };
    let mut judgement = None;
    for (at, arg) in rest.iter().enumerate() {
        let Some(value) = value_of(arg, rest.get(at + 1), options) else { continue };
        let inner = match value.exact() {
            Some(text) => judge.inner_script(text, Shell::Bash),
            None => judge.suspect(call, std::slice::from_ref(&value)),
        };
        judgement = Some(judgement.map_or(inner.clone(), |judgement: super::Judgement| judgement.max(inner)));
    }
    (judgement, false)
}

/// The value that stands behind one of these options, in the same word or as the next one. Long ones may be shortened, and a letter
/// may stand at the end of others.
fn value_of(arg: &Arg, next: Option<&Arg>, options: &[&str]) -> Option<Arg> {
    let text = arg.start();
    for option in options {
        if text.starts_with("--") {
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            if name.len() > 2 && option.starts_with(name) {
                return value.map_or_else(|| next.cloned(), |value| Some(arg.with_start(value)));
            }
        } else if let Some((letter, cluster)) =
            option.strip_prefix('-').filter(|letter| letter.len() == 1).zip(text.strip_prefix('-'))
            && let Some((_, value)) = cluster.split_once(letter)
        {
            let glued = arg.with_start(value);
            return if value.is_empty() { next.cloned() } else { Some(glued) };
        }
    }
    None
}
