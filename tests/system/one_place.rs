//! Each fact stands in one place: nothing outside of `shared/src/programs` names two programs in one list, and only the
//! visitor takes the syntax of commands apart.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bashgate_shared::programs;
use bashgate_tests::repository;
use syn::visit::{self, Visit};

/// Lists that hold names of programs, and mean something else by them: where, and what they are.
const OTHER_WORDS: &[(&str, &[&str], &str)] = &[
    ("container-hook/src/agents/uses.rs", &["command", "patch", "timeout"], "fields of tools' input"),
    ("container-hook/src/doctor/canary.rs", &["command", "type"], "fields of agents' settings"),
    ("container-hook/src/gate/real.rs", &["fd", "task"], "files of a process"),
    ("container-hook/src/gate/conditions/startup.rs", &["emacs", "history", "vi"], "options of `set -o`"),
    (
        "shared/src/agents.rs",
        &["apply_patch", "bash", "grep", "ls", "patch", "read", "rg", "task", "view"],
        "names of agents' tools, which are no programs",
    ),
    ("container-hook/src/install/entries.rs", &["bash", "command"], "fields of agents' settings"),
    ("shared/src/classify/secrets/names.rs", &["env", "keyring"], "endings of files"),
    ("runner/src/mcp/tools.rs", &["bash", "command", "id", "jobs", "script"], "tools and their fields"),
    ("shared/src/agents.rs", &["bash", "command", "powershell"], "fields of agents' settings"),
    ("shared/src/classify/tool.rs", &["http", "https"], "schemes of addresses"),
    (
        "shared/src/classify/git_config.rs",
        &["alias", "column", "diff", "gpg", "help", "http", "https", "hub"],
        "sections of git's configuration",
    ),
    ("host/src/inspector/replaced.rs", &["break", "exit", "return"], "words by which a loop ends"),
    ("shared/src/shell/reader/commands.rs", &["builtin", "command", "exec", "time"], "words that zsh takes for itself"),
];

/// The sources of the project, without its tests.
fn sources() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["shared/src", "container-hook/src", "runner/src", "host/src"].map(|folder| repository().join(folder)).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "{files:?}");
    files
}

fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap().to_string_lossy().into_owned()
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// Every list of texts in a file: arrays, the arms of a `match`, the patterns of `matches!`.
#[derive(Default)]
struct Lists {
    found: Vec<BTreeSet<String>>,
}

impl Lists {
    fn take(&mut self, texts: impl IntoIterator<Item = String>) {
        self.found.push(texts.into_iter().collect());
    }
}

/// The texts in a piece of code, as deep as they stand in tuples, references and patterns, but not in calls.
#[derive(Default)]
struct Texts(Vec<String>);

impl<'a> Visit<'a> for Texts {
    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.0.push(text.value());
    }
}

fn texts_of_tokens(tokens: proc_macro2::TokenStream, into: &mut Vec<String>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    into.push(text.value());
                }
            }
            proc_macro2::TokenTree::Group(group) => texts_of_tokens(group.stream(), into),
            proc_macro2::TokenTree::Ident(_) | proc_macro2::TokenTree::Punct(_) => {}
        }
    }
}

impl<'a> Visit<'a> for Lists {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_array(&mut self, array: &'a syn::ExprArray) {
        let mut texts = Texts::default();
        texts.visit_expr_array(array);
        self.take(texts.0);
        visit::visit_expr_array(self, array);
    }

    fn visit_expr_match(&mut self, expression: &'a syn::ExprMatch) {
        let mut texts = Texts::default();
        expression.arms.iter().for_each(|arm| texts.visit_pat(&arm.pat));
        self.take(texts.0);
        visit::visit_expr_match(self, expression);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        if call.path.is_ident("matches") {
            let mut texts = Vec::new();
            texts_of_tokens(call.tokens.clone(), &mut texts);
            self.take(texts);
        }
        visit::visit_macro(self, call);
    }
}

