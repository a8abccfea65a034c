//! Whether the names in a command mean the programs that the tables mean: no function or alias of the shell takes one,
//! PATH leads to a folder that the agent cannot write, and no variable makes a program load or run something else.

use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{Classification, Effects, paths};
use bashgate_shared::planted::{self, Bug};
use bashgate_shared::programs::{self, Program, Trait};
use bashgate_shared::shell::RESERVED;
use bashgate_shared::variables;

use super::startup::Startup;
use super::{Findings, home};

/// Adds what stands against the names in a command.
pub(super) fn check(found: &Classification, cwd: &Path, shell: &Startup, findings: &mut Findings) {
    let names: Vec<&str> = found.effects.programs.iter().map(String::as_str).collect();
    // An alias of the same name is expanded even where a function is defined.
    for part in found.parts.iter().filter(|part| part.rule == "function") {
        let name = part.text.trim_start_matches("function").trim_start();
        if shell.names.iter().any(|known| name.starts_with(known.as_str())) {
            findings
                .unproven
                .push(format!("`{}` is an alias in the agent's shell", part.text.chars().take(32).collect::<String>()));
        }
    }
    for variable in variables::LOCALES {
        let value = std::env::var_os(variable);
        if value.is_some_and(|value| !variables::is_plain_locale(&value.to_string_lossy())) {
            findings.unproven.push(format!("{variable} chooses other letters than those of UTF-8"));
        }
    }
    if std::env::var_os(variables::LANGUAGES)
        .is_some_and(|value| !variables::are_plain_languages(&value.to_string_lossy()))
    {
        findings.unproven.push(format!("{} leads to messages of somebody's own", variables::LANGUAGES));
    }
    if std::env::var_os("HOME").is_some() && home().is_none() {
        findings.unproven.push("HOME is no absolute path".to_owned());
    }
    let path = std::env::var_os("PATH");
    let folders: Vec<PathBuf> = path.as_deref().map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    // Whatever writes it, an agent's own tool as well.
    writes_to_path(found, cwd, &folders, shell, findings);
    if names.is_empty() {
        return;
    }
    for file in &shell.doubtful {
        findings.unproven.push(format!("{} may change what names mean in the agent's shell", file.display()));
    }
    environment(&names, cwd, shell, findings);
    let started = found.effects.started.iter().map(String::as_str);
    let external: Vec<&str> = names.iter().copied().filter(|name| !programs::is_builtin(name)).chain(started).collect();
    if external.is_empty() {
        return;
    }
    if path.is_none() {
        findings.unproven.push("PATH is not set".to_owned());
        return;
    }
    // The shell takes an empty entry for its own folder, and bash expands a tilde.
    if let Some(other) = folders.iter().chain(&shell.folders).find(|folder| !folder.is_absolute()) {
        findings.unproven.push(format!("PATH has the entry `{}`", other.display()));
    }
    // A folder that the shell may search, too, must not have the name at all.
    let further: Vec<&PathBuf> = shell.folders.iter().filter(|folder| !folders.contains(folder)).collect();
    let in_path = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file));
    let in_others =
        |name: &str| further.iter().map(|folder| folder.join(name)).filter(|file| is_program(file)).collect::<Vec<_>>();
    for name in external {
        let is_script = programs::has(name, Trait::ShellScript);
        if name.contains('/') {
            trusted_program(Path::new(name), cwd, is_script, findings);
        } else {
            match in_path(name) {
                Some(file) => trusted_program(&file, cwd, is_script, findings),
                None => findings.unproven.push(format!("`{name}` is not in PATH")),
            }
            for file in in_others(name) {
                trusted_program(&file, cwd, is_script, findings);
            }
        }
        // What is not there is not started.
        let row = programs::row(name).filter(|_| !planted::has(Bug::NothingStartsOthers));
        let starts = row.map_or(&[][..], |row| row.starts);
        for started in starts.iter().filter(|started| **started != name) {
            for file in in_path(started).into_iter().chain(in_others(started)) {
                trusted_program(&file, cwd, false, findings);
            }
        }
    }
    // Definitions that a program loads on its own.
    if let Some(home) = home() {
        for row in names.iter().filter_map(|name| programs::row(name)) {
            for file in row.loads_at_home.iter().filter(|file| home.join(file).symlink_metadata().is_ok()) {
                findings.unproven.push(format!("`{}` loads ~/{file}", row.names.first().unwrap_or(&"")));
            }
        }
    }
}

