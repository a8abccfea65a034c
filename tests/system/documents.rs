//! Documents that are made from the code: they fail here when they are stale. `UPDATE_DOCS=1` writes them anew.

use std::path::Path;

use bashgate_shared::programs::{FAMILIES, GIT_EXAMPLES, Kind};
use bashgate_tests::repository;

/// How operators write rows of their own. Its example is checked below.
const OWN_PROGRAMS: &str = r#"
## Your own programs

Your agents call programs that are not here, and each call of one is a question to the host. Name a file of rows with `programs = "programs.toml"` in `bashgate.toml`:

```toml
[[program]]
names = ["bd"]
about = "keeps issues"
tells_version = ["--version"]
safe = ["bd list --json", "bd show bd-12"]        # must be Safe with this row
not_safe = ["bd sync", "bd edit bd-12"]           # must not be

[[program.subcommand]]
words = "list"                                    # one word, or two with a blank
form = { values = "s", long = ["--json", "--status="] }

[[program.subcommand]]
words = "show"
form = { operands = "data" }

[[program.subcommand]]
words = "sync"
reach = "writes"                                  # or "reads": it talks to the network

[[program]]
names = ["tokei"]
about = "counts lines of code"
form = { flags = "f", values = "e", long = ["--files", "--exclude="], operands = "names" }
safe = ["tokei src", "tokei -f -e target ."]
not_safe = ["tokei --config x", "tokei $x"]

[[narrow]]
names = ["rg"]
why = "its configuration is shared here"
```

- A call is Safe in a listed `form` alone: `flags` are letters without a value, `values` letters with one, `long` has `--x`, `--x=` (a value) or `--x=?` (perhaps one). `operands` are `none` (the default), `data`, `names` (files of which it tells names and counts), `files` (whose content it shows) or `writes`. Any other option, and what is only known when it runs and could turn into one, makes the call Unknown.
- Write a row only for a program that opens no connection and runs nothing in these forms, whatever a hostile repository's configuration says to it. A `[[program]]` adds; it changes no row of ours. A `[[narrow]]` makes nothing of ours local any more. Shells, interpreters and wrappers are refused.
- `bashgate classify --programs FILE 'bd list'` tries a file (`why` and `decide` take it, too); `bashgate config check` checks the one of your configuration. What is wrong is named with its row and key, and the host does not start with it.
- `bashgate suggest` drafts rows, and rules for what no row may be about, from the commands on record (`--jsonl`: from lines like `{"command": "bd list"}` on standard input), and says how many questions each would have settled. A draft says what was seen, not what the program does, so it does not load before somebody has given it its `about` and a `not_safe` example.
- The host signs what it has checked, row by row, and puts it beside its responses. A hook believes a row only as it was signed, by this host, for its own table of programs; it looks for the program in PATH like for any other: a native program in a folder that only root can write, since a script loads code from where the agent may write. Without the rows, or with others, these programs are the host's to decide, and it does not call them Safe either. What is narrowed is so for hook and host in any case; where the file is there and cannot be read, the hook decides nothing by itself. A change takes effect when the host is started again.
"#;

#[test]
fn the_example_of_own_programs_is_right() {
    let example = OWN_PROGRAMS.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("programs.toml");
    std::fs::write(&file, example).unwrap();
    let (file, own) = bashgate::programs::load(&file).unwrap();
    assert_eq!((file.programs.len(), file.narrowed.len()), (2, 1));
    assert!(own.row("tokei").is_some() && own.narrows("rg").is_some());
}

#[track_caller]
fn is_current(path: &Path, want: &[u8]) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, want).unwrap();
    }
    let found = std::fs::read(path).unwrap_or_default();
    assert!(found == want, "{} is stale: run UPDATE_DOCS=1 cargo test -p bashgate-tests documents", path.display());
}

#[test]
fn the_list_of_programs() {
    let mut text = String::from(
        "# Programs that bashgate knows\n\nMade from the rows in `shared/src/programs`; the examples run as tests. A program that is not here is Unknown.\n",
    );
    for (family, rows) in FAMILIES {
        text.push_str(&format!("\n## {family}\n\n| program | what it does | kind | Safe, for example | not Safe, for example |\n| --- | --- | --- | --- | --- |\n"));
        for row in *rows {
            let kind = match row.kind {
                Kind::Local => "local",
                Kind::Runner => "runs others",
                Kind::Launcher => "hands over",
                Kind::Runtime => "language",
                Kind::Network => "network",
                Kind::Mixed => "depends",
            };
            let code = |examples: &[&str]| {
                examples
                    .iter()
                    .map(|example| format!("`` {} ``", example.replace('|', "\\|").replace('\n', "\\n")))
                    .collect::<Vec<_>>()
                    .join("<br>")
            };
            text.push_str(&format!(
                "| {} | {} | {kind} | {} | {} |\n",
                row.names.join(", "),
                row.about,
                code(row.safe),
                code(row.not_safe)
            ));
        }
    }
    text.push_str(
        "\n## Git, where its configuration is inert\n\nThe class of these calls is Unknown, because git's configuration may name programs. The hook lets a\n\
         call of the first kind through when it has looked at every configuration file in force, the hooks and the index and found\n\
         nothing that starts a program (`Condition::GitIsInert`).\n\n| call | local |\n| --- | --- |\n",
    );
    for (example, local) in GIT_EXAMPLES {
        let example = example.replace('|', "\\|");
        text.push_str(&format!("| `` {example} `` | {} |\n", if *local { "where git is inert" } else { "no" }));
    }
    text.push_str(
        "\n## Asking for a version\n\nThese calls are local though others of the program are not, with exactly one of these arguments. Where files can choose\n\
         the version that runs, the hook looks for them in the folder and in all above it (`Condition::NoFileAbove`).\n\n\
         | programs | arguments | local |\n| --- | --- | --- |\n",
    );
    for row in FAMILIES.iter().flat_map(|(_, rows)| rows.iter()) {
        let Some(version) = row.version else { continue };
        let local = match version.chosen_by {
            [] => "always".to_owned(),
            files => format!("where there is no {}", files.join(" or ")),
        };
        text.push_str(&format!("| {} | {} | {local} |\n", row.names.join(", "), version.arguments.join(", ")));
    }
    text.push_str(OWN_PROGRAMS);
    is_current(&repository().join("docs/programs.md"), text.as_bytes());
}

