//! Versions of a script: what it said before, kept beside it, one file each (`ID.NUMBER.json`).
//!
//! An edit makes the next version; the id stays, and an approval stays with the digest that it is for. So a version that was approved
//! runs without a question when it is restored, and any other is asked about.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::script::{MAX_TEXT_BYTES, Manifest};
use serde::{Deserialize, Serialize};

use super::library::{
    About, Author, Library, LibraryError, Lock, MAX_ABOUT_BYTES, Script, check, checked, json_of, now_ms, read_capped,
};

/// How many versions are kept besides the one that counts, unless somebody says otherwise.
pub const KEPT: usize = 10;
/// Most that may be kept.
pub const MAX_KEPT: usize = 1000;
/// Longest file of one, in bytes: JSON may take six for one of the text's.
const MAX_BYTES: u64 = MAX_ABOUT_BYTES + 6 * MAX_TEXT_BYTES as u64;

/// A whole version in one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    about: About,
    content: String,
}

/// What an edit changes; what is not named stays.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The text.
    pub text: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The manifest, whole.
    pub manifest: Option<Manifest>,
    /// The version that the editor has seen; another one is not written over.
    pub expected: Option<u32>,
}

impl Library {
    /// Makes the next version of a script. It is what counts from then on; the one before is kept.
    pub fn edit(&self, named: &str, change: Change, by: Author, keep: usize) -> Result<Script, LibraryError> {
        let id = self.id_of(named)?;
        let _lock = self.lock(Lock::Exclusive)?;
        self.finish(&id)?;
        let old = self.read_locked(&id)?;
        if let Some(expected) = change.expected.filter(|expected| *expected != old.about.version) {
            return Err(LibraryError::Moved { expected, now: old.about.version });
        }
        let text = change.text.unwrap_or_else(|| old.text.clone());
        let description = change.description.unwrap_or_else(|| old.about.description.clone());
        let manifest = change.manifest.unwrap_or_else(|| old.about.manifest.clone()).canonical()?;
        check(&text, &description)?;
        if text == old.text && description == old.about.description && manifest == old.about.manifest {
            return Err(LibraryError::Unchanged);
        }
        let about = About {
            description,
            manifest,
            version: old.about.version.saturating_add(1),
            edited_at_ms: Some(now_ms()),
            edited_by: Some(by),
            ..old.about.clone()
        };
        // Once this is written the change counts.
        let next = json_of(&Whole { about, content: text });
        let written = self.write(&format!("{id}.next"), &next).map_err(|source| self.io(source));
        if let Err(error) = written.and_then(|()| self.finish(&id)) {
            // Where nothing of it has begun, it is taken back, and what was there counts.
            if self.read_locked(&id).is_ok_and(|now| now.about.version == old.about.version && now.text == old.text) {
                let _ = std::fs::remove_file(self.file(&id, "next"));
                let _ = std::fs::remove_file(self.file(&id, &format!("{}.json", old.about.version)));
            }
            return Err(error);
        }
        self.prune(&id, keep);
        self.read_locked(&id)
    }

    /// Makes an earlier version the one that counts, as the next version.
    pub fn restore(&self, named: &str, version: u32, by: Author, keep: usize) -> Result<Script, LibraryError> {
        let then = self.version(named, version)?;
        let change = Change {
            text: Some(then.text),
            description: Some(then.about.description),
            manifest: Some(then.about.manifest),
            expected: None,
        };
        self.edit(&then.id, change, by, keep)
    }

    /// Carries out a change that is written down. The caller holds the lock alone.
    pub(super) fn finish(&self, id: &str) -> Result<(), LibraryError> {
        let file = self.file(id, "next");
        let Some(new) = Self::whole(id, &file)? else { return Ok(()) };
        let kept = |number: u32| self.file(id, &format!("{number}.json"));
        let before = new.about.version.saturating_sub(1);
        // What counts now is kept before any of it is written over, whatever lies in its place. Once the text is another one, it was.
        let is_kept =
            || Self::whole(id, &kept(before)).is_ok_and(|then| then.is_some_and(|then| then.about.version == before));
        let now = self.read_locked(id);
        let is_old = now.as_ref().is_ok_and(|now| now.about.version == before && now.text != new.text) || !is_kept();
        if before > 0 && is_old {
            let old = now?;
            let whole = json_of(&Whole { about: old.about, content: old.text });
            self.write(&format!("{id}.{before}.json"), &whole).map_err(|source| self.io(source))?;
        }
        self.put(&new)?;
        std::fs::remove_file(file).map_err(|source| self.io(source))
    }

