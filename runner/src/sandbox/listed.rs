//! A machine of which only listed programs exist: these, what they are linked with, and data without programs.
//!
//! What is not there cannot be run in any way. What the run can write, or is given to read, is mounted without the right
//! to be executed, so that no program comes in as data either.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bashgate_shared::classify::paths::is_within;
use bashgate_shared::programs;

use crate::called::{self, Limits};

/// Where programs are looked for: folders of the system, whatever the caller's PATH says.
const PROGRAMS: [&str; 5] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/// Data that programs expect, without programs in it.
const DATA: [&str; 11] = [
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/usr/lib/locale",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/usr/share/terminfo",
    "/usr/share/misc",
];
/// The same for programs that reach the network.
const NETWORK_DATA: [&str; 8] = [
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
];
/// Longest word on a program's libraries.
const MAX_LIST_BYTES: u64 = 256 * 1024;
/// Longest time that a loader has for it.
const TIME: Duration = Duration::from_secs(10);

/// Files and folders that a run sees, and under which names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Programs and what they are linked with: source and name inside.
    pub programs: Vec<(String, String)>,
    /// Data: source and name inside.
    pub data: Vec<(String, String)>,
    /// Folders of the machine's root that are links, such as `/bin`: name and target.
    pub links: Vec<(String, String)>,
}

/// Why a program cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotListed {
    /// There is none of this name.
    #[error("the program `{0}` is not installed in {folders}", folders = PROGRAMS.join(", "))]
    Missing(String),
    /// Others than the system's owner can change it.
    #[error("{} can be changed by others than root", .0.display())]
    NotOfSystem(PathBuf),
    /// It is a text for another program that is not listed.
    #[error("`{name}` is a script for {interpreter}, which is not among the programs")]
    Interpreter {
        /// The program.
        name: String,
        /// What would run it.
        interpreter: String,
    },
    /// What it is linked with is not known.
    #[error("what {} is linked with cannot be found: {why}", program.display())]
    Libraries {
        /// The program.
        program: PathBuf,
        /// What went wrong.
        why: String,
    },
}

impl NotListed {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Missing(_) => "install it, or take it out of the commands",
            Self::NotOfSystem(_) => "install it as root",
            Self::Interpreter { .. } => "add the interpreter to the commands, if the script may run whatever it can",
            Self::Libraries { .. } => "use another program",
        }
    }
}

impl Listed {
    /// What a run with these programs sees. The shell is always among them.
    pub fn of(shell: &str, programs: &[String], network: bool) -> Result<Self, NotListed> {
        let mut listed = Self::default();
        for folder in ["/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"] {
            if let Some(target) = std::fs::read_link(folder).ok().and_then(|target| target.to_str().map(str::to_owned))
            {
                listed.links.push((folder.to_owned(), target));
            }
        }
        listed.program(Path::new(shell), programs)?;
        for name in programs {
            let found = PROGRAMS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
            listed.program(&found.ok_or_else(|| NotListed::Missing(name.clone()))?, programs)?;
            // Programs that are many: whoever may use one may run what it brings along.
            let many = programs::row(name).map_or(&[] as &[&str], |row| row.belongings).iter();
            listed.programs.extend(many.filter(|folder| Path::new(folder).is_dir()).map(|f| same(f)));
        }
        let more: &[&str] = if network { &NETWORK_DATA } else { &[] };
        for path in DATA.iter().chain(more) {
            // A link is seen as what it leads to.
            let real = std::fs::canonicalize(path).ok().and_then(|real| real.to_str().map(str::to_owned));
            listed.data.extend(real.map(|real| (real, (*path).to_owned())));
        }
        // A folder brings what is below it.
        listed.programs.sort();
        listed.programs.dedup();
        let folders: Vec<String> = listed.programs.iter().map(|(_, at)| at.clone()).collect();
        listed.programs.retain(|(_, at)| !folders.iter().any(|folder| folder != at && is_within(at, folder)));
        listed.data.retain(|(_, at)| !folders.iter().any(|folder| is_within(at, folder)));
        Ok(listed)
    }

