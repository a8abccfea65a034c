//! What looking through a workspace costs: the hook before a command that reads all of it, the runner before and after a run.

use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, Site, bin};
use serde_json::Value;

use super::table::{Table, Times};
use super::{event, interleave, run};

/// Runs of each side where one takes a tenth of a second.
const FEW_ROUNDS: usize = 30;

/// As many files as this, with the names and in the folders of a project with packages, and what its folders count besides.
fn project(folder: &Path, files: usize) {
    const STEMS: [&str; 12] = [
        "index",
        "main",
        "Button",
        "use-thing",
        "config",
        "handler",
        "types",
        "parser",
        "test_case",
        "schema",
        "README",
        "package",
    ];
    const ENDINGS: [&str; 15] = [
        ".js", ".ts", ".tsx", ".json", ".py", ".rs", ".md", ".d.ts", ".js.map", ".yml", ".txt", ".html", ".css",
        ".cjs", "",
    ];
    const IN_ONE: usize = 40;
    for number in 0..files {
        let (group, file) = (number / IN_ONE, number % IN_ONE);
        let place = folder.join(format!("node_modules/package{}/lib{}", group / 8, group % 8));
        if file == 0 {
            std::fs::create_dir_all(&place).unwrap();
        }
        let name = format!("{}{}{}", STEMS[file % STEMS.len()], file / STEMS.len(), ENDINGS[number % ENDINGS.len()]);
        std::fs::File::create(place.join(name)).unwrap();
    }
}

fn few(mut ours: impl FnMut() -> f64, mut other: impl FnMut() -> f64) -> (Times, Times) {
    ours();
    other();
    let pairs = (0..FEW_ROUNDS).map(|_| (ours(), other()));
    let (one, two) = pairs.unzip();
    (Times(one), Times(two))
}

/// The hook, asked about a command that reads all files of a workspace, beside a program that does nothing, beside the least
/// that lists the same names, and beside `find`.
pub fn hook_in_large_folders(floor: &Path, table: &mut Table) {
    for files in [500, 3_900] {
        let site = Site::default();
        project(&site.work(), files);
        let input = event(&site, "grep -rn main .");
        let what = format!("hook, looks through {files} files");
        for (floor_does, side, budget) in
            [("true", "static C that reads its input", "3"), ("walk", "static C that lists them", "")]
        {
            let mut hook = site.hook_command(&site.hook_toml());
            let mut least = Command::new(floor);
            least.arg(floor_does).current_dir(site.work());
            let (ours, least) = interleave(
                || run(&mut hook, &input),
                || run(&mut least, if floor_does == "true" { &input } else { b"" }),
            );
            table.compare(&what, &ours, side, &least, [budget, ""]);
        }
    }
    for files in [40_000, 95_000] {
        let site = Site::default();
        project(&site.work(), files);
        let input = event(&site, "grep -rn main .");
        let mut hook = site.hook_command(&site.hook_toml());
        let mut find = Command::new("find");
        find.current_dir(site.work());
        let (ours, other) = few(|| run(&mut hook, &input), || run(&mut find, b""));
        table.compare(&format!("hook, looks through {files} files"), &ours, "find", &other, ["1.5", ""]);
    }
}

/// The runner's looks at a workspace, before a run in the cage and behind it, as it says itself.
pub fn watch_of_a_large_workspace(table: &mut Table) {
    let folder = tempfile::Builder::new().prefix("watch-").tempdir_in("/srv").unwrap();
    let work = folder.path().join("work");
    project(&work, 40_000);
    let look = || {
        let mut command = Command::new(bin("bashgate-run"));
        command.args(["exec", "--cage", "--json", "--", "true"]).current_dir(&work).env("HOME", folder.path());
        let output = Output::of(&mut command, b"").expect(0).stdout;
        let outcome: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
        ["before", "after"].map(|when| outcome["looked_ms"][when].as_f64().unwrap())
    };
    let mut find = Command::new("find");
    find.current_dir(&work);
    look();
    let (mut before, mut after, mut other) = (Times(Vec::new()), Times(Vec::new()), Times(Vec::new()));
    for _ in 0..FEW_ROUNDS {
        let [one, two] = look();
        before.0.push(one);
        after.0.push(two);
        other.0.push(run(&mut find, b""));
    }
    table.compare("runner, looks at 40,000 files before a run", &before, "find", &other, ["1.5", ""]);
    table.compare("runner, looks at 40,000 files after it", &after, "find", &other, ["", ""]);
}
