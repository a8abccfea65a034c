//! Programs that look for files and for text in them.

use super::{Judge, Judgement, Kind, Operands, Program, Rule, Runs, Trait};
use crate::classify::call::{Arg, Call, Known, Options, Scan};
use crate::classify::judge::calls::Suspicion;
use crate::classify::{PassedBy, is_plain_pattern, paths};

pub(super) const TABLE: &[Program] = &[
    Program::new(&["grep", "egrep", "fgrep"], "searches text", Kind::Local, Rule::Custom(grep))
        .passes_on(1)
        .environment(&["GREP_OPTIONS"])
        .starts(&["grep"])
        .traits(&[Trait::Searches, Trait::OnlyReads, Trait::ShellScript, Trait::NamesAreFiles])
        .safe(&[
            "grep -r pattern .",
            "grep -rn 'rm -rf' .",
            "grep -n -e \"$x\" a.txt",
            "cat file.txt | grep pattern | wc -l",
            "grep -e x -- *",
        ])
        .not_safe(&["grep x \"$file\"", "grep x $files", "grep \"$x\" a.txt", "grep --reg=. x", "grep -e $x"]),
    Program::new(&["rg"], "searches text", Kind::Local, Rule::Custom(ripgrep))
        .environment(&["RIPGREP_CONFIG_PATH"])
        .runs(Runs::Named)
        .traits(&[Trait::Searches, Trait::NamesAreFiles])
        .safe(&["rg -n pattern src", "rg --files", "rg -tpy -C3 'a|b'"])
        .not_safe(&["rg --pre sh x", "rg --hostname-bin=x y", "rg -z x", "rg $x", "rg x *"]),
    Program::new(&["find"], "finds files", Kind::Local, Rule::Custom(find))
        .runs(Runs::Named)
        .traits(&[Trait::ChangesFiles, Trait::Deletes, Trait::NoEndOfOptions, Trait::PrintsNames])
        .safe(&[
            "find . -name '*.py'",
            "find src -type f -not -path '*/x/*' | head -20",
            "find . \\( -name a -o -name b \\) -print0",
            "find . -maxdepth 1 -type f -exec grep -l foo {} \\;",
            "find . ! -name x -mtime +3 -size +1k",
            "find . -name *.txt",
        ])
        .not_safe(&[
            "find . -exec curl {} \\;",
            "find . -exec sh {} \\;",
            "find . -delete",
            "find . -fprintf x %p",
            "find . -ok ls \\;",
            "find . -execdir ls {} \\;",
            "find . -files0-from x",
            "find $x",
            "find . -exec {} \\;",
            "find . -name *",
        ]),
    Program::new(
        &["fd", "fdfind"],
        "finds files",
        Kind::Local,
        Rule::Listed(
            Options {
                flags: "HIusigaLp0F1",
                values: "tedEcSj",
                long: &[
                    "--type=",
                    "--extension=",
                    "--hidden",
                    "--no-ignore",
                    "--max-depth=",
                    "--min-depth=",
                    "--exclude=",
                    "--glob",
                    "--absolute-path",
                    "--follow",
                    "--full-path",
                    "--changed-within=",
                    "--changed-before=",
                    "--size=",
                    "--color=",
                ],
            },
            Operands::Names,
        ),
    )
    .runs(Runs::Named)
    .environment(&["FD_OPTIONS"])
    .traits(&[Trait::NoEndOfOptions, Trait::NoDashValues])
    .safe(&["fd -e rs pattern src"])
    .not_safe(&["fd -x curl", "fd -X rm", "fd --exec sh", "fd -l x", "fd -t -x -t f sh", "fd -e \"$x\" y"]),
];

