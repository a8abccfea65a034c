//! Calls of git that open an editor, or ask at the terminal what to do: whoever types there can run anything.

use super::subcommand_of;

/// When a subcommand asks somebody.
enum Asks {
    /// Unless one of these options says what it would ask for: letters, and long options.
    Unless(&'static str, &'static [&'static str]),
    /// With one of these options or words.
    With(&'static str, &'static [&'static str]),
}

/// Each by its own; some ask in more than one way. git 2.47; where a merge or a pull asks for a message, git asks no editor unless its own terminal is one.
const ASKS: &[(&str, Asks)] = &[
    ("commit", Asks::Unless("mFCh", &["--message", "--file", "--reuse-message", "--no-edit", "--dry-run", "--fixup"])),
    ("revert", Asks::Unless("n", &["--no-edit", "--no-commit", "--abort", "--quit", "--skip"])),
    ("tag", Asks::With("asu", &["--annotate", "--sign", "--local-user"])),
    ("rebase", Asks::With("i", &["--interactive", "--edit-todo"])),
    ("cherry-pick", Asks::With("e", &["--edit"])),
    ("merge", Asks::With("e", &["--edit"])),
    ("am", Asks::With("i", &["--interactive"])),
    ("add", Asks::With("eip", &["--edit", "--interactive", "--patch"])),
    ("checkout", Asks::With("p", &["--patch"])),
    ("reset", Asks::With("p", &["--patch"])),
    ("restore", Asks::With("p", &["--patch"])),
    ("stash", Asks::With("p", &["--patch"])),
    ("clean", Asks::With("i", &["--interactive"])),
    ("branch", Asks::With("", &["--edit-description"])),
    ("config", Asks::With("e", &["--edit", "edit"])),
    ("notes", Asks::With("", &["add", "append", "edit"])),
    ("replace", Asks::With("", &["--edit"])),
    ("difftool", Asks::Unless("y", &["--no-prompt"])),
    ("mergetool", Asks::Unless("y", &["--no-prompt"])),
    ("citool", Asks::Unless("", &[])),
    ("gui", Asks::Unless("", &[])),
    ("commit", Asks::With("ep", &["--edit", "--patch", "--interactive"])),
    ("merge", Asks::With("", &["--continue"])),
    ("rebase", Asks::With("", &["--continue"])),
    ("cherry-pick", Asks::With("", &["--continue"])),
    ("revert", Asks::With("", &["--continue"])),
];

/// What settles a message for those that ask for one on top of that.
const MESSAGE: (&str, &[&str]) = ("mFCd", &["--message", "--file", "--reuse-message", "--delete"]);

/// True for a call that opens an editor or asks at the terminal.
pub fn opens_editor(words: &[Option<&str>]) -> bool {
    let Some((subcommand, own)) = subcommand_of(words) else { return false };
    let has = |letters: &str, long: &[&str]| {
        own.iter().flatten().any(|word| match word.strip_prefix('-') {
            Some(rest) if rest.starts_with('-') => {
                let name = word.split_once('=').map_or(*word, |(name, _)| name);
                name.len() > 3 && long.iter().any(|option| option.starts_with(name))
            }
            Some(cluster) => {
                // Behind the first letter that takes a value, that stands.
                let end = cluster.find(['m', 'F', 'C', 'c', 'u', 'S']).map_or(cluster.len(), |at| at + 1);
                cluster.get(..end).unwrap_or_default().contains(|letter| letters.contains(letter))
            }
            None => long.contains(word),
        })
    };
    // `--fixup=amend:x` and `--fixup=reword:x` ask for the message that they give it.
    let rewords = own.iter().flatten().any(|word| word.starts_with("--fixup=") && word.contains(':'));
    let named = ASKS.iter().filter(|(name, _)| *name == subcommand);
    subcommand == "commit" && rewords
        || named.map(|(_, asks)| asks).any(|asks| match asks {
            Asks::Unless(letters, long) => !has(letters, long),
            Asks::With(letters, long) => {
                let says_message = matches!(subcommand, "tag" | "notes") && has(MESSAGE.0, MESSAGE.1);
                has(letters, long) && !says_message
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_an_editor_is_told_from_what_does_not() {
        let asks = |text: &str| opens_editor(&text.split(' ').map(Some).collect::<Vec<_>>());
        for text in [
            "commit",
            "commit --allow-empty",
            "commit --amend",
            "-C x commit -a",
            "commit -c HEAD",
            "rebase -i HEAD~2",
            "rebase --inter HEAD~2",
            "add -p",
            "add -e x",
            "tag -a v1",
            "revert HEAD",
            "branch --edit-description",
            "config --global -e",
            "stash -p",
            "notes add",
            "commit -m x -e",
            "commit -m x --patch",
            "commit --squash=HEAD",
            "commit --fixup=amend:HEAD",
            "rebase --continue",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "commit -m x",
            "commit -am x",
            "commit --amend --no-edit",
            "commit -F x",
            "commit --fixup=HEAD",
            "commit --message=x",
            "rebase main",
            "add -A",
            "tag v1",
            "tag -am x v1",
            "revert --no-edit HEAD",
            "branch x",
            "config a.b c",
            "stash",
            "log -p",
            "notes add -m x",
            "status",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
