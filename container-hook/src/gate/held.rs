//! Secrets of this very place in a text: what the environment's variables, and the project's own files of variables, hold. Whatever way
//! led there, a result that shows one of these values has shown the secret.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::secrets;

use super::acting::project_of;
use super::ask::read_capped;
use super::git::{self, added};
use super::inward::MADE_BY_TOOLS;
use super::shown;

/// Deepest folder of a project, most names in it, and most files of variables that are looked at.
const DEEPEST: usize = 4;
const MAX_NAMES: usize = 5_000;
const MAX_FILES: usize = 64;
/// Longest file of variables, in bytes.
const MAX_FILE: u64 = 64 * 1024;
/// Most values of one file that are looked for, and their length in bytes: what is shorter stands in texts by chance.
const MAX_VALUES: usize = 256;
const LONGEST: usize = 512;
const SHORTEST: usize = 8;
/// From this length on fewer changes are enough.
const LONG: usize = 16;
/// Longest name that is told, in letters.
const MAX_NAME: usize = 80;
/// What files are called that show how such a file looks: what stands in one of them is no secret.
const TEMPLATES: [&str; 6] = ["example", "sample", "template", "tpl", "dist", "defaults"];
/// What values say that are to be replaced.
const PLACEHOLDERS: [&str; 5] = ["changeme", "change_me", "change-me", "placeholder", "xxxx"];

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
    // Colours may stand in the middle of one.
    let plain = shown::without_escapes(text);
    let mut held = of_environment();
    held.extend(of_project(cwd));
    let shown = held.into_iter().filter(|(value, _)| stands_in(&plain, value));
    let mut names: Vec<String> = shown.map(|(_, name)| name).collect();
    names.sort();
    names.dedup();
    names
}

/// True where a value stands in a text by itself, and not as a part of a longer word.
fn stands_in(text: &str, value: &str) -> bool {
    let goes_on = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + value.len()..).and_then(|text| text.chars().next());
        !goes_on(before) && !goes_on(behind)
    })
}

/// The values of variables that hold secrets, with what each is called.
fn of_environment() -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if says_secret(&name) || !is_public(&name) && shown::is_credential(&value) {
            let called = format!("value of ${}", name.chars().take(MAX_NAME).collect::<String>());
            held.extend(telling_parts(&value).map(|part| (part.to_owned(), called.clone())));
        }
    }
    held
}

/// The same of the files of variables in the project around a folder. What git tracks is as public as the project.
fn of_project(cwd: &Path) -> BTreeMap<String, String> {
    let root = project_of(cwd);
    let files = files_of_variables(&root);
    if files.is_empty() {
        return BTreeMap::new();
    }
    let repositories = git::repositories(&root).unwrap_or_default();
    let tracked: Vec<_> = repositories
        .iter()
        .filter_map(|repository| Some((repository.root.clone(), added::tracked(repository)?)))
        .collect();
    let is_tracked = |file: &Path| {
        tracked.iter().any(|(root, names)| {
            file.strip_prefix(root).is_ok_and(|inside| names.contains(inside.to_string_lossy().as_ref()))
        })
    };
    let mut held = BTreeMap::new();
    for file in files.into_iter().filter(|file| !is_tracked(file)) {
        let Some(text) = text_of(&file) else { continue };
        let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into_owned();
        let shown: String = shown.chars().take(MAX_NAME).collect();
        let mut own: BTreeMap<String, String> = BTreeMap::new();
        for line in text.lines() {
            let (parts, called): (Vec<&str>, String) = match variable_in(line) {
                Some((name, value)) => {
                    let name: String = name.chars().take(MAX_NAME).collect();
                    (telling_parts(value).collect(), format!("value that {name} has in {shown}"))
                }
                None if line.contains(['=', ':']) && !holds_values_alone(&file) => continue,
                // A file of nothing but secrets: `.netrc`, `master.key`.
                None => (line.split(':').flat_map(telling_parts).collect(), format!("value in {shown}")),
            };
            own.extend(parts.into_iter().map(|part| (part.to_owned(), called.clone())));
            if own.len() > MAX_VALUES {
                break;
            }
        }
        if !own.is_empty() {
            let beside: Vec<String> = templates_beside(&file).iter().filter_map(|file| text_of(file)).collect();
            own.retain(|value, _| !beside.iter().any(|text| text.contains(value.as_str())));
        }
        held.extend(own);
    }
    held
}

/// True for a file of which every line is a secret, with whatever signs in it.
fn holds_values_alone(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".netrc", "_netrc", ".pgpass", ".htpasswd", ".git-credentials"].iter().any(|end| name.ends_with(end))
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
        let is_one = name.split(['.', '-', '_']).any(|part| TEMPLATES.contains(&part));
        is_one && !secrets::is_secret_file_name(name.as_bytes())
    };
    entries.take(MAX_NAMES).map(|entry| entry.path()).filter(is_template).take(MAX_FILES).collect()
}

/// A short text, as far as it can be read without waiting for anybody.
fn text_of(file: &Path) -> Option<String> {
    String::from_utf8(read_capped(file, MAX_FILE).ok()?).ok()
}

