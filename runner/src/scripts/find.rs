//! Finding a script by words: what it is called, or what it is to do.

use std::cmp::Ordering;

use super::library::Script;

/// How much a script must fit, from 0 to 1.
const LEAST: f64 = 0.5;
/// Most that are told.
const MOST: usize = 10;
/// How alike two words must be to count as one that is spelled in another way.
const ALIKE: f64 = 0.86;
/// Words that say nothing about what a script does.
const EMPTY: &[&str] = &[
    "a", "an", "the", "my", "our", "and", "or", "to", "of", "in", "on", "for", "with", "from", "script", "run",
    "please", "that",
];

/// The scripts that fit, the best first, each with how much it fits: from 0 to 1, where 1 is the very name.
pub fn best<'s>(words: &str, scripts: &'s [Script]) -> Vec<(&'s Script, f64)> {
    let mut found: Vec<(&Script, f64)> = scripts.iter().map(|script| (script, score(words, script))).collect();
    found.retain(|(_, score)| *score >= LEAST);
    found.sort_by(|(a, of_a), (b, of_b)| {
        of_b.partial_cmp(of_a)
            .unwrap_or(Ordering::Equal)
            .then_with(|| a.about.created_at_ms.cmp(&b.about.created_at_ms))
    });
    found.truncate(MOST);
    found
}

/// How much a script fits.
fn score(asked: &str, script: &Script) -> f64 {
    let name = &script.about.manifest.name;
    if asked.trim().eq_ignore_ascii_case(name) {
        return 1.0;
    }
    let wanted = words_of(asked);
    if wanted.is_empty() {
        return 0.0;
    }
    let (in_name, in_text) = (words_of(name), words_of(&script.about.description));
    let fits = |word: &str, among: &[String]| among.iter().map(|one| likeness(word, one)).fold(0.0, f64::max);
    // A word of the name says more than one of the description.
    let each = wanted.iter().map(|word| fits(word, &in_name).max(0.8 * fits(word, &in_text)));
    let asked_for = each.sum::<f64>() / count(&wanted);
    let named = if in_name.is_empty() {
        0.0
    } else {
        in_name.iter().map(|word| fits(word, &wanted)).sum::<f64>() / count(&in_name)
    };
    // `run my log-cleanup script when …` says much besides the name.
    (0.99 * named).max(asked_for)
}

fn count(words: &[String]) -> f64 {
    f64::from(u32::try_from(words.len()).unwrap_or(u32::MAX))
}

/// From 0 to 1: the same word, the same with another ending, or one that is spelled in another way.
fn likeness(one: &str, other: &str) -> f64 {
    if one == other {
        return 1.0;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if short.len() >= 3 && long.starts_with(short) && long.len() - short.len() <= 3 {
        return 0.95;
    }
    let alike = strsim::jaro_winkler(one, other);
    if short.len() >= 4 && alike >= ALIKE { alike } else { 0.0 }
}

/// The words that say something, in small letters.
fn words_of(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !EMPTY.contains(&word.as_str())).take(64).collect()
}

#[cfg(test)]
mod tests {
    use bashgate_shared::script::Manifest;

    use super::super::library::{Author, Library};
    use super::*;

    #[test]
    fn a_script_is_found_by_what_people_say() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::at(folder.path().join("state"));
        for (name, description) in [
            ("log-cleanup", "Compresses old logs below /var/log and removes those of last year"),
            ("invoices", "Takes the total of an invoice and appends it to the expenses"),
            ("backup", "Packs the photos and puts them on the other disk"),
            ("upload", "Uploads an archive to S3"),
        ] {
            library.create("true", Manifest::named(name), description, Author::User).unwrap();
        }
        let (scripts, _) = library.list().unwrap();
        let first = |words: &str| best(words, &scripts).first().map(|(script, _)| script.about.manifest.name.clone());
        for (words, want) in [
            ("log-cleanup", Some("log-cleanup")),
            ("Log-Cleanup", Some("log-cleanup")),
            ("run my log cleanup script", Some("log-cleanup")),
            ("when I get an email from backup@cron.daily, run my log-cleanup script", Some("log-cleanup")),
            ("compress logs", Some("log-cleanup")),
            ("the total of invoices", Some("invoices")),
            ("pack photos", Some("backup")),
            ("bakcup", Some("backup")),
            ("upload the archive", Some("upload")),
            ("translate a letter", None),
            ("", None),
            ("the", None),
        ] {
            assert_eq!(first(words).as_deref(), want, "{words}");
        }
        assert!((best("backup", &scripts)[0].1 - 1.0).abs() < f64::EPSILON);
    }
}