fn grep(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        flags: "",
        // `-X` names a matcher; no manual says so.
        values: "efABCmdDX",
        long: &[
            "--regexp=",
            "--file=",
            "--max-count=",
            "--after-context=",
            "--before-context=",
            "--context=",
            "--include=",
            "--exclude=",
            "--exclude-dir=",
            "--exclude-from=",
            "--label=",
            "--binary-files=",
            "--directories=",
            "--devices=",
            "--color=?",
        ],
    };
    let scan = match options.scan_loosely(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return not_understood(judge, call, reason),
    };
    // An abbreviated option may take a value that is then mistaken for a pattern.
    let known = |name: &str| {
        GREP_FLAGS.contains(&name) || options.long.iter().any(|long| long.trim_end_matches(['=', '?']) == name)
    };
    if let Some((name, _)) = scan.options.iter().find(|(name, _)| name.starts_with("--") && !known(name)) {
        return not_understood(judge, call, format!("the option `{name}` is not on its list"));
    }
    let mut judgement = pattern_files(judge, &scan);
    let patterns = usize::from(!scan.has(&["-e", "-f", "--regexp", "--file"]));
    let walks = scan.has(&["-r", "-R", "--recursive", "--dereference-recursive"])
        || scan
            .value(&["-d", "--directories"])
            .is_some_and(|value| value.exact().is_none_or(|action| action.starts_with('r')));
    // Behind a link it meets what its own place would have it pass by.
    let follows = scan.has(&["-R", "--dereference-recursive"]);
    let passed_by = if follows { PassedBy::default() } else { passed_by_grep(&scan) };
    if walks && scan.operands.len() <= patterns {
        judgement = judgement.max(judge.read_tree_but(&Arg::literal("."), &passed_by));
    }
    for operand in scan.operands.iter().skip(patterns) {
        let read = if walks { judge.read_tree_but(operand, &passed_by) } else { judge.read(operand) };
        judgement = judgement.max(read);
    }
    // A pattern that may turn into an option or into several words brings file names along.
    let separated = call.args.iter().any(|arg| arg.is("--"));
    if patterns == 1
        && scan.operands.first().is_some_and(|pattern| {
            !pattern.is_one() || pattern.known != Known::Literal && pattern.may_be_option() && !separated
        })
    {
        judgement = judgement.max(judge.read_unknown());
    }
    judgement
}

/// What `grep -r` passes by: files by their names, where it is told of no other kind, and folders.
fn passed_by_grep(scan: &Scan<'_>) -> PassedBy {
    let values = |name: &str| -> Option<Vec<String>> {
        let values = scan.options.iter().filter(|(option, _)| option == name).map(|(_, value)| value.as_ref());
        let plain = |text: &str| is_plain_pattern(text).then(|| text.to_owned());
        values.map(|value| value.and_then(Arg::exact).and_then(plain)).collect()
    };
    let (include, exclude) = (values("--include"), values("--exclude"));
    let has = |name: &str| scan.has(&[name]);
    // Of several kinds, the order counts.
    let one_kind = !(has("--include") && (has("--exclude") || has("--exclude-from")));
    PassedBy {
        but: include.filter(|_| one_kind).unwrap_or_default(),
        files: exclude.filter(|_| one_kind).unwrap_or_default(),
        folders: values("--exclude-dir").unwrap_or_default(),
        hidden: false,
    }
}

const GREP_FLAGS: &[&str] = &[
    "--recursive",
    "--dereference-recursive",
    "--ignore-case",
    "--no-ignore-case",
    "--invert-match",
    "--word-regexp",
    "--line-regexp",
    "--count",
    "--colour",
    "--files-with-matches",
    "--files-without-match",
    "--only-matching",
    "--quiet",
    "--silent",
    "--no-messages",
    "--line-number",
    "--with-filename",
    "--no-filename",
    "--null",
    "--text",
    "--extended-regexp",
    "--fixed-strings",
    "--basic-regexp",
    "--perl-regexp",
    "--byte-offset",
    "--initial-tab",
    "--line-buffered",
    "--null-data",
    "--help",
    "--version",
];

/// Files of patterns: their lines show in what matches.
fn pattern_files(judge: &mut Judge<'_>, scan: &Scan<'_>) -> Judgement {
    let files = scan
        .options
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "-f" | "--file" | "--exclude-from"))
        .filter_map(|(_, value)| value.as_ref());
    files.fold(Judgement::safe(), |judgement, file| judgement.max(judge.read(file)))
}

/// A search with an option that is on no list: what it names may be searched, with nothing passed by.
fn not_understood(judge: &mut Judge<'_>, call: &Call, reason: String) -> Judgement {
    let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.start().starts_with('-')).collect();
    let here = Arg::literal(".");
    // The first one is a pattern, where no option says otherwise.
    let places: &[&Arg] = if words.len() < 2 { &[&here] } else { words.get(1..).unwrap_or_default() };
    for place in places {
        let _ = judge.read(place);
        let _ = judge.read_tree(place);
    }
    Judgement::unknown(reason)
}

