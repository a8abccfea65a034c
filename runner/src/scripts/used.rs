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

    /// What it has to be given to do that.
    fn capabilities(&self) -> Capabilities {
        let is_in = |path: &str, folders: &[&str]| folders.iter().any(|folder| is_below(path, folder));
        let write: BTreeSet<String> = self
            .effects
            .writes
            .iter()
            .filter(|path| path.starts_with('/') && !is_in(path, OWN))
            .filter_map(|path| folder_of(path))
            .collect();
        let read = self.places().filter(|path| path.starts_with('/') && !is_in(path, THERE));
        let read: BTreeSet<String> =
            read.filter(|path| !write.iter().any(|folder| is_below(path, folder))).cloned().collect();
        Capabilities {
            paths_read: read.into_iter().collect(),
            paths_write: write.into_iter().collect(),
            network: self.network.is_some(),
            commands: self.programs.iter().cloned().collect(),
        }
    }
}

/// What a script has to be given, by its own text and not by anybody's word: but of what `most` names nothing beyond that. Of one
/// that cannot be read it is what `most` says.
pub fn capabilities_of(text: &str, manifest: &Manifest, most: &Capabilities) -> Capabilities {
    let template = Template::parse(text, &manifest.variables);
    let text = template.as_ref().map_or(text, Template::text);
    let Ok(used) = Used::of(text, manifest.working_directory.clone()) else { return most.clone() };
    let Capabilities { paths_read, paths_write, network, commands } = used.capabilities();
    let within = |found: Vec<String>, most: &[String]| -> Vec<String> {
        if most.is_empty() { found } else { found.into_iter().filter(|entry| most.contains(entry)).collect() }
    };
    // A folder that was named is given as it was named.
    let folders = |found: Vec<String>, most: &[String]| -> Vec<String> {
        if most.is_empty() {
            return found;
        }
        most.iter()
            .filter(|given| found.iter().any(|path| is_below(path, given) || is_below(given, path)))
            .cloned()
            .collect()
    };
    // Where values come in, a place that the text does not name may be meant.
    let values = |found: Vec<String>, most: &[String]| {
        if manifest.variables.is_empty() {
            folders(found, most)
        } else if most.is_empty() {
            found
        } else {
            most.to_vec()
        }
    };
    Capabilities {
        paths_read: values(paths_read, &most.paths_read),
        paths_write: values(paths_write, &most.paths_write),
        network: network && most.network,
        commands: within(commands, &most.commands),
    }
}

/// The folder in which a path is written; the folder itself, where it is one.
fn folder_of(path: &str) -> Option<String> {
    if Path::new(path).is_dir() {
        return Some(path.trim_end_matches('/').to_owned()).filter(|path| !path.is_empty());
    }
    let (folder, _) = path.trim_end_matches('/').rsplit_once('/')?;
    (!folder.is_empty()).then(|| folder.to_owned())
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
        let of = |text: &str, most: Capabilities| capabilities_of(text, &Manifest::named("test"), &most);
        let any = Capabilities::default;
        let text =
            format!("f() {{ wc -l \"$1\"; }}\nf {here}/in\nsort {here}/in > {here}/out/x\ncat /etc/hosts > /tmp/y\n");
        let found = of(&text, any());
        assert_eq!(found.commands, ["cat", "sort", "wc"]);
        assert_eq!(found.paths_write, [format!("{here}/out")]);
        assert_eq!(found.paths_read, [format!("{here}/in")]);
        assert!(!found.network);

        // Nothing beyond what was named, whatever the text does.
        let most = Capabilities { commands: texts(&["sort"]), paths_write: texts(&["/srv"]), ..any() };
        let found = of(&text, most);
        assert_eq!((found.commands, found.paths_write), (texts(&["sort"]), texts(&["/srv"])));
        assert!(!of("curl -s https://example.com", any()).network, "nobody said that it may");
        assert!(of("curl -s https://example.com", Capabilities { network: true, ..any() }).network);
        assert!(!of("echo x", Capabilities { network: true, ..any() }).network, "it does not use any");
        // One that nobody can read is given what was named.
        let most = Capabilities { commands: texts(&["tar"]), ..any() };
        assert_eq!(of("if true; then", most.clone()), most);
    }

    #[test]
    fn a_place_that_a_value_names_is_what_was_said_for_it() {
        let manifest = Manifest { variables: texts(&["trigger.file.path"]), ..Manifest::named("test") };
        let most = Capabilities { paths_read: texts(&["/srv/in"]), ..Capabilities::default() };
        let found = capabilities_of("wc -l -- ${trigger.file.path}", &manifest, &most);
        assert_eq!((found.commands, found.paths_read), (texts(&["wc"]), texts(&["/srv/in"])));
    }
}
