//! What a script uses, as far as its text tells: what its manifest is compared with, and what one is made of for a script that
//! nobody has written a manifest for.

use std::collections::BTreeSet;
use std::path::Path;

use bashgate_shared::classify::{CommandClass, Effects, Surroundings, classify, paths};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs;
use bashgate_shared::script::{Capabilities, Manifest};
use bashgate_shared::shell::{Shell, read};

use super::template::Template;

/// The system's own places, which are there for every script, and a folder of its own below /tmp.
pub(super) const THERE: &[&str] = &["/usr", "/bin", "/lib", "/lib64", "/dev", "/proc", "/tmp", "/etc"];
/// Where each script may write: folders and devices of its own.
pub(super) const OWN: &[&str] = &["/tmp", "/dev"];

/// What was read out of a text.
#[derive(Debug)]
pub(super) struct Used {
    /// Programs by their names, without the shell's own.
    pub(super) programs: BTreeSet<String>,
    /// Why it needs network, where it does.
    pub(super) network: Option<String>,
    /// Everything else.
    pub(super) effects: Effects,
    /// One of its programs is only known when it runs: it may be any.
    pub(super) is_open: bool,
}

impl Used {
    /// Reads a text, or says why that is not possible.
    pub(super) fn of(text: &str, cwd: Option<String>) -> Result<Self, String> {
        let command = CommandLine::parse(text).map_err(|error| error.to_string())?;
        let around = Surroundings { cwd, ..Surroundings::default() };
        let found = classify(&command, &around);
        if !found.understood {
            return Err(found.reason);
        }
        let own = functions(&command);
        let is_open = found.calls.iter().any(|call| call.first().is_none_or(Option::is_none));
        let programs = found
            .calls
            .iter()
            .filter_map(|call| call.first()?.as_deref())
            .map(|program| program.rsplit('/').next().unwrap_or(program))
            .filter(|name| !programs::is_builtin(name) && !own.contains(*name) && *name != "bash")
            .map(str::to_owned)
            .collect();
        let network = (found.class == CommandClass::Network).then_some(found.reason);
        Ok(Self { programs, network, effects: found.effects, is_open })
    }

    /// All places that it names.
    pub(super) fn places(&self) -> impl Iterator<Item = &String> {
        let effects = &self.effects;
        effects.reads.iter().chain(&effects.writes).chain(&effects.named).chain(&effects.runs)
    }

    /// What it has to be given to do that, as far as its text names it and it is there.
    fn capabilities(&self, text: &str) -> Capabilities {
        let is_in = |path: &str, folders: &[&str]| folders.iter().any(|folder| is_below(path, folder));
        let mut write: BTreeSet<String> = BTreeSet::new();
        write.extend(self.effects.writes.iter().filter(|path| !is_in(path, OWN)).filter_map(|path| folder_of(path)));
        let mut read = BTreeSet::new();
        for path in self.places().map(String::as_str).chain(absolute(text)).filter(|path| !is_in(path, THERE)) {
            let plain = before_a_pattern(path);
            if Path::new(plain).exists() {
                read.insert(plain.trim_end_matches('/').to_owned());
            } else {
                // What is not there yet is what it makes.
                write.extend(folder_of(plain));
            }
        }
        let may_be_guessed = |path: &String| !is_wide(path);
        write.retain(may_be_guessed);
        read.retain(|path| may_be_guessed(path) && !write.iter().any(|folder| is_below(path, folder)));
        Capabilities {
            paths_read: read.into_iter().collect(),
            paths_write: write.into_iter().collect(),
            network: self.network.is_some(),
            commands: self.programs.iter().cloned().collect(),
        }
    }
}

/// What a script is given: of each kind what its manifest names, and where that names nothing, what its own text uses, never what
/// anybody says that it uses. Network is only given where it was named.
pub fn capabilities_of(text: &str, manifest: &Manifest) -> Capabilities {
    let named = manifest.capabilities.clone();
    let template = Template::parse(text, &manifest.variables);
    let text = template.as_ref().map_or(text, Template::text);
    let Ok(used) = Used::of(text, manifest.working_directory.clone()) else { return named };
    let Capabilities { paths_read, paths_write, network, commands } = used.capabilities(text);
    let or = |named: Vec<String>, used: Vec<String>| if named.is_empty() { used } else { named };
    Capabilities {
        paths_read: or(named.paths_read, paths_read),
        paths_write: or(named.paths_write, paths_write),
        network: network && named.network,
        commands: or(named.commands, commands),
    }
}

