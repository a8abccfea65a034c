//! Paths as a command's text names them: lexical only, no file system is asked.

/// Resolves `.` and `..` in a path as text, and joins a relative one to a folder.
///
/// A path that starts with `~` counts as absolute. `..` beyond the start of a relative path is kept.
pub fn resolve(folder: Option<&str>, path: &str) -> String {
    let rooted = path.starts_with(['/', '~']);
    let joined = match folder {
        Some(folder) if !rooted => format!("{folder}/{path}"),
        _ => path.to_owned(),
    };
    let absolute = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                None if absolute => {}
                None | Some(&"..") => parts.push(".."),
                // Above a home folder lies a place we cannot name: keep every step.
                Some(first) if parts.len() == 1 && first.starts_with('~') => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
            },
            part => parts.push(part),
        }
    }
    let body = parts.join("/");
    match (absolute, body.is_empty()) {
        (true, _) => format!("/{body}"),
        (false, true) => ".".to_owned(),
        (false, false) => body,
    }
}

/// True for a name that stays one when a list of names is taken apart at blanks, quotes and backslashes, as `xargs` does.
pub fn stays_whole(name: &[u8]) -> bool {
    !name.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"'\"\\".contains(byte))
}

/// A text without blanks around it, as JavaScript has them too.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// What stands behind `file:` in a text, in any letters: a path, with bytes as `%xx`.
pub fn of_address(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("file:").then(|| rest.strip_prefix("//").unwrap_or(rest))
}

/// True for a name of the standard input.
pub fn is_standard_input(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
}

/// The last component of a path.
pub fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// True when `path` is `folder` or lies below it. Both resolved.
pub fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// True when a path lies below these components, wherever they stand in it: `lies_in("a/.git/hooks/x", ".git/hooks")`.
pub fn lies_in(path: &str, folder: &str) -> bool {
    occurrences(path, folder).any(|at| path.as_bytes().get(at + folder.len()) == Some(&b'/'))
}

/// Where these components start in a path. The last of them may go on.
pub fn occurrences<'p>(path: &'p str, components: &'p str) -> impl Iterator<Item = usize> {
    // Asked some hundred times for each path: a search for a text costs more to begin than this to do.
    let behind_slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(behind_slashes);
    let first = components.as_bytes().first();
    starts.filter(move |at| {
        path.as_bytes().get(*at) == first && path.get(*at..).is_some_and(|rest| rest.starts_with(components))
    })
}

/// What the components of a path begin with, to tell at once that none of them begins a pattern. Some hundred patterns are
/// held against each path.
#[derive(Debug, Clone, Copy)]
pub struct Beginnings(u64);

impl Beginnings {
    /// Those of a path.
    pub fn of(path: &str) -> Self {
        let behind_slash = |pair: &[u8]| pair.first() == Some(&b'/');
        let starts = path.as_bytes().windows(3).filter(|bytes| behind_slash(bytes)).filter_map(|bytes| bytes.get(1..));
        let first = path.as_bytes();
        // A component of one letter at the end has no second one.
        let last = first.len().checked_sub(2).and_then(|at| first.get(at..)).filter(|bytes| behind_slash(bytes));
        let last = last.and_then(|bytes| bytes.get(1..));
        Self(starts.chain(last).chain([first]).fold(0, |all, start| all | Self::bit(start)))
    }

    /// False when no component of the path begins as these components do.
    pub fn may_hold(self, components: &str) -> bool {
        let start = components.as_bytes();
        // What is this short, or goes on with any letters so early, says too little.
        matches!(start, [] | [_] | [_, b'*']) || self.0 & Self::bit(start) != 0
    }

    const fn bit(start: &[u8]) -> u64 {
        let pair = match *start {
            [first, second, ..] => first.wrapping_mul(7).wrapping_add(second.wrapping_mul(31)),
            [only] => only.wrapping_mul(7),
            [] => 0,
        };
        1 << (pair % 64)
    }
}

/// The machine's folders for temporary files.
pub const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// True for what lies in a folder for temporary files.
pub fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|folder| is_within(path, folder) && path != *folder)
}

