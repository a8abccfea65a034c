//! Whether git runs nothing but itself in a folder: no setting, hook or repository in the repository that starts a
//! program. A setting is inert only when the shared list says so.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{GitWork, Shown, git_config, secrets};
use bashgate_shared::programs::{self, Trait};

use super::config::{self, Setting};
use super::{Repository, config_folders, existing, files_outside, filters, index, repositories, there};
use crate::gate::conditions::home;
use crate::gate::shown;

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 64 * 1024 * 1024;
/// Most names in git's own folder that are looked at before something is recorded.
const MAX_NAMES: usize = 100_000;

/// Most files of git's logs that are looked through.
const MAX_LOGS: usize = 10_000;

/// What stands against letting git run unasked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// Why it may run a program.
    pub programs: Vec<String>,
    /// Secrets that it would show.
    pub secrets: Vec<String>,
    /// Settings of filters, which start where attributes name them.
    filters: Vec<String>,
}

/// What git does with files, and the subcommands of the whole command.
pub type Doing<'g> = (GitWork, &'g [String]);

/// Looks at everything that steers git in a folder. Also at what it shows of settings and tracked files; where it records something at
/// every hook that these subcommands may start, and at attributes where it compares files.
///
/// # Errors
/// When something cannot be read.
pub fn obstacles(folder: &Path, shows: Shown, (work, subcommands): Doing<'_>) -> io::Result<Obstacles> {
    let mut found = Obstacles::default();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if steers(&name, &value) || work.is_of_remotes() && steers_connections(&name) {
            found.programs.push(format!("{name} is set"));
        }
    }
    for file in files_outside() {
        settings(&file, Path::new("/"), (shows, work), &mut found)?;
    }
    let repositories = repositories(folder)?;
    if repositories.is_empty() && shows.is_content() {
        // There, git compares any files.
        found.programs.push("it is in no repository".to_owned());
    }
    for repository in &repositories {
        of_repository(repository, shows, (work, subcommands), &mut found)?;
    }
    if let Some(home) = home() {
        // Where output is a terminal, less reads these.
        let data = std::env::var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
        let files = [".lesskey", ".less", ".config/lesskey"].map(|name| home.join(name));
        let named = config_folders().chain([data]).map(|folder| folder.join("lesskey"));
        for file in files.into_iter().chain(named) {
            if existing(std::fs::symlink_metadata(&file))?.is_some() {
                found.programs.push(format!("{} steers the pager", file.display()));
            }
        }
    }
    Ok(found)
}

fn of_repository(
    repository: &Repository,
    shows: Shown,
    (work, subcommands): Doing<'_>,
    found: &mut Obstacles,
) -> io::Result<()> {
    let records = work == GitWork::Records || work.is_of_remotes();
    // The default folder counts, too: a file that names another one may not be in force.
    let mut hooks = repository.hooks().to_vec();
    let mut id_length = 20;
    for file in repository.files() {
        let read = settings(&file, &repository.root, (shows, work), found)?;
        hooks.extend(read.hooks);
        // Git hears of it from the first of them only.
        if file == repository.common.join("config") {
            id_length = if read.long_ids { 32 } else { 20 };
        } else if read.long_ids {
            found.programs.push(format!("extensions.objectformat is set in {}", file.display()));
        }
    }
    links(repository, records, found)?;
    match super::revisions::replaces_objects(repository) {
        Ok(false) => {}
        Ok(true) => found.programs.push("other objects stand in the place of some".to_owned()),
        Err(why) => found.programs.push(why),
    }
    belongs(repository, found);
    if work.is_of_remotes() {
        // Remotes by files, which no setting names.
        for name in ["remotes", "branches"] {
            if existing(std::fs::read_dir(repository.common.join(name)))?.is_some_and(|mut all| all.next().is_some()) {
                found.programs.push(format!("{name} names remotes beside the settings"));
            }
        }
        // Another repository's objects would be sent, or asked for, as if they were its own.
        for name in ["objects/info/alternates", "objects/info/http-alternates"] {
            if existing(std::fs::symlink_metadata(repository.common.join(name)))?.is_some() {
                found.programs.push(format!("{name} lends it the objects of another repository"));
            }
        }
    }
    if records {
        // Left by an operation that was not finished: a commit finishes it, and writes files.
        for name in ["MERGE_AUTOSTASH", "MERGE_RR"] {
            if existing(std::fs::symlink_metadata(repository.git_dir.join(name)))?.is_some() {
                found.programs.push(format!("{name} would be carried out"));
            }
        }
    }
    if shows.is_content() || shows == Shown::Named {
        // What it says of an object counts before what the packs' own lists say.
        let has_list = repository.common.join("objects/pack/multi-pack-index").symlink_metadata().is_ok()
            || repository.common.join("objects/pack/multi-pack-index.d").symlink_metadata().is_ok();
        if has_list {
            found.programs.push("a multi-pack-index says what objects are".to_owned());
        }
    }
    if shows.is_content() {
        accepted(repository, found);
    }
    if shows == Shown::Settings {
        for name in ["remotes", "branches"] {
            let entries = existing(std::fs::read_dir(repository.common.join(name)))?;
            if entries.is_some_and(|mut entries| entries.next().is_some()) {
                found.programs.push(format!("remotes of an older form lie in {name}"));
            }
        }
    }
    if shows == Shown::Numbered {
        let packed = existing(super::read_text(&repository.common.join("packed-refs")))?.unwrap_or_default();
        let is_there = |name: &str| std::fs::symlink_metadata(repository.common.join(name)).is_ok();
        if packed.contains("refs/stash") || ["refs/stash", "logs/refs/stash"].iter().any(|name| is_there(name)) {
            found.programs.push("a stash may hold what was never tracked".to_owned());
        }
    }
    if shows == Shown::Logs {
        logs(repository, found)?;
    }
    for folder in hooks {
        active_hooks(&folder, (work, subcommands), found)?;
    }
    tracked(repository, id_length, (shows, work), found)
}