/// The programs that names in a command mean and that others than root can put there or exchange, as PATH has them now: they are what
/// was asked about only as long as they stay the same.
pub(in crate::gate) fn others_programs(effects: &Effects, cwd: &Path) -> Vec<PathBuf> {
    let Some(path) = std::env::var_os("PATH") else { return Vec::new() };
    let folders: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| cwd.join(folder)).collect();
    let names = effects.programs.iter().chain(&effects.started).map(String::as_str);
    let names: Vec<&str> = names.filter(|name| !name.contains('/') && !programs::is_builtin(name)).collect();
    let starts = names.iter().filter_map(|name| programs::row(name)).flat_map(|row| row.starts.iter().copied());
    let mut all: Vec<&str> = names.iter().copied().chain(starts).collect();
    all.sort_unstable();
    all.dedup();
    let found =
        all.into_iter().filter_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file)));
    found.filter(|file| is_others(file, cwd)).collect()
}

/// The folders of PATH in which others than root can put a program.
pub(in crate::gate) fn others_folders(cwd: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).map(|folder| cwd.join(folder));
    folders.filter(|folder| folder.is_dir() && is_others(folder, cwd)).collect()
}

/// What the command itself writes into a folder of PATH, or moves to where one lies, is a program by then.
fn writes_to_path(found: &Classification, cwd: &Path, folders: &[PathBuf], shell: &Startup, findings: &mut Findings) {
    if found.effects.writes.is_empty() {
        return;
    }
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Login shells search these as soon as they are there.
    let home = home();
    let at_home: Vec<PathBuf> = home.iter().flat_map(|home| [home.join("bin"), home.join(".local/bin")]).collect();
    let searched: Vec<PathBuf> = folders
        .iter()
        .chain(&shell.folders)
        .chain(&at_home)
        // An empty one is where the shell is.
        .map(|folder| cwd.join(folder))
        .flat_map(|folder| [real(&folder), folder])
        .collect();
    for written in &found.effects.writes {
        let file = cwd.join(written);
        let folder = file.parent().unwrap_or(&file);
        let into = [folder, &real(folder)].into_iter().any(|folder| searched.iter().any(|known| known == folder));
        let above = [&file, &real(&file)].into_iter().any(|path| searched.iter().any(|known| known.starts_with(path)));
        if into || above {
            findings.unproven.push(format!("{written} lies in a folder of PATH"));
        }
    }
}

fn environment(names: &[&str], cwd: &Path, shell: &Startup, findings: &mut Findings) {
    // An alias for one changes how everything is read.
    if let Some(word) = shell.names.iter().find(|name| RESERVED.contains(&name.as_str())) {
        findings.unproven.push(format!("`{word}` is an alias in the agent's shell"));
    }
    for name in names.iter().map(|name| paths::file_name(name)) {
        if shell.names.iter().any(|known| paths::file_name(known) == name) {
            findings.unproven.push(format!("`{name}` is a function or an alias in the agent's shell"));
        }
    }
    if planted::has(Bug::VariablesAreData) {
        return;
    }
    let mut rows: Vec<&Program> = names.iter().filter_map(|name| programs::row(name)).collect();
    // What they start goes by its own.
    let started: Vec<&Program> =
        rows.iter().flat_map(|row| row.starts).filter_map(|name| programs::row(name)).collect();
    rows.extend(started);
    for (variable, value) in std::env::vars_os() {
        let variable = variable.to_string_lossy();
        let function = variable.strip_prefix("BASH_FUNC_").map(|name| name.trim_end_matches("%%"));
        let harms = match function {
            Some(name) => names.contains(&name) || name == "command_not_found_handle",
            None if value.is_empty() => false,
            None if variables::steers_every_command(&variable) => true,
            // What is not there loads nothing, and nobody but root could make it. The runner of tests sets it for them.
            None if variable == "LD_LIBRARY_PATH" && cfg!(test) => false,
            None if variable == "LD_LIBRARY_PATH" => {
                let is_safe = |folder: &Path| {
                    let there = folder.ancestors().find(|place| place.symlink_metadata().is_ok());
                    there.is_some_and(|there| is_out_of_reach(there, cwd)) && !is_where_root_works(folder, cwd)
                };
                !std::env::split_paths(&value).all(|folder| is_safe(&folder))
            }
            None => rows.iter().any(|row| row.environment.contains(&variable.as_ref())),
        };
        if harms {
            findings.unproven.push(format!("{variable} is set"));
        }
    }
}

