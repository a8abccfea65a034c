//! Filters on system calls: what no command needs and what would open the sandbox from within.
//!
//! Everything is allowed but for this list. Socket families are filtered where sockets are made. To whom a unix socket
//! connects is looked at by [`super::sockets`]; datagrams, which name their receiver each time, have no unix sockets.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::Calls;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Linux 6.6; the same number on every architecture, and not in `libc` for each of them.
const FCHMODAT2: libc::c_long = 452;
/// Newer than the C library's list; the same number everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Refused whatever their arguments.
const REFUSED: &[libc::c_long] = &[
    // Other ways to make requests, past every filter on sockets and files.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes' memory.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Keys of the user's session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Large and often attacked parts of the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_unshare,
    libc::SYS_setns,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Ways to talk to other processes that no file has to do with, and that only a namespace keeps apart.
const IPC: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Flags of `clone` that make namespaces.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// `TIOCSTI` and `TIOCLINUX` type into the terminal.
const TYPES_INTO_TERMINAL: [u64; 2] = [0x5412, 0x541c];
/// `MSG_FASTOPEN`: connects while it sends.
const FAST_OPEN: u64 = 0x2000_0000;
/// `F_SETLEASE` and `F_NOTIFY`: whoever may only read a file holds up others who write it, or hears of them.
const WATCHES_OTHERS: [u64; 2] = [1024, 1026];
/// The set-user-ID and set-group-ID bits.
const SET_ID: [u64; 2] = [0o4000, 0o2000];

/// The filters in the order in which they are installed.
pub(super) fn programs(calls: Calls) -> Result<Vec<BpfProgram>, String> {
    let refused = filter(refused(calls)?, libc::EPERM)?;
    // `clone3` passes its flags in memory, which no filter can read. Without it libraries use `clone`.
    // So does `openat2` with the mode of a new file.
    let in_memory = [(libc::SYS_clone3, Vec::new()), (libc::SYS_openat2, Vec::new())];
    let unknown = filter(in_memory.into(), libc::ENOSYS)?;
    Ok(vec![no_x32(), unknown, refused])
}

fn refused(calls: Calls) -> Result<Rules, String> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let always = |argument: u8, values: &[u64]| -> Result<Vec<SeccompRule>, String> {
        values.iter().map(|value| rule(&[(argument, Op::Eq, *value)])).collect()
    };
    let has = |argument: u8, bits: &[u64]| -> Result<Vec<SeccompRule>, String> {
        bits.iter().map(|bit| rule(&[(argument, Op::MaskedEq(*bit), *bit)])).collect()
    };
    if !calls.ipc {
        rules.extend(IPC.iter().map(|call| (*call, Vec::new())));
    }
    if !calls.nameless_files {
        rules.extend([libc::SYS_memfd_create, libc::SYS_memfd_secret].map(|call| (call, Vec::new())));
    }
    let namespaces: Vec<u64> = NAMESPACES.iter().map(|flag| u64::from(flag.cast_unsigned())).collect();
    rules.insert(libc::SYS_clone, has(0, &namespaces)?);
    // The limits of others: they end processes that no signal reaches.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, Op::Ne, 0)])?]);
    rules.insert(libc::SYS_ioctl, always(1, &TYPES_INTO_TERMINAL)?);
    rules.insert(libc::SYS_fcntl, always(1, &WATCHES_OTHERS)?);
    rules.insert(libc::SYS_fchmod, has(1, &SET_ID)?);
    rules.insert(libc::SYS_fchmodat, has(2, &SET_ID)?);
    rules.insert(FCHMODAT2, has(2, &SET_ID)?);
    rules.insert(libc::SYS_mknodat, has(2, &SET_ID)?);
    rules.insert(libc::SYS_openat, has(3, &SET_ID)?);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_chmod, has(1, &SET_ID)?);
        rules.insert(libc::SYS_mknod, has(1, &SET_ID)?);
        rules.insert(libc::SYS_open, has(2, &SET_ID)?);
        rules.insert(libc::SYS_creat, has(1, &SET_ID)?);
    }

    // A connection that is made by sending is none that is looked at.
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        rules.insert(call, has(flags, &[FAST_OPEN])?);
    }

    // Any family but the allowed ones, those that no name of ours has included.
    let mut families: Vec<u64> = Vec::new();
    let number = |family: i32| u64::from(family.cast_unsigned());
    if calls.unix {
        families.push(number(libc::AF_UNIX));
    }
    if calls.internet {
        families.extend([number(libc::AF_INET), number(libc::AF_INET6)]);
    }
    let others: Vec<(u8, Op, u64)> = families.iter().map(|family| (0, Op::Ne, *family)).collect();
    // Without a condition a call is refused whatever its arguments.
    let mut sockets = if others.is_empty() { Vec::new() } else { vec![rule(&others)?] };
    let mut pairs = vec![rule(&[(0, Op::Ne, number(libc::AF_UNIX))])?];
    // A datagram socket can send to any name, and so can one end of a pair; streams are bound to whom they connect to.
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let is_datagram = (1, Op::MaskedEq(0xf), number(kind));
        pairs.push(rule(std::slice::from_ref(&is_datagram))?);
        if !sockets.is_empty() {
            sockets.push(rule(&[(0, Op::Eq, number(libc::AF_UNIX)), is_datagram])?);
        }
    }
    if calls.only_way_out {
        // Who is connected to from outside says and hears as much as who connects.
        rules.insert(libc::SYS_listen, Vec::new());
        // What is not connected names its receiver each time; other protocols connect in ways of their own.
        for family in [libc::AF_INET, libc::AF_INET6] {
            let family = (0, Op::Eq, number(family));
            // All kinds but a stream, which is 1.
            for kind in (0..16).filter(|kind| *kind != libc::SOCK_STREAM) {
                sockets.push(rule(&[family.clone(), (1, Op::MaskedEq(0xf), number(kind))])?);
            }
            sockets.push(rule(&[family, (2, Op::Ne, 0), (2, Op::Ne, number(libc::IPPROTO_TCP))])?);
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(rules)
}

fn rule(conditions: &[(u8, Op, u64)]) -> Result<SeccompRule, String> {
    let conditions: Result<Vec<_>, _> = conditions
        .iter()
        .map(|(argument, op, value)| SeccompCondition::new(*argument, Len::Dword, op.clone(), *value))
        .collect();
    conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())
}

fn filter(rules: Rules, errno: i32) -> Result<BpfProgram, String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let refusal = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch).map_err(|error| error.to_string())?;
    BpfProgram::try_from(filter).map_err(|error| error.to_string())
}

/// The x32 calls have numbers of their own under the same architecture: bit 30 is set. They do not exist here.
fn no_x32() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    vec![
        // The number of the call is the first field of the kernel's `seccomp_data`.
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_SET, jt: 0, jf: 1, k: 0x4000_0000 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | libc::ENOSYS.cast_unsigned() },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}
