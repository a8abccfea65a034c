//! gh, by its manual (gh 2.23 to 2.83): what it shows of a forge, and what it writes there. Its own commands win over aliases and
//! extensions of the same name; only such stand here as all these versions have.

use super::{Brings, FETCH_BYTES, Place, Reaches, Sorted, Target, VIEW_BYTES, WORDS_BYTES, is_host, is_plain};
use crate::classify::{Condition, GitWork, Shown};
use crate::programs::SSH;

/// What it only shows: command, and what stands behind it.
const SHOWS: &[(&str, &[&str])] = &[
    ("pr", &["view", "list", "ls", "status", "checks", "diff"]),
    ("issue", &["view", "list", "ls", "status"]),
    ("run", &["view", "list", "ls", "watch", "download"]),
    ("repo", &["view", "list", "ls"]),
    ("release", &["view", "list", "ls", "download"]),
    ("workflow", &["view", "list", "ls"]),
    ("search", &["repos", "issues", "prs", "commits", "code"]),
    ("label", &["list", "ls"]),
    ("gist", &["view", "list", "ls"]),
    ("secret", &["list", "ls"]),
    ("auth", &["status"]),
];
/// What it changes, by the kind of it: who grants one of a kind grants all of that kind for a while. With the options of each, by its own
/// manual, since the same letter has a value in one and none in another (`=` where it has); and such alone as say nothing but words, names
/// and numbers: another may read a file, open an editor, approve or throw away.
const CHANGES: &[(&str, &[&str], &str, &str)] = &[
    (
        "pr",
        &["create", "new"],
        TALK,
        "--title= --body= -t= -b= --base= -B= --head= -H= --draft --label= -l= --repo= -R=",
    ),
    ("issue", &["create", "new"], TALK, "--title= --body= -t= -b= --label= -l= --repo= -R="),
    ("pr", &["edit"], TALK, "--title= --body= -t= -b= --base= -B= --add-label= --remove-label= --repo= -R="),
    ("pr", &["comment"], TALK, "--body= -b= --repo= -R="),
    ("pr", &["review"], TALK, "--body= -b= --comment -c --request-changes -r --repo= -R="),
    ("pr", &["close", "reopen"], TALK, "--comment= -c= --repo= -R="),
    ("pr", &["ready"], TALK, "--undo --repo= -R="),
    ("issue", &["edit"], TALK, "--title= --body= -t= -b= --add-label= --remove-label= --repo= -R="),
    ("issue", &["comment"], TALK, "--body= -b= --repo= -R="),
    ("issue", &["close"], TALK, "--comment= -c= --reason= -r= --repo= -R="),
    ("issue", &["reopen"], TALK, "--comment= -c= --repo= -R="),
    ("pr", &["merge"], "merge", "--squash --merge --rebase --subject= --body= -b= --match-head-commit= --repo= -R="),
    ("run", &["rerun"], "runs", "--failed --job= -j= --repo= -R="),
    ("run", &["cancel"], "runs", "--repo= -R="),
    ("workflow", &["run"], "runs", "--ref= --raw-field= -f= --repo= -R="),
    ("label", &["create"], TALK, "--color= --description= --repo= -R="),
    ("label", &["edit"], TALK, "--color= --description= --name= --repo= -R="),
    (
        "release",
        &["create", "edit"],
        "releases",
        "--title= -t= --notes= --target= --draft --prerelease --latest --repo= -R=",
    ),
];
const TALK: &str = "pull requests and issues";
/// Options of what it shows that have a value, in all of it the same. Others have none, or are of no matter where they stand.
const VALUED: &[&str] = &[
    "-R",
    "--repo",
    "-q",
    "--jq",
    "-t",
    "--template",
    "--json",
    "-L",
    "--limit",
    "-s",
    "--state",
    "-l",
    "--label",
    "-A",
    "--author",
    "-a",
    "--assignee",
    "-S",
    "--search",
    "-B",
    "--base",
    "-H",
    "--head",
    "-b",
    "--branch",
    "--body",
    "-F",
    "--body-file",
    "--title",
    "--color",
    "-j",
    "--job",
    "-p",
    "--pattern",
    "-D",
    "--dir",
    "-O",
    "--output",
    "-n",
    "--name",
    "--app",
    "-m",
    "--milestone",
    "--mention",
    "-c",
    "--created",
    "-u",
    "--user",
    "-e",
    "--event",
    "-w",
    "--workflow",
    "--commit",
    "--status",
    "--attempt",
    "-i",
    "--interval",
    "--order",
    "--sort",
    "--owner",
    "--language",
    "--hostname",
    "-r",
    "--reviewer",
    "--notes",
    "--target",
    "-f",
    "--field",
    "--raw-field",
    "--ref",
    "--subject",
    "--match-head-commit",
    "--comment",
    "--reason",
    "--project",
    "--add-label",
    "--remove-label",
    "--add-assignee",
    "--remove-assignee",
    "--add-reviewer",
    "--remove-reviewer",
    "-d",
    "--description",
    "--desc",
    "-N",
    "--notes-file",
];
/// Options that open a browser or an editor, or send a file.
const STARTS: &[&str] =
    &["--web", "--browser", "--editor", "--body-file", "--notes-file", "--input", "--fill", "--recover"];

