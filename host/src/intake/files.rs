//! How many mailboxes fit into the open files that this process may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What else is open: store, sockets, answers being written.
const OTHERS: u64 = 128;
/// A mailbox's folder, and its names while it is looked through.
const EACH: u64 = 2;

/// Lets this process have as many open files as it may ask for, and says how many mailboxes that is enough for. The usual
/// limit, 1,024, is meant for programs that use `select`.
pub fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Where it is refused, the limit stays what it is.
    let raised = current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let limit = if raised { maximum } else { current };
    limit.map_or(usize::MAX, |limit| usize::try_from(limit.saturating_sub(OTHERS) / EACH).unwrap_or(usize::MAX))
}
