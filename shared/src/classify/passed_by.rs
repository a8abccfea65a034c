//! Which files a program that goes through folders passes by: by its own rules, or because it was told so.

use serde::Serialize;

/// Lists of what a search passes by, wherever they lie.
pub const LISTS: [&str; 3] = [".gitignore", ".ignore", ".rgignore"];

/// True for a file that such a list may be or come from: one of these, or anything that git reads.
pub fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    LISTS.contains(&name)
        || name == "ignore"
        || path.split('/').any(|part| part == ".git" || part.starts_with(".gitconfig"))
}

/// What is not read of all that lies below a folder. By default nothing is passed by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct PassedBy {
    /// Files that fit none of these patterns, where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub but: Vec<String>,
    /// Files that fit one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Folders that fit one of these, with all in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Names with a dot in front, and what lists such as `.gitignore` name, unless such a list takes something back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl PassedBy {
    /// True for nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// True where one of these folders, with all in it, is passed by because the call says so.
    pub fn has_folder(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| fit(&self.folders, folder))
    }

    /// The same for a file of this name.
    pub fn has_file(&self, name: &str) -> bool {
        !self.but.is_empty() && !fit(&self.but, name) || fit(&self.files, name)
    }
}

fn fit(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name))
}

/// Most stars of a pattern.
const MAX_STARS: usize = 4;

/// True for a pattern that everybody reads alike: letters and stars.
pub fn is_plain_pattern(pattern: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-*+@,=~ ".contains(&byte);
    !pattern.is_empty() && pattern.bytes().all(is_plain) && pattern.matches('*').count() <= MAX_STARS
}

/// True for a name that fits a pattern with stars.
pub fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|behind| {
            (0..=behind.len()).any(|at| behind.get(at..).is_some_and(|behind| fits(rest, behind)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_to_be_passed_by() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let only = PassedBy { but: list(&["*.rs", "*.toml"]), ..PassedBy::default() };
        assert!(only.has_file(".env") && !only.has_file("a.rs") && !only.has_file(".rs") && !only.has_folder(&["x"]));
        let without =
            PassedBy { files: list(&[".env*"]), folders: list(&["node_modules", "conf*"]), ..PassedBy::default() };
        assert!(without.has_file(".env.local") && without.has_folder(&["a", "conf.d"]) && !without.has_file("k"));
        for nothing in [&without, &PassedBy::default()] {
            assert!(!nothing.has_folder(&["a"]) && !nothing.has_file("id_rsa"));
        }
        for (pattern, plain) in
            [("*.rs", true), ("[a]*", false), ("a?", false), ("a\\*", false), ("", false), ("a/b", false)]
        {
            assert_eq!(is_plain_pattern(pattern), plain, "{pattern}");
        }
    }
}
