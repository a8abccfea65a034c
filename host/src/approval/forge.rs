//! What is written at a forge by the forge's own program, as far as a grant can name it.

use std::collections::BTreeSet;

use bashgate_shared::classify::Classification;
use bashgate_shared::programs::reaches::Place;

/// The program whose writes are told apart.
const FORGE: &str = "gh";

/// What is done, and where: the program with host and port.
pub type Kind = (BTreeSet<String>, BTreeSet<(String, String)>);

/// What a command writes at a forge, where its text names the repository, and nothing of what it says there comes out of a file: that may be
/// another text each time.
pub fn kind_of(found: &Classification) -> Option<Kind> {
    let (effects, reaches) = (&found.effects, found.reaches.as_ref()?);
    let is_forges = effects.network.iter().all(|used| used.program == FORGE);
    // What is said stands in the text, or in a document in it.
    let says_it = effects.programs.iter().all(|program| [FORGE, "cat"].contains(&program.as_str()));
    let is_plain = says_it && effects.reads.is_empty() && effects.writes.is_empty() && effects.secrets.is_empty();
    // A variable may choose what is meant.
    let is_whole = found.understood && effects.sets.is_empty() && !reaches.only_reads() && !reaches.targets.is_empty();
    (is_forges && is_plain && is_whole).then_some(())?;
    let targets = reaches.targets.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let acts = reaches.writes.iter().map(|kind| format!("{FORGE}: {kind} of {targets}")).collect();
    let hosts = reaches.places.iter().map(|place| match place {
        Place::Host { host, port } => Some((FORGE.to_owned(), format!("{host}:{port}"))),
        Place::Remote { .. } => None,
    });
    Some((acts, hosts.collect::<Option<_>>()?))
}
