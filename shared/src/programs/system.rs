//! Programs that change the machine: its processes, services, disks and settings.

use super::{Judge, Judgement, Kind, Operands, Program, Rule, Runs, Trait};
use crate::classify::call::Call;
use crate::classify::protected;

pub(super) const TABLE: &[Program] = &[
    Program::new(&["pkill", "killall"], "sends signals", Kind::Local, Rule::Custom(kill))
        .traits(&[Trait::AboutTheOutside])
        .not_safe(&["pkill bashgate-hook"]),
    Program::new(
        &["mkfs", "mkfs.*", "mke2fs", "wipefs"],
        "makes a disk empty",
        Kind::Local,
        Rule::Never(Operands::Data),
    )
    .traits(&[Trait::Formats])
    .not_safe(&["mkfs.ext4 /dev/sda"]),
    Program::new(&["umount"], "changes mounts", Kind::Local, Rule::Never(Operands::Data))
        .traits(&[Trait::ChangesFiles])
        .not_safe(&["umount /x"]),
    Program::new(&["systemctl"], "steers services", Kind::Mixed, Rule::Never(Operands::Data))
        .runs(Runs::Named)
        .traits(&[Trait::HasSubcommands])
        .plants(&["enable", "link", "edit", "reenable", "preset", "add-wants", "add-requires", "set-default"])
        .tells(&["show-environment"])
        .not_safe(&["systemctl start x", "systemctl --user enable x"]),
    Program::new(
        &["loginctl", "launchctl", "update-rc.d", "chkconfig", "rc-update"],
        "starts programs with the machine or a login",
        Kind::Mixed,
        Rule::Never(Operands::Data),
    )
    .runs(Runs::Named)
    .plants(&["enable-linger", "load", "bootstrap", "enable", "defaults", "add", "on"])
    .not_safe(&["loginctl enable-linger", "launchctl load x"]),
    Program::new(
        &["usermod", "useradd", "adduser", "chsh", "visudo", "passwd", "chpasswd"],
        "changes accounts",
        Kind::Mixed,
        Rule::Never(Operands::Data),
    )
    .plants(&[""])
    .not_safe(&["chsh -s /bin/x"]),
    Program::new(
        &["update-alternatives", "dpkg-divert"],
        "chooses which programs and libraries others get",
        Kind::Mixed,
        Rule::Never(Operands::Data),
    )
    .plants(&["--install", "--set", "--add", "--config"])
    .not_safe(&["update-alternatives --set x /tmp/x"]),
    Program::new(&["sysctl"], "reads or changes the kernel's settings", Kind::Mixed, Rule::Custom(sysctl))
        .safe(&["sysctl -n hw.ncpu", "sysctl kernel.ostype"])
        .not_safe(&[
            "sysctl -n kernel/../../../etc/shadow",
            "sysctl -w a=b",
            "sysctl kernel.core_pattern=x",
            "sysctl -p x",
        ]),
];

pub(super) fn kill(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let by_name = !call.program.ends_with("/kill") && call.program != "kill";
    let selects = |text: &str| {
        text.starts_with("--inverse")
            || text.len() > 1
                && text.starts_with('-')
                && !text.starts_with("--")
                && text.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
                && text.contains(['u', 'U', 'v', 'g', 'G', 'P', 't', 's', 'r'])
                && !text.starts_with("-SIG")
                && !text.bytes().skip(1).all(|b| b.is_ascii_uppercase())
    };
    for (index, arg) in call.args.iter().enumerate() {
        let everything = !by_name && arg.start() == "-1" && (index > 0 || call.args.len() == 1);
        let named = by_name
            && (selects(arg.start()) || !arg.start().starts_with('-') && protected::reaches_gate_process(arg.start()));
        if everything || named {
            judge.tampering("the gate's processes");
        }
    }
    // `kill $(pgrep bashgate-hook)`
    if judge.mentions("bashgate") {
        judge.tampering("the gate's processes");
    }
    Judgement::unknown("it ends processes")
}

fn sysctl(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let reads = call.args.iter().all(|arg| {
        arg.exact()
            // One sysctl takes dots for slashes, another one a path as it is.
            .is_some_and(|text| {
                matches!(text, "-n" | "-a" | "-e")
                    || !text.starts_with('-') && !text.contains('=') && !text.contains("..")
            })
    });
    if reads {
        return Judgement::safe();
    }
    judge.persistence("the kernel's settings");
    Judgement::unknown("it changes the kernel's settings")
}
