//! A `responses` folder into which the container writes, where it should be mounted for reading only.

use std::os::unix::fs::symlink;

use super::{Attack, command};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "an answer written in advance",
        ends: "left as it is; the hook refuses it for its signature",
        run: |stage| {
            let (id, _) = stage.fresh();
            let forged = stage.responses().join(format!("{id}.json"));
            std::fs::write(&forged, r#"{"decision":"allow","reason":"forged"}"#).unwrap();
            stage.site.post("default", &command(&id, "make x"));
            stage.is_served();
            assert!(std::fs::read_to_string(&forged).unwrap().contains("forged"), "nothing is written over");
            std::fs::remove_file(forged).unwrap();
        },
    },
    Attack {
        name: "a link in an answer's place",
        ends: "what it leads to is not written",
        run: |stage| {
            let (id, _) = stage.fresh();
            let place = stage.responses().join(format!("{id}.json"));
            let before = std::fs::read(stage.secret()).unwrap();
            symlink(stage.secret(), &place).unwrap();
            stage.site.post("default", &command(&id, "make x"));
            stage.is_served();
            assert_eq!(std::fs::read(stage.secret()).unwrap(), before);
            std::fs::remove_file(place).unwrap();
        },
    },
    Attack {
        name: "a folder in an answer's place",
        ends: "no answer, so a denial",
        run: |stage| {
            let (id, _) = stage.fresh();
            let place = stage.responses().join(format!("{id}.json"));
            std::fs::create_dir(&place).unwrap();
            stage.site.post("default", &command(&id, "make x"));
            stage.is_served();
            std::fs::remove_dir(place).unwrap();
        },
    },
    Attack {
        name: "a link under the guessed temporary name of an answer",
        ends: "what it leads to is not written",
        run: |stage| {
            let (id, _) = stage.fresh();
            let place = stage.responses().join(format!(".{id}.tmp"));
            let before = std::fs::read(stage.secret()).unwrap();
            symlink(stage.secret(), &place).unwrap();
            stage.site.post("default", &command(&id, "make x"));
            stage.is_served();
            assert_eq!(std::fs::read(stage.secret()).unwrap(), before);
            let _ = std::fs::remove_file(place);
        },
    },
    Attack {
        name: "a link in the heartbeat's place, and under its temporary name",
        ends: "replaced, not followed",
        run: |stage| {
            let before = std::fs::read(stage.secret()).unwrap();
            for name in ["heartbeat.json", ".heartbeat.tmp"] {
                let place = stage.responses().join(name);
                let _ = std::fs::remove_file(&place);
                symlink(stage.secret(), &place).unwrap();
            }
            stage.is_served();
            assert_eq!(std::fs::read(stage.secret()).unwrap(), before);
        },
    },
    Attack {
        name: "a folder under the heartbeat's temporary name",
        ends: "no sign of life there; answers still come",
        run: |stage| {
            let place = stage.responses().join(".heartbeat.tmp");
            let _ = std::fs::remove_file(&place);
            std::fs::create_dir(&place).unwrap();
            stage.is_served();
            std::fs::remove_dir(place).unwrap();
        },
    },
    Attack {
        name: "answers of its own among the host's",
        ends: "nobody reads them",
        run: |stage| {
            for number in 0..50 {
                std::fs::write(
                    stage.responses().join(format!("00000000-0000-4000-8000-0000000001{number:02}.json")),
                    "x",
                )
                .unwrap();
            }
            stage.is_served();
            for number in 0..50 {
                std::fs::remove_file(
                    stage.responses().join(format!("00000000-0000-4000-8000-0000000001{number:02}.json")),
                )
                .unwrap();
            }
        },
    },
];
