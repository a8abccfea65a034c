//! What a name may reach of which only the beginning and the end are known: `../$f`, `.c*/s*`, `/etc/cl*/x`.
//!
//! The files that count are laid out as they would lie for whoever works in a folder, and each is held against the name.

use std::borrow::Cow;

use super::later;
use super::paths;
use super::protected;

/// Home folders that any machine may have, for names that begin above them.
const HOMES: &[&str] = &["~", "/root", "/home/u", "/Users/u"];

/// A name of which the middle is only known when it runs.
#[derive(Debug, Clone, Copy)]
pub struct InPart<'a> {
    /// Its beginning, resolved as far as the text allows.
    pub start: &'a str,
    /// Its end.
    pub tail: &'a str,
    /// It stands for names of one folder, and none that begins with a dot where the text has none.
    pub in_one_folder: bool,
}

impl InPart<'_> {
    /// True where this path may be meant.
    fn may_be(self, path: &str) -> bool {
        let Self { start, tail, in_one_folder } = self;
        let Some(middle) = path.strip_prefix(start).and_then(|rest| rest.strip_suffix(tail)) else { return false };
        let has_no_dot = || !(self.begins_a_name() && (middle.starts_with('.') || middle.is_empty()));
        !in_one_folder || !middle.contains('/') && has_no_dot()
    }

    /// Nothing is known of the beginning of the name itself.
    fn begins_a_name(self) -> bool {
        self.start.is_empty() || self.start.ends_with('/')
    }

    /// The same for a path that may go on.
    fn may_begin_with(self, path: &str) -> bool {
        let Self { start, in_one_folder, .. } = self;
        if let Some(rest) = start.strip_prefix(path) {
            return !in_one_folder || !rest.contains('/');
        }
        // Whatever follows, the end may follow that.
        path.strip_prefix(start).is_some_and(|rest| {
            !in_one_folder || !(rest.contains('/') || self.begins_a_name() && rest.starts_with('.'))
        })
    }
}

/// Something of the gate, or that acts by itself, that a name may be for whoever works in this folder.
pub fn what_acts(name: InPart<'_>, protected: &[String], cwd: Option<&str>) -> Option<String> {
    let mut own = protected::places(protected);
    if let Some(part) = own.find(|part| name.start.starts_with('/') && name.may_be(part)) {
        return Some(part.to_owned());
    }
    // Whatever lies in a folder of theirs counts as well.
    let is_place = |place: &&str| {
        let place = place.trim_end_matches('*');
        // Most have nothing in common with it, and nothing is put together for those.
        let is_near = name.start.starts_with(place) || place.starts_with(name.start);
        is_near
            && (name.may_be(place)
                || name.may_begin_with(&format!("{place}/"))
                || place.starts_with("/etc/") && name.may_begin_with(place))
    };
    if name.start.len() > 1
        && name.start.starts_with('/')
        && let Some(place) = later::acting_places().find(is_place)
    {
        return Some(place.to_owned());
    }
    // A pattern that begins nowhere finds what is called without a dot: what acts of that is known by its whole name, or not meant.
    if name.in_one_folder && name.begins_a_name() {
        return None;
    }
    // Some file systems take letters for the same that differ in size.
    let (start, tail) = (name.start.to_ascii_lowercase(), name.tail.to_ascii_lowercase());
    let name = InPart { start: &start, tail: &tail, ..name };
    let cwd = cwd.map(str::to_ascii_lowercase);
    // Behind a name that goes on stands what settings end in, or nothing that anybody knows; by an end alone it would be whatever ends so.
    let ends_so = !name.tail.contains('.') || [".json", ".jsonc", ".toml"].iter().any(|end| name.tail.ends_with(end));
    let may_go_on = ends_so && !name.start.is_empty();
    folders(cwd.as_deref()).into_iter().find_map(|folder| {
        let above = if folder.is_empty() { String::new() } else { format!("{}/", folder.trim_end_matches('/')) };
        // A name that begins in the folder is held against what stands below it, and one that begins elsewhere is nothing of it.
        let (before, name) = match name.start.strip_prefix(above.as_str()) {
            Some(start) => ("", InPart { start, ..name }),
            None if above.starts_with(name.start) => (above.as_str(), name),
            None => return None,
        };
        let is_meant = |acting: &str, behind: &str| {
            let path = if before.is_empty() { Cow::Borrowed(acting) } else { Cow::Owned(format!("{before}{acting}")) };
            let goes_on = || {
                let within = if behind == "/" { Cow::Owned(format!("{path}/")) } else { Cow::Borrowed(path.as_ref()) };
                name.may_begin_with(&within)
            };
            name.may_be(&path) || may_go_on && !behind.is_empty() && goes_on()
        };
        later::acting_name(is_meant).map(|acting| format!("{above}{acting}"))
    })
}

