//! What a lock guards.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a lock guards: it is whole whoever has died meanwhile.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
