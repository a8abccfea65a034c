//! What destroys a system is refused in every preset, even one without a sandbox: deleting system folders or a home,
//! formatting, writing to raw disks, fork bombs. Read from the parsed calls, so that no spelling helps.

use bashgate_shared::classify::Classification;
use bashgate_shared::classify::paths::{file_name, resolve};

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
const WRAPPERS: &[&str] = &["sudo", "doas", "env", "nohup", "command", "exec", "nice", "time", "builtin"];
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

/// The words behind programs that run others.
fn behind_wrappers(words: &[String]) -> Vec<&str> {
    let is_before = |word: &&str| WRAPPERS.contains(word) || word.starts_with('-') || word.contains('=');
    let words = words.iter().map(String::as_str);
    let mut words = words.peekable();
    if words.peek().is_some_and(|first| WRAPPERS.contains(first)) {
        words.skip_while(is_before).collect()
    } else {
        words.collect()
    }
}

fn call_destroys(call: &[&str], cwd: &str) -> Option<String> {
    let (program, arguments) = call.split_first()?;
    let program = file_name(program);
    if program == "mkfs" || program.starts_with("mkfs.") || program == "mke2fs" || program == "wipefs" {
        return Some("formats a disk".to_owned());
    }
    if program == "dd"
        && let Some(target) = arguments.iter().find_map(|word| word.strip_prefix("of="))
        && is_disk(&resolve(Some(cwd), target))
    {
        return Some(format!("overwrites {target}"));
    }
    if matches!(program, "tee" | "shred" | "cp" | "mv" | "truncate")
        && let Some(target) = arguments.iter().find(|word| is_disk(&resolve(Some(cwd), word)))
    {
        return Some(format!("overwrites {target}"));
    }
    if program == "rm" || program == "find" && arguments.contains(&"-delete") {
        let recursive = program == "find"
            || arguments.iter().take_while(|word| **word != "--").any(|word| {
                *word == "--recursive" || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
            });
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