    /// A version in a file of its own; `None` where the file is not there.
    pub(super) fn whole(id: &str, file: &Path) -> Result<Option<Script>, LibraryError> {
        let damaged = |why: String| LibraryError::Damaged { file: file.to_owned(), why };
        let text = match read_capped(file, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| damaged(error.to_string()))?,
        };
        let Whole { about, content } = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        checked(id, about, content, file, file).map(Some)
    }

    /// The files of the versions before the one that counts, by their numbers.
    pub(super) fn version_files(&self, id: &str) -> Result<BTreeMap<u32, PathBuf>, LibraryError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            entries => entries.map_err(|source| self.io(source))?,
        };
        let number = |name: &str| {
            let digits = name.strip_prefix(id)?.strip_prefix('.')?.strip_suffix(".json")?;
            // One number has one name.
            digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)
        };
        let named =
            entries.flatten().filter_map(|entry| Some((number(&entry.file_name().into_string().ok()?)?, entry.path())));
        Ok(named.collect())
    }

    /// All versions that are kept, oldest first; the last one is what counts. And what is wrong with those that cannot be read.
    pub fn versions(&self, named: &str) -> Result<(Vec<Script>, Vec<LibraryError>), LibraryError> {
        let now = self.get(named)?;
        let (mut all, mut wrong) = (Vec::new(), Vec::new());
        for (number, file) in self.version_files(&now.id)? {
            match Self::whole(&now.id, &file) {
                Ok(Some(then)) if then.about.version == number && number < now.about.version => all.push(then),
                Ok(Some(_)) => wrong.push(not_that_version(file)),
                Ok(None) => {}
                Err(error) => wrong.push(error),
            }
        }
        all.push(now);
        Ok((all, wrong))
    }

    /// One version of a script.
    pub fn version(&self, named: &str, version: u32) -> Result<Script, LibraryError> {
        let now = self.get(named)?;
        if now.about.version == version {
            return Ok(now);
        }
        let file = self.file(&now.id, &format!("{version}.json"));
        match Self::whole(&now.id, &file)? {
            Some(then) if then.about.version == version => Ok(then),
            Some(_) => Err(not_that_version(file)),
            None => Err(LibraryError::NoVersion { version }),
        }
    }

    /// Removes the oldest versions beyond those that are kept.
    fn prune(&self, id: &str, keep: usize) {
        let files: Vec<PathBuf> = self.version_files(id).unwrap_or_default().into_values().collect();
        for file in files.iter().take(files.len().saturating_sub(keep.min(MAX_KEPT))) {
            // What cannot be removed is no version, and in nobody's way.
            let _ = std::fs::remove_file(file);
        }
    }
}

