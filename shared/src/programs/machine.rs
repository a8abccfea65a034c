//! Programs that tell about processes, users and the machine.

use super::editors::SCREEN;
use super::{Form, Judge, Judgement, Kind, Needs, Operands, Program, Rule, Runs, Subcommand, Terminal, Trait};
use crate::classify::call::{Arg, Call, Options};

pub(super) const TABLE: &[Program] = &[
    Program::new(&["ps"], "lists processes", Kind::Local, Rule::Custom(ps))
        .environment(&["PS_FORMAT", "LIBPROC_HIDE_KERNEL", "PS_PERSONALITY", "CMD_ENV", "I_WANT_A_BROKEN_PS"])
        .traits(&[Trait::AboutTheOutside])
        .safe(&[
            "ps aux",
            "ps -ef",
            "ps -o pid,ppid,cmd -p 1",
            "ps aux | grep node",
            "ps -fu root",
            "ps aux --sort=-%mem",
        ])
        .not_safe(&[
            "ps eww",
            "ps $x",
            "ps auxe",
            "ps ewwp1",
            "ps -auxewww",
            "ps -o environ",
            "ps -e -x",
            "ps -T -eH",
            "ps -u e",
            "ps aux -C e",
        ]),
    Program::new(
        &["pgrep", "pidof"],
        "finds processes",
        Kind::Local,
        Rule::Listed(
            Options {
                flags: "lafnovxcwisq",
                values: "uUgGPtdrF",
                long: &["--list-name", "--full", "--exact", "--count", "--newest", "--oldest"],
            },
            Operands::Data,
        ),
    )
    .traits(&[Trait::AboutTheOutside])
    .safe(&["pgrep -lf node", "pidof sshd"])
    .not_safe(&["pgrep --signal KILL x", "pgrep -F $x"]),
    Program::new(&["lsof"], "lists open files", Kind::Local, Rule::Custom(lsof))
        .traits(&[Trait::AboutTheOutside])
        .safe(&["lsof -nP -iTCP:3000 -sTCP:LISTEN", "lsof -n -i :8080"])
        .not_safe(&["lsof -i :8080", "lsof -nP +D /x", "lsof -r 5 -n", "lsof -n -P -i @h:80"]),
    Program::new(&["ss", "netstat"], "lists sockets", Kind::Local, Rule::Custom(sockets))
        .environment(&["PROC_ROOT", "TCPDIAG_FILE"])
        .traits(&[Trait::AboutTheOutside])
        .safe(&["ss -tlnp", "ss -tuinl", "netstat -tulpn"])
        .not_safe(&["netstat -in", "netstat -tuinl", "ss -r", "ss -K", "netstat -tul", "ss -F x"]),
    Program::new(&["who", "w"], "lists who is logged in", Kind::Local, Rule::Listed(LOGINS, Operands::Names))
        .traits(&[Trait::AboutTheOutside])
        .safe(&["who", "w -h"])
        .not_safe(&["who --lookup"]),
    Program::new(&["users", "last"], "lists who was logged in", Kind::Local, Rule::Listed(LOGINS, Operands::Names))
        .safe(&["last -n 5"])
        .not_safe(&["last -d", "last -a -f x"]),
    Program::new(&["hostname"], "prints the machine's name, or changes it", Kind::Local, Rule::Custom(hostname))
        .traits(&[Trait::AboutTheOutside])
        .safe(&["hostname", "hostname -s"])
        .not_safe(&["hostname evil", "hostname -f", "hostname -F x"]),
    Program::new(
        &["lsblk", "lsmod", "lspci", "lsusb", "vmstat", "iostat", "mpstat", "lsmem", "numactl"],
        "tells about the machine",
        Kind::Local,
        Rule::Custom(no_operands),
    )
    .safe(&["lsblk", "vmstat -s", "lspci -nnk"])
    .not_safe(&["vmstat x", "lspci --x", "lspci -nnQ", "numactl sh", "lspci -Fx", "iostat -fx"]),
    Program::new(&["findmnt"], "tells about mounts", Kind::Local, Rule::Custom(no_operands))
        .traits(&[Trait::AboutTheOutside])
        .safe(&["findmnt -l"])
        .environment(&["LIBMOUNT_FSTAB", "LIBMOUNT_MTAB", "LIBMOUNT_UTAB"])
        .not_safe(&["findmnt --x", "findmnt -Fx", "findmnt -s"]),
    Program::new(
        &["sw_vers", "stty", "nvidia-smi"],
        "tells about the machine or its terminal, or changes it",
        Kind::Local,
        Rule::Custom(telling_forms),
    )
    .safe(&["sw_vers", "nvidia-smi"])
    .not_safe(&["stty -F /dev/x"]),
    Program::new(&["tput"], "tells about the terminal, or changes it", Kind::Local, Rule::Forms)
        .subcommands(&[
            Subcommand::local("cols", ALONE),
            Subcommand::local("lines", ALONE),
            Subcommand::local("colors", ALONE),
            Subcommand::local("sgr0", ALONE),
            Subcommand::local("bold", ALONE),
        ])
        .safe(&["tput sgr0"])
        .not_safe(&["tput reset", "tput -T x cols", "tput cols x"]),
    Program::new(&["pstree"], "draws processes", Kind::Local, Rule::Custom(telling_forms))
        .traits(&[Trait::AboutTheOutside])
        .safe(&["pstree -p"])
        .not_safe(&["pstree -Z"]),
    Program::new(&["mount"], "lists mounts, or changes them", Kind::Local, Rule::Custom(telling_forms))
        .traits(&[Trait::AboutTheOutside, Trait::ChangesFiles])
        .safe(&["mount"])
        .not_safe(&["mount -o remount,rw /"]),
    Program::new(&["dmesg"], "shows the kernel's messages", Kind::Local, Rule::Custom(telling_forms))
        .environment(&["PAGER"])
        .safe(&["dmesg -T"])
        .not_safe(&["dmesg -C"]),
    Program::new(&["uuidgen", "yes"], "prints something new", Kind::Local, Rule::Custom(printers))
        .safe(&["uuidgen", "yes | head -1", "uuidgen -r"])
        .not_safe(&["uuidgen --x"]),
    Program::new(
        &["top", "htop"],
        "shows processes until it is told to stop",
        Kind::Mixed,
        Rule::Never(Operands::Data),
    )
    .traits(&[Trait::AboutTheOutside])
    .terminal(Terminal { settled: ("b", &[]), ..SCREEN })
    .not_safe(&["top", "top -bn1"]),
    Program::new(
        &["ip", "ifconfig"],
        "tells about the network, or changes it",
        Kind::Mixed,
        Rule::Never(Operands::Data),
    )
    .traits(&[Trait::AboutTheOutside, Trait::WordsMayRun])
    .runs(Runs::Named)
    .not_safe(&["ip a", "ip netns exec x ls"]),
    Program::new(&["fuser"], "lists who uses a file, or ends them", Kind::Mixed, Rule::Never(Operands::Names))
        .traits(&[Trait::AboutTheOutside])
        .not_safe(&["fuser -k x"]),
];