fn ripgrep(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        flags: "nilcvwxoFuNLsSHhUpqa0P.",
        values: "egtTABCmMfjdrE",
        long: &[
            "--files",
            "--hidden",
            "--no-ignore",
            "--no-ignore-vcs",
            "--glob=",
            "--iglob=",
            "--type=",
            "--type-not=",
            "--type-list",
            "--json",
            "--count",
            "--count-matches",
            "--files-with-matches",
            "--files-without-match",
            "--line-number",
            "--no-line-number",
            "--no-heading",
            "--heading",
            "--with-filename",
            "--no-filename",
            "--max-count=",
            "--max-depth=",
            "--max-columns=",
            "--context=",
            "--after-context=",
            "--before-context=",
            "--sort=",
            "--color=",
            "--colors=",
            "--multiline",
            "--pcre2",
            "--fixed-strings",
            "--ignore-case",
            "--smart-case",
            "--case-sensitive",
            "--word-regexp",
            "--line-regexp",
            "--stats",
            "--follow",
            "--no-messages",
            "--vimgrep",
            "--column",
            "--replace=",
            "--only-matching",
            "--text",
            "--trim",
            "--null",
            "--invert-match",
            "--regexp=",
            "--file=",
            "--no-config",
            "--unrestricted",
            "--threads=",
            "--encoding=",
            "--passthru",
            "--quiet",
        ],
    };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return not_understood(judge, call, reason),
    };
    // It takes no word with a dash in front for a value, but for a pattern.
    if scan.apart.iter().any(|(name, _)| name != "-e") {
        return Judgement::unknown("the value of an option may be an option");
    }
    // Lists of what is passed over: a line of them that is no pattern is shown.
    let mut lists = Judgement::safe();
    if !scan.has(&["--no-ignore", "--unrestricted"]) {
        // Those of the folders above count, too.
        let above = judge.start().map_or(0, |start| start.split('/').filter(|part| !part.is_empty()).count());
        // As deep as it may have gone on the way, two folders more.
        for up in 0..=above + 2 {
            for name in IGNORES {
                let list = Arg::literal(format!("{}{name}", "../".repeat(up)));
                lists = lists.max(judge.read_by_itself(&list));
            }
        }
        // As they lie above what it is told to look through, up to where it starts, or to the root.
        for place in scan.operands.iter().map(|operand| above_pattern(operand)).filter(|place| place.contains('/')) {
            for up in 0..=place.split('/').filter(|part| !part.is_empty()).count() {
                for name in IGNORES {
                    let above = paths::resolve(None, &format!("{place}/{}{name}", "../".repeat(up)));
                    lists = lists.max(judge.read(&Arg::literal(above)));
                }
            }
        }
    }
    // And git's own of the account.
    if !scan.has(&["--no-ignore", "--no-ignore-global", "--no-ignore-vcs", "--unrestricted"]) {
        lists = lists.max(judge.read(&Arg::literal("~/.config/git/ignore")));
    }
    // And those in each folder on the way.
    if scan.has(&["--files"]) && !scan.has(&["--no-ignore", "--unrestricted"]) {
        let here = Arg::literal(".");
        let folders = if scan.operands.is_empty() { vec![&here] } else { scan.operands.clone() };
        for folder in folders {
            match folder.exact() {
                Some(folder) => judge.no_links_below(folder, IGNORES),
                None => lists = lists.max(Judgement::unknown("where it begins is only known when it runs")),
            }
        }
    }
    if scan.has(&["--files", "--type-list"]) {
        return lists;
    }
    let mut judgement = lists.max(pattern_files(judge, &scan));
    let patterns = usize::from(!scan.has(&["-e", "-f", "--regexp", "--file"]));
    if patterns == 1 && scan.operands.first().is_some_and(|pattern| !pattern.is_one()) {
        return judge.read_unknown();
    }
    let hidden = !scan.has(TAKES_IN);
    let passed_by = PassedBy { hidden, ..PassedBy::default() };
    if scan.operands.len() <= patterns {
        judgement = judgement.max(judge.read_tree_but(&Arg::literal("."), &passed_by));
    }
    for operand in scan.operands.iter().skip(patterns) {
        judgement = judgement.max(judge.read_tree_but(operand, &passed_by));
    }
    judgement
}

/// A path, or the folder in which a pattern finds its names.
fn above_pattern(operand: &Arg) -> &str {
    match operand.exact() {
        Some(path) => path,
        None => operand.start().rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}

/// Options of rg with which it passes by less, or takes in by patterns and types whatever it is called.
const TAKES_IN: &[&str] = &[
    "-u",
    "-.",
    "-g",
    "-t",
    "-T",
    "-L",
    "-f",
    "--file",
    "--hidden",
    "--no-ignore",
    "--no-ignore-vcs",
    "--unrestricted",
    "--glob",
    "--iglob",
    "--type",
    "--type-not",
    "--follow",
];

/// Files in which rg finds what it passes over.
const IGNORES: &[&str] = &[".ignore", ".rgignore", ".gitignore", ".git/info/exclude"];

/// Tests and actions without a value.
const PLAIN: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-empty",
    "-true",
    "-false",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-follow",
    "-executable",
    "-readable",
    "-writable",
    "-nouser",
    "-nogroup",
    "-daystart",
    "-noleaf",
    "(",
    ")",
    "!",
    ",",
];
/// Tests and actions with one value.
const VALUED: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-newerct",
    "-newerat",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-samefile",
    "-printf",
    "-used",
];

