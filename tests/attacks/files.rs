//! What lies under a request's name.

use std::os::unix::fs::{FileExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode};

use super::{Attack, command};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "a symbolic link to a file of the host",
        ends: "denied, never opened",
        run: |stage| {
            let (id, path) = stage.fresh();
            symlink(stage.secret(), path).unwrap();
            stage.denied(&id, "a symbolic link");
        },
    },
    Attack {
        name: "a symbolic link to a request of another workspace",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            symlink(stage.site.mailbox("other").join("requests").join(format!("{id}.json")), path).unwrap();
            stage.denied(&id, "a symbolic link");
        },
    },
    Attack {
        name: "a symbolic link to itself",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            symlink(&path, &path).unwrap();
            stage.denied(&id, "a symbolic link");
        },
    },
    Attack {
        name: "a symbolic link to /dev/zero",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            symlink("/dev/zero", path).unwrap();
            stage.denied(&id, "a symbolic link");
        },
    },
    Attack {
        name: "a hard link to a file of the host",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            std::fs::hard_link(stage.secret(), path).unwrap();
            stage.denied(&id, "more than one name");
            assert!(stage.secret().exists());
        },
    },
    Attack {
        name: "two names of one request",
        ends: "both denied",
        run: |stage| {
            let (first, path) = stage.fresh();
            let (second, other) = stage.fresh();
            let hidden = stage.requests().join(".both");
            std::fs::write(&hidden, command(&first, "ls").to_string()).unwrap();
            std::fs::hard_link(&hidden, other).unwrap();
            std::fs::rename(&hidden, path).unwrap();
            // The second name is denied in any case: the first may be taken when it is the last one left.
            stage.denied(&second, "");
            stage.response(&first);
        },
    },
    Attack {
        name: "a pipe that nobody writes into",
        ends: "denied, without waiting",
        run: |stage| {
            let (id, path) = stage.fresh();
            rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from(0o666), 0).unwrap();
            stage.denied(&id, "not a regular file");
        },
    },
    Attack {
        name: "a pipe that somebody holds open and never writes into",
        ends: "denied, without waiting",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".pipe");
            rustix::fs::mknodat(CWD, &hidden, FileType::Fifo, Mode::from(0o666), 0).unwrap();
            let _open = std::fs::File::options().read(true).write(true).open(&hidden).unwrap();
            std::fs::rename(hidden, path).unwrap();
            stage.denied(&id, "not a regular file");
        },
    },
    Attack {
        name: "a socket",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.site.path().join("s");
            let _listener = UnixListener::bind(&hidden).unwrap();
            std::fs::rename(hidden, path).unwrap();
            stage.denied(&id, "");
        },
    },
    Attack {
        name: "the device /dev/zero under a name of its own",
        ends: "denied",
        run: |stage| {
            let (id, path) = stage.fresh();
            rustix::fs::mknodat(CWD, &path, FileType::CharacterDevice, Mode::from(0o666), rustix::fs::makedev(1, 5))
                .unwrap();
            stage.denied(&id, "");
        },
    },
    Attack {
        name: "a folder",
        ends: "denied once, and left lying",
        run: |stage| {
            let (id, path) = stage.fresh();
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("inside"), "x").unwrap();
            stage.denied(&id, "not a regular file");
            stage.nothing_comes();
            std::fs::remove_dir_all(path).unwrap();
        },
    },
    Attack {
        name: "a sparse file of a terabyte",
        ends: "denied, not read",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".huge");
            std::fs::File::create(&hidden).unwrap().set_len(1 << 40).unwrap();
            std::fs::rename(hidden, path).unwrap();
            stage.denied(&id, "larger than");
        },
    },
    Attack {
        name: "one byte more than may be",
        ends: "denied",
        run: |stage| {
            let (id, _) = stage.fresh();
            stage.site.post_bytes("default", &id, &vec![b' '; (2 << 20) + 1]);
            stage.denied(&id, "larger than");
        },
    },
    Attack { name: "an empty file", ends: "denied", run: |stage| stage.refuses("", "not what the protocol allows") },
    Attack {
        name: "half a request, written in place",
        ends: "denied; it had one chance",
        run: |stage| {
            let (id, path) = stage.fresh();
            let text = command(&id, "make x").to_string();
            let hidden = stage.requests().join(".half");
            std::fs::write(&hidden, &text[..text.len() / 2]).unwrap();
            std::fs::rename(hidden, path).unwrap();
            stage.denied(&id, "not what the protocol allows");
        },
    },
    Attack {
        name: "a file that grows while it is read",
        ends: "answered once, whatever was read",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".grows");
            let file = std::fs::File::create(&hidden).unwrap();
            file.write_all_at(command(&id, "make x").to_string().as_bytes(), 0).unwrap();
            std::fs::rename(hidden, path).unwrap();
            let mut at = 1 << 20;
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(50) {
                let _ = file.write_at(&[b' '; 4096], at);
                at += 4096;
            }
            stage.response(&id);
        },
    },
    Attack {
        name: "a file that shrinks while it is read",
        ends: "answered once, whatever was read",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".shrinks");
            let mut text = command(&id, "make x").to_string();
            text.push_str(&" ".repeat(1 << 20));
            std::fs::write(&hidden, &text).unwrap();
            let file = std::fs::File::options().write(true).open(&hidden).unwrap();
            std::fs::rename(hidden, path).unwrap();
            for length in (0..1 << 20).rev().step_by(16_384) {
                let _ = file.set_len(length);
            }
            stage.response(&id);
        },
    },
    Attack {
        name: "a name that turns from a file into a link and back, over and over",
        ends: "answered once, the link never followed",
        run: |stage| {
            let (id, path) = stage.fresh();
            let (link, file) = (stage.requests().join(".link"), stage.requests().join(".file"));
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(100) {
                let _ = symlink(stage.secret(), &link);
                let _ = std::fs::rename(&link, &path);
                std::fs::write(&file, command(&id, "make x").to_string()).unwrap();
                let _ = std::fs::rename(&file, &path);
            }
            let response = stage.response(&id);
            assert!(!response.reason.contains("name of its file"), "the link was followed: {response:?}");
            let _ = std::fs::remove_file(path);
        },
    },
    Attack {
        name: "a file with every special bit in its mode",
        ends: "read like any other",
        run: |stage| {
            use std::os::unix::fs::PermissionsExt as _;
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".mode");
            std::fs::write(&hidden, command(&id, "make x").to_string()).unwrap();
            std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o7777)).unwrap();
            std::fs::rename(hidden, path).unwrap();
            assert_eq!(stage.response(&id).decision, bashgate_shared::protocol::Answer::Allow);
        },
    },
    Attack {
        name: "a file from the year 2100, and one from 1970",
        ends: "read like any other",
        run: |stage| {
            for seconds in [4_102_444_800, 1] {
                let (id, path) = stage.fresh();
                let hidden = stage.requests().join(".time");
                std::fs::write(&hidden, command(&id, "make x").to_string()).unwrap();
                let time = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
                std::fs::File::options().write(true).open(&hidden).unwrap().set_modified(time).unwrap();
                std::fs::rename(hidden, path).unwrap();
                stage.response(&id);
            }
        },
    },
    Attack {
        name: "a lock on the request that is never let go",
        ends: "the answer comes all the same",
        run: |stage| {
            let (id, path) = stage.fresh();
            let hidden = stage.requests().join(".lock");
            std::fs::write(&hidden, command(&id, "make x").to_string()).unwrap();
            let locked = std::fs::File::open(&hidden).unwrap();
            locked.lock().unwrap();
            std::fs::rename(hidden, path).unwrap();
            stage.response(&id);
        },
    },
    Attack {
        name: "a request that is taken away before it is read",
        ends: "nothing",
        run: |stage| {
            for _ in 0..50 {
                let (id, path) = stage.fresh();
                stage.site.post_bytes("default", &id, command(&id, "make x").to_string().as_bytes());
                let _ = std::fs::remove_file(path);
            }
            stage.is_served();
        },
    },
];