/// A subcommand without anything behind it.
const ALONE: Form = Form::new(&[]).needs(Needs::AtMost(0));

const LOGINS: Options = Options { flags: "aHqbrumshi", values: "n", long: &["--count", "--all"] };

/// Only the usual forms: in the style without a dash `e` shows the environment of processes, and where the words make no sense
/// in the other style, all of them are read anew in that one, those behind a dash and values among them.
fn ps(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    const CLUSTERS: &[&str] = &[
        "-e",
        "-f",
        "-ef",
        "-A",
        "-Af",
        "-efl",
        "-el",
        "-l",
        "-a",
        "-x",
        "-j",
        "-H",
        "-L",
        "-T",
        "-w",
        "-ww",
        "-eH",
        "-ejH",
        "-eLf",
        "-efww",
        "-efH",
        "aux",
        "ax",
        "auxw",
        "auxww",
        "auxf",
        "axu",
        "axf",
        "axjf",
        "au",
        "u",
        "x",
        "f",
        "a",
        "--no-headers",
        "--forest",
    ];
    let (mut args, mut clusters) = (call.args.iter(), 0);
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else { return Judgement::unknown("an option is only known when it runs") };
        let harmless = |value: &str| !value.contains("environ");
        // Nothing in these can be wrong, or mean something else in the other style.
        let numbers = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        let user = |value: &str| value == "root" || numbers(value);
        let mut value = |fits: &dyn Fn(&str) -> bool| args.next().and_then(Arg::exact).is_some_and(fits);
        clusters += usize::from(!text.starts_with("--") && !matches!(text, "-o" | "-o=" | "-p" | "-u" | "-U"));
        let known = match text {
            "-o" | "-eo" | "-axo" | "-Ao" | "-o=" | "--sort" => value(&harmless),
            "-p" | "-fp" | "--pid" | "--ppid" => value(&numbers),
            "-u" | "-U" | "-fu" => value(&user),
            // It can only be wrong beside another option.
            "-C" | "-fC" => value(&harmless) && call.args.len() == 2,
            _ if text.starts_with("--sort=")
                || text.starts_with("--pid=")
                || text.starts_with("--ppid=")
                || text.starts_with("--format=") =>
            {
                harmless(text)
            }
            _ => CLUSTERS.contains(&text),
        };
        if !known || clusters > 1 {
            judge.secret("the environment of processes");
            return Judgement::unknown("this form may show the environment of processes");
        }
    }
    Judgement::safe()
}