/// True when these components are the last ones of a path.
pub fn ends_in(path: &str, tail: &str) -> bool {
    // Nearly never, and told by one letter.
    path.as_bytes().last() == tail.as_bytes().last()
        && path.strip_suffix(tail).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Where a write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// A device that keeps nothing, or the command's own output.
    Nowhere,
    /// `/dev/tcp/…` or `/dev/udp/…`, which bash opens as a connection.
    Network,
    /// Below the working directory or in a folder for temporary files.
    Workspace,
    /// Anywhere else.
    Outside,
}

const SYSTEM: &[&str] =
    &["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr", "var"];

/// Where a resolved path lies for a command that started in `cwd`. A relative path is relative to `cwd`.
pub fn zone(path: &str, cwd: Option<&str>) -> Zone {
    // Not /dev/fd/N: it opens whatever file the descriptor has anew, for writing, too.
    if ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"].contains(&path) {
        return Zone::Nowhere;
    }
    if is_within(path, "/dev/tcp") || is_within(path, "/dev/udp") {
        return Zone::Network;
    }
    if is_temporary(path) {
        return Zone::Workspace;
    }
    let root_is_workspace = |root: &str| {
        let first = root.trim_start_matches('/').split('/').next().unwrap_or("");
        !first.is_empty() && !SYSTEM.contains(&first)
    };
    match cwd {
        Some(cwd) if !root_is_workspace(cwd) => Zone::Outside,
        Some(cwd) if path.starts_with('/') => {
            if is_within(path, cwd) {
                Zone::Workspace
            } else {
                Zone::Outside
            }
        }
        _ if path.starts_with(['/', '~']) || path == ".." || path.starts_with("../") => Zone::Outside,
        _ => Zone::Workspace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolving_is_lexical() {
        for (folder, path, want) in [
            (None, "a/./b/../c", "a/c"),
            (None, "../x", "../x"),
            (None, "a/../../x", "../x"),
            (None, "/a/../../etc", "/etc"),
            (None, ".", "."),
            (Some("/w"), "x", "/w/x"),
            (Some("/w"), "../x", "/x"),
            (Some("/w"), "/x", "/x"),
            (Some("/w"), "~/.ssh/id", "~/.ssh/id"),
            (Some("sub"), "x", "sub/x"),
            (None, "~/../etc", "~/../etc"),
            (None, "~/a/../b", "~/b"),
        ] {
            assert_eq!(resolve(folder, path), want, "{folder:?} {path}");
        }
    }

    #[test]
    fn a_path_that_holds_components_may_hold_them() {
        for components in [".env", "a", "ab", "a/b", "a/*", "lefthook*", "venv/bin", ".git/hooks", "é", "x/é"] {
            let start = components.trim_end_matches('*');
            for path in [
                start.to_owned(),
                format!("{start}/x"),
                format!("/{start}"),
                format!("q/{start}"),
                format!("/q/r/{start}/s/t"),
                format!("{start}more"),
                format!("q//{start}"),
            ] {
                let begins = occurrences(&path, start).next().is_some();
                assert!(begins && Beginnings::of(&path).may_hold(components), "{components} in {path}");
            }
        }
        assert!(!Beginnings::of("src/main.rs").may_hold(".git/hooks"));
        assert!(!Beginnings::of("").may_hold(".git"));
    }

    #[test]
    fn zones_follow_the_folder_a_command_started_in() {
        for (path, cwd, want) in [
            ("/dev/null", None, Zone::Nowhere),
            ("/dev/tcp/host/80", None, Zone::Network),
            ("out.txt", None, Zone::Workspace),
            ("../out.txt", None, Zone::Outside),
            ("/tmp/x", None, Zone::Workspace),
            ("/tmp", None, Zone::Outside),
            ("/etc/passwd", None, Zone::Outside),
            ("~/x", None, Zone::Outside),
            ("/w/x", Some("/w"), Zone::Workspace),
            ("/wx", Some("/w"), Zone::Outside),
            ("/x", Some("/"), Zone::Outside),
            ("/usr/local/bin/x", Some("/usr/local"), Zone::Outside),
        ] {
            assert_eq!(zone(path, cwd), want, "{path} in {cwd:?}");
        }
    }
}
