//! What a command writes over the network, as far as a grant can name it: at a forge by the forge's own program, and by git's push.

use std::collections::BTreeSet;

use bashgate_shared::classify::Classification;
use bashgate_shared::programs::reaches::{Target, may_be_folder};
use bashgate_shared::programs::{self, is_git};

use crate::policy::egress::{self, Remotes};

/// The program of forges whose writes are told apart.
const FORGE: &str = "gh";

/// What is done, and where: the program with host and port.
pub type Kind = (BTreeSet<String>, BTreeSet<(String, String)>);

/// What a command writes, where its text or the repositories that it works in say to which repository.
///
/// What is said at a forge stands in the text, for whoever reads it afterwards; nothing of it comes out of a file, which may say
/// something else each time. A push sends what the repository holds, which is what a grant for it lets through.
pub fn kind_of(found: &Classification, remotes: &Remotes) -> Option<Kind> {
    let (effects, reaches) = (&found.effects, found.reaches.as_ref()?);
    let by = |program: &str| effects.network.iter().any(|used| used.program == program);
    let (at_forge, pushes) = (by(FORGE), effects.network.iter().any(|used| is_git(&used.program)));
    let is_theirs = effects.network.iter().all(|used| used.program == FORGE || is_git(&used.program));
    let of = |name: &'static str| {
        found.calls.iter().filter(move |call| matches!(call.first(), Some(Some(program)) if program == name))
    };
    // A document in the text goes through `cat`, which then has no words.
    let stands_in_text = || {
        // A document in the text is known; a variable, or what a substitution prints, says something else each time.
        let is_known = |word: &Option<String>| word.as_ref().is_some_and(|word| !may_be_folder(word));
        of(FORGE).all(|call| call.iter().all(is_known))
            && of("cat").all(|call| call.len() == 1)
            && effects.programs.iter().all(|program| {
                program == FORGE || program == "cat" || programs::CHANGE_FOLDER.contains(&program.as_str())
            })
            && effects.reads.is_empty()
            && effects.writes.is_empty()
            && !effects.reads_unknown
    };
    let is_plain = effects.secrets.is_empty() && effects.delivers.is_empty() && (!at_forge || stands_in_text());
    // A variable may choose what is meant. Which of two programs writes where, nobody says.
    let is_whole = found.understood && effects.sets.is_empty() && !reaches.only_reads() && !(at_forge && pushes);
    (is_theirs && is_plain && is_whole).then_some(())?;
    let mut repositories = BTreeSet::new();
    for target in &reaches.targets {
        match target {
            Target::Named(name) => drop(repositories.insert(name.clone())),
            Target::Remote { folder, remote } => {
                let told = &remotes.get(&(folder.clone(), remote.clone()))?.repositories;
                (!told.is_empty()).then_some(())?;
                repositories.extend(told.iter().map(|name| if at_forge { at_its_forge(name) } else { name.clone() }));
            }
        }
    }
    (!repositories.is_empty()).then_some(())?;
    let program = if at_forge { FORGE } else { "git" };
    let preposition = if at_forge { "of" } else { "to" };
    let mut acts = BTreeSet::new();
    for kind in &reaches.writes {
        acts.extend(repositories.iter().map(|name| format!("{program}: {kind} {preposition} {name}")));
    }
    let ends = egress::ends(reaches, remotes)?;
    let hosts = ends.into_iter().map(|(host, port)| (program.to_owned(), format!("{host}:{port}")));
    Some((acts, hosts.collect()))
}

/// True where the forge's program has git look at the working tree, which may start what the repository's settings say.
pub fn looks_at_folder(found: &Classification) -> bool {
    let word = |call: &[Option<String>], at: usize| call.get(at).cloned().flatten();
    found.calls.iter().any(|call| {
        word(call, 0).is_some_and(|program| program == FORGE)
            && word(call, 2).is_none_or(|word| matches!(word.as_str(), "create" | "new"))
    })
}

/// As the forge's program names it, which asks for one host alone: the last two parts, in small letters.
fn at_its_forge(repository: &str) -> String {
    let path = repository.strip_suffix(".git").unwrap_or(repository);
    let mut parts = path.rsplit(['/', ':']);
    let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{owner}/{name}").to_ascii_lowercase()
}