/// A folder in which whoever works in this one works, that a name may be: it goes with all in it.
pub fn what_holds_all(name: InPart<'_>, protected: &[String], cwd: Option<&str>) -> Option<String> {
    let own = protected::places(protected);
    let above = folders(cwd).into_iter().chain(own.flat_map(with_those_above));
    let mut places = above.filter(|place| !place.is_empty() && place != "/");
    places.find(|place| name.may_be(place))
}

/// The folders whose settings are in force for whoever works in this one, and home folders.
fn folders(cwd: Option<&str>) -> Vec<String> {
    let mut folders = cwd.map_or_else(|| vec![String::new()], with_those_above);
    folders.extend(HOMES.iter().map(|home| (*home).to_owned()));
    folders
}

fn with_those_above(path: &str) -> Vec<String> {
    let all = std::iter::successors(Some(path), |path| {
        path.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())
    });
    all.map(str::to_owned).collect()
}

/// The beginning of a name in a folder, resolved.
pub fn begins_in(folder: Option<&str>, start: &str) -> String {
    let (above, last) =
        start.rsplit_once('/').map_or((".", start), |(above, last)| (if above.is_empty() { "/" } else { above }, last));
    let above = paths::resolve(folder, above);
    match above.as_str() {
        "." => last.to_owned(),
        "/" => format!("/{last}"),
        _ => format!("{above}/{last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(start: &str, tail: &str, in_one_folder: bool) -> bool {
        let start = begins_in(Some("/srv/x/project/src"), start);
        let name = InPart { start: &start, tail, in_one_folder };
        what_acts(name, &["/srv/gate/hook.toml".to_owned()], Some("/srv/x/project")).is_some()
    }

    #[test]
    fn names_that_may_be_what_acts() {
        for (start, tail) in [
            ("../", ""),
            (".././", ""),
            ("../../project/", ""),
            ("/srv/x/p", ""),
            ("../.c", ""),
            ("../", "/settings.json"),
            ("/srv/g", ""),
            ("/etc/cron", "/x"),
            ("/etc/cl", ""),
            ("/ho", ""),
            ("/ro", ""),
            ("~/", ""),
            ("../.g", "/config"),
            ("", ""),
        ] {
            assert_eq!(reaches(start, tail, false), !start.is_empty(), "{start}…{tail}");
        }
        for (start, tail) in
            [("", ""), ("build/", ""), ("../docs/", ""), ("../", ".pyc"), ("/srv/y", ""), ("/tmp/", "")]
        {
            assert!(!reaches(start, tail, false), "{start}…{tail}");
        }
        // A pattern finds no name with a dot in front, and none in another folder.
        assert!(!reaches("../", "", true) && !reaches("../../", "", true));
        assert!(reaches("../.claude/se", ".json", true) && reaches("../.CLAUDE/Se", "", true));
    }

    #[test]
    fn folders_that_hold_all() {
        let holds = |start: &str, tail: &str, in_one_folder| {
            let start = begins_in(Some("/srv/x/project"), start);
            what_holds_all(InPart { start: &start, tail, in_one_folder }, &[], Some("/srv/x/project")).is_some()
        };
        assert!(
            holds("../proj", "", true)
                && holds("../", "", true)
                && holds("/srv/", "/project", false)
                && holds("/s", "", true)
        );
        assert!(
            !holds("../other", "", true)
                && !holds("src", "", true)
                && !holds("", "", true)
                && !holds("/tmp/", "", false)
        );
    }
}