fn is_program(file: &Path) -> bool {
    // For this user: the shell skips what only others may execute.
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file())
        && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// A file that is the program its name says: nobody could put another one there, and it is no script whose start can be
/// steered. Of a script of a shell the row says what it starts; a script of any other language loads code from where the
/// agent writes.
fn trusted_program(file: &Path, cwd: &Path, may_be_script: bool, findings: &mut Findings) {
    trusted_file(file, cwd, findings);
    match kind_of(file) {
        Ok(FileKind::Native) => {}
        Ok(FileKind::ShellScript) if may_be_script => {}
        Ok(_) if planted::has(Bug::ProgramsAreNative) => {}
        Ok(FileKind::ShellScript | FileKind::Other) => {
            findings.unproven.push(format!("{} is a script", file.display()));
        }
        Err(_) => findings.unchecked = true,
    }
}

/// What the kernel makes of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// It runs it itself.
    Native,
    /// A POSIX shell of the system runs it.
    ShellScript,
    /// Another program runs it.
    Other,
}

fn kind_of(file: &Path) -> std::io::Result<FileKind> {
    let mut start = Vec::with_capacity(64);
    std::fs::File::open(file)?.take(64).read_to_end(&mut start)?;
    if start.starts_with(b"\x7fELF") {
        return Ok(FileKind::Native);
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.strip_prefix(b"#!").unwrap_or_default().split(u8::is_ascii_whitespace);
    let shells: [&[u8]; 6] =
        [b"/bin/sh", b"/usr/bin/sh", b"/bin/bash", b"/usr/bin/bash", b"/bin/dash", b"/usr/bin/dash"];
    let is_shell = words.find(|word| !word.is_empty()).is_some_and(|word| shells.contains(&word));
    Ok(if is_shell { FileKind::ShellScript } else { FileKind::Other })
}

/// A program counts only where nobody but root can put it: not in the workspace, not in the home folder.
fn trusted_file(file: &Path, cwd: &Path, findings: &mut Findings) {
    let real = std::fs::canonicalize(file);
    if !is_out_of_reach(file, cwd) {
        findings.unproven.push(format!("{} does not lie in a folder that only root can write", file.display()));
    }
    if let Ok(real) = real
        && !is_the_same_program(file, &real)
    {
        let why =
            format!("{} is {}, which may go by the name to start another program", file.display(), real.display());
        findings.unproven.push(why);
    }
}

/// True for a file or folder that the agent cannot have put there: only root can, and it lies neither where the agent works nor at
/// home.
fn is_out_of_reach(file: &Path, cwd: &Path) -> bool {
    let home = home().filter(|home| home != Path::new("/"));
    let is_at_home = |place: &Path| home.as_ref().is_some_and(|home| place.starts_with(home));
    !is_others(file, cwd) && !names_of(file).iter().any(|place| is_at_home(place))
}

/// True for a file or folder that others than root can put there or exchange, or whoever works there as root.
fn is_others(file: &Path, cwd: &Path) -> bool {
    !only_root_writes(file) || names_of(file).iter().any(|place| is_where_root_works(place, cwd))
}

/// A path as it is given, and as it really is.
fn names_of(file: &Path) -> Vec<PathBuf> {
    std::iter::once(file.to_owned()).chain(std::fs::canonicalize(file)).collect()
}

/// Where programs and libraries lie that a system or its administrator brings.
const OF_THE_SYSTEM: [&str; 15] = [
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/games",
    "/usr/share",
    "/usr/local",
];

/// True for what lies where a command works. An agent that is root owns what it makes, and may have moved on from its project's folder:
/// all that lies below the same folder of the root directory counts, but for the system's own.
fn is_where_root_works(place: &Path, cwd: &Path) -> bool {
    let is_in_it = cwd != Path::new("/") && place.starts_with(cwd);
    let top = |path: &Path| path.components().nth(1).map(|part| part.as_os_str().to_owned());
    let is_beside = || names_of(cwd).iter().any(|start| top(start).is_some() && top(start) == top(place));
    let is_of_system = || OF_THE_SYSTEM.iter().any(|folder| place.starts_with(folder));
    is_in_it || rustix::process::geteuid().is_root() && !is_of_system() && is_beside()
}

/// True for a file that nobody but root can exchange or write, by whatever way its name leads.
pub(in crate::gate) fn only_root_writes(file: &Path) -> bool {
    std::fs::canonicalize(file).is_ok_and(|real| real.ancestors().all(is_trusted))
        && file.ancestors().skip(1).all(is_trusted)
}

/// Several programs in one, each of which is what it is called.
const MANY_IN_ONE: [&str; 3] = ["busybox", "toybox", "coreutils"];

/// True where a program's file is called like it, or by another name of the same program (`gawk` behind `awk`, `python3.11`,
/// `x86_64-linux-gnu-gcc-12`). Behind links to `ccache`, `rustup` and their like, settings choose what runs.
fn is_the_same_program(path: &Path, real: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (called, real) = (name(path), name(real));
    if called == real || MANY_IN_ONE.contains(&real.as_str()) {
        return true;
    }
    // The administrator's choice for a name.
    if std::fs::read_link(path).is_ok_and(|link| link.starts_with("/etc/alternatives")) {
        return true;
    }
    let same_row = |part: &str| match (programs::row(&called), programs::row(part)) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => false,
    };
    let bare = |part: &str| part.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.').to_owned();
    // What unpacks several forms is one program with several names.
    let unpacks = |name: &str| programs::row("tar").is_some_and(|row| row.starts.contains(&name));
    // `xzcat` is `xz` by another name.
    let starts = programs::row(&called).is_some_and(|row| row.starts.contains(&real.as_str()));
    unpacks(&called) && unpacks(&real)
        || starts
        || same_row(&real)
        || real.split(['-', '.']).any(|part| bare(part) == bare(&called) || same_row(&bare(part)))
}

/// True for an absolute path that root owns and nobody else may write.
fn is_trusted(path: &Path) -> bool {
    path.as_os_str().as_bytes().starts_with(b"/")
        && std::fs::metadata(path).is_ok_and(|meta| meta.uid() == 0 && meta.permissions().mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_root_are_trusted() {
        let folder = tempfile::tempdir().unwrap();
        for (path, want) in [
            ("/usr/bin", true),
            ("/usr/bin/env", true),
            ("/tmp", false),
            ("usr/bin", false),
            ("", false),
            ("/nonexistent", false),
        ] {
            assert_eq!(is_trusted(Path::new(path)), want, "{path}");
        }
        let own = folder.path().join("ls");
        std::fs::write(&own, "").unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(is_program(&own) && !is_trusted(&own));
        let mut findings = Findings::default();
        trusted_file(&own, Path::new("/nonexistent"), &mut findings);
        assert!(!findings.is_clear());
    }
}
