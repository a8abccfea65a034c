//! Programs that copy, move, remove and mark files: Safe where every file they change is named and may be written.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call, Known, Options, Scan};
use crate::classify::paths;

pub(super) const TABLE: &[Program] = &[
    Program {
        names: &["cp", "mv"],
        about: "copies or moves files",
        kind: Kind::Local,
        rule: Rule::Custom(copy),
        safe: &["cp a.txt b.txt", "mv src/a.rs src/b.rs", "cp -p a b/", "mv -n a /tmp/x"],
        not_safe: &[
            "cp -r a b",
            "cp a.txt /etc/x",
            "mv /etc/x a",
            "cp x .git/hooks",
            "mv pre-commit .git/hooks/",
            "cp settings.json .claude",
            "cp a \"$x\"",
            "mv * b",
            "cp -t /etc a",
            "cp .bashrc ~",
            "mv .git x",
            "mv .aws x",
            "mv x .github",
        ],
    },
    Program {
        names: &["rm", "unlink"],
        about: "removes files",
        kind: Kind::Local,
        rule: Rule::Custom(remove),
        safe: &["rm a.txt", "rm -f /tmp/x b"],
        not_safe: &["rm -rf x", "rm *", "rm /etc/hosts", "rm \"$x\"", "rm ~/x", "rm .git/config"],
    },
    Program {
        names: &["rmdir"],
        about: "removes empty folders",
        kind: Kind::Local,
        rule: Rule::Custom(remove),
        safe: &["rmdir build/x"],
        not_safe: &["rmdir /etc/x", "rmdir -p a/b"],
    },
    Program {
        names: &["chmod"],
        about: "changes who may use a file",
        kind: Kind::Local,
        rule: Rule::Custom(chmod),
        safe: &["chmod +x run.sh", "chmod 644 a b", "chmod u+rw,go-w a"],
        not_safe: &[
            "chmod -R 777 .",
            "chmod 6777 a",
            "chmod u+s a",
            "chmod +x /etc/x",
            "chmod +x *",
            "chmod --reference=a b",
        ],
    },
    Program {
        names: &["ln"],
        about: "makes another name for a file",
        kind: Kind::Local,
        rule: Rule::Custom(links),
        safe: &[],
        not_safe: &["ln -s a b", "ln a b"],
    },
    Program {
        names: &["tar"],
        about: "packs and unpacks files",
        kind: Kind::Local,
        rule: Rule::Custom(tar),
        safe: &["tar tf a.tar", "tar -tvf a.tar", "tar --list --file=a.tar"],
        not_safe: &[
            "tar xf a.tar",
            "tar tzf a.tgz",
            "tar cf a.tar b",
            "tar tf host:a.tar",
            "tar tfh ost:a.tar",
            "tar tf a.tar --to-command=sh",
            "tar -I sh -tf a",
            "tar tf a.tar --checkpoint=1 --checkpoint-action=exec=sh",
            "tar",
        ],
    },
    Program {
        names: &["zcat", "bzcat", "xzcat", "zstdcat"],
        about: "prints files that are packed",
        kind: Kind::Local,
        rule: Rule::Listed(Options { flags: "fq", values: "", long: &[] }, super::Operands::Files),
        safe: &["zcat a.gz | head"],
        not_safe: &["zcat --x a"],
    },
    Program {
        names: &["zipinfo"],
        about: "lists what an archive holds",
        kind: Kind::Local,
        rule: Rule::Listed(Options { flags: "12smlvhtzT", values: "", long: &[] }, super::Operands::Files),
        safe: &["zipinfo -1 a.zip"],
        not_safe: &["zipinfo -x a"],
    },
    Program {
        names: &["unzip"],
        about: "unpacks files",
        kind: Kind::Local,
        rule: Rule::Custom(unzip),
        safe: &["unzip -l a.zip"],
        not_safe: &["unzip a.zip", "unzip -lo a.zip x", "unzip -d /etc a.zip"],
    },
    Program {
        names: &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"],
        about: "packs and unpacks one file",
        kind: Kind::Local,
        rule: Rule::Custom(unpack),
        safe: &["gzip -dc a.gz", "gunzip -c a.gz", "xz -dc a.xz"],
        not_safe: &[
            "zstd -l -d a.zst",
            "xz -td a.xz",
            "unxz -ld a.xz",
            "gzip a",
            "gunzip a.gz",
            "xz -d a.xz",
            "zstd -o x a",
            "gzip -c a",
        ],
    },
];

fn scanned(options: Options, call: &Call) -> Result<Scan<'_>, Judgement> {
    let scan = options.scan(&call.args).map_err(Judgement::unknown)?;
    if scan.operands.iter().any(|operand| operand.known != Known::Literal) {
        return Err(Judgement::unknown("it changes files whose names are only known when it runs"));
    }
    Ok(scan)
}