/// What a call of it reaches; `None` for a word that is only known when it runs.
pub(in crate::programs) fn of(words: &[Option<&str>], folders: Option<&[String]>) -> Option<Reaches> {
    let (command, rest) = words.split_first()?;
    let command = (*command)?;
    if command == "api" {
        return api(rest, folders);
    }
    if command == "status" {
        return shown(("status", ""), rest, folders);
    }
    let (sub, rest) = rest.split_first()?;
    let sub = (*sub)?;
    if (command, sub) == ("repo", "clone") {
        return cloned(rest, folders);
    }
    if SHOWS.iter().any(|(name, subs)| *name == command && subs.contains(&sub)) {
        return shown((command, sub), rest, folders);
    }
    let (.., kind, options) = CHANGES.iter().find(|(name, subs, ..)| *name == command && subs.contains(&sub))?;
    changed((command, kind), options, rest, folders)
}

/// The words of a call as options with their values and operands.
struct Words<'w> {
    options: Vec<(&'w str, Option<&'w str>)>,
    operands: Vec<Option<&'w str>>,
}

fn split<'w>(words: &[Option<&'w str>], is_valued: impl Fn(&str) -> bool) -> Option<Words<'w>> {
    let mut found = Words { options: Vec::new(), operands: Vec::new() };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            Some("--") => found.operands.extend(words.by_ref()),
            Some(word) if word.starts_with('-') && word.len() > 1 => {
                if let Some((name, value)) = word.split_once('=') {
                    found.options.push((name, Some(value)));
                } else if is_valued(word) {
                    // The same letter has no value in another command: then what follows is an option by itself.
                    let value = words.next()?;
                    if value.is_some_and(|value| value.starts_with('-')) {
                        return None;
                    }
                    found.options.push((word, value));
                } else if !word.starts_with("--") && word.len() > 2 {
                    // A letter with its value behind it, the same in all of them; letters that stand together mean too much.
                    let name = word.get(..2)?;
                    if !matches!(name, "-R" | "-L" | "-q") {
                        return None;
                    }
                    found.options.push((name, word.get(2..)));
                } else {
                    found.options.push((word, None));
                }
            }
            word => found.operands.push(word),
        }
    }
    Some(found)
}

/// The hosts of a forge at this name, for its programs.
fn api_of(host: &str) -> Option<Place> {
    let host = host.to_ascii_lowercase();
    if host == "github.com" || host == "api.github.com" {
        return Some(Place::https("api.github.com"));
    }
    is_host(&host).then(|| Place::https(if host.ends_with(".ghe.com") { format!("api.{host}") } else { host }))
}

/// Where words say that the repository lies, and what it is called: `OWNER/NAME`, `HOST/OWNER/NAME`, an address.
fn repository(text: &str) -> Option<(Place, String)> {
    let rest = text.strip_prefix("https://").unwrap_or(text);
    let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && !part.starts_with(['-', '.'])
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let (host, owner, name) = match parts.as_slice() {
        [owner, name] if rest == text => ("github.com", owner, name),
        [host, owner, name, ..] => (*host, owner, name),
        _ => return None,
    };
    (is_name(owner) && is_name(name)).then_some(())?;
    Some((api_of(host)?, format!("{owner}/{}", name.trim_end_matches(".git")).to_ascii_lowercase()))
}

/// By what a call says where its repository lies.
enum Named {
    /// By its words.
    Here(Place, String),
    /// By the folder in which it starts.
    ByFolder,
}