/// Without `-n` it asks the network for names.
fn lsof(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "nPltUaO", values: "ipucsdgFT", long: &[] };
    // A name behind `@` would be looked up. The value of `-i` may be left out, so it may stand in any place.
    if call.args.iter().any(|arg| arg.exact().is_none_or(|text| text.contains('@') || text.starts_with('+'))) {
        return Judgement::unknown("this option is not on its list");
    }
    match options.scan(&call.args) {
        Ok(scan) if scan.has(&["-n"]) && scan.has(&["-P", "-i", "-p", "-u", "-c"]) => Judgement::safe(),
        Ok(_) => Judgement::unknown("without `-n` it asks the network for names"),
        Err(reason) => Judgement::unknown(reason),
    }
}

fn sockets(_: &mut Judge<'_>, call: &Call) -> Judgement {
    // To list interfaces netstat opens sockets of the network's.
    let is_netstat = crate::classify::paths::file_name(&call.program) == "netstat";
    let options = Options {
        flags: if is_netstat { "tulnapexmos46W" } else { "tulnapexmosi46W" },
        values: "",
        long: &["--listening", "--numeric", "--tcp", "--udp", "--all", "--processes"],
    };
    match options.scan(&call.args) {
        Ok(scan) if scan.operands.is_empty() && scan.has(&["-n", "--numeric"]) => Judgement::safe(),
        Ok(_) => Judgement::unknown("without `-n` it asks the network for names"),
        Err(reason) => Judgement::unknown(reason),
    }
}

fn hostname(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let harmless = call.args.iter().all(|arg| matches!(arg.exact(), Some("-s" | "--short")));
    if harmless {
        Judgement::safe()
    } else {
        Judgement::unknown("this form changes the name, or asks the network for it")
    }
}

/// Letters without a value that choose what is told.
fn no_operands(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let letters = match crate::classify::paths::file_name(&call.program) {
        "findmnt" => "AaDeJklnPruv",
        "lsblk" => "abdfilmnpPrStJ",
        "lspci" => "bDkmntv",
        "lsusb" => "tv",
        "vmstat" => "adfmnstw",
        "iostat" => "cdhkmNstxyz",
        "mpstat" => "Anu",
        "lsmem" => "abJnPr",
        "numactl" => "Hs",
        _ => "",
    };
    let told = |arg: &Arg| {
        let options = arg.exact().and_then(|text| text.strip_prefix('-'));
        options.is_some_and(|options| !options.is_empty() && options.chars().all(|letter| letters.contains(letter)))
    };
    if call.args.iter().all(told) {
        Judgement::safe()
    } else {
        Judgement::unknown("only forms with short options are read here")
    }
}

/// The forms that only tell.
pub(super) fn telling_forms(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let args: Option<Vec<&str>> = call.args.iter().map(Arg::exact).collect();
    let Some(args) = args else { return Judgement::unknown("an option is only known when it runs") };
    let plain = |words: &[&str]| words.iter().all(|word| !word.starts_with('-') && !word.contains(['/', ':']));
    let tells = match (crate::classify::paths::file_name(&call.program), args.as_slice()) {
        ("dmesg", options) => options.iter().all(|option| matches!(*option, "-T" | "-x" | "-k" | "-t")),
        ("dpkg", ["-s" | "-L" | "--status" | "--listfiles" | "--print-architecture", rest @ ..]) => plain(rest),
        ("mount" | "sw_vers" | "nvidia-smi", []) | ("stty", ["size" | "-a"]) => true,
        ("pstree", options) => options.iter().all(|option| matches!(*option, "-p" | "-a" | "-u" | "-A")),
        _ => false,
    };
    if tells { Judgement::safe() } else { Judgement::unknown("this form is not on the list of those that only tell") }
}

fn printers(_: &mut Judge<'_>, call: &Call) -> Judgement {
    match (crate::classify::paths::file_name(&call.program), call.args.as_slice()) {
        ("uuidgen", args) if args.iter().all(|arg| matches!(arg.exact(), Some("-r" | "-t"))) => Judgement::safe(),
        ("yes", args) if args.iter().all(|arg| arg.exact().is_some()) => Judgement::safe(),
        _ => Judgement::unknown("this form is not on its list"),
    }
}
