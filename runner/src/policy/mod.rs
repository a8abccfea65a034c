//! A preset's own rules about a command's text. They come before the gate, and can only refuse.
//!
//! Three kinds, told apart in every refusal: the floor, which is read from the syntax and always on; the preset's
//! rules, read from the syntax too; and the preset's patterns, which are heuristics over the raw text.

mod floor;
mod syntax;

use bashgate_shared::classify::Classification;
use bashgate_shared::classify::paths::{Zone, resolve, zone};
use bashgate_shared::command::CommandLine;
use bashgate_shared::shell::{self, Shell};
use bashgate_shared::variables;

use crate::presets::{Redirects, Rules};

/// Why a preset refuses a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// Which kind of rule.
    pub kind: RefusedBy,
    /// The sentence for the agent.
    pub why: String,
}

/// Which kind of rule refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// Longer than the preset takes.
    Length,
    /// Destroys a system, in any preset.
    Floor,
    /// Not on the preset's list, or in a form that it does not take.
    Preset,
    /// Looks dangerous to a pattern.
    Heuristic,
}

/// Checks a command against a preset's rules.
pub fn check(
    rules: &Rules,
    command: &CommandLine,
    shell: Shell,
    found: &Classification,
    cwd: &str,
) -> Result<(), Refusal> {
    let refuse = |kind, why: String| Err(Refusal { kind, why });
    let text = command.text();
    if text.len() > rules.max_bytes {
        let why =
            format!("the command is {} bytes long; the limit is {}: {}", text.len(), rules.max_bytes, rules.advice);
        return refuse(RefusedBy::Length, why);
    }
    let document = shell::read(text, shell).ok();
    let seen = document.as_ref().map(syntax::look).unwrap_or_default();
    if let Some(why) = floor::meets(found, &seen.spelled, cwd) {
        return refuse(RefusedBy::Floor, format!("blocked: the command {why}"));
    }
    for pattern in rules.patterns.iter().filter(|pattern| pattern.instead.is_none()) {
        let regex = regex_lite::Regex::new(&pattern.regex);
        // A pattern that cannot be read was refused when the preset was loaded.
        if regex.map_or(true, |regex| regex.is_match(text)) {
            let why = format!("blocked: the command looks as if it {} (heuristic `{}`)", pattern.why, pattern.regex);
            return refuse(RefusedBy::Heuristic, why);
        }
    }
    let strict = !rules.substitution || rules.redirects == Redirects::Workspace || !rules.allow.is_empty();
    if !strict {
        return Ok(());
    }
    if document.is_none() || !found.understood {
        return refuse(RefusedBy::Preset, format!("the preset takes only what it understands; {}", found.reason));
    }
    if !rules.substitution && seen.substitutes {
        return refuse(
            RefusedBy::Preset,
            "the preset takes no command substitution; run the inner command by itself first".to_owned(),
        );
    }
    if rules.redirects == Redirects::Workspace {
        for target in &seen.written {
            let stays = target.as_deref().is_some_and(|path| {
                matches!(zone(&resolve(Some(cwd), path), Some(cwd)), Zone::Workspace | Zone::Nowhere)
            });
            if !stays {
                let target = target.as_deref().unwrap_or("a file that is only known when it runs");
                return refuse(RefusedBy::Preset, format!("the preset takes no redirection to {target}"));
            }
        }
    }
    if !rules.allow.is_empty() {
        if seen.hides_program {
            return refuse(
                RefusedBy::Preset,
                "the preset takes no program whose name is only known when it runs".to_owned(),
            );
        }
        // What the list allows is what a name means here, with the settings that are here.
        let harm = |name: &String| Some((name.clone(), variables::harm_of_setting(name, shell)?));
        if let Some((name, harm)) = seen.assigned.iter().find_map(harm) {
            let why = format!("the preset does not let a command set `{name}`, which {harm}");
            return refuse(RefusedBy::Preset, why);
        }
        for call in &found.calls {
            if !rules.allow.iter().any(|allowed| matches_prefix(allowed, call)) {
                let shown: Vec<&str> = call.iter().take(3).map(|word| word.as_deref().unwrap_or("?")).collect();
                let why =
                    format!("the preset does not allow `{}`; it allows: {}", shown.join(" "), rules.allow.join(", "));
                return refuse(RefusedBy::Preset, why);
            }
        }
    }
    Ok(())
}

/// True when a call starts with these words. Its program may be spelled with the folder of a system.
fn matches_prefix(allowed: &str, call: &[Option<String>]) -> bool {
    let plain =
        |word: &str| ["/bin/", "/usr/bin/"].iter().find_map(|folder| word.strip_prefix(folder).map(str::to_owned));
    let mut words = call.iter().enumerate().map(|(at, word)| match (at, word) {
        (0, Some(word)) => Some(plain(word).unwrap_or_else(|| word.clone())),
        (_, word) => word.clone(),
    });
    allowed.split(' ').all(|want| words.next().flatten().is_some_and(|word| word == want))
}

#[cfg(test)]
mod tests {
    use bashgate_shared::classify::{Surroundings, classify};

    use super::*;
    use crate::presets::Presets;

    fn verdict(preset: &str, text: &str) -> Option<RefusedBy> {
        let rules = Presets::built_in().for_agent(None, Some(preset)).unwrap().rules;
        let command = CommandLine::parse(text).unwrap();
        let around = Surroundings { cwd: Some("/work".to_owned()), ..Surroundings::default() };
        let found = classify(&command, &around);
        check(&rules, &command, Shell::Bash, &found, "/work").err().map(|refusal| refusal.kind)
    }