impl Named {
    fn by(text: &str) -> Option<Self> {
        repository(text).map(|(place, name)| Self::Here(place, name))
    }

    fn place(&self) -> Option<Place> {
        match self {
            Self::Here(place, _) => Some(place.clone()),
            Self::ByFolder => api_of("github.com"),
        }
    }
}

/// Where a call goes by its options and operands; `None` where they say it in a way that is not understood.
fn by_words(words: &Words<'_>) -> Option<Named> {
    let mut named = words.options.iter().filter(|(name, _)| matches!(*name, "-R" | "--repo")).map(|(_, value)| *value);
    let mut addresses = words.operands.iter().flatten().copied().filter(|word| word.contains("://"));
    // Which of several counts is the program's own secret.
    match (named.next(), addresses.next(), named.next().is_some() || addresses.next().is_some()) {
        (_, _, true) | (Some(_), Some(_), _) => None,
        (Some(value), None, false) => Named::by(value?),
        (None, Some(address), false) => Named::by(address),
        (None, None, false) => Some(Named::ByFolder),
    }
}

/// It asks git which remotes there are.
fn asks_git(folders: &[String]) -> impl Iterator<Item = Condition> {
    let of =
        |folder: &String| Condition::GitIsInert { folder: folder.clone(), shows: Shown::Nothing, work: GitWork::Reads };
    folders.iter().map(of)
}

/// The repositories that it may take by itself in a folder: any of those that its remotes are.
fn of_folders(folders: &[String]) -> impl Iterator<Item = Target> {
    folders.iter().map(|folder| Target::Remote { folder: folder.clone(), remote: "*".to_owned() })
}

fn shown((command, sub): (&str, &str), words: &[Option<&str>], folders: Option<&[String]>) -> Option<Reaches> {
    let words = split(words, |name| VALUED.contains(&name))?;
    // Its own jq has the whole environment.
    let tells =
        |(name, value): &(&str, Option<&str>)| matches!(*name, "-q" | "--jq") && value.is_none_or(reads_environment);
    if words.options.iter().any(tells) {
        return None;
    }
    // All that it sends stands in the text.
    let values: Vec<&str> = words.options.iter().filter_map(|(_, value)| *value).collect();
    let is_said = words.operands.iter().all(Option::is_some)
        && words.options.iter().all(|(name, value)| value.is_some() || !VALUED.contains(name));
    let is_local = |name: &str| matches!(name, "-q" | "--jq" | "-t" | "--template" | "--json");
    let sent = words.options.iter().filter(|(name, _)| !is_local(name)).filter_map(|(_, value)| *value);
    if !is_said || !sent.chain(words.operands.iter().flatten().copied()).all(is_plain) || values.len() > 64 {
        return None;
    }
    // What opens a browser has one letter in most commands; in that of runs the letter is another's.
    let opens =
        |(name, _): &(&str, Option<&str>)| STARTS.contains(name) || *name == "-w" && (command, sub) != ("run", "list");
    if words.options.iter().any(opens) {
        return None;
    }
    if words.options.iter().any(|(name, value)| *name == "--hostname" && value.and_then(api_of) != api_of("github.com"))
    {
        return None;
    }
    // What it brings goes where no program looks by itself.
    let into = words.options.iter().filter(|(name, _)| matches!(*name, "-D" | "--dir" | "-O" | "--output"));
    if !into.filter_map(|(_, value)| *value).all(super::git::is_new_folder) {
        return None;
    }
    if command == "auth" && words.options.iter().any(|(name, _)| matches!(*name, "-t" | "--show-token")) {
        return None;
    }
    let named = match command {
        // The repository is the operand.
        "repo" => {
            let operand = words.operands.first().copied().flatten();
            operand.filter(|operand| operand.contains('/')).map_or(Some(Named::ByFolder), Named::by)?
        }
        "search" | "auth" | "status" | "gist" => Named::Here(api_of("github.com")?, String::new()),
        _ => by_words(&words)?,
    };
    let place = named.place()?;
    let is_forges = place == Place::https("api.github.com");
    let mut places = vec![place];
    if matches!(command, "release" | "run") && is_forges {
        // Where files are that it shows the way to.
        places.extend(FILES.iter().map(|host| Place::https(*host)));
    }
    // It may ask git whatever it is told.
    let reaches = Reaches::reads(places, VIEW_BYTES).when(asks_git(folders?));
    Some(if sub == "download" { reaches.bringing(Brings::Anywhere) } else { reaches })
}