fn not_that_version(file: PathBuf) -> LibraryError {
    LibraryError::Damaged { file, why: "it is not the version that its name says".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn library() -> (tempfile::TempDir, Library) {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::at(folder.path().join("state"));
        (folder, library)
    }

    fn text(text: &str) -> Change {
        Change { text: Some(text.to_owned()), ..Change::default() }
    }

    #[test]
    fn the_id_stays_and_what_it_said_before_is_kept() {
        let (_folder, library) = library();
        let one = library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
        for number in 2..=14 {
            let made = library.edit("one", text(&format!("echo {number}")), Author::Llm, KEPT).unwrap();
            assert_eq!((made.id.as_str(), made.about.version), (one.id.as_str(), number));
        }
        let (all, wrong) = library.versions(&one.id).unwrap();
        assert!(wrong.is_empty());
        assert_eq!(all.iter().map(|one| one.about.version).collect::<Vec<_>>(), (4..=14).collect::<Vec<_>>());
        assert_eq!(library.version("one", 4).unwrap().text, "echo 4");
        assert!(matches!(library.version("one", 3), Err(LibraryError::NoVersion { version: 3 })));
        let back = library.restore("one", 4, Author::User, KEPT).unwrap();
        assert_eq!((back.text.as_str(), back.about.version), ("echo 4", 15));
        assert_eq!(back.digest(), library.version("one", 15).unwrap().digest());
        assert!(matches!(library.edit("one", text("echo 4"), Author::User, KEPT), Err(LibraryError::Unchanged)));
        let stale = Change { expected: Some(14), ..text("x") };
        assert!(matches!(library.edit("one", stale, Author::User, KEPT), Err(LibraryError::Moved { now: 15, .. })));
        library.delete("one").unwrap();
        assert!(library.version_files(&one.id).unwrap().is_empty());
    }

    /// Whenever the process dies, what is there is one of the two versions, and the old one is kept.
    #[test]
    fn a_change_is_carried_out_whole_or_not_at_all() {
        for step in ["journal", "kept", "text"] {
            let (folder, library) = library();
            let one = library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
            let at = |ending: &str| folder.path().join("state/scripts").join(format!("{}.{ending}", one.id));
            let old = fs::read(at("json")).unwrap();
            let mut wider = one.about.manifest.clone();
            wider.capabilities.network = true;
            library.edit("one", Change { manifest: Some(wider), ..text("echo 2") }, Author::User, KEPT).unwrap();
            let new = library.get("one").unwrap();
            let whole = json_of(&Whole { about: new.about.clone(), content: new.text.clone() });
            // As it was after that step.
            fs::write(at("next"), whole).unwrap();
            fs::write(at("json"), &old).unwrap();
            if step != "text" {
                fs::write(at("sh"), "echo 1").unwrap();
            }
            if step == "journal" {
                fs::remove_file(at("1.json")).unwrap();
            }
            let found = library.get("one").unwrap();
            assert_eq!((found.text.as_str(), found.digest()), ("echo 2", new.digest()), "{step}");
            assert_eq!(library.version("one", 1).unwrap().digest(), one.digest(), "{step}");
            assert!(!at("next").exists());
        }
    }

    #[test]
    fn what_is_damaged_is_called_so_and_harms_no_other_version() {
        let (folder, library) = library();
        let one = library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
        for number in 2..5 {
            library.edit("one", text(&format!("echo {number}")), Author::User, KEPT).unwrap();
        }
        let at = |ending: &str| folder.path().join("state/scripts").join(format!("{}.{ending}", one.id));
        fs::write(at("1.json"), "{").unwrap();
        fs::copy(at("3.json"), at("2.json")).unwrap();
        fs::write(at("09.json"), "x").unwrap();
        fs::write(at("77.json"), fs::read(at("3.json")).unwrap()).unwrap();
        let (all, wrong) = library.versions("one").unwrap();
        assert_eq!(all.iter().map(|one| one.about.version).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(wrong.len(), 3);
        for version in [1, 2, 77] {
            assert!(matches!(library.version("one", version), Err(LibraryError::Damaged { .. })), "{version}");
        }
        // A change that nobody can read keeps the script from being used.
        fs::write(at("next"), "no json").unwrap();
        assert!(matches!(library.get(&one.id), Err(LibraryError::Damaged { .. })));
        fs::remove_file(at("next")).unwrap();
        for about in [r#""version": 0"#, r#""version": 1, "automation_ids": ["a b"]"#] {
            let json = fs::read_to_string(at("json")).unwrap();
            fs::write(at("json"), json.replace(r#""version": 4"#, about)).unwrap();
            assert!(matches!(library.get(&one.id), Err(LibraryError::Damaged { .. })), "{about}");
            fs::write(at("json"), json).unwrap();
        }
    }

    #[test]
    fn two_who_edit_at_once_lose_nothing() {
        let (_folder, library) = library();
        let one = library.create("echo 0", Manifest::named("one"), "", Author::User).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (library, id) = (library.clone(), one.id.clone());
                scope.spawn(move || {
                    for number in 0..10 {
                        library.edit(&id, text(&format!("echo {writer} {number}")), Author::User, 100).unwrap();
                        library.get(&id).unwrap();
                    }
                });
            }
        });
        let (all, wrong) = library.versions(&one.id).unwrap();
        assert!(wrong.is_empty());
        assert_eq!(all.len(), 41);
        let texts: std::collections::BTreeSet<&str> = all.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts.len(), 41);
    }

    #[test]
    fn what_automations_use_stays() {
        let (_folder, library) = library();
        library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
        library.link("one", "nightly", true).unwrap();
        library.link("one", "on-mail:7", true).unwrap();
        assert!(matches!(library.link("one", "nightly", true), Err(LibraryError::Unchanged)));
        assert!(matches!(library.delete("one"), Err(LibraryError::InUse(users)) if users == ["nightly", "on-mail:7"]));
        for bad in ["", "a b", "a\nb", &"x".repeat(129)] {
            assert!(matches!(library.link("one", bad, true), Err(LibraryError::Automation(_))), "{bad:?}");
        }
        library.edit("one", text("echo 2"), Author::User, KEPT).unwrap();
        assert_eq!(library.get("one").unwrap().about.automation_ids.len(), 2);
        library.link("one", "nightly", false).unwrap();
        library.link("one", "on-mail:7", false).unwrap();
        library.delete("one").unwrap();
    }
}
