//! `{a,b}` and `{1..3}`: one word that the shell makes several of, before it looks at anything else.

use crate::shell::Piece;
use crate::shell::Variable;

/// Most words that one word may become.
const MAX_WORDS: usize = 64;

/// The words that a word with braces becomes, or `None` when it has none or they are nested or otherwise unusual.
///
/// A brace without its partner, or around neither a comma nor `..`, stands for itself.
pub(super) fn expand(pieces: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    if !pieces.iter().any(|piece| matches!(piece, Piece::Brace)) {
        return None;
    }
    let mut done: Vec<Vec<Atom>> = vec![Vec::new()];
    let atoms = atoms(pieces)?;
    let mut rest = atoms.as_slice();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if !matches!(first, Atom::Open) {
            for word in &mut done {
                word.push(*first);
            }
            continue;
        }
        let end = more.iter().position(|atom| matches!(atom, Atom::Open | Atom::Char('}', false)));
        let choices = match end {
            // Nothing closes it: it stands for itself.
            None => vec![vec![Atom::Char('{', true)]],
            Some(end) if matches!(more.get(end), Some(Atom::Open)) => return None,
            Some(end) => {
                let inside = more.get(..end)?;
                rest = more.get(end + 1..)?;
                // Without a comma inside, bash looks on for a later brace with one before it.
                let comma = |atoms: &[Atom]| atoms.iter().any(|atom| matches!(atom, Atom::Char(',', false)));
                if !comma(inside) && comma(rest) {
                    return None;
                }
                choices(inside)?
            }
        };
        if done.len() * choices.len() > MAX_WORDS {
            return None;
        }
        done = done
            .iter()
            .flat_map(|word| choices.iter().map(move |choice| word.iter().chain(choice).copied().collect()))
            .collect();
    }
    // An empty word vanishes unless quotes keep it; which of the two it is, is not followed here.
    let is_empty = |piece: &Piece| matches!(piece, Piece::Text { text, .. } if text.is_empty());
    if done.iter().any(Vec::is_empty) || pieces.iter().any(is_empty) {
        return None;
    }
    Some(done.iter().map(|word| pieces_of(word, pieces)).collect())
}

/// A character of literal text with whether it was quoted, an unquoted `{`, or a piece by its index.
#[derive(Debug, Clone, Copy)]
enum Atom {
    Char(char, bool),
    Open,
    Piece(usize),
}

fn atoms(pieces: &[Piece]) -> Option<Vec<Atom>> {
    let mut atoms = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { text, quoted } => atoms.extend(text.chars().map(|c| Atom::Char(c, *quoted))),
            Piece::Brace => atoms.push(Atom::Open),
            // These are looked for after the braces, so they may stand inside one and be taken twice.
            Piece::Glob(_) => atoms.push(Atom::Piece(index)),
            // The word that a brace makes of them may mean another variable or a home folder.
            _ => return None,
        }
    }
    Some(atoms)
}

/// What stands between the braces, as the texts that one of them is chosen from.
fn choices(inside: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    if inside.iter().any(|atom| matches!(atom, Atom::Char(',', false))) {
        return Some(inside.split(|atom| matches!(atom, Atom::Char(',', false))).map(<[Atom]>::to_vec).collect());
    }
    let plain: Option<String> =
        inside.iter().map(|atom| if let Atom::Char(c, false) = atom { Some(*c) } else { None }).collect();
    match plain {
        Some(text) if text.contains("..") => {
            let (from, to) = text.split_once("..")?;
            let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('0') || text == "0");
            let (from, to) = (number(from)?, number(to)?);
            let count = usize::try_from(from.abs_diff(to)).ok()?;
            if count >= MAX_WORDS {
                return None;
            }
            let numbers: Vec<u32> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
            Some(
                numbers
                    .iter()
                    .map(|number| number.to_string().chars().map(|c| Atom::Char(c, true)).collect())
                    .collect(),
            )
        }
        Some(text) => Some(vec![format!("{{{text}}}").chars().map(|c| Atom::Char(c, true)).collect()]),
        None => None,
    }
}

fn pieces_of(atoms: &[Atom], pieces: &[Piece]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for atom in atoms {
        match atom {
            Atom::Char(c, quoted) => match out.last_mut() {
                Some(Piece::Text { text, quoted: same }) if same == quoted => text.push(*c),
                _ => out.push(Piece::Text { text: c.to_string(), quoted: *quoted }),
            },
            Atom::Open => {}
            Atom::Piece(index) => {
                if let Some(Piece::Glob(c)) = pieces.get(*index) {
                    out.push(Piece::Glob(*c));
                }
            }
        }
    }
    // A tilde that a brace brings to the start of a word is expanded, too.
    if let Some(Piece::Text { text, quoted: false }) = out.first_mut()
        && text.starts_with('~')
    {
        let rest = text.split_off(1);
        let end = rest.find('/').unwrap_or(rest.len());
        let (prefix, behind) = rest.split_at(end);
        let folder = Variable::behind_tilde(prefix);
        *text = if folder.is_some() { behind.to_owned() } else { rest.clone() };
        out.insert(0, folder.map_or(Piece::Tilde, Piece::Variable));
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::classify::call::Arg;
    use crate::shell::{Command, Shell, read};

    fn words(text: &str) -> Vec<String> {
        let document = read(&format!("x {text}"), Shell::Bash).unwrap();
        let Some(Command::Simple(simple)) = document.script.steps[0].pipeline.first() else { panic!("{text}") };
        simple
            .words
            .iter()
            .skip(1)
            .flat_map(|word| Arg::all_of(word, &|_| None))
            .map(|arg| arg.exact().map_or_else(|| format!("{}…", arg.start()), str::to_owned))
            .collect()
    }

    #[test]
    fn braces_expand_as_bash_expands_them() {
        for (text, want) in [
            ("{a,b}", vec!["a", "b"]),
            ("x{a,b}y", vec!["xay", "xby"]),
            ("{a,b}{1,2}", vec!["a1", "a2", "b1", "b2"]),
            ("{1..3}", vec!["1", "2", "3"]),
            ("{3..1}", vec!["3", "2", "1"]),
            ("{a}", vec!["{a}"]),
            ("HEAD@{1}", vec!["HEAD@{1}"]),
            ("{}", vec!["{}"]),
            ("{'a,b',c}", vec!["a,b", "c"]),
            ("{~,x}/y", vec!["~/y", "x/y"]),
            ("{~+,x}/y", vec!["…", "x/y"]),
            ("{~-,~1}/y", vec!["…", "…"]),
            ("{a,b", vec!["{a,b"]),
            ("{a,{b,c}}", vec!["…"]),
            ("{txt}a,b}c", vec!["…"]),
            ("x{}ya,b}y", vec!["x…"]),
            ("{}a,b}c", vec!["…"]),
            ("{},{a,b}", vec!["…"]),
            ("a{}b", vec!["a{}b"]),
            ("{a..c}", vec!["…"]),
            ("{,x}", vec!["…"]),
            ("src/{a,b}/*.rs", vec!["src/a/…", "src/b/…"]),
        ] {
            assert_eq!(words(text), want, "{text}");
        }
    }
}
