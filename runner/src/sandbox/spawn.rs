//! Starting a nest, always from the same thread: the kernel ends a sandbox that dies with its parent when the *thread*
//! ends that started it, and callers' threads come and go.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

type Job = (Command, Sender<io::Result<Child>>);

/// Starts a command from the one thread that lives as long as the process.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let gone = || io::Error::other("the spawning thread is gone");
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        let run = move || {
            for (mut command, answer) in jobs {
                let _ = answer.send(command.spawn());
            }
        };
        std::thread::Builder::new().name("spawner".to_owned()).spawn(run).ok().map(|_| sender)
    });
    let (sender, answer) = channel();
    spawner.as_ref().ok_or_else(gone)?.send((command, sender)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}
