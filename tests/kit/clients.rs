//! What real clients do with the hook, as documents show it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::repository;

/// What became of a command, in words: whether it ran, and whether the model was told why not.
pub fn denial(ran: bool, told: &[Value], reason: &str) -> String {
    match (ran, told.iter().any(|result| result.to_string().contains(reason))) {
        (true, _) => "**it runs**",
        (false, true) => "denied, the model reads why",
        (false, false) => "denied",
    }
    .to_owned()
}

/// Compares what docs/agents.md shows between two marks with these rows of these clients, or writes it there, under `UPDATE_DOCS=1`.
pub fn table_is_in_documents((start, end): (&str, &str), what: &[&str], all: &[(String, BTreeMap<&str, String>)]) {
    let titles: Vec<&str> = all.iter().map(|(title, _)| title.as_str()).collect();
    let mut table = format!("| what happens | {} |\n|{}\n", titles.join(" | "), " --- |".repeat(titles.len() + 1));
    for what in what {
        let cells: Vec<&str> = all.iter().map(|(_, rows)| rows.get(what).map_or("", String::as_str)).collect();
        table.push_str(&format!("| {what} | {} |\n", cells.join(" | ")));
    }
    let path = repository().join("docs/agents.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(start).expect("docs/agents.md has a place for the table");
    let (shown, after) = rest.split_once(end).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "docs/agents.md is stale: {}", start.trim());
    }
}
