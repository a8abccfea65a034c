//! Settings of programs: where they may lie, and what they include.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bashgate_shared::programs::settings;

use super::told::{Told, files_of, start_of, unknown};
use super::{Gathered, MAX_FILES};
use crate::gate::conditions::{home as own_home, home_of, place};

/// Longest file that is read for what it includes, in bytes.
const MAX_SETTINGS: u64 = 256 * 1024;
/// Most pieces of one file of settings that are looked at as names of files.
const MAX_PIECES: usize = 20_000;

impl Gathered<'_> {
    /// A file, and what the settings in it include, if it is one of ssh's or curl's.
    pub(super) fn add_with_included(&mut self, name: &str) {
        let root = name;
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            // By whatever name: it may name itself.
            if place(&name, self.cwd).is_some_and(|place| !self.followed.insert(place)) {
                continue;
            }
            self.add(&name, Told::Digest);
            let Some(text) = self.settings_in(&name) else { continue };
            // What ssh's settings include counts like they themselves.
            if name != root && settings::are_of_ssh(root) {
                self.tell_settings(root, &name, &text);
            }
            let mut included = included(&text);
            let names_too_much = included.len() > MAX_PIECES;
            // A certificate's mark stands there a hundred times.
            included.sort_unstable();
            included.dedup();
            for included in included.into_iter().take(MAX_PIECES) {
                if names_too_much || self.found.len() >= MAX_FILES || waiting.len() >= MAX_FILES {
                    self.found.push(unknown(&format!("all that {name} names")));
                    return;
                }
                match included.split_once(['*', '?', '[']) {
                    None if place(&included, self.cwd).is_none_or(|file| !file.exists()) => {}
                    None => waiting.push(included),
                    // As people write it: all files of a folder, or those of one kind.
                    Some((folder, end)) if folder.ends_with('/') && !end.contains(['*', '?', '[', '/']) => {
                        let files = place(folder, self.cwd).map(|folder| files_of(&folder)).unwrap_or_default();
                        let files = files.iter().map(|file| file.to_string_lossy().into_owned());
                        waiting.extend(files.filter(|file| file.ends_with(end)));
                    }
                    Some(_) if !included.contains('/') => {}
                    Some(_) => self.found.push(unknown(&format!("files that {name} includes: {included}"))),
                }
            }
        }
    }

    /// The start of a file of settings, as far as it is read for what it names.
    fn settings_in(&mut self, name: &str) -> Option<String> {
        let file = place(name, self.cwd).filter(|file| file.is_file())?;
        let mut bytes = Vec::new();
        std::fs::File::open(file).ok()?.take(MAX_SETTINGS + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > MAX_SETTINGS {
            self.add_unknown(&format!("what {name} says behind its first {} KiB", MAX_SETTINGS / 1024));
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a client's settings say of where it sends and what, a line each. No answer for more than once is bound to such.
    pub(super) fn add_settings(&mut self, name: &str) {
        if settings::of(name).is_none() {
            return;
        }
        if let Some(text) = self.settings_in(name) {
            self.tell_settings(name, name, &text);
        }
    }

    /// The same of a file that settings of this name are, or include.
    fn tell_settings(&mut self, of: &str, name: &str, text: &str) {
        let Some(steers) = settings::of(of) else { return };
        let Some(file) = self.found.iter_mut().find(|file| file.path == name) else { return };
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| steers(line)).collect();
        file.head = start_of(lines.join("\n").as_bytes());
        if lines.iter().any(|line| settings::brings_more(of, line)) {
            self.add_unknown(&format!("what {name} adds to the request"));
        }
    }
}

/// Where settings may lie: those without a folder in front in the folder where a program starts and in each above it, those of the
/// home folder also in the account's own where they are ssh's, which goes by that whatever `HOME` says.
pub(super) fn places_of(name: &str, account: Option<&Path>, cwd: &Path) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    if let Some(inside) = name.strip_prefix("~/") {
        let own = account.filter(|_| inside.starts_with(".ssh/"));
        let own = own.map(|home| home.join(inside).to_string_lossy().into_owned());
        return std::iter::once(name.to_owned()).chain(own).collect();
    }
    cwd.ancestors().map(|folder| folder.join(name).to_string_lossy().into_owned()).collect()
}

/// The home folder of the account, where it is another one than `HOME`.
pub(super) fn account_home() -> Option<PathBuf> {
    let own = rustix::process::getuid().as_raw().to_string();
    home_of(|_, number| number == own).filter(|home| own_home().is_none_or(|set| set != *home))
}

/// The files that settings of ssh (`Include a b`) or of curl (`config = x`, `-K x`) include, as paths. Any other text may look like
/// it names some, which only binds more.
fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    // All of them take this for a comment.
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        // The digits of certificates and keys name nothing; anything else in such a block may.
        let is_mark = line.starts_with("-----BEGIN ") || line.starts_with("-----END ");
        in_block = if is_mark { line.starts_with("-----BEGIN ") } else { in_block };
        let digits = line.trim_end_matches('=');
        if in_block && !is_mark && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte)) {
            continue;
        }
        let end = line.find(|c: char| c.is_whitespace() || c == '=' || c == ':').unwrap_or(line.len());
        let (key, rest) = line.split_at_checked(end).unwrap_or((line, ""));
        let values = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '=' || c == ':');
        let plain = |value: &str| value.trim_matches(['"', '\'']).to_owned();
        match key.to_ascii_lowercase().trim_start_matches('-') {
            "include" => found.extend(values.split_whitespace().map(plain).map(|value| {
                // ssh_config(5): relative to the folder of the user's settings.
                if value.starts_with(['/', '~']) { value } else { format!("~/.ssh/{value}") }
            })),
            "config" | "k" if !values.is_empty() => found.push(plain(values)),
            // `data = n@file`, `form = "x=@file;y"`, `-d@file`, `post_file = file`, `ProxyCommand sh file %h`: each piece that is
            // the name of a file may be meant.
            _ => {
                let words = line.split_whitespace().chain([values]);
                let glued = |word: &str| word.strip_prefix('-').and_then(|word| word.get(1..)).map(str::to_owned);
                let pieces = words.flat_map(|word| {
                    let divided = word.split(|c: char| "@=<\"';,|&()".contains(c)).map(str::to_owned);
                    let behind = word.split_once('@').map(|(_, path)| plain(path));
                    divided.chain(behind).chain(glued(word)).chain([plain(word)]).collect::<Vec<_>>()
                });
                found.extend(pieces.filter(|piece| !piece.is_empty() && (piece == "#" || !piece.starts_with('#'))));
            }
        }
        if let Some(glued) = line.strip_prefix("-K").filter(|glued| !glued.is_empty() && !glued.starts_with(' ')) {
            found.push(plain(glued));
        }
    }
    found
}