/// The variable of a line whose name says that it holds a secret, and its value: `export NAME=value`, `name: value`, `"name": "value",`.
fn variable_in(line: &str) -> Option<(&str, &str)> {
    let signs = line.match_indices(['=', ':']).map(|(at, _)| at);
    signs.filter_map(|at| line.split_at_checked(at)).find_map(|(before, value)| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let before = before.trim_end_matches([' ', '\t', '"', '\'']);
        let name = before.rsplit(|letter: char| !is_of_name(letter)).next().filter(|name| !name.is_empty())?;
        says_secret(name).then(|| (name, value.get(1..).unwrap_or_default()))
    })
}

/// True for a name that says that its value is a secret, and not where one is, what kind of one, or who may see it.
fn says_secret(name: &str) -> bool {
    const ENDS: [&str; 20] = [
        "_NAME",
        "_ID",
        "_ARN",
        "_HOST",
        "_EVENTS",
        "_CLASS",
        "_MODEL",
        "_BACKEND",
        "_PROVIDER",
        "_HASHER",
        "_ALGORITHM",
        "_AUDIENCE",
        "_ISSUER",
        "_LIFETIME",
        "_ROUTE",
        "_POLICY",
        "_PREFIX",
        "_REGION",
        "_VERSION",
        "_REF",
    ];
    let name = name.replace('-', "_").to_ascii_uppercase();
    let is_about = ENDS.iter().any(|end| name.ends_with(end));
    !is_about && !is_public(&name) && secrets::is_secret_variable(&name)
}

/// True for a variable that builds put into what everybody loads.
fn is_public(name: &str) -> bool {
    let starts =
        ["NEXT_PUBLIC_", "VITE_", "REACT_APP_", "PUBLIC_", "NUXT_PUBLIC_", "EXPO_PUBLIC_", "GATSBY_", "VUE_APP_"];
    starts.iter().any(|start| name.starts_with(start))
}

/// The parts of a value that stand in no text by chance: each run between blanks and signs of a list, of an address its password.
fn telling_parts(value: &str) -> impl Iterator<Item = &str> {
    let is_sign = |letter: char| letter.is_whitespace() || "\"'`,;{}[]()<>|".contains(letter);
    value.split(is_sign).filter_map(|run| {
        let run = match run.split_once("://") {
            Some((_, rest)) => {
                let (user, _) = rest.rsplit_once('@')?;
                user.split_once(':').map_or(user, |(_, password)| password)
            }
            // `Password=x`
            None => run.split_once(['=', ':']).filter(|(name, _)| says_secret(name)).map_or(run, |(_, value)| value),
        };
        is_telling(run).then_some(run)
    })
}

/// True for a value that nobody writes without having seen it: in one of its parts letters and digits change again and again, or large
/// and small ones and digits.
fn is_telling(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_random = value.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| {
        let bytes = part.as_bytes();
        let kinds = bytes.iter().map(|byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()));
        let changes =
            bytes.windows(2).filter(|pair| pair.first().map(u8::is_ascii_digit) != pair.last().map(u8::is_ascii_digit));
        let kinds: BTreeSet<(bool, bool)> = kinds.collect();
        let changes = changes.count();
        changes >= 3 || changes >= 2 && kinds.len() >= 3 && part.len() >= LONG
    });
    (SHORTEST..=LONGEST).contains(&value.len()) && is_random && !PLACEHOLDERS.iter().any(|word| lower.contains(word))
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
            ("credentials.json", "{\"type\":\"x\",\"client_secret\":\"baZKX9q1\"}"),
            (".env", "GCP_KEY={\"private_key\":\"baZKX9q1\"}"),
            (".env", "DB_PASSWORD=/baZKX9q1"),
            (".netrc", "machine h login me password baZKX9q1\n"),
            (".pgpass", "h:5432:db:me:baZKX9q1\n"),
        ] {
            let found = shown(&[(file, line)], "a: xx /baZKX9q1, yy\n");
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
            "API_TOKEN=http://db/x1",
            "SSH_KEY=deploy-2024-key",
            "WEBHOOK_SECRET=hooks01.internal",
            "DB_PASSWORD=db01.internal:5432/app",
            "PASSWORD_HASHER=django.contrib.PBKDF2PasswordHasher",
            "DB_PASSWORD=project2024",
            "ANDROID_KEYSTORE=release-key1.jks",
            "SECRET_NAME=a1b2c3d4e5",
            "NEXT_PUBLIC_API_KEY=a1b2c3d4e5",
            "COMMIT=a1b2c3d4e5",
        ] {
            assert_eq!(shown(&[(".env", line)], text), Vec::<String>::new(), "{line}");
        }
        // What an example shows, too.
        let files = [(".env", "SECRET_KEY=a1b2c3d4e5"), (".env.example", "SECRET_KEY=a1b2c3d4e5")];
        assert_eq!(shown(&files, text), Vec::<String>::new());
        // A part of a longer word.
        assert_eq!(shown(&[(".env", "SECRET_KEY=b2c3d4e5")], text), Vec::<String>::new());
        // A program of others' has its own.
        assert_eq!(shown(&[("node_modules/x/.env", "SECRET_KEY=a1b2c3d4e5")], text), Vec::<String>::new());
    }
}