fn copy(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let long = &["--verbose", "--no-clobber", "--force", "--preserve", "--update", "--no-target-directory"];
    let scan = match scanned(Options { flags: "pfnvuTi", values: "", long }, call) {
        Ok(scan) => scan,
        Err(judgement) => return judgement,
    };
    let Some((target, sources)) = scan.operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return Judgement::unknown("it lacks a file");
    };
    let moves = paths::file_name(&call.program) == "mv";
    let mut judgement = judge.write(target);
    for source in sources {
        let name = paths::file_name(&source.text);
        if matches!(name, "" | "." | "..") {
            return Judgement::unknown("it copies a whole folder");
        }
        // The target may be a folder.
        judgement = judgement.max(judge.write(&Arg::literal(format!("{}/{name}", target.text))));
        if moves {
            judgement = judgement.max(judge.write(source));
            // What lies in a folder, and where links in it lead, is not looked at under its new name.
            if name.starts_with('.') || paths::file_name(&target.text).starts_with('.') {
                judgement = judgement.max(Judgement::unknown("it moves something hidden"));
            }
            judge.is_no_folder(source);
        }
        judgement = judgement.max(judge.read_tree(source));
    }
    judgement
}

fn remove(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let scan = match scanned(Options { flags: "fvi", values: "", long: &["--force", "--verbose"] }, call) {
        Ok(scan) => scan,
        Err(judgement) => return judgement,
    };
    scan.operands.iter().fold(Judgement::safe(), |judgement, operand| judgement.max(judge.write(operand)))
}

fn chmod(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    // `chmod -x file` takes a right away; it is no option.
    let Some((mode, files)) = call.args.split_first() else { return Judgement::unknown("it lacks a mode") };
    let Some(text) = mode.exact() else { return Judgement::unknown("the mode is only known when it runs") };
    let octal = (1..=4).contains(&text.len())
        && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte))
        && (text.len() < 4 || text.starts_with('0'));
    let symbolic = text.bytes().all(|byte| b"ugoa+-=rwxX,".contains(&byte)) && text != "-" && !text.starts_with("--");
    if !(octal || symbolic && text.contains(['+', '-', '='])) {
        return Judgement::unknown("this mode is not on its list");
    }
    if files.iter().any(|file| file.known != Known::Literal || file.may_be_option()) {
        return Judgement::unknown("it changes files whose names are only known when it runs");
    }
    files.iter().fold(Judgement::safe(), |judgement, file| judgement.max(judge.write(file)))
}

fn links(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if let Some(target) = call.args.last() {
        let _ = judge.write(target);
    }
    for source in call.args.iter().filter(|arg| !arg.may_be_option()) {
        let _ = judge.read(source);
    }
    Judgement::unknown("what is reached through the new name is not followed")
}

/// Only the listing of an archive that is not packed: everything else runs another program or writes.
fn tar(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.clone();
    // The first word may be a cluster without its dash, where values are not glued to their letters.
    if let Some(first) = args.first_mut().filter(|first| first.known == Known::Literal && !first.text.starts_with('-'))
    {
        if !matches!(first.text.as_str(), "t" | "tv" | "vt" | "tf" | "tvf" | "vtf") {
            let judgement = Judgement::unknown("only the listing of an archive is read here");
            return judgement.max(super::suspect(judge, call, &call.args));
        }
        first.text.insert(0, '-');
    }
    let options = Options { flags: "tv", values: "f", long: &["--list", "--verbose", "--file="] };
    let scan = match options.scan(&args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason).max(super::suspect(judge, call, &call.args)),
    };
    let lists = scan.has(&["-t", "--list"]);
    match scan.value(&["-f", "--file"]) {
        Some(file)
            if lists && file.exact().is_some_and(|name| !name.contains(':') && !name.ends_with(['z', 'Z', '2'])) =>
        {
            judge.read(file)
        }
        _ => Judgement::unknown("only the listing of an archive is read here"),
    }
}

fn unzip(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    match call.args.as_slice() {
        [option, file] if matches!(option.exact(), Some("-l" | "-v" | "-Z" | "-Z1")) && !file.may_be_option() => {
            judge.read(file)
        }
        _ => Judgement::unknown("only the listing of an archive is read here"),
    }
}

fn unpack(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options =
        Options { flags: "cdkqtlv", values: "", long: &["--stdout", "--decompress", "--list", "--test", "--quiet"] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let decompresses = paths::file_name(&call.program).starts_with("un")
        || paths::file_name(&call.program).starts_with("gun")
        || paths::file_name(&call.program).starts_with("bun")
        || scan.has(&["-d", "--decompress"]);
    // Of several modes the last one counts.
    let modes =
        [["-l", "--list"], ["-t", "--test"], ["-d", "--decompress"]].iter().filter(|mode| scan.has(*mode)).count();
    let unpacks_by_name = decompresses && !scan.has(&["-d", "--decompress"]);
    if modes + usize::from(unpacks_by_name) > 1 {
        return Judgement::unknown("it is given more than one mode");
    }
    let keeps = scan.has(&["-c", "--stdout", "-l", "--list", "-t", "--test"]) || scan.operands.is_empty();
    if keeps && (decompresses || scan.has(&["-l", "--list", "-t", "--test"])) {
        super::read_behind(judge, &scan.operands, 0)
    } else {
        Judgement::unknown("it replaces the file, or packs one")
    }
}
