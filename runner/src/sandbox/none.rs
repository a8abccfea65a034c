//! No sandbox: only for presets that name it, and every result says so. The supervisor still ends what it started,
//! but a command that kills its supervisor gets away, so nothing of that is promised.

use std::collections::BTreeSet;

use super::{BackendName, Guarantee, Nest, Wanted};
use crate::inner::{Plan, Reap};

pub(super) fn enforces() -> BTreeSet<Guarantee> {
    [Guarantee::Descriptors].into()
}

pub(super) fn prepare(wanted: &Wanted) -> Nest {
    let plan = Plan {
        calls: None,
        drop_privileges: false,
        mounts: Vec::new(),
        way_out: false,
        no_exec: Vec::new(),
        expect: wanted.places.expected(),
        ..super::plan(wanted, Reap::Descendants, true)
    };
    Nest {
        command: super::inner_command(wanted),
        plan,
        enforces: super::enforces(BackendName::None, wanted),
        tmp: None,
    }
}
