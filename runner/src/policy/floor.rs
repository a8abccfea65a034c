//! What destroys a system is refused in every preset, even one without a sandbox: deleting system folders or a home,
//! formatting, writing to raw disks, fork bombs. Read from the parsed calls, so that no spelling helps.

use bashgate_shared::classify::Classification;
use bashgate_shared::classify::paths::resolve;
use bashgate_shared::programs::{self, Runs, Trait};

const SYSTEM: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
    "/Users",
    "/System",
    "/Library",
    "~",
    "$HOME",
];
const DISKS: &[&str] =
    &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "dm-", "md", "mapper/", "disk/", "mem", "kmem", "port"];

/// What the command would destroy; ends the sentence "the command …".
pub(super) fn meets(found: &Classification, spelled: &[Vec<String>], cwd: &str) -> Option<String> {
    let judged = found.calls.iter().map(|call| call.iter().flatten().map(String::as_str).collect::<Vec<_>>());
    let spelled = spelled.iter().map(|words| behind_wrappers(words));
    if let Some(why) = judged.chain(spelled).find_map(|call| call_destroys(&call, cwd)) {
        return Some(why);
    }
    let written = found.effects.writes.iter().find(|path| is_disk(&resolve(Some(cwd), path)));
    if let Some(path) = written {
        return Some(format!("writes to {path}"));
    }
    is_fork_bomb(found).then(|| "is a fork bomb".to_owned())
}

/// The words behind programs that run others, whatever else stands between.
fn behind_wrappers(words: &[String]) -> Vec<&str> {
    let is_wrapper = |word: &str| matches!(programs::runs_of(word), Runs::Behind(_));
    let is_before = |word: &&str| is_wrapper(word) || word.starts_with('-') || word.contains('=');
    let words = words.iter().map(String::as_str);
    let mut words = words.peekable();
    if words.peek().is_some_and(|first| is_wrapper(first)) {
        words.skip_while(is_before).collect()
    } else {
        words.collect()
    }
}

fn call_destroys(call: &[&str], cwd: &str) -> Option<String> {
    let (program, arguments) = call.split_first()?;
    let row = programs::row(program)?;
    if row.has(Trait::Formats) {
        return Some("formats a disk".to_owned());
    }
    let overwritten = |word: &&&str| is_disk(&resolve(Some(cwd), word));
    if row.has(Trait::Overwrites)
        && let Some(target) = arguments.iter().find(overwritten)
    {
        return Some(format!("overwrites {target}"));
    }
    // `dd of=/dev/sda` and its like.
    if row.has(Trait::ChangesFiles)
        && let Some(target) =
            arguments.iter().find_map(|word| word.strip_prefix("of=")).filter(|word| overwritten(&word))
    {
        return Some(format!("overwrites {target}"));
    }
    if row.has(Trait::Deletes) {
        // `find` walks through folders anyway, and deletes only when it is told to.
        let walks = row.has(Trait::NoEndOfOptions);
        let recursive = if walks {
            arguments.contains(&"-delete")
        } else {
            arguments.iter().take_while(|word| **word != "--").any(|word| {
                *word == "--recursive" || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
            })
        };
        let target = arguments.iter().find(|word| !word.starts_with('-') && is_system(word, cwd));
        if let Some(target) = target.filter(|_| recursive) {
            return Some(format!("deletes {target}"));
        }
    }
    None
}

/// A system folder, everything in one, or the home folder.
fn is_system(word: &str, cwd: &str) -> bool {
    let folder = word.strip_suffix("/*").or_else(|| word.strip_suffix("/.*")).unwrap_or(word);
    let folder = if folder.is_empty() { "/" } else { folder };
    let place = if folder.starts_with('$') { folder.to_owned() } else { resolve(Some(cwd), folder) };
    let place = place.trim_end_matches('/');
    let place = if place.is_empty() { "/" } else { place };
    // The working directory itself is the caller's to delete.
    SYSTEM.contains(&place)
        && (place != cwd || place == "/")
        && !matches!(place, "/tmp" | "/mnt" | "/media" if folder != word)
}

fn is_disk(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

/// A function that starts itself in the background.
fn is_fork_bomb(found: &Classification) -> bool {
    let text: String = found.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n");
    let whole: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    whole.match_indices("(){").any(|(at, _)| {
        let name: String =
            whole.get(..at).unwrap_or_default().chars().rev().take_while(|c| !";&|(){}".contains(*c)).collect();
        let name: String = name.chars().rev().collect();
        !name.is_empty()
            && whole.get(at..).is_some_and(|rest| {
                rest.contains(&format!("{name}|{name}")) || rest.contains(&format!("{name}&{name}"))
            })
    })
}
