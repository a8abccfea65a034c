//! Programs that take over the terminal: what their keys do, and what they pass files through, stands in files that are
//! not read here.

use super::{Kind, Operands, Program, Rule, Runs, Terminal, Trait};

/// Takes its keys from the terminal, even when something is piped into it.
pub(super) const SCREEN: Terminal = Terminal {
    unattended: &[
        "--batch",
        "-batch",
        "--headless",
        "-es",
        "-Es",
        "--script",
        "-script",
        "--version",
        "--help",
        "-V",
        "-dump",
    ],
    past_input: true,
    ..Terminal::ALWAYS
};

const PAGES: Terminal = Terminal { pages: true, ..SCREEN };

/// With these words it works on sessions without showing one.
const SESSIONS: Terminal = Terminal {
    unattended: &[
        "-d",
        "-dm",
        "-dmS",
        "ls",
        "-ls",
        "-V",
        "list-sessions",
        "list-panes",
        "list-windows",
        "kill-session",
        "kill-server",
        "has-session",
        "send-keys",
        "capture-pane",
        "--version",
        "--help",
    ],
    ..SCREEN
};

const fn editor(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program::new(
        names,
        "edits files, and runs what its user or its settings say",
        Kind::Runner,
        Rule::Never(Operands::Files),
    )
    .runs(Runs::Code)
    .not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    editor(&["vim", "vi", "nvim", "view", "vimdiff", "emacs", "nano", "pico"], &["vim x", "nvim --headless +qa"])
        .terminal(SCREEN),
    editor(&["ed", "ex"], &["ed x"]).terminal(super::languages::PROMPT),
    Program::new(
        &["less", "more"],
        "shows a file page by page, as settings of its own say",
        Kind::Local,
        Rule::Never(Operands::Files),
    )
    .runs(Runs::Named)
    .terminal(PAGES)
    .environment(&[
        "LESS",
        "LESSOPEN",
        "LESSCLOSE",
        "LESSKEY",
        "LESSKEYIN",
        "LESSKEY_CONTENT",
        "LESSEDIT",
        "EDITOR",
        "VISUAL",
        "MORE",
        "SHELL_MORE",
        "PAGER",
    ])
    .traits(&[Trait::NamesAreFiles, Trait::PlainPager])
    .not_safe(&["less README.md", "less +!sh x", "more x"]),
    Program::new(&["most"], "shows a file page by page", Kind::Runner, Rule::Never(Operands::Files))
        .runs(Runs::Named)
        .terminal(PAGES)
        .not_safe(&["most x"]),
    Program::new(&["man"], "shows a page of the manual", Kind::Mixed, Rule::Never(Operands::Data))
        .runs(Runs::Named)
        .environment(&["MANPAGER", "PAGER", "BROWSER"])
        .terminal(PAGES)
        .not_safe(&["man ls", "man -P sh ls"]),
    Program::new(
        &["mc", "ranger", "tig"],
        "shows folders or history on a whole screen",
        Kind::Runner,
        Rule::Never(Operands::Data),
    )
    .runs(Runs::Named)
    .terminal(SCREEN)
    .not_safe(&["tig"]),
    Program::new(
        &["tmux", "screen"],
        "keeps shells that are typed into later",
        Kind::Runner,
        Rule::Never(Operands::Data),
    )
    .runs(Runs::Shell)
    .terminal(SESSIONS)
    .traits(&[Trait::TypesLater])
    .not_safe(&["tmux ls", "tmux new-session -d make"]),
    Program::new(&["login"], "starts a shell for a user", Kind::Launcher, Rule::Never(Operands::Data))
        .runs(Runs::Shell)
        .terminal(SCREEN)
        .not_safe(&["login x"]),
];
