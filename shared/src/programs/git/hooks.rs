//! The names under which git starts hooks, see githooks(5).

/// Hooks of what is done in a working tree.
pub const GIT_HOOKS_OF_WORK: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "post-rewrite",
    "pre-push",
    "pre-auto-gc",
];

/// Hooks that git starts besides: where it is pushed to, very often, and for mail.
const OTHERS: &[&str] = &[
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "push-to-checkout",
    "reference-transaction",
    "post-index-change",
    "sendemail-validate",
    "fsmonitor-watchman",
];

/// All names under which git starts a hook.
pub fn git_hooks() -> impl Iterator<Item = &'static str> {
    GIT_HOOKS_OF_WORK.iter().chain(OTHERS).copied()
}

/// True for a name under which git starts a hook.
pub fn is_git_hook(name: &str) -> bool {
    git_hooks().any(|hook| hook == name)
}

/// True for a hook that a subcommand may start, on its own way or by what it calls (githooks(5)). A subcommand that has no line here
/// may start any, and so does one that is only known when it runs.
pub fn starts_hook(subcommand: &str, hook: &str) -> bool {
    let own: &[&str] = match subcommand {
        "add" | "status" | "diff" => &[],
        "restore" | "checkout" | "switch" => &["post-checkout"],
        "commit" => &[
            "pre-commit",
            "pre-merge-commit",
            "prepare-commit-msg",
            "commit-msg",
            "post-commit",
            "post-rewrite",
            "pre-auto-gc",
        ],
        // Where it goes to a folder, that one's start here as well.
        "push" => {
            &["pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"]
        }
        "send-email" => &["sendemail-validate"],
        _ => return true,
    };
    // Whatever changes a branch or what is tracked, or looks at files.
    own.contains(&hook) || matches!(hook, "reference-transaction" | "post-index-change" | "fsmonitor-watchman")
}
