//! Programs that copy, move, remove and mark files: Safe where every file they change is named and may be written.

use super::copies::Copies;
use super::{Judge, Judgement, Kind, Operands, Program, Rule, Runs, Trait};
use crate::classify::call::{Arg, Call, Known, Options, Scan};
use crate::classify::judge::calls::Suspicion;
use crate::classify::paths;

pub(super) const TABLE: &[Program] = &[
    Program::new(&["cp"], "copies files", Kind::Local, Rule::Custom(copy))
        .copies(Copies::ToLast("aRrpvufdLPHxnT"))
        .traits(&[Trait::ChangesFiles, Trait::Overwrites])
        .safe(&["cp a.txt b.txt", "cp -p a b/"])
        .not_safe(&[
            "cp -r a b",
            "cp a.txt /etc/x",
            "cp x .git/hooks",
            "cp settings.json .claude",
            "cp a \"$x\"",
            "cp -t /etc a",
            "cp .bashrc ~",
        ]),
    Program::new(&["mv"], "moves files", Kind::Local, Rule::Custom(move_))
        .traits(&[Trait::ChangesFiles, Trait::Overwrites, Trait::Moves])
        .safe(&["mv src/a.rs src/b.rs", "mv -n a /tmp/x"])
        .not_safe(&["mv /etc/x a", "mv pre-commit .git/hooks/", "mv * b", "mv .git x", "mv .aws x", "mv x .github"]),
    Program::new(&["rm"], "removes files", Kind::Local, Rule::Custom(remove))
        .traits(&[Trait::ChangesFiles, Trait::Deletes, Trait::NamesOnly])
        .safe(&["rm a.txt", "rm -f /tmp/x b"])
        .not_safe(&["rm -rf x", "rm *", "rm /etc/hosts", "rm \"$x\"", "rm ~/x", "rm .git/config"]),
    Program::new(&["unlink"], "removes one file", Kind::Local, Rule::Custom(remove))
        .traits(&[Trait::ChangesFiles, Trait::Deletes, Trait::NamesOnly])
        .safe(&["unlink a.txt"])
        .not_safe(&["unlink /etc/hosts"]),
    Program::new(&["rmdir"], "removes empty folders", Kind::Local, Rule::Custom(remove))
        .traits(&[Trait::ChangesFiles, Trait::NamesOnly])
        .safe(&["rmdir build/x"])
        .not_safe(&["rmdir /etc/x", "rmdir -p a/b"]),
    Program::new(&["chmod"], "changes who may use a file", Kind::Local, Rule::Custom(chmod))
        .traits(&[Trait::ChangesFiles, Trait::NamesOnly])
        .safe(&["chmod +x run.sh", "chmod 644 a b", "chmod u+rw,go-w a"])
        .not_safe(&[
            "chmod -R 777 .",
            "chmod 6777 a",
            "chmod u+s a",
            "chmod +x /etc/x",
            "chmod +x *",
            "chmod --reference=a b",
        ]),
    Program::new(&["ln"], "makes another name for a file", Kind::Local, Rule::Custom(links))
        .traits(&[Trait::ChangesFiles, Trait::Links])
        .not_safe(&["ln -s a b", "ln a b"]),
    Program::new(&["tar"], "packs and unpacks files", Kind::Local, Rule::Custom(tar))
        .copies(Copies::AsTar)
        .traits(&[Trait::ChangesFiles])
        .runs(Runs::Named)
        .environment(&["TAR_OPTIONS", "TAPE"])
        // By what the archive is.
        .starts(&[
            "gzip", "bzip2", "xz", "lzma", "lzip", "lzop", "zstd", "compress", "unxz", "lbzip2", "pbzip2", "pigz",
        ])
        .safe(&[
            "tar tf a.tar",
            "tar -tvf a.tar",
            "tar --list --file=a.tar",
            "tar tzf a.tgz",
            "tar -tJvf a.tar.xz",
            "tar tf a.tar.bz2",
        ])
        .not_safe(&[
            "tar xf a.tar",
            "tar tfz a.tgz",
            "tar txf a.tgz",
            "tar cf a.tar b",
            "tar tf host:a.tar",
            "tar tfh ost:a.tar",
            "tar tf a.tar --to-command=sh",
            "tar -I sh -tf a",
            "tar tf a.tar --checkpoint=1 --checkpoint-action=exec=sh",
            "tar",
        ]),
    Program::new(
        &["bzcat", "xzcat", "zstdcat"],
        "prints files that are packed",
        Kind::Local,
        Rule::Listed(UNPACKED, Operands::Files),
    )
    .environment(&["BZIP", "BZIP2", "XZ_OPT", "XZ_DEFAULTS", "ZSTD_CLEVEL", "ZSTD_NBTHREADS"])
    .starts(&["bzip2", "xz", "zstd"])
    .safe(&["xzcat a.xz | head"])
    .not_safe(&["xzcat --x a"]),
    Program::new(&["zcat"], "prints files that are packed", Kind::Local, Rule::Custom(zcat))
        .environment(&["GZIP", "GZIP_BINDIR"])
        .starts(&["gzip"])
        .traits(&[Trait::ShellScript])
        .safe(&["zcat a.gz | head"])
        .not_safe(&["zcat --x a"]),
    Program::new(
        &["zipinfo"],
        "lists what an archive holds",
        Kind::Local,
        Rule::Listed(Options { flags: "12smlvhtzT", values: "", long: &[] }, Operands::Files),
    )
    .environment(&["ZIPINFO", "ZIPINFOOPT"])
    .safe(&["zipinfo -1 a.zip"])
    .not_safe(&["zipinfo -x a"]),
    Program::new(&["unzip"], "unpacks files", Kind::Local, Rule::Custom(unzip))
        .runs(Runs::Named)
        .environment(&["UNZIP", "UNZIPOPT"])
        .traits(&[Trait::ChangesFiles, Trait::WritesAsTold])
        .safe(&["unzip -l a.zip"])
        .not_safe(&["unzip a.zip", "unzip -lo a.zip x", "unzip -d /etc a.zip"]),
    Program::new(&["gzip", "gunzip"], "packs and unpacks one file", Kind::Local, Rule::Custom(unpack))
        .environment(&["GZIP", "GZIP_BINDIR"])
        .starts(&["gzip"])
        .traits(&[Trait::ShellScript])
        .safe(&["gzip -dc a.gz", "gunzip -c a.gz"])
        .not_safe(&["gzip a", "gunzip a.gz", "gzip -c a"]),
    Program::new(&["bzip2", "bunzip2"], "packs and unpacks one file", Kind::Local, Rule::Custom(unpack))
        .environment(&["BZIP", "BZIP2"])
        .safe(&["bzip2 -dc a.bz2"])
        .not_safe(&["bunzip2 a.bz2"]),
    Program::new(&["xz", "unxz"], "packs and unpacks one file", Kind::Local, Rule::Custom(unpack))
        .environment(&["XZ_OPT", "XZ_DEFAULTS"])
        .safe(&["xz -dc a.xz"])
        .not_safe(&["xz -td a.xz", "unxz -ld a.xz", "xz -d a.xz"]),
    Program::new(&["zstd", "unzstd"], "packs and unpacks one file", Kind::Local, Rule::Custom(unpack))
        .environment(&["ZSTD_CLEVEL", "ZSTD_NBTHREADS"])
        .safe(&["zstd -dc a.zst"])
        .not_safe(&["zstd -l -d a.zst", "zstd -o x a"]),
    Program::new(&["chown", "chgrp", "chattr", "setfacl"], "changes who may use a file", Kind::Local, CHANGES)
        .traits(&[Trait::ChangesFiles, Trait::NamesOnly])
        .not_safe(&["chown root a", "chattr +i a"]),
    Program::new(&["install"], "changes files", Kind::Local, CHANGES)
        .runs(Runs::Named)
        .traits(&[Trait::ChangesFiles])
        .not_safe(&["install a b", "install -s --strip-program=x a b"]),
    Program::new(&["rename", "prename", "file-rename"], "renames files as code in Perl says", Kind::Local, CHANGES)
        .runs(Runs::Code)
        .traits(&[Trait::ChangesFiles])
        .not_safe(&["rename s/a/b/ a", "rename 'system(1)' a"]),
    Program::new(&["mkfifo", "mknod"], "makes pipes and devices", Kind::Local, CHANGES)
        .traits(&[Trait::ChangesFiles, Trait::MakesPipes])
        .not_safe(&["mkfifo x", "mknod x p"]),
    Program::new(&["patch"], "changes files as a diff says", Kind::Local, CHANGES)
        .traits(&[Trait::ChangesFiles, Trait::WritesAsTold])
        .not_safe(&["patch -p1", "patch a b.diff"]),
    Program::new(
        &["apply_patch", "applypatch"],
        "changes files as an agent's patch says",
        Kind::Local,
        Rule::Custom(apply_patch),
    )
    .traits(&[Trait::ChangesFiles, Trait::WritesAsTold])
    .not_safe(&["apply_patch x"]),
    Program::new(&["truncate", "shred"], "takes away what a file holds", Kind::Local, CHANGES)
        .traits(&[Trait::ChangesFiles, Trait::Overwrites])
        .not_safe(&["truncate -s 0 a", "shred a"]),
    Program::new(&["dd"], "copies bytes", Kind::Local, Rule::Custom(dd))
        .traits(&[Trait::ChangesFiles])
        .not_safe(&["dd if=a of=b"]),
    Program::new(
        &["bsdtar", "7z", "7za", "7zz", "cpio", "unrar"],
        "packs and unpacks files",
        Kind::Local,
        Rule::Never(Operands::Files),
    )
    .runs(Runs::Named)
    .traits(&[Trait::WritesAsTold])
    .not_safe(&["7z x a.7z", "cpio -i"]),
    Program::new(&["zip"], "packs files", Kind::Local, Rule::Never(Operands::Files))
        .copies(Copies::IntoFirst("rqj9v"))
        .runs(Runs::Named)
        .not_safe(&["zip -T -TT x a.zip b"]),
    Program::new(&["split"], "cuts files", Kind::Local, Rule::Never(Operands::Files))
        .runs(Runs::Named)
        .not_safe(&["split --filter=x a"]),
];

