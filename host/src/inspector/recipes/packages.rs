//! The scripts of a package that npm and its like run.

use bashgate_shared::shell::quoted;
use serde_json::Value;

use super::{OPEN, alone, is_whole};

/// Scripts that run by themselves when a package is installed, packed or published, without `pre` and `post`.
const LIFECYCLE: [&str; 12] = [
    "install",
    "prepare",
    "prepublish",
    "prepublishOnly",
    "pack",
    "prepack",
    "publish",
    "version",
    "uninstall",
    "shrinkwrap",
    "dependencies",
    "rebuild",
];
/// Subcommands that run the script which is called as they are, and none else.
const NAMED: [&str; 3] = ["start", "stop", "restart"];
/// Those that run the tests.
const TESTS: [&str; 5] = ["test", "t", "tst", "it", "cit"];
/// Those behind which a script's name stands.
const RUN: [&str; 4] = ["run", "run-script", "rum", "urn"];

/// The scripts that a call of npm or its like may run, as a script, in a command that sets these variables. `None` among the words is one that is only known when it runs.
pub(super) fn scripts(head: &str, words: &[Option<&str>], sets: &[String]) -> String {
    let Ok(package) = serde_json::from_str::<Value>(head) else { return alone(OPEN) };
    let Some(scripts) = package.get("scripts").and_then(Value::as_object) else { return String::new() };
    // By which shell, and of which folders, its settings say, and variables say where these lie.
    let steers = |name: &String| {
        name == "PREFIX" || ["npm_", "yarn_", "pnpm_"].iter().any(|start| name.to_ascii_lowercase().starts_with(start))
    };
    if words.contains(&None) || sets.iter().any(steers) {
        return alone(OPEN);
    }
    let words: Vec<&str> = words.iter().flatten().copied().collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_installing =
        !has(&RUN) && !has(&TESTS) && !has(&NAMED) || has(&["it", "cit", "install-test", "install-ci-test"]);
    let mut text = String::new();
    for (name, script) in scripts {
        let stem = ["pre", "post"].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name);
        let at = |name: &str| {
            words.iter().position(|word| {
                *word == name
                    || name == "test" && TESTS.contains(word)
                    // Where there is no such script it runs both.
                    || *word == "restart" && ["start", "stop"].contains(&name)
            })
        };
        let is_lifecycle = is_installing && (LIFECYCLE.contains(&stem) || LIFECYCLE.contains(&name.as_str()));
        let Some(at) = at(name).or_else(|| at(stem)).or(is_lifecycle.then_some(words.len())) else { continue };
        let Some(script) = script.as_str().filter(|script| is_whole(script)) else {
            text.push_str(&alone(OPEN));
            continue;
        };
        // What stands behind its name is given to it, unless it is the runner's own option: as words, whichever take them.
        let given = words.iter().skip(at + 1).filter(|word| **word != "--").map(|word| quoted(word));
        let whole: Vec<String> = std::iter::once(script.to_owned()).chain(given).collect();
        text.push_str(&alone(&whole.join(" ")));
        if whole.len() > 1 {
            text.push_str(&alone(script));
        }
    }
    // Without a script of that name it runs a file.
    let is_given = |name: &str| scripts.get(name).is_some();
    if has(&["start", "restart"]) && !is_given("start") {
        text.push_str(&alone(OPEN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str, words: &[&str]) -> String {
        scripts(head, &words.iter().map(|word| Some(*word)).collect::<Vec<_>>(), &[])
    }

    #[test]
    fn scripts_are_found_by_their_names() {
        let head = r#"{"scripts": {"test": "node t.js", "pretest": "a", "build": "b", "install": "c"}}"#;
        assert_eq!(of(head, &["npm", "test"]), ["a", "node t.js"].map(alone).concat());
        assert_eq!(of(head, &["npm", "run", "build"]), alone("b"));
        assert_eq!(of(head, &["npm", "ci"]), alone("c"));
        assert_eq!(of(head, &["npm", "uninstall", "x"]), alone("c"));
        assert!(of("{", &["npm", "test"]).contains(OPEN));
        assert!(of(head, &["npm", "start"]).contains(OPEN));
        assert!(scripts(head, &[Some("npm"), None], &[]).contains(OPEN));
    }

    #[test]
    fn what_stands_behind_a_scripts_name_is_part_of_it() {
        let head = r#"{"scripts": {"test": "sh -c", "lint": "timeout 5", "start": "x", "stop": "y", "odd": "echo '"}}"#;
        assert!(of(head, &["npm", "test", "--", "python3 evil.py"]).contains("sh -c 'python3 evil.py'"));
        assert!(of(head, &["npm", "run", "lint", "python3", "evil.py"]).contains("timeout 5 python3 evil.py"));
        let restarted = of(head, &["npm", "restart"]);
        assert!(restarted.contains(&alone("x")) && restarted.contains(&alone("y")), "{restarted}");
        assert!(of(head, &["npm", "run", "odd"]).contains(OPEN));
        assert!(scripts(head, &[Some("npm"), Some("test")], &["PREFIX".to_owned()]).contains(OPEN));
    }
}