/// Absolute paths that stand in a text, in whatever word: also those that a program gets as an argument of which nobody knows what it
/// is, and those that a variable is given.
fn absolute(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words = lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || "\"'`=;()<>|&,{}".contains(c)));
    // `https://host/x` is no path, and `:` is no part of one that could be told from others.
    words.filter(|word| word.starts_with('/') && !word.starts_with("//") && !word.contains(':'))
}

/// A path up to what is only known when it runs.
fn before_a_pattern(path: &str) -> &str {
    let Some(at) = path.find(['*', '?', '[', '$']) else { return path };
    let plain = path.get(..at).unwrap_or_default();
    plain.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True for what nobody is given without having named it: the root, a folder directly below it, and what lies at home.
fn is_wide(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let (first, second) = (parts.next(), parts.next());
    match (first, second, parts.next()) {
        (_, None, _) | (Some("root"), ..) | (Some("home"), Some(_), None) => true,
        (Some("home"), _, Some(third)) => third.starts_with('.'),
        _ => false,
    }
}

/// The nearest folder that is there, in which a path is or would be made.
fn folder_of(path: &str) -> Option<String> {
    let path = Path::new(before_a_pattern(path));
    let folder = path.ancestors().find(|above| above.is_dir())?;
    path.is_absolute().then(|| folder.to_str().map(str::to_owned)).flatten()
}

/// True for a path in a folder, and for the folder itself.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    // Whatever stands in the text without a folder is below the root as well.
    folder == "/" || paths::is_within(path, folder)
}

fn functions(command: &CommandLine) -> BTreeSet<String> {
    let Ok(document) = read(command.text(), Shell::Bash) else { return BTreeSet::new() };
    let commands = document.script.steps.iter().flat_map(|step| &step.pipeline);
    commands.filter_map(|command| Some(command.as_function()?.name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn capabilities_are_what_the_text_uses() {
        let folder = tempfile::tempdir_in("/srv").unwrap();
        let here = folder.path().to_str().unwrap();
        for name in ["in", "out"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("in/a.log"), "").unwrap();
        let of = |text: &str, named: Capabilities| {
            capabilities_of(&text.replace('@', here), &Manifest { capabilities: named, ..Manifest::named("test") })
        };
        let any = Capabilities::default;
        let places = |list: &[&str]| list.iter().map(|name| format!("{here}/{name}")).collect::<Vec<_>>();
        for (text, read, write) in [
            ("f() { wc -l \"$1\"; }\nf @/in/a.log > @/out/x", &["in/a.log"][..], &["out"][..]),
            ("ls @/in", &["in"], &[]),
            ("find @/in -name '*.log'", &["in"], &[]),
            ("test -f @/in/a.log && echo yes", &["in/a.log"], &[]),
            ("wc -l @/in/*.log", &["in"], &[]),
            ("D=@/in; for f in \"$D\"/*.log; do wc -l \"$f\"; done", &["in"], &[]),
            ("cd @/in || exit; for f in *.log; do wc -l \"$f\"; done", &["in"], &[]),
            ("cp @/in/a.log @/out/c.log", &["in/a.log"], &["out"]),
            ("mkdir -p @/out/new/deep", &[], &["out"]),
            ("tar -czf @/out/b.tgz -C @/in .", &["in"], &["out"]),
            ("sort -o @/out/x @/in/a.log", &["in/a.log"], &["out"]),
            ("cat /etc/hosts > /tmp/y # @/in", &["in"], &[]),
            ("# @/in\necho x", &[], &[]),
            ("curl -s https://example.com@/in", &[], &[]),
            ("cat /nosuch/x; echo y > /srv/y; echo z > /root/.x; cat /home/somebody/.ssh/id", &[], &[]),
        ] {
            let found = of(text, any());
            assert_eq!((found.paths_read, found.paths_write), (places(read), places(write)), "{text}");
        }
        let found = of("sort @/in/a.log | uniq; exit; echo x", any());
        assert_eq!((found.commands, found.network), (texts(&["sort", "uniq"]), false));

        // What was named is what it has, whatever the text does.
        let named = Capabilities { commands: texts(&["sort"]), paths_write: texts(&["/srv"]), ..any() };
        let found = of("sort @/in/a.log > @/out/x; tar -cf @/out/y @/in", named);
        assert_eq!((found.commands, found.paths_write), (texts(&["sort"]), texts(&["/srv"])));
        assert!(!of("curl -s https://example.com", any()).network, "nobody said that it may");
        assert!(of("curl -s https://example.com", Capabilities { network: true, ..any() }).network);
        assert!(!of("echo x", Capabilities { network: true, ..any() }).network, "it does not use any");
        // One that nobody can read is given what was named.
        let named = Capabilities { commands: texts(&["tar"]), ..any() };
        assert_eq!(of("if true; then", named.clone()), named);
    }
}