    #[test]
    fn the_floor_is_in_every_preset() {
        for preset in Presets::built_in().names() {
            for text in [
                "rm -rf /",
                "rm -fr /",
                "rm -r -f --no-preserve-root / ;true",
                "cd /tmp && rm -rf /*",
                "rm --recursive /etc",
                "rm -rf ~",
                "rm -rf \"$HOME\"",
                "sudo -n rm -rf /*",
                "mkfs.ext4 /dev/sdb",
                "dd if=x of=/dev/sda",
                "cat x > /dev/nvme0n1",
                "sudo rm -rf /usr",
                "echo x | tee /dev/sda",
                ":(){ :|:& };:",
            ] {
                let got = verdict(preset, text);
                assert!(matches!(got, Some(RefusedBy::Floor)), "{preset}: {text}: {got:?}");
            }
        }
    }

    #[test]
    fn ordinary_work_is_not_blocked_in_the_open_presets() {
        for preset in ["default", "chorus", "phoenix", "cage"] {
            for text in [
                "ls 2>/dev/null",
                "git log | head; git status",
                "echo $((1+2))",
                "rm -rf target/",
                "rm -rf ./node_modules",
                "rm -f /tmp/x",
                "rm -rf \"$TMPDIR/x\"",
                "dd if=a of=b",
                "cat a > /dev/null",
                "f() { echo x; }; f",
                "rm -r /srv/build",
            ] {
                assert_eq!(verdict(preset, text), None, "{preset}: {text}");
            }
        }
        assert_eq!(verdict("chorus", "cat docs/mkfs.md"), Some(RefusedBy::Heuristic));
        assert_eq!(verdict("default", "cat docs/mkfs.md"), None);
    }

    #[test]
    fn the_lists_of_seed_002_are_read_from_the_syntax() {
        for (preset, text, want) in [
            ("runner-readonly", "ls -la", None),
            ("runner-readonly", "grep -r x . 2>/dev/null | head -5", None),
            ("runner-readonly", "cat a > out.txt", None),
            ("runner-readonly", "echo $((1+2))", None),
            ("runner-readonly", "/bin/ls", None),
            ("runner-readonly", "cat a > /etc/x", Some(RefusedBy::Preset)),
            ("runner-readonly", "cat a > $x", Some(RefusedBy::Preset)),
            ("runner-readonly", "ls; make", Some(RefusedBy::Preset)),
            ("runner-readonly", "find . -exec make \\;", Some(RefusedBy::Preset)),
            ("runner-readonly", "./ls", Some(RefusedBy::Preset)),
            ("runner-readonly", "PATH=.:$PATH ls", Some(RefusedBy::Preset)),
            ("runner-readonly", "PATH+=:. ls", Some(RefusedBy::Preset)),
            ("runner-readonly", "LD_PRELOAD=./x.so cat f", Some(RefusedBy::Preset)),
            ("runner-readonly", "LD_AUDIT=./x.so; cat f", Some(RefusedBy::Preset)),
            ("runner-readonly", "for PATH in .; do ls; done", Some(RefusedBy::Preset)),
            ("runner-readonly", "ls ${PATH:=.}", Some(RefusedBy::Preset)),
            ("runner-readonly", "GIT_EXTERNAL_DIFF=./x git diff", Some(RefusedBy::Preset)),
            ("runner-readonly", "echo $((PATH=1))", Some(RefusedBy::Preset)),
            ("runner-readonly", "N=3; head -n $N a", None),
            ("runner-build", "RUSTC_WRAPPER=./x cargo build", Some(RefusedBy::Preset)),
            ("runner-build", "RUST_BACKTRACE=1 cargo test", None),
            ("runner-readonly", "$x", Some(RefusedBy::Preset)),
            ("runner-readonly", "ls <(cat x)", Some(RefusedBy::Preset)),
            ("runner-readonly", "echo $(ls)", Some(RefusedBy::Preset)),
            ("runner-readonly", "echo `ls`", Some(RefusedBy::Heuristic)),
            ("runner-readonly", "curl x", Some(RefusedBy::Heuristic)),
            ("runner-readonly", "cat x | sh", Some(RefusedBy::Heuristic)),
            ("runner-build", "cargo test --all && npm run build", None),
            ("runner-build", "python -m pytest -q", None),
            ("runner-build", "npm install", Some(RefusedBy::Heuristic)),
            ("runner-build", "cargo install x", Some(RefusedBy::Preset)),
            ("runner-build", "go install ./...", Some(RefusedBy::Preset)),
            ("runner-build", "npm ci", Some(RefusedBy::Preset)),
            (
                "runner-readonly",
                "find . -name x; tail f; tree; file f; stat f; pwd; which ls; type ls; wc f; echo x",
                None,
            ),
            (
                "runner-build",
                "pip list; pip show x; cargo check; cargo build; go build; go test; go vet; make; npm test; ls",
                None,
            ),
        ] {
            assert_eq!(verdict(preset, text), want, "{preset}: {text}");
        }
    }

    #[test]
    fn what_is_not_followed_to_its_end_is_on_no_list() {
        for count in [1000, 1100, 5000] {
            let text = format!("{}make evil", "ls;".repeat(count));
            assert_eq!(verdict("runner-readonly", &text), Some(RefusedBy::Preset), "{count}");
        }
    }

    #[test]
    fn a_long_command_is_refused_with_advice() {
        let long = format!("echo {}", "x".repeat(131_067));
        let rules = Presets::built_in().for_agent(None, Some("phoenix")).unwrap().rules;
        let command = CommandLine::parse(long).unwrap();
        let found = classify(&command, &Surroundings::default());
        let refusal = check(&rules, &command, Shell::Bash, &found, "/work").unwrap_err();
        assert_eq!(refusal.kind, RefusedBy::Length);
        assert!(refusal.why.ends_with("write it to a file first and then execute the file"));
    }
}
