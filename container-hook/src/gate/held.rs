//! Secrets of this very place in a text: what the environment's variables, and the project's own files of variables, hold. Whatever way
//! led there, a result that shows one of these values has shown the secret.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::secrets;

use super::acting::project_of;
use super::ask::open_plain;
use super::inward::MADE_BY_TOOLS;
use super::shown;

/// Deepest folder of a project, most names in it, and most files of variables that are looked at.
const DEEPEST: usize = 4;
const MAX_NAMES: usize = 5_000;
const MAX_FILES: usize = 64;
/// Longest file of variables, in bytes.
const MAX_FILE: u64 = 64 * 1024;
/// Most values that are looked for, and their length in bytes: what is shorter stands in texts by chance.
const MAX_VALUES: usize = 512;
const LONGEST: usize = 512;
const SHORTEST: usize = 8;
/// From this length on a value needs no digit.
const LONG: usize = 20;
/// Longest name that is told, in letters.
const MAX_NAME: usize = 80;
/// What files are called that show how such a file looks: what stands in one of them is no secret.
const TEMPLATES: [&str; 5] = ["example", "sample", "template", "dist", "defaults"];
/// What values say that are to be replaced.
const PLACEHOLDERS: [&str; 8] =
    ["example", "changeme", "change_me", "change-me", "placeholder", "localhost", "127.0.0.1", "xxxx"];

/// What a result shows of secrets, by names alone: known forms of credentials, and values that are secrets in this place.
pub fn shown_by(result: &str, cwd: &Path) -> Vec<String> {
    let mut shown: Vec<String> = shown::credentials_in(result).into_iter().map(str::to_owned).collect();
    shown.extend(values_in(result, cwd));
    shown
}

/// What of the secrets of a place stands in a text: `value of $API_KEY`, `value that API_KEY has in .env`; never a value itself.
fn values_in(text: &str, cwd: &Path) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut held = of_environment();
    held.extend(of_project(cwd));
    let shown = held.into_iter().take(MAX_VALUES).filter(|(value, _)| text.contains(value.as_str()));
    let mut names: Vec<String> = shown.map(|(_, name)| name).collect();
    names.sort();
    names.dedup();
    names
}

/// The values of variables that hold secrets, with what each is called.
fn of_environment() -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if secrets::is_secret_variable(&name) || shown::is_credential(&value) {
            let name: String = name.chars().take(MAX_NAME).collect();
            held.extend(telling_parts(&value).map(|part| (part.to_owned(), format!("value of ${name}"))));
        }
    }
    held
}

/// The same of the files of variables in the project around a folder.
fn of_project(cwd: &Path) -> BTreeMap<String, String> {
    let root = project_of(cwd);
    let mut held = BTreeMap::new();
    for file in files_of_variables(&root) {
        let Some(text) = text_of(&file) else { continue };
        let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into_owned();
        let shown: String = shown.chars().take(MAX_NAME).collect();
        let mut own: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in variables_in(&text) {
            let called = || format!("value that {} has in {shown}", name.chars().take(MAX_NAME).collect::<String>());
            own.extend(telling_parts(value).map(|part| (part.to_owned(), called())));
        }
        if !own.is_empty() {
            let beside: Vec<String> = templates_beside(&file).iter().filter_map(|file| text_of(file)).collect();
            own.retain(|value, _| !beside.iter().any(|text| text.contains(value.as_str())));
        }
        held.extend(own);
    }
    held
}

/// Files below a folder that are secrets by their names and may be lists of variables.
fn files_of_variables(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = VecDeque::from([(root.to_owned(), 0)]);
    let mut names = 0;
    while let Some((folder, depth)) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            names += 1;
            if names > MAX_NAMES || files.len() == MAX_FILES {
                return files;
            }
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder && secrets::is_secret_file_name(name.as_bytes()) {
                files.push(entry.path());
            }
            let is_of_tools = name == ".git" || MADE_BY_TOOLS.iter().any(|one| name == *one);
            if is_folder && depth < DEEPEST && !is_of_tools {
                folders.push_back((entry.path(), depth + 1));
            }
        }
    }
    files
}

/// What shows how a file looks, in the same folder.
fn templates_beside(file: &Path) -> Vec<PathBuf> {
    let entries = file.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_template = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        TEMPLATES.iter().any(|word| name.contains(word)) && !secrets::is_secret_file_name(name.as_bytes())
    };
    entries.take(MAX_NAMES).map(|entry| entry.path()).filter(is_template).take(MAX_FILES).collect()
}