/// The list of attacks on the mailbox in `docs/known-attacks.md` is the one that the tests run.
#[test]
fn the_list_of_attacks() {
    const MARK: &str = "## A container that fights the host\n";
    let path = repository().join("docs/known-attacks.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _) = text.split_once(MARK).expect("the heading is there");
    let mut text = format!(
        "{before}{MARK}\nEach is done to a real host, and each is followed by a look at another workspace, which must be answered as if nothing had \
         happened (`tests/attacks`).\n\n| what the container does | where it ends | test |\n| --- | --- | --- |\n"
    );
    for (file, attacks) in crate::attacks::ALL {
        for attack in *attacks {
            text.push_str(&format!("| {} | {} | `attacks/{file}.rs` |\n", attack.name, attack.ends));
        }
    }
    is_current(&path, text.as_bytes());
}

/// Each row of `docs/known-attacks.md` names a file of the repository in which tests are, or examples that run as such.
#[test]
fn known_attacks_name_tests_that_exist() {
    fn sources(folder: &std::path::Path, found: &mut Vec<(String, bool)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !["target", ".git"].iter().any(|name| path.ends_with(name)) {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let tests = ["#[test]", "#[tokio::test", "proptest!", "examples", "Attack {"];
                found.push((path.display().to_string(), tests.iter().any(|mark| text.contains(mark))));
            }
        }
    }
    let mut found = Vec::new();
    sources(&repository(), &mut found);
    let text = std::fs::read_to_string(repository().join("docs/known-attacks.md")).unwrap();
    // What stands behind is made from the tests' own list.
    let (text, _) = text.split_once("## A container that fights the host").unwrap();
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| --- ") && !line.ends_with("| test |"));
    let (mut named, mut wrong) = (0, Vec::new());
    for row in rows {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let files: Vec<&str> = last.split('`').skip(1).step_by(2).filter(|name| name.contains(".rs")).collect();
        named += files.len();
        let all_are_there = files
            .iter()
            .all(|file| found.iter().any(|(path, has_tests)| *has_tests && path.ends_with(&format!("/{file}"))));
        let says_where = ["the examples", "the tables", "`differential`"].iter().any(|words| last.contains(words));
        if !all_are_there || files.is_empty() && !says_where {
            wrong.push(row);
        }
    }
    assert_eq!(wrong, Vec::<&str>::new(), "these name no tests");
    assert!(named > 200, "{named}");
}

#[test]
fn the_manual_pages() {
    fn page(command: &clap::Command, name: &str) {
        let titled =
            command.clone().name(&*name.to_owned().leak()).bin_name(name.replace('-', " ")).disable_version_flag(true);
        let mut out = Vec::new();
        clap_mangen::Man::new(titled).source("bashgate").render(&mut out).unwrap();
        is_current(&repository().join(format!("docs/man/{name}.1")), &out);
        // What is another program has the pages of that.
        for inner in command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set() && !["help", "fleet"].contains(&inner.get_name()))
        {
            page(inner, &format!("{name}-{}", inner.get_name()));
        }
    }
    page(&bashgate::cli::command(), "bashgate");
    page(&bashgate_fleet::cli::command(), "bashgate-fleet");
    page(&bashgate_run::cli::command(), "bashgate-run");
}

#[test]
fn the_completions() {
    use clap_complete::{Generator, Shell, generate};

    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        for (mut command, name) in [
            (bashgate::cli::command(), "bashgate"),
            (bashgate_fleet::cli::command(), "bashgate-fleet"),
            (bashgate_run::cli::command(), "bashgate-run"),
        ] {
            let mut out = Vec::new();
            generate(shell, &mut command, name, &mut out);
            let file = repository().join(format!("packaging/completions/{shell}")).join(shell.file_name(name));
            is_current(&file, &out);
        }
    }
}

/// Files of the project that documents name are there: moving one without them fails here.
#[test]
fn files_that_documents_name_are_there() {
    let root = repository();
    let mut documents: Vec<std::path::PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)).into();
    for folder in ["docs", "docs/decisions"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(files.filter(|file| file.extension().is_some_and(|ending| ending == "md")));
    }
    let (mut seen, mut missing) = (0, Vec::new());
    for document in documents {
        let text = std::fs::read_to_string(&document).unwrap();
        for span in text.split('`').skip(1).step_by(2) {
            let starts = ["host/", "shared/", "runner/", "container-hook/", "tests/", "docs/"];
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-*".contains(&byte);
            if !starts.iter().any(|start| span.starts_with(start)) || !span.bytes().all(plain) {
                continue;
            }
            seen += 1;
            // `*.toml` stands for any of them.
            let named = span.split('*').next().unwrap_or(span);
            let named =
                if span.contains('*') { named.rsplit_once('/').map_or(named, |(folder, _)| folder) } else { named };
            if !root.join(named).exists() {
                missing.push(format!("{}: {span}", document.file_name().unwrap_or_default().display()));
            }
        }
    }
    assert!(seen > 40, "{seen}");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
