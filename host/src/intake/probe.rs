//! Whether notifications of files arrive: on some mounts (shares of virtual machines, NFS) they never do.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};

/// How long a notification may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes a file into a folder of its own below `root` and waits for the notification: how long it took, or `None` when
/// none came in a second. The folder is gone afterwards.
pub fn notifications(root: &Path) -> std::io::Result<Option<Duration>> {
    // Its name starts with a dot, so it is no workspace.
    let folder = tempfile::Builder::new().prefix(".probe-").tempdir_in(root)?;
    let (sender, arrived) = mpsc::channel();
    let watching = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| event.kind.is_create()) {
            let _ = sender.send(());
        }
    })
    .and_then(|mut watcher| watcher.watch(folder.path(), RecursiveMode::NonRecursive).map(|()| watcher));
    let Ok(_watcher) = watching else { return Ok(None) };
    let since = Instant::now();
    std::fs::write(folder.path().join("probe"), b"")?;
    Ok(arrived.recv_timeout(PATIENCE).ok().map(|()| since.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_folder_notifies_and_nothing_is_left() {
        let root = tempfile::tempdir().unwrap();
        assert!(notifications(root.path()).unwrap().is_some());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
        assert!(notifications(&root.path().join("nowhere")).is_err());
    }
}