/// Commands stand in the logs as they were typed, with the password in an address.
fn logs(repository: &Repository, found: &mut Obstacles) -> io::Result<()> {
    let mut waiting: Vec<PathBuf> = repository.folders().map(|folder| folder.join("logs")).collect();
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MAX_LOGS {
            found.programs.push("its logs are more than is looked through".to_owned());
            return Ok(());
        }
        let Some(meta) = existing(std::fs::metadata(&path))? else { continue };
        if meta.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else if !git_config::is_plain_log(&super::read(&path)?) {
            found.secrets.push(path.display().to_string());
        }
    }
    Ok(())
}

/// What git takes for no repository it passes by: then it compares any files, as in none.
fn accepted(repository: &Repository, found: &mut Obstacles) {
    let git_dir = &repository.git_dir;
    if std::fs::symlink_metadata(repository.common.join("objects/info/alternates")).is_ok() {
        found.programs.push(format!("{} has objects of another repository", repository.common.display()));
    }
    let head = super::read_text(&git_dir.join("HEAD")).unwrap_or_default();
    let head = head.trim_end();
    let is_id = matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_head = is_id || head.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/"));
    let is_whole = ["objects", "refs"].iter().all(|name| repository.common.join(name).is_dir());
    if !is_head || !is_whole {
        found.programs.push(format!("git may take {} for no repository", git_dir.display()));
    }
    let own = rustix::process::geteuid().as_raw();
    let is_others = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.uid() != own);
    if [&repository.root, git_dir].into_iter().any(|path| is_others(path)) && !is_said_to_be_safe(&repository.root) {
        found.programs.push(format!("{} belongs to somebody else, and git may pass it by", repository.root.display()));
    }
}

/// True where the person's or the machine's settings say that a folder of somebody else's is safe.
fn is_said_to_be_safe(root: &Path) -> bool {
    files_outside().iter().filter_map(|file| super::read_text(file).ok()).any(|text| {
        let settings = config::read(&text).unwrap_or_default();
        settings.iter().any(|setting| {
            setting.key == "safe.directory" && (setting.value == "*" || Path::new(&setting.value) == root)
        })
    })
}

