//! `bashgate backup`: a copy of the state folder, also while the host runs.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::audit::{failed, unbroken};
use super::{Failure, Run};
use crate::audit::Checked;
use crate::config::Config;
use crate::state;
use crate::store::Reader;
use bashgate_shared::{say, say_aside};

/// Copies store and signing key into a new folder that can be used as a state folder.
pub(super) fn run(config: &Config, to: &Path) -> Run {
    let wrong = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", to.display()), "choose a folder that is not there yet")
    };
    let from = state::store(&config.state);
    let reader = Reader::open(&from).map_err(|error| failed(&error))?;
    let key = std::fs::read(state::key_file(&config.state)).map_err(|error| {
        Failure::failed(format!("cannot read the signing key: {error}"), "run this as the host's user")
    })?;
    // A folder that is there is never written into: it may be another host's.
    DirBuilder::new().mode(0o700).create(to).map_err(wrong)?;
    let store = state::store(to);
    let size = std::fs::metadata(&from).map_or(0, |meta| meta.len() / 1024);
    say_aside!("copying {size} KiB from {}, then checking the copy", from.display());
    reader.copy_to(&store).map_err(|error| failed(&error))?;
    let path = state::key_file(to);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(wrong)?;
    file.write_all(&key).and_then(|()| file.sync_all()).map_err(wrong)?;
    std::fs::File::open(to).and_then(|folder| folder.sync_all()).map_err(wrong)?;

    // A copy that does not hold is none.
    let copy = Reader::open(&store).map_err(|error| failed(&error))?;
    let Checked { records, head, .. } = unbroken(&copy, &config.state, None)?;
    say!("{}: {records} records, none changed, missing or moved. Head: {head}", to.display());
    Ok(())
}