/// Where the files of releases and runs lie.
const FILES: &[&str] = &["github.com", "objects.githubusercontent.com", "release-assets.githubusercontent.com"];

fn changed(
    (command, kind): (&str, &str),
    known: &str,
    words: &[Option<&str>],
    folders: Option<&[String]>,
) -> Option<Reaches> {
    let words = split(words, |name| known.split_ascii_whitespace().any(|one| one.strip_suffix('=') == Some(name)))?;
    // What is taken for an option's value here may be what it is about: an address says another repository.
    let is_address = |(name, value): &(&str, Option<&str>)| {
        let begins = |value: &str| value.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
        !matches!(*name, "-R" | "--repo") && value.is_some_and(begins)
    };
    // A number is one of the repository that was said; a branch may be anybody's.
    let is_number = |word: Option<&str>| {
        word.is_some_and(|word| is_digits(word.strip_prefix('#').unwrap_or(word)) || word.contains("://"))
    };
    let is_about_number = matches!(command, "pr" | "issue");
    if words.options.iter().any(is_address) || is_about_number && !words.operands.iter().copied().all(is_number) {
        return None;
    }
    let is_known = |name: &str| known.split_ascii_whitespace().any(|one| one.strip_suffix('=').unwrap_or(one) == name);
    if !words.options.iter().all(|(name, _)| is_known(name)) {
        return None;
    }
    // They stand in an address as they are.
    let is_name = |word: &str| !word.contains(['/', '?', '#', '%', '\\']) && !matches!(word, "." | "..");
    let names = words.operands.iter().map(|word| {
        word.is_some_and(|word| match command {
            "run" => is_digits(word),
            "label" | "release" | "workflow" => is_name(word),
            _ => true,
        })
    });
    let jobs = words.options.iter().filter(|(name, _)| matches!(*name, "--job" | "-j"));
    let labels = words.options.iter().filter(|(name, _)| command == "label" && *name == "--name");
    if !names.into_iter().all(|is| is)
        || !jobs.into_iter().all(|(_, value)| value.is_some_and(is_digits))
        || !labels.into_iter().all(|(_, value)| value.is_some_and(is_name))
    {
        return None;
    }
    // Files stand behind the name of a release, inputs behind that of a workflow.
    if matches!(command, "release" | "workflow" | "label") && words.operands.len() != 1 {
        return None;
    }
    let named = by_words(&words)?;
    // It has git look at the working tree before it says something of a branch.
    let mut reaches = Reaches::reads([named.place()?], WORDS_BYTES).when(super::git::inert(folders?));
    reaches.writes.insert(kind.to_owned());
    match named {
        Named::Here(_, target) => drop(reaches.targets.insert(Target::Named(target))),
        Named::ByFolder => reaches.targets.extend(of_folders(folders?)),
    }
    Some(reaches)
}

/// What it has git clone, without an option of either.
fn cloned(words: &[Option<&str>], folders: Option<&[String]>) -> Option<Reaches> {
    let words: Vec<&str> = words.iter().copied().collect::<Option<_>>()?;
    let sorted = Sorted::of(&words, "")?;
    let (named, to) = match sorted.operands.as_slice() {
        [named] => (named, ""),
        [named, to] => (named, *to),
        _ => return None,
    };
    (is_plain(named) && is_plain(to) && super::git::is_new_folder(to)).then_some(())?;
    let (place, _) = repository(named)?;
    let host = match &place {
        Place::Host { host, .. } => host.strip_prefix("api.").unwrap_or(host).to_owned(),
        Place::Remote { .. } => return None,
    };
    let ssh = Place::Host { host: host.clone(), port: SSH };
    let places = [place, Place::https(host), ssh];
    let made = if to.is_empty() { super::git::folder_of(named) } else { to };
    let reaches = Reaches::reads(places, FETCH_BYTES).when(super::git::inert(folders?)).bringing(Brings::Anywhere);
    Some(reaches.making(made, folders?))
}

const API: &str = "-q= --jq= --paginate --slurp -i --include -X= --method= -H= --header= -t= --template= --cache= --silent --verbose \
    -p= --preview= --hostname= -f= --raw-field= -F= --field=";