/// Git writes through links in its folder, to wherever they lead, and shows what it finds there where it expected something
/// else.
fn links(repository: &Repository, records: bool, found: &mut Obstacles) -> io::Result<()> {
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    let link = |path: &Path, found: &mut Obstacles| found.programs.push(format!("{} is a link", path.display()));
    for git_dir in repository.folders() {
        if is_link(git_dir) {
            link(git_dir, found);
            return Ok(());
        }
        let mut waiting = vec![git_dir.clone()];
        let mut seen = 0;
        while let Some(folder) = waiting.pop() {
            let Some(entries) = existing(std::fs::read_dir(&folder))? else { continue };
            for entry in entries {
                let entry = entry?;
                let (kind, name) = (entry.file_type()?, entry.file_name());
                seen += 1;
                if seen > MAX_NAMES {
                    found.programs.push(format!("{} holds more than is looked through", git_dir.display()));
                    return Ok(());
                }
                // Hooks are looked at by themselves, and nothing is written to them or to objects that are there.
                let is_top = folder == *git_dir;
                if kind.is_symlink() && !(is_top && name == "hooks") {
                    link(&entry.path(), found);
                    return Ok(());
                }
                // What git writes in place is a file of another name, too, where somebody has given it one.
                let is_log = || folder.strip_prefix(git_dir).is_ok_and(|inside| inside.starts_with("logs"));
                if records && kind.is_file() && (is_top || is_log()) && entry.metadata()?.nlink() > 1 {
                    found.programs.push(format!("{} has another name, too", entry.path().display()));
                    return Ok(());
                }
                // Folders of objects hold nothing else.
                let of_objects = folder == git_dir.join("objects");
                let is_full = of_objects && is_of_objects(&name);
                if kind.is_dir() && !is_full && !(is_top && (name == "hooks" || name == "modules" || name == "lfs")) {
                    waiting.push(entry.path());
                }
            }
        }
    }
    Ok(())
}

