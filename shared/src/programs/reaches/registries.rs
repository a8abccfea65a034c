//! Package managers, where they only bring packages or tell of them, and run nothing that came with one.

use super::{Place, Reaches, Sorted, VIEW_BYTES, is_plain};
use crate::classify::Condition;

/// A package manager.
struct Manager {
    program: &'static str,
    /// Whom it asks without being told otherwise.
    hosts: &'static [&'static str],
    /// Files that tell it otherwise, or what to start: in the folder or any above it, and at home.
    told_by: &'static [&'static str],
}

/// A subcommand that brings something and runs nothing of it.
struct Brings {
    manager: &'static Manager,
    /// Its first words.
    words: &'static str,
    /// Its options, as [`Sorted`] reads them.
    options: &'static str,
    /// An option that has to be among them.
    needs: &'static str,
    /// Whether its operands are names of packages; else it has none.
    names: bool,
    /// Most bytes upwards.
    up_bytes: u64,
}

/// npm reads its own at every folder above, and starts nothing for these; another registry is another host, which is not reached.
const NPM: Manager = Manager { program: "npm", hosts: &["registry.npmjs.org"], told_by: &[".npmrc"] };
const PIP: Manager = Manager {
    program: "pip",
    hosts: &["pypi.org", "files.pythonhosted.org"],
    told_by: &[".config/pip/pip.conf", ".pip/pip.conf", "pip.conf"],
};
/// Its files say which compiler it asks for its version, and which program has a token.
const CARGO: Manager = Manager {
    program: "cargo",
    hosts: &["index.crates.io", "static.crates.io", "crates.io"],
    told_by: &[".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"],
};

/// One that tells of packages by their names.
const fn tells(manager: &'static Manager, words: &'static str, options: &'static str) -> Brings {
    Brings { manager, words, options, needs: "", names: true, up_bytes: VIEW_BYTES }
}

const TABLE: &[Brings] = &[
    tells(&NPM, "view", "--json"),
    tells(&NPM, "search", "--json --long -l --parseable -p"),
    Brings {
        needs: "--only-binary",
        up_bytes: 4 * VIEW_BYTES,
        ..tells(
            &PIP,
            "download",
            "--only-binary= --no-deps -d= --dest= -q --quiet -v --verbose --no-cache-dir --python-version= --platform= --abi= \
                --implementation= --pre --disable-pip-version-check --progress-bar=",
        )
    },
    tells(&PIP, "index versions", "--pre -q --quiet --disable-pip-version-check --json"),
    tells(&CARGO, "search", "--limit= -q --quiet -v --verbose --color="),
    Brings {
        names: false,
        up_bytes: 4 * VIEW_BYTES,
        ..tells(&CARGO, "fetch", "--locked --target= -q --quiet -v --verbose --color=")
    },
];

/// The same by other names.
fn canonical<'w>(program: &str, words: &[&'w str]) -> (&'static str, Vec<&'w str>) {
    let words = words.to_vec();
    match program {
        "pip3" | "pip" => ("pip", words),
        "npm" => (
            "npm",
            words
                .iter()
                .enumerate()
                .map(|(at, word)| if at == 0 && matches!(*word, "info" | "show" | "v") { "view" } else { word })
                .collect(),
        ),
        "cargo" => ("cargo", words),
        _ => ("", Vec::new()),
    }
}

/// What a call of a package manager reaches, where it runs nothing that it brings. The folders are those in which it starts.
pub(in crate::programs) fn of(program: &str, words: &[&str], folders: Option<&[String]>) -> Option<Reaches> {
    let (program, words) = canonical(program, words);
    let fits = |brings: &&Brings| {
        let first: Vec<&str> = brings.words.split(' ').collect();
        brings.manager.program == program && words.starts_with(&first)
    };
    let brings = TABLE.iter().find(fits)?;
    let rest = words.get(brings.words.split(' ').count()..)?;
    let sorted = Sorted::of(rest, brings.options)?;
    if !brings.needs.is_empty() && sorted.value(&[brings.needs]) != Some(":all:") {
        return None;
    }
    let is_name = |name: &&str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"@/._-^~=<>!*[],".contains(&b);
        is_plain(name) && name.len() <= 128 && name.bytes().all(plain) && !name.starts_with(['.', '/', '~']) && !name.contains("..")
            // `owner/name` is a repository to npm, and a folder to pip.
            && (!name.contains('/') || program == "npm" && name.starts_with('@') && name.matches('/').count() == 1)
            && !["tar.gz", ".tgz", ".zip", ".whl", ".tar"].iter().any(|end| name.ends_with(end))
    };
    // Without a name, some take one from a file.
    if !sorted.operands.iter().all(is_name) || brings.names == sorted.operands.is_empty() {
        return None;
    }
    if !sorted.values().all(is_plain) {
        return None;
    }
    let names = || brings.manager.told_by.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut told: Vec<Condition> =
        folders?.iter().map(|folder| Condition::NoFileAbove { folder: folder.clone(), names: names() }).collect();
    told.push(Condition::NoFileAbove { folder: "~".to_owned(), names: names() });
    let places = brings.manager.hosts.iter().map(|host| Place::https(*host));
    Some(Reaches::reads(places, brings.up_bytes).when(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_brings_reads() {
        let of = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            let (program, rest) = words.split_first().unwrap();
            of(program, rest, Some(&[".".to_owned()]))
        };
        for text in [
            "npm view react",
            "npm info @types/node version --json",
            "npm search http server",
            "pip download --only-binary=:all: requests",
            "pip3 download --only-binary :all: --no-deps -d w requests==2.31.0",
            "pip index versions flask",
            "cargo search serde --limit 3",
            "cargo fetch --locked",
        ] {
            assert!(of(text).is_some_and(|found| found.only_reads()), "{text}");
        }
        for text in [
            "npm install",
            "npm ci",
            "npm install --ignore-scripts",
            "npm publish",
            "npm view ./folder",
            "npm view o/r",
            "npm view https://x.example/a.tgz",
            "npm audit",
            "npm get x",
            "npm outdated",
            "npx cowsay",
            "npm view react --registry https://x.example",
            "pip install --only-binary=:all: requests",
            "pip download requests",
            "pip download --only-binary=numpy requests",
            "pip download --only-binary=:all: -r requirements.txt",
            "pip download --only-binary=:all: ./x",
            "pip download --only-binary=:all: git+https://x.example/y",
            "pip download --only-binary=:all: -i https://x y",
            "pip download --only-binary=:all: x.tar.gz",
            "pip wheel x",
            "cargo install x",
            "cargo build",
            "cargo publish",
            "cargo fetch --config x",
            "cargo fetch --manifest-path x",
            "cargo +nightly fetch",
            "cargo search x --registry y",
            "pip index versions x --index-url y",
            "yarn info x",
            "go install x.example/y@latest",
            "go get x.example/y",
            "go run x.example/y",
            "go get ./...",
            "go build",
            "go mod tidy",
            "go mod download",
            "pip download --only-binary=:all: @x/y",
            "go generate",
            "go get -insecure x.example/y",
            "npm view aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