/// Actions of `find` that run a program.
pub(super) const ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

fn find(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    changed_by_find(judge, call);
    let judgement = find_by_its_words(judge, call);
    // Where reading stopped, what follows may still name a program.
    if judgement.class == crate::classify::CommandClass::Unknown {
        // What stands behind an action is a program for certain; any other word may be a name to look for.
        let mut judgement = judgement.max(judge.suspect_with(call, &call.args, Suspicion::Guesses));
        for action in actions(&call.args) {
            judgement = judgement.max(judge.suspect_with(call, action, Suspicion::At(0)));
        }
        judgement
    } else {
        judgement
    }
}

/// The words of each program that it has work on what it finds.
fn actions(args: &[Arg]) -> impl Iterator<Item = &[Arg]> {
    let is_action = |arg: &Arg| arg.exact().is_some_and(|text| ACTIONS.contains(&text));
    args.iter().enumerate().filter(move |(_, arg)| is_action(arg)).map(|(at, _)| {
        let rest = args.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|arg| matches!(arg.exact(), Some(";" | "+"))).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    })
}

/// What it takes away, or has another program change.
fn changed_by_find(judge: &mut Judge<'_>, call: &Call) {
    let words: Vec<Option<&str>> = call.args.iter().map(Arg::exact).collect();
    let changes = |action: &[Arg]| {
        // One that is only known when it runs may do anything.
        let Some(program) = action.first().and_then(Arg::exact) else { return true };
        let Some(row) = super::row(crate::classify::paths::file_name(program)) else { return false };
        // What is copied stays as it is.
        let only_copies = matches!(row.copies, Some(super::Copies::ToLast(_)))
            && action.last().and_then(Arg::exact).is_some_and(|last| !last.contains("{}"));
        let in_place = || action.iter().filter_map(Arg::exact).any(super::says_in_place);
        row.changes_what_it_names() && !only_copies || row.takes_script() && in_place()
    };
    if !actions(&call.args).any(changes) && !words.contains(&Some("-delete")) {
        return;
    }
    let is_start =
        |arg: &&Arg| !(matches!(arg.start(), "(" | "!" | ",") || arg.may_be_option() && arg.exact().is_some());
    let leading = call
        .args
        .iter()
        .skip_while(|arg| matches!(arg.exact(), Some("-H" | "-L" | "-P")) || arg.start().starts_with("-O"));
    let starts: Vec<&Arg> = leading.take_while(is_start).collect();
    let tests =
        words.get(call.args.iter().position(|arg| !is_start(&arg)).unwrap_or(words.len())..).unwrap_or_default();
    judge.changes_what_is_found(&starts, &found_by(tests));
}