const CHANGES: Rule = Rule::Never(Operands::Names);
const UNPACKED: Options = Options { flags: "fq", values: "", long: &[] };

fn scanned(options: Options, call: &Call) -> Result<Scan<'_>, Judgement> {
    let scan = options.scan(&call.args).map_err(Judgement::unknown)?;
    if scan.operands.iter().any(|operand| operand.known != Known::Literal) {
        return Err(Judgement::unknown("it changes files whose names are only known when it runs"));
    }
    Ok(scan)
}

fn copy(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    copy_or_move(judge, call, false)
}

fn move_(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    copy_or_move(judge, call, true)
}

fn copy_or_move(judge: &mut Judge<'_>, call: &Call, moves: bool) -> Judgement {
    let long = &["--verbose", "--no-clobber", "--force", "--preserve", "--update", "--no-target-directory"];
    let scan = match scanned(Options { flags: "pfnvuTi", values: "", long }, call) {
        Ok(scan) => scan,
        Err(judgement) => return judgement,
    };
    let Some((target, sources)) = scan.operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return Judgement::unknown("it lacks a file");
    };
    let mut judgement = Judgement::safe();
    for source in sources {
        let name = paths::file_name(source.start());
        // The target may be a folder.
        let inside = Arg::literal(format!("{}/{name}", target.start()));
        let from = (!moves && sources.len() == 1).then_some(*source);
        judgement = judgement.max(judge.write_copy(from, &[target, &inside]));
        if matches!(name, "" | "." | "..") {
            return Judgement::unknown("it copies a whole folder");
        }
        if moves {
            judgement = judgement.max(judge.write(source));
            // What lies in a folder, and where links in it lead, is not looked at under its new name.
            if name.starts_with('.') || paths::file_name(target.start()).starts_with('.') {
                judgement = judgement.max(Judgement::unknown("it moves something hidden"));
            }
            judge.is_no_folder(source);
            judge.may_move_folders();
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

/// Its operands name their files behind `if=` and `of=`.
fn dd(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut judgement = Judgement::unknown("");
    for arg in call.args.iter().filter_map(Arg::exact) {
        if let Some(file) = arg.strip_prefix("if=") {
            judgement = judgement.max(judge.read(&Arg::literal(file)));
        } else if let Some(file) = arg.strip_prefix("of=") {
            judgement = judgement.max(judge.write(&Arg::literal(file)));
        }
    }
    judgement
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

/// Only the listing of an archive, for which it starts what unpacks it: everything else runs another program or writes.
fn tar(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.clone();
    // The first word may be a cluster without its dash, where values are not glued to their letters.
    if let Some(first) = args.first_mut()
        && let Some(letters) = first.exact().filter(|letters| !letters.starts_with('-'))
    {
        let is_listing = letters.contains('t') && letters.chars().all(|letter| "tvzjJf".contains(letter));
        if !is_listing || letters.split_once('f').is_some_and(|(_, behind)| !behind.is_empty()) {
            let judgement = Judgement::unknown("only the listing of an archive is read here");
            packed(judge, call);
            return judgement.max(judge.suspect_with(call, &call.args, Suspicion::Guesses));
        }
        *first = Arg::literal(format!("-{letters}"));
    }
    let options = Options {
        flags: "tvzjJ",
        values: "f",
        long: &["--list", "--verbose", "--gzip", "--gunzip", "--bzip2", "--xz", "--zstd", "--file="],
    };
    let scan = match options.scan(&args) {
        Ok(scan) => scan,
        Err(reason) => {
            packed(judge, call);
            return Judgement::unknown(reason).max(judge.suspect_with(call, &call.args, Suspicion::Guesses));
        }
    };
    let lists = scan.has(&["-t", "--list"]);
    let archives = scan.options.iter().filter(|(name, _)| matches!(name.as_str(), "-f" | "--file")).count();
    match scan.value(&["-f", "--file"]) {
        Some(file) if archives == 1 && lists && file.exact().is_some_and(|name| !name.contains(':')) => {
            judge.read(file)
        }
        _ => Judgement::unknown("only the listing of an archive is read here"),
    }
}

/// True for a call that changes the files which stand in what it reads.
pub fn writes_as_told(program: &str, words: &[Option<&str>]) -> bool {
    let named = || words.iter().flatten();
    match paths::file_name(program) {
        // Only the listing of an archive, and packing one, changes no others.
        "tar" => words.iter().enumerate().any(|(at, word)| word.is_none_or(|word| takes_out(at, word))),
        "git" => {
            let looks = ["--check", "--stat", "--numstat", "--summary"];
            // With `--apply` it changes files as well, whatever else it shows.
            let shows = named().any(|word| looks.contains(word)) && !named().any(|word| word.starts_with("--ap"));
            // What was put by is git's own, and looked at as that.
            let is_stash = named().find(|word| !word.starts_with('-')).is_some_and(|word| *word == "stash");
            let applies = named().any(|word| matches!(*word, "apply" | "am")) && !is_stash;
            applies && !(shows && words.iter().all(Option::is_some)) || super::git::writes_by_number(words)
        }
        _ => super::row(program).is_some_and(|row| row.has(Trait::WritesAsTold)),
    }
}

/// True for such a call that says where what it reads stands: behind git's own word for what it does, or besides the file that is
/// patched.
pub fn names_its_input(program: &str, words: &[Option<&str>]) -> bool {
    let files =
        |words: &[Option<&str>]| words.iter().filter(|word| word.is_none_or(|word| !word.starts_with('-'))).count();
    match paths::file_name(program) {
        "git" => {
            let at = words.iter().position(|word| word.is_some_and(|word| matches!(word, "apply" | "am")));
            at.and_then(|at| words.get(at + 1..)).is_some_and(|behind| files(behind) > 0)
        }
        "patch" => {
            let says_it = |word: &&str| word.starts_with("-i") || word.starts_with("--inp");
            words.iter().flatten().any(says_it) || files(words) > 1
        }
        _ => files(words) > 0,
    }
}

/// Letters behind which a value stands (tar(1) 1.34).
const TAR_VALUED: &str = "bCfFgHIKLNTVX";

/// True for a word of tar's that has it take files out of an archive. The first one needs no dash.
fn takes_out(at: usize, word: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let is = |option: &str| long.len() > 1 && option.starts_with(long);
        return is("extract") || is("get");
    }
    let is_old = !word.starts_with('-');
    let letters = word.strip_prefix('-').or((at == 0).then_some(word)).unwrap_or_default();
    letters.split(|letter| !is_old && TAR_VALUED.contains(letter)).next().unwrap_or_default().contains('x')
}

/// The patch is its first word, or comes on its input.
fn apply_patch(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let text = call.args.first().map_or(call.fed.as_deref(), Arg::exact);
    match text {
        Some(text) => judge.patched(text, &[]),
        None => judge.write_any_name(&Arg::literal("*")),
    }
    Judgement::unknown("it changes the files that a patch names")
}

/// What is put into an archive is read, folders as a whole. Where that stands in a list, or it cannot be told from what is taken out of
/// one, nobody knows.
fn packed(judge: &mut Judge<'_>, call: &Call) {
    let mut unpacks = false;
    let mut is_list = false;
    let mut folders = Vec::new();
    let mut previous = "";
    for (at, arg) in call.args.iter().enumerate() {
        let text = arg.start();
        unpacks |= takes_out(at, text);
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is = |option: &str| name.len() > 1 && option.starts_with(name);
            is_list |= is("files-from");
            folders.extend(value.filter(|_| is("directory")).map(Arg::literal));
        } else if let Some(letters) = text.strip_prefix('-').or((at == 0).then_some(text)) {
            let is_old = !text.starts_with('-');
            let flags = letters.split(|letter| !is_old && TAR_VALUED.contains(letter)).next().unwrap_or_default();
            let valued = letters.get(flags.len()..).unwrap_or_default();
            is_list |= valued.starts_with('T') || is_old && letters.contains('T');
            folders.extend(valued.strip_prefix('C').filter(|glued| !glued.is_empty()).map(Arg::literal));
        }
        if matches!(previous, "-C" | "--directory") {
            folders.push(arg.clone());
        }
        previous = text;
    }
    if unpacks {
        return;
    }
    if is_list {
        let _ = judge.read_unknown();
    }
    let named = call.args.iter().skip(1).filter(|arg| !arg.start().starts_with('-'));
    for arg in named.chain(&folders) {
        let _ = judge.read_tree(arg);
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

fn zcat(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    match UNPACKED.scan(&call.args) {
        Ok(scan) => judge.read_behind(&scan.operands, 0).max(with_endings(judge, &scan)),
        Err(reason) => Judgement::unknown(reason),
    }
}

/// Of a name that is not there, gzip tries others.
fn with_endings(judge: &mut Judge<'_>, scan: &Scan<'_>) -> Judgement {
    const ENDINGS: &[&str] = &[".gz", ".z", ".Z", "-gz", "-z", "_z"];
    let mut judgement = Judgement::safe();
    // What a name is made of when it runs may be there or not.
    if scan.operands.iter().any(|operand| operand.exact().is_none() && operand.known != Known::Pipe) {
        return judge.read_unknown();
    }
    let bare = |name: &&str| *name != "-" && !ENDINGS.iter().any(|end| name.ends_with(end));
    for name in scan.operands.iter().filter_map(|operand| operand.exact()).filter(bare) {
        for end in ENDINGS {
            judgement = judgement.max(judge.read(&Arg::literal(format!("{name}{end}"))));
        }
    }
    judgement
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
        let adds_endings = paths::file_name(&call.program).starts_with('g');
        judge.read_behind(&scan.operands, 0).max(if adds_endings {
            with_endings(judge, &scan)
        } else {
            Judgement::safe()
        })
    } else {
        Judgement::unknown("it replaces the file, or packs one")
    }
}
