//! The files that a patch is about, by its text: in the form that `diff` and git write, and in that of agents.

use std::collections::BTreeSet;

use super::paths;

/// How lines of agents' patches begin that name a file which is made, changed or removed: as it is.
const OF_AGENTS: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", MOVED];
/// The one of them behind the file whose content goes there.
const MOVED: &str = "*** Move to:";
/// What stands around an agent's patch, and names no file.
const FRAME: &[&str] = &["*** Begin Patch", "*** End Patch", "*** End of File"];
/// The same of diffs: with folders in front that whoever applies it may leave out.
const OF_DIFFS: &[&str] = &["+++ ", "--- ", "*** ", "Index: ", "rename to ", "copy to "];
/// How lines begin that name a file whose content goes somewhere else.
const MOVES: &[&str] = &["rename from ", "copy from "];
/// Deepest folders in front that whoever applies it may leave out.
const STRIPPED: usize = 32;

/// What a patch does to files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// What it makes, changes or removes, in the order of its lines. Of a diff also each path without its first folders.
    pub writes: Vec<String>,
    /// What goes somewhere else with all that it holds.
    pub moves: Vec<String>,
}

/// Reads the names out of a text. At most this many of a kind; one more than is followed is enough to be not understood.
pub fn of(text: &str, most: usize) -> Patch {
    let mut patch = Patch::default();
    let mut seen = BTreeSet::new();
    let mut last = None;
    // Lines end and blanks are taken off in more than one way.
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']).map(paths::trimmed) {
        let named = |marks: &[&str]| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(paths::trimmed);
        if let Some(path) = named(MOVES) {
            patch.moves.push(unquoted(path));
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            // Of what has no lines, or is no text, the name stands here alone.
            for name in names.split(" b/").chain(names.split(' ')) {
                take(&mut patch, &mut seen, name.trim_matches('"'), true, most);
            }
            continue;
        }
        let of_agents = named(OF_AGENTS);
        let is_of_diff = of_agents.is_none();
        let Some(path) = of_agents.or_else(|| named(OF_DIFFS)).filter(|_| !FRAME.contains(&line)) else { continue };
        if line.starts_with(MOVED) {
            patch.moves.extend(last.take());
        }
        // Behind a tab `diff` writes the time.
        let path = unquoted(path.split('\t').next().unwrap_or(path));
        take(&mut patch, &mut seen, &path, is_of_diff, most);
        last = Some(path);
    }
    patch.moves.truncate(most + 1);
    patch
}

/// A name, and of a diff's the same without its first folders, which whoever applies it may leave out.
fn take(patch: &mut Patch, seen: &mut BTreeSet<String>, path: &str, is_of_diff: bool, most: usize) {
    if path == "/dev/null" {
        return;
    }
    let folders = path.match_indices('/').take(if is_of_diff { STRIPPED } else { 0 });
    let names = std::iter::once(path).chain(folders.filter_map(|(at, _)| path.get(at + 1..)));
    for name in names.filter(|name| !name.is_empty()) {
        if patch.writes.len() <= most && seen.insert(name.to_owned()) {
            patch.writes.push(name.to_owned());
        }
    }
}

/// Git puts names with odd letters in quotes, with escapes as in C.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else { return path.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        match (first, more) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            (b'\\', [letter, after @ ..]) => {
                bytes.push(*letter);
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> (Vec<String>, Vec<String>) {
        let patch = of(text, 100);
        (patch.writes, patch.moves)
    }

    #[test]
    fn a_patch_names_every_file_that_it_touches() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+*** Add File: no\n*** Update File: b/c.rs\n*** Move to: d.rs\n@@\n-x\n+y\n*** Delete File: e f.md\n*** End Patch";
        let (writes, moves) = named(patch);
        assert_eq!(writes, ["a.txt", "b/c.rs", "d.rs", "e f.md"]);
        assert_eq!(moves, ["b/c.rs"]);
        // Whoever calls a diff an agent's patch hides nothing by that.
        assert!(named("*** Begin Patch\n+++ b/.envrc\n").0.contains(&".envrc".to_owned()));
    }

    #[test]
    fn a_diff_names_files_with_any_of_its_first_folders_left_out() {
        let (writes, _) = named("--- /dev/null\n+++ b/sub/.envrc\t2026-01-01\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(writes, ["b/sub/.envrc", "sub/.envrc", ".envrc"]);
        let (writes, moves) = named("rename from .env\nrename to notes.txt\n");
        assert_eq!((writes, moves), (vec!["notes.txt".to_owned()], vec![".env".to_owned()]));
        let (writes, _) =
            named("diff --git a/.vscode/tasks.json b/.vscode/tasks.json\nnew file mode 100644\nGIT binary patch\n");
        assert!(writes.contains(&".vscode/tasks.json".to_owned()), "{writes:?}");
        assert!(named("*** a/.envrc\t2026-01-01\n").0.contains(&".envrc".to_owned()));
        assert_eq!(named("+++ \"b/\\303\\274\\\"x\"\n").0, ["b/ü\"x", "ü\"x"]);
        assert_eq!(of(&"+++ a\n".repeat(5), 2).writes.len(), 1);
        let many: Vec<String> = (0..50).map(|number| format!("+++ {number}")).collect();
        assert_eq!(of(&many.join("\n"), 10).writes.len(), 11);
    }
}