/// `gh api`: by the method, which is POST as soon as there is a field.
fn api(words: &[Option<&str>], folders: Option<&[String]>) -> Option<Reaches> {
    // What is only known later may be a value that is sent, and nothing else.
    let mut is_said = true;
    let mut behind_field = false;
    let plain: Vec<&str> = words
        .iter()
        .map(|word| {
            let was_field = std::mem::replace(
                &mut behind_field,
                // Of the others a value may be the name of a file.
                word.is_some_and(|word| matches!(word, "-f" | "--raw-field")),
            );
            is_said &= word.is_some();
            word.or(was_field.then_some("?=?"))
        })
        .collect::<Option<_>>()?;
    let sorted = Sorted::of(&plain, API)?;
    if sorted.options.iter().any(|(name, value)| matches!(*name, "-q" | "--jq") && value.is_none_or(reads_environment))
    {
        return None;
    }
    let [path] = sorted.operands.as_slice() else { return None };
    let hostname = sorted.value(&["--hostname"]).unwrap_or("github.com");
    let mut place = api_of(hostname)?;
    let path = match path.split_once("://") {
        Some(("https", rest)) => {
            let (host, path) = rest.split_once('/')?;
            place = api_of(host).filter(|_| host != "github.com")?;
            path
        }
        Some(_) => return None,
        None => path.trim_start_matches('/'),
    };
    let is_harmless = |header: &str| {
        let (name, value) = header.split_once(':').unwrap_or((header, ""));
        matches!(name.to_ascii_lowercase().as_str(), "accept" | "x-github-api-version") && is_plain(value)
    };
    let headers = sorted.options.iter().filter(|(name, _)| matches!(*name, "-H" | "--header"));
    if sorted.values().any(|value| value.starts_with('='))
        || sorted.value(&["-p", "--preview"]).is_some_and(|name| !is_plain(name))
    {
        return None;
    }
    if !headers.filter_map(|(_, value)| *value).all(is_harmless)
        || !is_plain(path)
        || path.split('/').any(|part| part == "..")
    {
        return None;
    }
    let fields: Vec<&str> = sorted
        .options
        .iter()
        .filter(|(name, _)| matches!(*name, "-f" | "--raw-field" | "-F" | "--field"))
        .map(|(_, value)| value.unwrap_or_default())
        .collect();
    // A field of a file, or of what comes in; and one that it fills with names of the folder's.
    let fills = |value: &str| {
        ["owner", "repo", "branch"]
            .iter()
            .any(|name| value.contains(&format!("{{{name}}}")) || value.contains(&format!(":{name}")))
    };
    let of_file = |(name, value): &(&str, Option<&str>)| {
        matches!(*name, "-F" | "--field")
            && value.is_some_and(|value| {
                fills(value) || value.split_once('=').is_none_or(|(_, value)| value.starts_with('@'))
            })
    };
    if sorted.options.iter().any(of_file) {
        return None;
    }
    let method = sorted.value(&["-X", "--method"]).map(str::to_ascii_uppercase);
    let method = method.as_deref().unwrap_or(if fields.is_empty() { "GET" } else { "POST" });
    // The branch may be called anything; and these are the same names in an older form.
    if path.contains("{branch}") || [":owner", ":repo", ":branch"].iter().any(|name| path.contains(name)) {
        return None;
    }
    let by_folder = path.contains('{').then_some(folders);
    let conditions: Vec<Condition> = match by_folder {
        Some(folders) => asks_git(folders?).collect(),
        None => Vec::new(),
    };
    if path == "graphql" {
        let queries: Vec<&str> = fields.iter().filter_map(|field| field.strip_prefix("query=")).collect();
        let [query] = queries.as_slice() else { return None };
        if !is_said || method != "POST" || !only_asks(query) || !fields.iter().all(|field| is_short(field)) {
            return None;
        }
        return Some(asked(place, conditions));
    }
    if matches!(method, "GET" | "HEAD") {
        if !is_said || !fields.iter().all(|field| is_plain(field)) {
            return None;
        }
        return Some(asked(place, conditions));
    }
    if path.contains(['?', '%', '#', ';']) {
        return None;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let ["repos", owner, name, what, rest @ ..] = parts.as_slice() else { return None };
    let kind = match (method, *what, rest) {
        ("PUT", "pulls", [number, "merge"]) if is_digits(number) => "merge",
        ("POST", "pulls", [number, "reviews"]) if is_digits(number) => "reviews",
        ("POST", "pulls" | "issues", []) => TALK,
        ("PATCH", "pulls" | "issues", [number]) if is_digits(number) => TALK,
        ("POST", "pulls" | "issues", [number, "comments"]) if is_digits(number) => TALK,
        ("POST", "pulls", [number, "comments", of, "replies"]) if is_digits(number) && is_digits(of) => TALK,
        ("PATCH", "pulls" | "issues", ["comments", number]) if is_digits(number) => TALK,
        ("POST", "pulls", ["comments", number] | ["comments", number, "replies"]) if is_digits(number) => TALK,
        ("POST", "pulls", [number, "comments", of]) if is_digits(number) && is_digits(of) => TALK,
        ("POST", "issues", [number, "labels"]) if is_digits(number) => TALK,
        _ => return None,
    };
    let mut reaches = Reaches::reads([place], WORDS_BYTES).when(conditions);
    reaches.writes.insert(kind.to_owned());
    match (*owner, *name) {
        // By the folder it is one that the text does not name.
        ("{owner}", "{repo}") => reaches.targets.extend(of_folders(folders?)),
        (owner, name) if owner.contains('{') || name.contains('{') => return None,
        (owner, name) => drop(reaches.targets.insert(Target::Named(format!("{owner}/{name}").to_ascii_lowercase()))),
    }
    Some(reaches)
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A question to a forge's interface. What another host takes for one nobody knows here.
fn asked(place: Place, conditions: Vec<Condition>) -> Reaches {
    let is_known = Some(&place) == api_of("github.com").as_ref();
    let mut reaches = Reaches::reads([place], VIEW_BYTES).when(conditions);
    if !is_known {
        reaches.writes.insert("requests".to_owned());
    }
    reaches
}

/// True for a script of jq that may read the environment.
fn reads_environment(script: &str) -> bool {
    script.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| matches!(word, "env" | "ENV"))
}

/// True for a document of GraphQL without an operation that changes anything (GraphQL, October 2021, section 2.3).
fn only_asks(document: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = document.trim_start();
    let begins = text.starts_with('{') || text.starts_with("query");
    begins && document.split(|c| !is_letter(c)).all(|word| !matches!(word, "mutation" | "subscription"))
}

/// A field of a query, in which names and braces stand that are no data.
fn is_short(field: &str) -> bool {
    field.len() <= 4096 && field.split(|c: char| c.is_whitespace() || "(){}:,$!\"[]=".contains(c)).all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> Option<Reaches> {
        let words: Vec<String> = text.split(' ').map(|word| word.replace('~', " ")).collect();
        let words: Vec<Option<&str>> = words.iter().map(|word| (word != "?").then_some(word.as_str())).collect();
        of(&words, Some(&[".".to_owned()]))
    }

    #[test]
    fn showing_reads() {
        for text in [
            "pr view 12",
            "pr view 12 --json title,body -q .title",
            "pr list --state open -L 5",
            "pr checks 12 --watch",
            "pr diff 12 -R o/r",
            "issue view https://github.com/o/r/issues/3",
            "run view 1 --log-failed",
            "run list -w ci.yml",
            "repo view o/r --json name",
            "release download v1 -R o/r -p x",
            "search issues bug --owner o",
            "auth status",
            "api repos/o/r/pulls/1/comments --paginate --jq .[]",
            "api /user",
            "api -H Accept:application/json repos/o/r",
            "api -X GET search/issues -f q=repo:o/r",
            "api repos/{owner}/{repo}/pulls",
            "api https://api.github.com/repos/o/r",
            "api graphql -f query={~viewer~{~login~}~}",
            "api graphql -f query=query($n:Int!){~x~} -F n=3",
            "status",
            "search code x --repo o/r",
            "api repos/o/r/compare/v1.2.0...v1.3.0",
            "gist view 0a1b2c3d4e5f60718293a4b5c6d7e8f9",
            "pr status",
            "secret list",
        ] {
            assert!(of_text(text).is_some_and(|found| found.only_reads()), "{text}");
        }
    }

    #[test]
    fn changing_writes() {
        for (text, kind, target) in [
            ("pr create --title x --body ?", TALK, None),
            ("pr comment 12 -R O/r --body ?", TALK, Some("o/r")),
            ("pr merge 12 --squash", "merge", None),
            ("issue close 3 -R o/r", TALK, Some("o/r")),
            ("api repos/o/r/pulls/1/comments/2/replies -f body=?", TALK, Some("o/r")),
            ("api repos/o/r/issues/1 -X PATCH -f ?", TALK, Some("o/r")),
            ("api -X PUT repos/o/r/pulls/1/merge", "merge", Some("o/r")),
            ("workflow run ci.yml", "runs", None),
            ("api repos/{owner}/{repo}/issues -f title=?", TALK, None),
        ] {
            let found = of_text(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.writes, [kind.to_owned()].into(), "{text}");
            let by_folder = Target::Remote { folder: ".".to_owned(), remote: "*".to_owned() };
            let target = target.map_or(by_folder, |name: &str| Target::Named(name.to_owned()));
            assert_eq!(found.targets, [target].into(), "{text}");
        }
    }

    #[test]
    fn what_starts_something_sends_a_file_or_is_not_known_is_neither() {
        for text in [
            "pr view 12 --web",
            "pr view -w",
            "pr checkout 12",
            "run view -w 123",
            "api -X GET search/issues -F=q=@f",
            "api graphql -f query=query{viewer{login}} -F=x=@f",
            "pr comment 1 -R o/r -R o/x --body y",
            "pr comment https://github.com/o/x/pull/1 -R o/r --body y",
            "api repos/o/r?issues -X PATCH -f x=y",
            "api repos/o/r/issues/%2e%2e/keys -f key=x",
            "api repos/o/r/pulls/{branch} -f event=APPROVE",
            "api repos/o/r/pulls/./1/reviews -f event=APPROVE",
            "api repos/o/r/pulls//1/reviews -f event=APPROVE",
            "api repos/o/r/pulls/1/codespaces -X POST",
            "api repos/o/r/issues -f title=x -F ?",
            "workflow run ci.yml -R o/r --field body=@f",
            "workflow run ci.yml -R o/r -F body=@f",
            "pr create -R o/r -f=true",
            "pr create -R o/r --fill-first",
            "pr create -R o/r --fill=true",
            "release create v3 notes.txt -R o/r --notes x",
            "pr comment 1 -R o/r --body-file=f",
            "api repos/{owner}/x/issues -f title=y",
            "api repos/:owner/:repo/issues -f title=y",
            "api repos/o/r/pulls?head={branch}",
            "api repos/o/{repo}/issues -f title=y",
            "pr create -T notes",
            "pr review 1 --approve",
            "pr close 1 -d",
            "pr merge -s https://github.com/victim/x/pull/1 -R o/r",
            "pr comment victim/x#1 -R o/r --body y",
            "pr merge feature -R o/r",
            "pr view 12 --json title --jq env",
            "pr view 12 -q $ENV.GH_TOKEN",
            "api user --jq env.GH_TOKEN",
            "api user -q[env]",
            "pr view 12 -cw",
            "pr view ?",
            "pr view 12 -R ?",
            "alias set x y",
            "extension exec x",
            "co 12",
            "auth token",
            "auth login",
            "auth status -t",
            "secret set X",
            "ssh-key add f",
            "gist create f",
            "gist create -",
            "release upload v1 f",
            "repo create o/r",
            "repo delete o/r",
            "pr create --body-file f",
            "pr create -F f",
            "pr create --fill",
            "api repos/o/r -X DELETE",
            "api repos/o/r/keys -f key=x",
            "api repos/o/r/actions/secrets/X -X PUT",
            "api graphql -f query=mutation{~x~}",
            "api graphql -f query={a}~mutation~M{~x~}",
            "api graphql -f query=@f",
            "api graphql -F query=@f",
            "api graphql -f ?",
            "api graphql --input f",
            "api graphql -F query={repo}",
            "api graphql -F query={a(x::repo)}",
            "run download 1 -R o/r -D .git/hooks",
            "run download 1 -R o/r --dir /etc/x",
            "release download v1 -R o/r --dir=.claude",
            "api user --input -",
            "api ?",
            "api repos/o/r/contents/../../x",
            "api http://api.github.com/x",
            "api --hostname evil repos/o/r",
            "api repos/o/r -H Authorization:x",
            "api repos/o/r/pulls -F body=@f",
            "api search/code?q=aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
            "browse",
            "codespace ssh",
            "",
            "pr",
            "api repos/o/r -X GET -f ?",
            "pr list -S ?",
            "pr comment 12 -e",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