    fn program(&mut self, path: &Path, programs: &[String]) -> Result<(), NotListed> {
        let real = of_system(path)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        self.programs.push((text(&real), named(path)));
        let head = head_of(&real);
        if let Some(line) = head.strip_prefix(b"#!") {
            let line =
                String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
            let interpreter = line.split_whitespace().next().unwrap_or_default();
            let name = interpreter.rsplit('/').next().unwrap_or_default();
            let is_shell = self.programs.iter().any(|(_, at)| at.rsplit('/').next() == Some(name));
            if !is_shell && !programs.iter().any(|program| program == name) {
                return Err(NotListed::Interpreter { name: text(path), interpreter: interpreter.to_owned() });
            }
            return Ok(());
        }
        let Some(loader) = loader_of(&real) else { return Ok(()) };
        let libraries = libraries(&loader, &real).map_err(|why| NotListed::Libraries { program: real.clone(), why })?;
        for library in [loader].into_iter().chain(libraries) {
            let found = of_system(&library)?;
            self.programs.push((text(&found), named(&library)));
        }
        Ok(())
    }

    /// All names inside.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.programs.iter().chain(&self.data).map(|(_, at)| at)
    }
}

fn same(path: &str) -> (String, String) {
    (path.to_owned(), path.to_owned())
}

/// A path whose folder is written out, while its last part keeps its name: `awk` stays `awk`.
fn named(path: &Path) -> String {
    let folder = path.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    let whole = folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name));
    whole.to_string_lossy().into_owned()
}

/// The real path of a file that only root can change or replace.
fn of_system(path: &Path) -> Result<PathBuf, NotListed> {
    let real = std::fs::canonicalize(path).map_err(|_| NotListed::Missing(path.to_string_lossy().into_owned()))?;
    let is_roots =
        |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0);
    if real.ancestors().all(is_roots) { Ok(real) } else { Err(NotListed::NotOfSystem(real)) }
}

fn head_of(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    let _ = std::fs::File::open(path).map(|file| file.take(4096).read_to_end(&mut head));
    head
}

/// The loader that an ELF file names, of 64 bits and this machine's byte order; `None` for one that needs none.
/// Offsets as in elf(5).
fn loader_of(path: &Path) -> Option<PathBuf> {
    let head = head_of(path);
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = head.get(at..at + length)?;
        bytes.iter().rev().try_fold(0_usize, |all, byte| all.checked_mul(256)?.checked_add(usize::from(*byte)))
    };
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let entry = (0..count).map(|at| table + at * size).find(|at| number(*at, 4) == Some(3))?;
    let (offset, length) = (number(entry + 8, 8)?, number(entry + 32, 8)?);
    let name = head.get(offset..offset.checked_add(length)?)?;
    let name = std::str::from_utf8(name).ok()?.trim_end_matches('\0');
    Some(PathBuf::from(name))
}

/// What a program is linked with, as its own loader finds it. The loader maps the libraries and runs none of them.
fn libraries(loader: &Path, program: &Path) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new(of_system(loader).map_err(|error| error.to_string())?);
    command.arg("--list").arg(program).env_clear();
    let limits = Limits { output: MAX_LIST_BYTES, time: Some(TIME), stop: None, grace: None, resources: Vec::new() };
    let called = called::call(command, "", limits).map_err(|error| error.to_string())?;
    if !called.ok {
        return Err("the loader fails".to_owned());
    }
    // `name => path (address)`, or `path (address)` for the loader itself; a line without a path is the kernel's.
    let path = |line: &str| {
        let found = line.split_once("=> ").map_or(line, |(_, found)| found).trim();
        found.starts_with('/').then(|| PathBuf::from(found.rsplit_once(" (").map_or(found, |(path, _)| path)))
    };
    if called.stdout.contains("not found") {
        return Err("a library is missing".to_owned());
    }
    Ok(called.stdout.lines().filter_map(path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_loader_and_libraries_and_nothing_else_does() {
        let listed = Listed::of("/bin/bash", &["ls".to_owned()], false).unwrap();
        let names: Vec<&String> = listed.names().collect();
        for part in ["/bash", "/ls", "/libc.so.6", "ld-linux"] {
            assert!(names.iter().any(|name| name.contains(part)), "{part}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.ends_with("/cat") || name.as_str() == "/usr/lib"), "{names:?}");
    }

    #[test]
    fn what_cannot_be_given_says_why() {
        let of = |name: &str| Listed::of("/bin/bash", &[name.to_owned()], false).unwrap_err().to_string();
        assert!(of("no-such-program").contains("not installed"));
        assert!(of("pytest-3").contains("python3") || of("pytest-3").contains("not installed"));
    }
}