/// True for the name of a folder of objects: the first byte of their numbers.
fn is_of_objects(name: &std::ffi::OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.len() == 2 && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// A repository elsewhere would be changed from here, unless it knows of this folder: a linked worktree.
fn belongs(repository: &Repository, found: &mut Obstacles) {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let (git_dir, root, common) = (real(&repository.git_dir), real(&repository.root), real(&repository.common));
    let inside = git_dir.as_ref().zip(root).is_some_and(|(git_dir, root)| git_dir.starts_with(&root));
    if common != git_dir {
        let of_common = common.map(|common| common.join("worktrees"));
        if git_dir.as_ref().and_then(|git_dir| git_dir.parent()) != of_common.as_deref() {
            found.programs.push(format!("{} lies elsewhere", repository.common.display()));
        }
    }
    let points_back = || {
        let text = super::read_text(&repository.git_dir.join("gitdir")).ok()?;
        let pointed = repository.git_dir.join(text.trim_end_matches(['\n', '\r']));
        Some(real(&pointed)? == real(&repository.root.join(".git"))?)
    };
    if !inside && points_back() != Some(true) {
        found
            .programs
            .push(format!("{} lies elsewhere and knows nothing of this folder", repository.git_dir.display()));
    }
}

/// What a file of settings says besides what is harmless.
#[derive(Default)]
struct Read {
    hooks: Vec<PathBuf>,
    long_ids: bool,
}

/// Variables that change what git does. What only names people, or steers editors and prompts, does not count.
pub fn steers(name: &str, value: &str) -> bool {
    let harmless = ["GIT_TERMINAL_PROMPT", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "GIT_OPTIONAL_LOCKS"];
    let pager = |value: &str| value.is_empty() || !value.contains('/') && programs::has(value, Trait::PlainPager);
    match name {
        "GIT_PAGER" | "PAGER" => !pager(value),
        // Where output is a terminal, git shows it with less.
        "LESSOPEN" | "LESSCLOSE" => value.contains("|-") || value.starts_with('-'),
        "LESS" => value.contains(['k', 'o', '+']),
        _ if name.starts_with("LESS") && !matches!(name, "LESSCHARSET" | "LESSHISTFILE" | "LESSUTFBINFMT") => true,
        _ if harmless.contains(&name) => false,
        _ => {
            // The names of people, and how a connection is made that no local subcommand makes.
            let harmless = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_"];
            name.starts_with("GIT_") && !harmless.iter().any(|start| name.starts_with(start))
        }
    }
}

/// Variables by which git connects in another way than its settings say, where something is fetched.
fn steers_connections(name: &str) -> bool {
    // By which certificates a host is known changes nothing about which host that is.
    const HARMLESS: [&str; 8] = [
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "SSH_CONNECTION",
        "SSH_CLIENT",
        "SSH_TTY",
        "SSH_ASKPASS",
    ];
    ["GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "SSH_"].iter().any(|start| name.starts_with(start))
        && !HARMLESS.contains(&name)
}

/// What a path leads to. What keeps it from being followed stands against git.
fn followed(path: &Path, found: &mut Obstacles) -> Option<PathBuf> {
    there(path).unwrap_or_else(|error| {
        found.programs.push(error.to_string());
        None
    })
}

/// Reads one file of settings.
fn settings(file: &Path, root: &Path, (shows, work): (Shown, GitWork), found: &mut Obstacles) -> io::Result<Read> {
    let mut read = Read::default();
    if followed(file, found).is_none() {
        return Ok(read);
    }
    let Some(text) = existing(super::read_text(file))? else { return Ok(read) };
    let Some(settings) = config::read(&text) else {
        found.programs.push(format!("{} is not understood", file.display()));
        return Ok(read);
    };
    for Setting { key, value } in settings {
        if key == "core.hookspath" {
            // One for all repositories lies where nobody looks below; a relative one is the repository's own.
            // `~`, `%(prefix)` and `:(optional)` are expanded.
            if root == Path::new("/") || value.is_empty() || value.starts_with(['~', '%', ':']) {
                found.programs.push(format!("{key} is set"));
            }
            read.hooks.push(root.join(value));
        } else if key == "extensions.objectformat" {
            read.long_ids = value == "sha256";
            if !matches!(value.as_str(), "sha1" | "sha256") {
                found.programs.push(format!("{key} is {value}"));
            }
        } else if git_config::is_of_filter(&key) {
            found.filters.push(format!("{key} is set in {}", file.display()));
            if shows == Shown::Settings && tells_secret(&key, &value) {
                found.secrets.push(format!("{key} in {}", file.display()));
            }
        } else if !git_config::is_inert(&key, &value)
            || work.is_of_remotes() && git_config::leads_elsewhere(&key, &value)
        {
            found.programs.push(format!("{key} is set in {}", file.display()));
        } else if (shows == Shown::Settings || key.starts_with("branch.")) && tells_secret(&key, &value) {
            // A branch's remote may be an address, and is named in formats and errors.
            found.secrets.push(format!("{key} in {}", file.display()));
        }
    }
    Ok(read)
}

/// True for a setting that holds a credential, by what it is called or by the value's form.
fn tells_secret(key: &str, value: &str) -> bool {
    git_config::is_secret(key, value) || !shown::credentials_in(value).is_empty()
}

/// Hooks that git may run: those of its subcommands when something is recorded, else the two that reading can reach.
fn active_hooks(folder: &Path, (work, subcommands): Doing<'_>, found: &mut Obstacles) -> io::Result<()> {
    let Some(real) = followed(folder, found) else { return Ok(()) };
    let Some(entries) = existing(std::fs::read_dir(real))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What is called otherwise may be one of a newer git.
        let is_started = || {
            !programs::is_git_hook(&name)
                || subcommands.iter().any(|subcommand| programs::starts_hook(subcommand, &name))
        };
        let reachable = match work {
            GitWork::Records => is_started(),
            GitWork::Fetches | GitWork::ChecksOut => true,
            GitWork::Reads | GitWork::Compares | GitWork::ComparesAny => {
                matches!(name.as_str(), "post-index-change" | "reference-transaction")
            }
        };
        if !reachable || name.ends_with(".sample") {
            continue;
        }
        let meta = there(&entry.path()).ok().flatten().and_then(|real| std::fs::metadata(real).ok());
        // What cannot be looked at may well be executed.
        if meta.is_none_or(|meta| meta.permissions().mode() & 0o111 != 0 && !meta.is_dir()) {
            found.programs.push(format!("the hook {name} would run"));
        }
    }
    Ok(())
}

/// Looks at the files that git tracks.
fn tracked(
    repository: &Repository,
    id_length: usize,
    (shows, work): (Shown, GitWork),
    found: &mut Obstacles,
) -> io::Result<()> {
    let file = repository.git_dir.join("index");
    let Some(meta) = existing(std::fs::metadata(&file))? else {
        named_filters(repository, &[], work, found);
        return Ok(());
    };
    if meta.len() > MAX_INDEX {
        found.programs.push("its index is too large to look through".to_owned());
        return Ok(());
    }
    let bytes = super::read(&file)?;
    let Some(read) = index::read(&bytes, id_length) else {
        found.programs.push("its index is not understood".to_owned());
        return Ok(());
    };
    if read.has_repository {
        found.programs.push("a repository in the repository has settings of its own".to_owned());
    }
    // Under a name that is no text, nobody finds its folder's list.
    let of_filters = if read.has_odd_names && work != GitWork::Reads { GitWork::ComparesAny } else { work };
    named_filters(repository, &read.names, of_filters, found);
    let secret = |name: &&String| secrets::is_secret_path(&repository.root.join(name).to_string_lossy());
    if work == GitWork::Records || work.is_of_remotes() {
        // Once it is out of the index, no name there says that commits hold it.
        let is_gone = |name: &&String| std::fs::symlink_metadata(repository.root.join(name)).is_err();
        found.secrets.extend(read.names.iter().filter(secret).filter(is_gone).take(8).cloned());
        // What was a file when it was added, and is taken in as a repository now, which git goes into at its next look.
        let became_one = |name: &&String| std::fs::symlink_metadata(repository.root.join(name).join(".git")).is_ok();
        if let Some(name) = read.names.iter().find(became_one) {
            found.programs.push(format!("{name} was a file and is a repository in the repository now"));
        }
    }
    if shows.is_content() {
        // Where a folder that it tracks is a link by now, git shows what lies behind.
        let folders = index::folders_of(&read.names);
        if read.has_odd_names {
            found.programs.push("it tracks names that are no text".to_owned());
        }
        let is_link = |folder: &&&str| match std::fs::symlink_metadata(repository.root.join(folder)) {
            Ok(meta) => meta.is_symlink(),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        };
        if let Some(link) = folders.iter().find(is_link) {
            found.programs.push(format!("{link} is tracked as a folder and is a link"));
        }
    }
    Ok(())
}

/// Filters start for files whose attributes name one, when git compares them or takes them in.
fn named_filters(repository: &Repository, names: &[String], work: GitWork, found: &mut Obstacles) {
    if found.filters.is_empty() || work == GitWork::Reads {
        return;
    }
    let lists = if work == GitWork::ComparesAny || work.is_of_remotes() {
        vec!["the attributes of any file".to_owned()]
    } else {
        filters::may_be_named(repository, names, work == GitWork::Records)
    };
    if !lists.is_empty() {
        let settings = found.filters.iter().map(|setting| format!("{setting}, which may start: {}", lists.join(", ")));
        found.programs.extend(settings);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let who = [
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
        ];
        let output = command.envs(who).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Obstacles of the repository alone; the machine's own settings are not the test's business.
    fn of_repository(folder: &Path, shows: Shown, work: GitWork) -> Obstacles {
        let mut found = Obstacles::default();
        for repository in repositories(folder).unwrap() {
            super::of_repository(&repository, shows, (work, &["commit".to_owned()]), &mut found).unwrap();
        }
        found
    }

    fn repository_with_a_commit() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "."]);
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/a.txt"), "x").unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "first"]);
        folder
    }

    #[test]
    fn a_new_repository_is_inert_from_every_folder_of_it() {
        let folder = repository_with_a_commit();
        for version in ["2", "3", "4"] {
            git(folder.path(), &["update-index", "--index-version", version]);
            for from in [folder.path().to_owned(), folder.path().join("sub")] {
                assert_eq!(
                    of_repository(&from, Shown::Content, GitWork::Records),
                    Obstacles::default(),
                    "index {version}"
                );
            }
        }
        assert_eq!(repositories(Path::new("/nonexistent/x")).unwrap(), Vec::new());
    }

    #[test]
    fn each_way_to_a_program_is_an_obstacle() {
        for setting in [
            ["core.fsmonitor", "./x"],
            ["diff.external", "x"],
            ["diff.foo.textconv", "x"],
            ["filter.x.smudge.y", "x"],
            ["core.hooksPath", "~/hooks"],
            ["include.path", "x"],
            ["log.showSignature", "true"],
            ["core.worktree", "/x"],
            ["extensions.partialClone", "origin"],
        ] {
            let folder = repository_with_a_commit();
            git(folder.path(), &["config", setting[0], setting[1]]);
            assert!(
                !of_repository(&folder.path().join("sub"), Shown::Nothing, GitWork::Compares).programs.is_empty(),
                "{setting:?}"
            );
        }
    }

    #[test]
    fn filters_count_where_an_attribute_names_one() {
        let folder = repository_with_a_commit();
        let of = |work: GitWork| of_repository(folder.path(), Shown::Content, work).programs.len();
        for (name, value) in [
            ("clean", "git-lfs clean -- %f"),
            ("smudge", "git-lfs smudge -- %f"),
            ("process", "git-lfs filter-process"),
            ("required", "true"),
        ] {
            git(folder.path(), &["config", &format!("filter.lfs.{name}"), value]);
        }
        assert_eq!((of(GitWork::Reads), of(GitWork::Compares), of(GitWork::Records)), (0, 0, 0));
        assert_eq!(of(GitWork::ComparesAny), 4);
        std::fs::create_dir(folder.path().join("new")).unwrap();
        std::fs::write(folder.path().join("new/.gitattributes"), "*.bin filter=lfs\n").unwrap();
        assert_eq!((of(GitWork::Reads), of(GitWork::Compares), of(GitWork::Records)), (0, 0, 4));
        std::fs::write(folder.path().join("sub/.gitattributes"), "*.bin filter=lfs\n").unwrap();
        assert_eq!((of(GitWork::Reads), of(GitWork::Compares), of(GitWork::Records)), (0, 4, 4));
    }

    #[test]
    fn hooks_count_where_something_is_recorded() {
        let folder = repository_with_a_commit();
        for (folder_of_hooks, name, reading) in [
            (".git/hooks", "pre-commit", false),
            (".git/hooks", "post-index-change", true),
            (".husky", "pre-commit", false),
        ] {
            let hooks = folder.path().join(folder_of_hooks);
            std::fs::create_dir_all(&hooks).unwrap();
            if folder_of_hooks == ".husky" {
                git(folder.path(), &["config", "core.hooksPath", ".husky"]);
            }
            let hook = hooks.join(name);
            std::fs::write(&hook, "#!/bin/sh\n").unwrap();
            assert!(
                of_repository(folder.path(), Shown::Nothing, GitWork::Records).programs.is_empty(),
                "not executable: {name}"
            );
            std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert!(!of_repository(folder.path(), Shown::Nothing, GitWork::Records).programs.is_empty(), "{name}");
            assert_eq!(
                !of_repository(folder.path(), Shown::Nothing, GitWork::Compares).programs.is_empty(),
                reading,
                "{name}"
            );
            std::fs::remove_file(hook).unwrap();
        }
    }

    #[test]
    fn tracked_secrets_and_repositories_in_the_repository_are_obstacles() {
        let folder = repository_with_a_commit();
        std::fs::write(folder.path().join(".env"), "x").unwrap();
        git(folder.path(), &["add", "-f", ".env"]);
        std::fs::remove_file(folder.path().join(".env")).unwrap();
        assert_eq!(of_repository(folder.path(), Shown::Nothing, GitWork::Records).secrets, [".env"]);
        assert!(of_repository(folder.path(), Shown::Nothing, GitWork::Compares).secrets.is_empty());

        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        git(&inner, &["init", "-q", "."]);
        std::fs::write(inner.join("x"), "x").unwrap();
        git(&inner, &["add", "."]);
        git(&inner, &["commit", "-qm", "first"]);
        git(folder.path(), &["add", "inner"]);
        assert!(!of_repository(folder.path(), Shown::Nothing, GitWork::Compares).programs.is_empty());
    }

    #[test]
    fn a_bare_repository_and_a_linked_worktree_are_found() {
        let folder = repository_with_a_commit();
        let (bare, linked) = (folder.path().join("bare"), folder.path().join("linked"));
        git(folder.path(), &["init", "-q", "--bare", "bare"]);
        git(&bare, &["config", "core.fsmonitor", "./x"]);
        assert!(!of_repository(&bare, Shown::Nothing, GitWork::Compares).programs.is_empty());
        git(folder.path(), &["worktree", "add", "-q", "linked"]);
        assert_eq!(of_repository(&linked, Shown::Content, GitWork::Records), Obstacles::default());
        git(folder.path(), &["config", "diff.external", "x"]);
        assert!(!of_repository(&linked, Shown::Nothing, GitWork::Compares).programs.is_empty());
    }

    #[test]
    fn variables_that_steer_git_are_known() {
        for (name, value, want) in [
            ("GIT_EXTERNAL_DIFF", "x", true),
            ("GIT_CONFIG_COUNT", "1", true),
            ("GIT_DIR", "/x", true),
            ("GIT_SSH_COMMAND", "x", true),
            ("GIT_PAGER", "sh", true),
            ("PAGER", "less", false),
            ("PAGER", "sh -c x", true),
            ("GIT_EDITOR", "true", false),
            ("GIT_AUTHOR_NAME", "a", false),
            ("LESSOPEN", "| /usr/bin/lesspipe %s", false),
            ("LESSOPEN", "|-/x %s", true),
            ("HOME", "/x", false),
        ] {
            assert_eq!(steers(name, value), want, "{name}={value}");
        }
    }
}
