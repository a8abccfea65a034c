//! The mailbox's folders themselves, exchanged while the host runs.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Attack, Stage, command};

/// Puts something else in a folder's place while the attack goes on, and the folder back behind it.
fn exchanged(stage: &Stage, folder: &Path, other: impl FnOnce(&Path), attack: impl FnOnce()) {
    let aside = stage.site.path().join("aside");
    std::fs::rename(folder, &aside).unwrap();
    other(folder);
    attack();
    if folder.is_symlink() || folder.is_file() {
        std::fs::remove_file(folder).unwrap();
    } else {
        std::fs::remove_dir_all(folder).unwrap();
    }
    std::fs::rename(aside, folder).unwrap();
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "`requests` replaced by a link to the other workspace's",
        ends: "not followed: the other's requests stay its own",
        run: |stage| {
            let other = stage.site.mailbox("other").join("requests");
            exchanged(
                stage,
                &stage.requests(),
                |place| symlink(&other, place).unwrap(),
                || {
                    let before = stage.answers();
                    assert_eq!(stage.site.ask("other", "make x").decision, bashgate_shared::protocol::Answer::Allow);
                    stage.nothing_comes();
                    assert_eq!(stage.answers(), before);
                },
            );
            stage.is_served();
        },
    },
    Attack {
        name: "`requests` replaced by a link to a folder of the host",
        ends: "not followed",
        run: |stage| {
            let state = stage.site.path().join("state");
            exchanged(stage, &stage.requests(), |place| symlink(&state, place).unwrap(), || stage.nothing_comes());
            assert!(state.join("signing.key").exists());
            stage.is_served();
        },
    },
    Attack {
        name: "`requests` replaced by a file",
        ends: "nothing; taken up again when it is back",
        run: |stage| {
            exchanged(stage, &stage.requests(), |place| std::fs::write(place, "x").unwrap(), || stage.nothing_comes());
            stage.is_served();
        },
    },
    Attack {
        name: "`requests` removed and made anew",
        ends: "the new one is watched",
        run: |stage| {
            exchanged(stage, &stage.requests(), |place| std::fs::create_dir(place).unwrap(), || stage.is_served());
            stage.is_served();
        },
    },
    Attack {
        name: "`responses` replaced by a link to the other workspace's",
        ends: "nothing is written there",
        run: |stage| {
            let other = stage.site.mailbox("other").join("responses");
            let (id, _) = stage.fresh();
            exchanged(
                stage,
                &stage.responses(),
                |place| symlink(&other, place).unwrap(),
                || {
                    stage.site.post("default", &command(&id, "make x"));
                    assert_eq!(stage.site.ask("other", "make x").decision, bashgate_shared::protocol::Answer::Allow);
                    std::thread::sleep(std::time::Duration::from_millis(200));
                    assert!(!other.join(format!("{id}.json")).exists());
                },
            );
            stage.is_served();
        },
    },
    Attack {
        name: "`responses` replaced by a link to a folder of the host",
        ends: "nothing is written there",
        run: |stage| {
            let victim = stage.site.path().join("victim");
            std::fs::create_dir_all(&victim).unwrap();
            let (id, _) = stage.fresh();
            exchanged(
                stage,
                &stage.responses(),
                |place| symlink(&victim, place).unwrap(),
                || {
                    stage.site.post("default", &command(&id, "make x"));
                    std::thread::sleep(std::time::Duration::from_millis(700));
                },
            );
            assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
            stage.is_served();
        },
    },
    Attack {
        name: "the whole mailbox replaced by a link to the other workspace's",
        ends: "not followed",
        run: |stage| {
            let other = stage.site.mailbox("other");
            exchanged(
                stage,
                &stage.site.mailbox("default"),
                |place| symlink(&other, place).unwrap(),
                || {
                    assert_eq!(stage.site.ask("other", "make x").decision, bashgate_shared::protocol::Answer::Allow);
                },
            );
            stage.is_served();
        },
    },
    Attack {
        name: "the whole mailbox gone for a while",
        ends: "nothing; taken up again when it is back",
        run: |stage| {
            exchanged(
                stage,
                &stage.site.mailbox("default"),
                |place| std::fs::create_dir(place).unwrap(),
                || {
                    std::thread::sleep(std::time::Duration::from_millis(200));
                },
            );
            stage.is_served();
        },
    },
];