/// The names of programs in a list, if they are of two rows or more.
fn programs_in(list: &BTreeSet<String>) -> Option<BTreeSet<&str>> {
    let named: Vec<(&str, &[&str])> = list
        .iter()
        .filter_map(|text| Some((text.as_str(), programs::row(text).filter(|_| !text.contains('/'))?.names)))
        .collect();
    let rows: BTreeSet<&[&str]> = named.iter().map(|(_, row)| *row).collect();
    (rows.len() > 1).then(|| named.into_iter().map(|(name, _)| name).collect())
}

#[test]
fn programs_are_named_in_their_rows_alone() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for path in sources().into_iter().filter(|path| !relative(path).starts_with("shared/src/programs/")) {
        let file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut lists = Lists::default();
        lists.visit_file(&file);
        for names in lists.found.iter().filter_map(programs_in) {
            let at = relative(&path);
            let other = OTHER_WORDS
                .iter()
                .position(|(file, words, _)| *file == at && names.iter().all(|name| words.contains(name)));
            match other {
                Some(known) => drop(used.insert(known)),
                None => wrong.push(format!("{at}: {names:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "these are facts about programs; they belong into the rows:\n{}", wrong.join("\n"));
    let stale: Vec<_> = (0..OTHER_WORDS.len()).filter(|at| !used.contains(at)).map(|at| OTHER_WORDS[at].0).collect();
    assert!(stale.is_empty(), "no such list is there any more: {stale:?}");
}

#[test]
fn a_list_of_two_programs_is_found_wherever_it_stands() {
    for code in [
        "const A: &[&str] = &[\"curl\", \"wget\"];",
        "fn f(x: &str) -> bool { matches!(x, \"sh\" | \"ksh\") }",
        "fn f(x: &str) -> u8 { match x { \"python3\" => 1, \"node\" => 2, _ => 0 } }",
        "const A: &[(&str, u8)] = &[(\"sudo\", 1), (\"doas\", 2), (\"env\", 3)];",
    ] {
        let mut lists = Lists::default();
        lists.visit_file(&syn::parse_file(code).unwrap());
        assert!(lists.found.iter().any(|list| programs_in(list).is_some()), "{code}");
    }
    for code in [
        "const A: &[&str] = &[\"curl\", \"x\"];",
        "const A: &[&str] = &[\"node\", \"nodejs\"];",
        "#[cfg(test)] mod tests { const A: &[&str] = &[\"curl\", \"wget\"]; }",
    ] {
        let mut lists = Lists::default();
        lists.visit_file(&syn::parse_file(code).unwrap());
        assert!(!lists.found.iter().any(|list| programs_in(list).is_some()), "{code}");
    }
}

/// Where the syntax of commands is taken apart by something else than the visitor: what a file is, and why.
#[derive(Default)]
struct Patterns {
    found: BTreeSet<String>,
}

impl<'a> Visit<'a> for Patterns {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [.., kind, variant] = names.as_slice()
            && kind == "Command"
            && ["Simple", "Compound", "Function", "Condition", "Calculation"].contains(&variant.as_str())
        {
            self.found.insert(format!("{kind}::{variant}"));
        }
        visit::visit_path(self, path);
    }
}

#[test]
fn only_the_visitor_takes_commands_apart() {
    let mut visitors = 0;
    for path in sources() {
        let at = relative(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        visitors += usize::from(text.contains("Visit<'") && text.contains("inside::"));
        let mut patterns = Patterns::default();
        patterns.visit_file(&syn::parse_file(&text).unwrap());
        // The reader makes them, and the syntax says what they are.
        let own = at.starts_with("shared/src/shell/");
        assert!(own || patterns.found.is_empty(), "{at}: {:?}; use shell::visit", patterns.found);
    }
    // The judge, the values, the flow and the shape of scripts, the presets' rules, and the visitor itself.
    assert!(visitors >= 6, "{visitors}");
}
