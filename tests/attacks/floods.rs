//! Very much of anything.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use bashgate_shared::protocol::Answer;
use bashgate_tests::{pause, until};

use super::{Attack, Stage, command};

fn left(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// While a flood lasts, the other workspace is answered and the host stays small.
fn outlasts(stage: &Stage, plant: impl Fn(&str, &Path), count: usize) {
    for _ in 0..count {
        let (id, path) = stage.fresh();
        plant(&id, &path);
    }
    let (since, mut answered) = (Instant::now(), 0);
    // Counting a hundred thousand files takes its time, too, so it is done now and then.
    while left(&stage.requests()) > 0 {
        let counted = Instant::now();
        while counted.elapsed() < Duration::from_millis(300) {
            assert_eq!(stage.site.ask("other", "make x").decision, Answer::Allow);
            answered += 1;
        }
        assert!(since.elapsed() < Duration::from_mins(4), "{} files are left", left(&stage.requests()));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", stage.host.child.id())).unwrap();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    println!(
        "  {count} files, over in {:?}; meanwhile {answered} answers to the other workspace; peak memory {} kB",
        since.elapsed(),
        peak.unwrap()
    );
    assert!(peak.unwrap() < 150 * 1024, "{peak:?} kB");
    for answer in stage.answers() {
        let _ = std::fs::remove_file(stage.responses().join(answer));
    }
    stage.is_served();
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "a hundred thousand files that are no requests",
        ends: "each denied at the limit's pace; nobody else waits",
        run: |stage| {
            outlasts(stage, |_, path| std::fs::write(path, "x").unwrap(), 100_000);
        },
    },
    Attack {
        name: "ten thousand links",
        ends: "each denied",
        run: |stage| {
            let target = stage.secret();
            outlasts(stage, |_, path| symlink(&target, path).unwrap(), 10_000);
        },
    },
    Attack {
        name: "four hundred sparse files of 2 MiB",
        ends: "a few at a time",
        run: |stage| {
            outlasts(
                stage,
                |id, path| {
                    let hidden = path.with_file_name(format!(".{id}.tmp"));
                    std::fs::File::create(&hidden).unwrap().set_len(2 << 20).unwrap();
                    std::fs::rename(hidden, path).unwrap();
                },
                400,
            );
        },
    },
    Attack {
        name: "ten thousand commands in a second",
        ends: "denied beyond the limit",
        run: |stage| {
            outlasts(
                stage,
                |id, _| {
                    stage.site.post("default", &command(id, "make x"));
                },
                10_000,
            );
        },
    },
    Attack {
        name: "a hundred commands of 250 kB that cannot be read as bash",
        ends: "Unknown, one at a time",
        run: |stage| {
            let long = "( ".repeat(125_000);
            outlasts(
                stage,
                |id, _| {
                    stage.site.post("default", &command(id, &long));
                },
                100,
            );
        },
    },
    Attack {
        name: "two hundred commands of 47 kB that set variables or open subshells",
        ends: "read off the loop, one at a time",
        run: |stage| {
            let sets: String = (0..5_000).flat_map(|number| ["v".to_owned(), format!("{number}=1;")]).collect();
            let shells = "(:);".repeat(11_750);
            outlasts(
                stage,
                |id, _| {
                    let text = if id.as_bytes().first().is_some_and(|first| first % 2 == 0) { &sets } else { &shells };
                    stage.site.post("default", &command(id, text));
                },
                200,
            );
        },
    },
    Attack {
        name: "fifty thousand names that are no ids",
        ends: "passed over",
        run: |stage| {
            for number in 0..50_000 {
                std::fs::write(stage.requests().join(format!("x{number}")), "").unwrap();
            }
            stage.is_served();
            // They lie there, and cost nothing from then on.
            until("the end of the look", || {
                let before = stage.ticks();
                pause(Duration::from_millis(500));
                (stage.ticks() - before < 12).then_some(())
            });
            let before = stage.ticks();
            pause(Duration::from_secs(4));
            let used = stage.ticks() - before;
            assert!(used < 100, "{used} hundredths of a second of four");
            for number in 0..50_000 {
                std::fs::remove_file(stage.requests().join(format!("x{number}"))).unwrap();
            }
        },
    },
    Attack {
        name: "more commands for a person than one person can answer",
        ends: "denied beyond the workspace's limit",
        run: |stage| {
            stage.site.raise_both("default");
            let ids: Vec<String> = (0..40)
                .map(|number| {
                    let (id, _) = stage.fresh();
                    stage.site.post("default", &command(&id, &format!("curl -s https://x.example/{number}")));
                    id
                })
                .collect();
            until("the rest to be denied", || {
                let denied = ids.iter().filter_map(|id| stage.site.response("default", id)).count();
                (denied == 20).then_some(())
            });
            assert_eq!(stage.site.pending().len(), 20);
            for card in stage.site.pending() {
                stage.site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
            }
            stage.site.cli(["workspace", "renew", "default"]).expect(0);
        },
    },
];