fn find_by_its_words(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.iter().peekable();
    // How it goes through links and how fast, in front of where it starts.
    let mut follows = false;
    loop {
        follows |= args.peek().is_some_and(|arg| arg.is("-L"));
        if args.next_if(|arg| arg.is("-D")).is_some() {
            let _ = args.next();
        } else if args
            .next_if(|arg| matches!(arg.exact(), Some("-H" | "-L" | "-P")) || arg.start().starts_with("-O"))
            .is_none()
        {
            break;
        }
    }
    let mut starts: Vec<&Arg> = Vec::new();
    let begins = |arg: &Arg| arg.may_be_option() || matches!(arg.start(), "(" | "!" | ",");
    while let Some(arg) = args.next_if(|arg| !begins(arg)) {
        starts.push(arg);
    }
    // What `{}` becomes begins like where it was found: `@x` is a list of options to some programs.
    let is_plain = |start: &&Arg| start.start().starts_with(|c: char| c.is_ascii_alphanumeric() || "./_~".contains(c));
    let all_plain = starts.iter().all(is_plain);
    let words: Vec<Option<&str>> = args.clone().map(Arg::exact).collect();
    // Behind a link to a folder there is more than the walk comes by.
    let names = if follows { Vec::new() } else { found_by(&words) };
    let reads_found = PassedBy { but: names.clone(), ..PassedBy::default() };
    let mut judgement = Judgement::safe();
    while let Some(arg) = args.next() {
        let Some(test) = arg.exact() else {
            return Judgement::unknown(format!("`{}…` may turn into an action when it runs", arg.start()));
        };
        if PLAIN.contains(&test) {
            continue;
        }
        if VALUED.contains(&test) {
            match args.next() {
                Some(value) if value.is_one() => continue,
                // Further words are file names that end like this, and no test or action has a dot in its name.
                Some(value) if value.known == Known::Words && value.tail.contains('.') => continue,
                Some(_) => {
                    return Judgement::unknown(format!("the value of `{test}` may turn into more words when it runs"));
                }
                None => return Judgement::unknown(format!("`{test}` lacks its value")),
            }
        }
        let runs_there = matches!(test, "-execdir" | "-ok" | "-okdir");
        if !all_plain {
            return Judgement::unknown(format!("`{test}` works on names that may mean something else"));
        }
        if test != "-exec" && !runs_there {
            return Judgement::unknown(format!("`{test}` is not on the list of `find`"));
        }
        let mut inner = Vec::new();
        loop {
            match args.next() {
                None => return Judgement::unknown("`-exec` without an end"),
                Some(arg) if arg.is(";") => break,
                Some(arg)
                    if arg.is("+")
                        && inner.last().is_some_and(|last: &Arg| {
                            last.known == Known::Words && last.start() == "./" && last.tail.is_empty()
                        }) =>
                {
                    break;
                }
                // A found path starts with the path the search started from.
                Some(arg) if arg.is("{}") => {
                    inner.push(Arg::unknown("./", Known::Words).found_by(&names));
                }
                Some(arg) if arg.start().contains("{}") => return Judgement::unknown("`{}` inside a word of `-exec`"),
                Some(arg) => inner.push(arg.clone()),
            }
        }
        if runs_there {
            judgement = judgement.max(Judgement::unknown(format!("`{test}` is not on the list of `find`")));
        }
        // What goes through folders itself meets more than was found.
        let meets_more = |arg: &Arg| arg.start().starts_with('-') && arg.start().contains(['r', 'R']);
        let read = if inner.iter().any(meets_more) { PassedBy::default() } else { reads_found.clone() };
        for start in &starts {
            judgement = judgement.max(judge.read_tree_but(start, &read));
        }
        if starts.is_empty() {
            judgement = judgement.max(judge.read_tree_but(&Arg::literal("."), &read));
        }
        judgement = judgement.max(judge.inner_call(&inner, call));
    }
    judgement
}

/// The patterns of which each name that `find` finds with these tests fits one; none where that is not certain.
pub(crate) fn found_by(tests: &[Option<&str>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = tests;
    loop {
        match rest {
            [Some("-name"), Some(pattern), behind @ ..] if is_plain_pattern(pattern) => {
                if names.is_empty() {
                    names.push((*pattern).to_owned());
                }
                rest = behind;
            }
            [Some("("), behind @ ..] => {
                let mut group = Vec::new();
                let mut inner = behind;
                loop {
                    match inner {
                        [Some("-name"), Some(pattern), Some("-o" | "-or"), more @ ..] if is_plain_pattern(pattern) => {
                            group.push((*pattern).to_owned());
                            inner = more;
                        }
                        [Some("-name"), Some(pattern), Some(")"), more @ ..] if is_plain_pattern(pattern) => {
                            group.push((*pattern).to_owned());
                            rest = more;
                            break;
                        }
                        _ => return Vec::new(),
                    }
                }
                if names.is_empty() {
                    names = group;
                }
            }
            [Some("!" | "-not"), Some(test), Some(_), behind @ ..] if VALUED.contains(test) => rest = behind,
            [
                Some(
                    "-type" | "-maxdepth" | "-mindepth" | "-mtime" | "-mmin" | "-size" | "-newer" | "-path" | "-iname",
                ),
                Some(_),
                behind @ ..,
            ] => {
                rest = behind;
            }
            [Some("-a" | "-and" | "-xdev" | "-mount" | "-empty"), behind @ ..] => rest = behind,
            // All that stands in front of it has to be true.
            [] | [Some("-exec" | "-print" | "-print0" | "-delete"), ..] => {
                let more = ["-o", "-or", ",", "-follow"];
                return if rest.iter().flatten().any(|word| more.contains(word)) { Vec::new() } else { names };
            }
            _ => return Vec::new(),
        }
    }
}