/// A short text, as far as it can be read without waiting for anybody.
fn text_of(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let opened = open_plain(file).ok()?;
    if opened.metadata().ok()?.len() > MAX_FILE {
        return None;
    }
    opened.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// The variables in a text whose names say that they hold secrets: `export NAME=value`, `name: value`, `"name": "value",`.
fn variables_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (before, value) = line.split_at_checked(line.find(['=', ':'])?)?;
        let name = before.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
        let name = name.into_iter().find(|name| !name.is_empty())?;
        // The other sign may be the separator: `//host/:_authToken=x`.
        let rest = value.get(1..)?;
        let (name, value) = match rest.split_once('=') {
            Some((other, value)) if value_is_key(other) => (other.trim(), value),
            _ => (name, rest),
        };
        let is_secret = secrets::is_secret_variable(&name.replace('-', "_"));
        is_secret.then(|| (name, value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'', '`'])))
    })
}

/// True for what may stand between two signs: `_authToken`.
fn value_is_key(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('_') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The parts of a value that stand in no text by chance: each run between blanks, of an address its password.
fn telling_parts(value: &str) -> impl Iterator<Item = &str> {
    value.split_whitespace().filter_map(|run| {
        let run = match run.split_once("://") {
            Some((_, rest)) => {
                let (user, _) = rest.rsplit_once('@')?;
                user.split_once(':').map_or(user, |(_, password)| password)
            }
            None => run,
        };
        is_telling(run).then_some(run)
    })
}

/// True for a value that nobody writes without having seen it.
fn is_telling(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let differ = value.bytes().collect::<std::collections::BTreeSet<u8>>().len();
    let lower = value.to_ascii_lowercase();
    let is_random =
        has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && differ >= 6 || value.len() >= LONG && differ >= 10;
    let is_place = value.starts_with(['/', '~', '.', '$', '<', '{']);
    (SHORTEST..=LONGEST).contains(&value.len())
        && is_random
        && !is_place
        && !lower.starts_with("your")
        && !PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: &[(&str, &str)], text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        values_in(text, folder.path())
    }

    #[test]
    fn values_of_the_projects_own_secrets_are_known_wherever_they_stand() {
        for (file, line) in [
            (".env", "DB_PASSWORD=baZKX9q1\n"),
            (".env", "export DB_PASSWORD = 'baZKX9q1' \n"),
            (".env.production", "API_KEY=\"baZKX9q1\"\n"),
            ("app/web/.env", "SESSION_SECRET=baZKX9q1"),
            (".env", "DATABASE_URL=postgres://app:baZKX9q1@db/x\nDB_PASSWORD=baZKX9q1"),
            (".npmrc", "//registry.example/:_authToken=baZKX9q1\n"),
            ("secrets.yml", "prod:\n  api-key: baZKX9q1\n"),
            ("credentials.json", "{\n  \"client_secret\": \"baZKX9q1\",\n}"),
        ] {
            let found = shown(&[(file, line)], "a: xx baZKX9q1yy\n");
            assert_eq!(found.len(), 1, "{file} {line:?}: {found:?}");
            assert!(!found[0].contains("baZKX9q1") && found[0].contains(file), "{found:?}");
            assert_eq!(shown(&[(file, line)], "ok\n"), Vec::<String>::new(), "{file}");
        }
    }

    #[test]
    fn what_stands_in_texts_by_chance_is_none() {
        let text =
            "postgres 8080 changeme123 your-key-1234 abc a1b2c3d4e5 hunter2 http://db/x1 build-2024-11 /etc/a1b2c3";
        for line in [
            "DB_PASSWORD=postgres",
            "API_KEY=changeme123",
            "API_KEY=your-key-1234",
            "PORT=8080",
            "BUILD=build-2024-11",
            "DB_PASSWORD=",
            "SECRET_KEY=/etc/a1b2c3",
            "API_TOKEN=http://db/x1",
        ] {
            assert_eq!(shown(&[(".env", line)], text), Vec::<String>::new(), "{line}");
        }
        // What an example shows, too.
        let files = [(".env", "SECRET_KEY=a1b2c3d4e5"), (".env.example", "SECRET_KEY=a1b2c3d4e5")];
        assert_eq!(shown(&files, text), Vec::<String>::new());
        // A program of others' has its own.
        assert_eq!(shown(&[("node_modules/x/.env", "SECRET_KEY=a1b2c3d4e5")], text), Vec::<String>::new());
    }
}
