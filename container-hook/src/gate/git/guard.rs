//! The git guard: denies some git subcommands however they are spelled, never a mention of them.
//!
//! The subcommands come from the parsed command. A name that is an alias in the repository's or the user's
//! configuration counts as what it stands for.

use std::path::Path;

use bashgate_shared::classify::Effects;

use super::{Repository, config, files_outside};

/// The denied subcommand that a command runs, if any. `?` stands for one that is only known when it runs.
pub fn denied<'a>(effects: &'a Effects, deny: &[String], cwd: &Path) -> Option<&'a str> {
    if deny.is_empty() || effects.git.is_empty() {
        return None;
    }
    let listed = |name: &str| deny.iter().any(|denied| denied == name);
    let mut aliases = None;
    effects.git.iter().map(String::as_str).find(|name| {
        *name == "?"
            || listed(name)
            || aliases.get_or_insert_with(|| read_aliases(cwd)).iter().any(|(alias, value)| {
                // An alias that starts with `!` is a shell command; any mention in it counts.
                (alias == "*" || alias.eq_ignore_ascii_case(name))
                    && value.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(listed)
            })
    })
}

/// Name and value of every alias in the configurations in force for a folder. An unreadable file has none: the guard
/// only ever adds a denial, and git does not read such a file either.
fn read_aliases(cwd: &Path) -> Vec<(String, String)> {
    let repositories = super::repositories(cwd).unwrap_or_default();
    let files = repositories.iter().flat_map(Repository::files).chain(files_outside());
    let settings = files.filter_map(|file| super::read_text(&file).ok()).flat_map(|text| aliases(&text));
    settings.collect()
}

fn aliases(text: &str) -> Vec<(String, String)> {
    // A file that is not understood may hold any alias.
    let Some(settings) = config::read(text) else { return vec![("*".to_owned(), text.to_owned())] };
    settings
        .into_iter()
        .filter_map(|setting| setting.key.strip_prefix("alias.").map(|name| (name.to_owned(), setting.value.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    fn deny() -> Vec<String> {
        ["push", "pull", "rebase"].map(str::to_owned).to_vec()
    }

    fn check(command: &str, cwd: &Path) -> bool {
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
        denied(&found.effects, &deny(), cwd).is_some()
    }

    #[test]
    fn every_spelling_is_denied_and_no_mention() {
        let nowhere = Path::new("/nonexistent");
        for command in [
            "git push origin main",
            "git pull",
            "git rebase origin/main",
            "git -C x push",
            "git -c a=b push",
            "sudo git push",
            "\"git\" push",
            "/usr/bin/git push",
            "git --git-dir=x --no-pager push",
            "cd x && git push",
            "env git pull",
            "$(git push)",
            "bash -c 'git push'",
            "git -c alias.p=push p",
            "git $x",
            "timeout 5 git pull",
            "[[ -d x ]] && git push",
            "git push&",
            "f() { git push; }; f",
        ] {
            assert!(check(command, nowhere), "{command}");
        }
        for command in [
            "git status",
            "git diff HEAD",
            "echo \"git push\"",
            "git log --grep push",
            "git commit -m 'git push'",
            "echo hello",
            "git stash push",
            "grep -rn 'git pull' .",
        ] {
            assert!(!check(command, nowhere), "{command}");
        }
    }

    #[test]
    fn an_alias_counts_as_what_it_stands_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(
            folder.path().join(".git/config"),
            "[core]\n\tbare = false\n[alias]\n\tpp = push\n\tx = !git pull\n\tst = status\n",
        )
        .unwrap();
        let deeper = folder.path().join("sub");
        std::fs::create_dir(&deeper).unwrap();
        for command in ["git pp", "git x", "git PP"] {
            assert!(check(command, &deeper), "{command}");
        }
        assert!(!check("git st", &deeper));
    }
}
