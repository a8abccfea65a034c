//! Which words of a call that copies or packs files name what is copied: these are read and stay as they are.

use super::row;
use crate::classify::call::Arg;
use crate::classify::paths::file_name;

/// Letters of options without a value with which a program copies and does nothing else: links would be another name for the same file,
/// and some options delete what was copied, or name the target. A letter with a value in one is plain in another.
type Letters = &'static str;

/// How the words of a program that copies stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// What is copied, and the target behind it.
    ToLast(Letters),
    /// The archive, and what comes into it.
    IntoFirst(Letters),
    /// `tar`: letters that say what is done, the archive, and what comes into it.
    AsTar,
}

/// What is made of the words that name what is copied, by a call of which [`only_read`] says them: in the target, which may be a folder,
/// each has the name that it had.
pub(crate) fn made_by(program: &str, args: &[Arg], only_read: &[usize]) -> Vec<String> {
    if !row(program).is_some_and(|row| matches!(row.copies, Some(Copies::ToLast(_)))) {
        return Vec::new();
    }
    let Some(target) = args.iter().rfind(|arg| !arg.start().starts_with('-')) else { return Vec::new() };
    let sources = only_read.iter().filter_map(|at| args.get(*at)).map(|arg| file_name(arg.start()));
    let names = sources.filter(|name| !matches!(*name, "" | "." | ".."));
    names.map(|name| format!("{}/{name}", target.start().trim_end_matches('/'))).collect()
}

/// The places among the words that name what is copied, where that is certain.
pub(crate) fn only_read(program: &str, args: &[Arg]) -> Vec<usize> {
    let Some(copies) = row(program).and_then(|row| row.copies) else { return Vec::new() };
    let letters = match copies {
        Copies::ToLast(letters) | Copies::IntoFirst(letters) => letters,
        Copies::AsTar => "",
    };
    let is_plain = |text: &str| {
        let long = ["--recursive", "--archive", "--verbose", "--preserve", "--progress", "--compress"];
        long.contains(&text) || !text.starts_with("--") && text.chars().skip(1).all(|letter| letters.contains(letter))
    };
    let words: Option<Vec<&str>> = args.iter().map(Arg::exact).collect();
    let Some(words) = words else { return Vec::new() };
    let from = match copies {
        Copies::AsTar => {
            let Some(letters) = words.first().map(|word| word.trim_start_matches('-')) else { return Vec::new() };
            let packs = letters.contains('c') && letters.chars().all(|letter| "cvzjJahpf".contains(letter));
            // The archive stands behind the last letter, or the terminal is meant.
            match (packs, letters.find('f')) {
                (true, None) => 1,
                (true, Some(at)) if at + 1 == letters.len() => 2,
                _ => return Vec::new(),
            }
        }
        Copies::ToLast(_) | Copies::IntoFirst(_) => 0,
    };
    let rest = words.get(from..).unwrap_or_default();
    let may_have_options = copies != Copies::AsTar;
    if rest.iter().any(|word| word.starts_with('-') && !(may_have_options && is_plain(word))) {
        return Vec::new();
    }
    let mut places: Vec<usize> =
        (from..words.len()).filter(|at| words.get(*at).is_some_and(|word| !word.starts_with('-'))).collect();
    match copies {
        Copies::ToLast(_) => drop(places.pop()),
        Copies::IntoFirst(_) => drop(places.drain(..places.len().min(1))),
        Copies::AsTar => {}
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_copied_is_only_read() {
        for (command, want) in [
            ("cp a b", vec![0]),
            ("cp -r a b c", vec![1, 2]),
            ("cp -l a b", vec![]),
            ("cp -t a b", vec![]),
            ("cp --target-directory=a b", vec![]),
            ("cp -s a b", vec![]),
            ("rsync -av a/ b", vec![1]),
            ("rsync --remove-source-files a b", vec![]),
            ("rsync -e x a b", vec![]),
            ("scp -r a h:", vec![1]),
            ("zip -r x.zip a b", vec![2, 3]),
            ("zip -m x.zip a", vec![]),
            ("zip -n .jpg x.zip a", vec![]),
            ("zip -P pw x.zip a", vec![]),
            ("rsync a b -f x", vec![]),
            ("scp a b -P 22", vec![]),
            ("tar c a", vec![1]),
            ("tar czf x a b", vec![2, 3]),
            ("tar -cf x a", vec![2]),
            ("tar -fc x a", vec![]),
            ("tar xf x a", vec![]),
            ("tar rf x a", vec![]),
            ("tar cf x --remove-files a", vec![]),
            ("tar cf x -C a b", vec![]),
            ("mv a b", vec![]),
            ("install a b", vec![]),
            ("ln a b", vec![]),
        ] {
            let mut words = command.split(' ');
            let program = words.next().unwrap();
            let args: Vec<Arg> = words.map(Arg::literal).collect();
            assert_eq!(only_read(program, &args), want, "{command}");
        }
    }
}
