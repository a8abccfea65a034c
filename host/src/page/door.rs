//! Who may see the page: a link that works once becomes a session of two secrets, a cookie and a key.
//!
//! The cookie is out of the page's own reach (`HttpOnly`). But cookies know no ports: a browser gives it to whatever listens on
//! the same address, another user's server, too. The key does not leave the page's own origin, and alone it is worth nothing, either.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bashgate_shared::command::hex;
use sha2::{Digest as _, Sha256};

/// How long a link can be used, in minutes.
pub(super) const LINK_MINUTES: u64 = 5;
/// How long a session lasts.
pub(super) const SESSION: Duration = Duration::from_hours(12);
/// Most sessions and most unused links; the oldest end first.
const MOST: usize = 16;
/// Wrong links within a while, beyond which none is looked at.
const WRONG: usize = 20;
const WRONG_IN: Duration = Duration::from_mins(1);

/// What is kept of a secret: who reads memory or a dump finds none.
type Sealed = [u8; 32];

/// Two secrets that were made for one browser.
pub(super) struct Entry {
    /// For the cookie.
    pub(super) cookie: String,
    /// For the page.
    pub(super) key: String,
}

struct Link {
    token: Sealed,
    until: Instant,
    by: String,
}

struct Session {
    cookie: Sealed,
    key: Sealed,
    until: Instant,
    by: String,
}

#[derive(Default)]
struct Known {
    links: Vec<Link>,
    sessions: Vec<Session>,
    wrong: Vec<Instant>,
}

/// The door.
#[derive(Default)]
pub(super) struct Door {
    known: Mutex<Known>,
}

impl Door {
    /// A new link for a user.
    pub(super) fn link(&self, by: &str) -> Result<String, String> {
        let token = secret()?;
        let until = Instant::now() + Duration::from_mins(LINK_MINUTES);
        self.with(|known| {
            known.links.push(Link { token: sealed(&token), until, by: by.to_owned() });
            drop_oldest(&mut known.links);
        });
        Ok(token)
    }

    /// Uses a link up. `None` for one that is unknown, used or too old, or while too many wrong ones are tried.
    pub(super) fn enter(&self, token: &str) -> Option<Entry> {
        let (cookie, key) = (secret().ok()?, secret().ok()?);
        let token = sealed(token);
        self.with(|known| {
            let now = Instant::now();
            known.wrong.retain(|at| now.duration_since(*at) < WRONG_IN);
            if known.wrong.len() >= WRONG {
                return None;
            }
            known.links.retain(|link| link.until > now);
            let Some(at) = known.links.iter().position(|link| link.token == token) else {
                known.wrong.push(now);
                return None;
            };
            let by = known.links.swap_remove(at).by;
            known.sessions.push(Session { cookie: sealed(&cookie), key: sealed(&key), until: now + SESSION, by });
            drop_oldest(&mut known.sessions);
            Some(Entry { cookie, key })
        })
    }

    /// Whose session these two belong to.
    pub(super) fn whose(&self, cookie: &str, key: &str) -> Option<String> {
        let (cookie, key) = (sealed(cookie), sealed(key));
        self.with(|known| {
            let now = Instant::now();
            known.sessions.retain(|session| session.until > now);
            let session = known.sessions.iter().find(|session| session.cookie == cookie && session.key == key)?;
            Some(session.by.clone())
        })
    }

    /// Ends all sessions and links: how many sessions there were.
    pub(super) fn lock(&self) -> usize {
        self.with(|known| {
            known.links.clear();
            std::mem::take(&mut known.sessions).len()
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Known) -> T) -> T {
        act(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn drop_oldest<T>(all: &mut Vec<T>) {
    if all.len() > MOST {
        all.remove(0);
    }
}

/// 256 random bits in hexadecimal digits.
fn secret() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness for a secret: {error}"))?;
    Ok(hex(&bytes))
}

/// Comparing digests says nothing about how much of a secret was right.
fn sealed(secret: &str) -> Sealed {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_and_both_secrets_are_needed() {
        let door = Door::default();
        let token = door.link("ann").unwrap();
        assert!(door.enter("").is_none() && door.enter(token.split_at(1).1).is_none());
        let entry = door.enter(&token).unwrap();
        assert!(door.enter(&token).is_none(), "not twice");
        assert_eq!(door.whose(&entry.cookie, &entry.key).as_deref(), Some("ann"));
        for (cookie, key) in [
            (&entry.key, &entry.cookie),
            (&entry.cookie, &token),
            (&token, &entry.key),
            (&String::new(), &String::new()),
        ] {
            assert_eq!(door.whose(cookie, key), None);
        }
        assert_eq!(door.lock(), 1);
        assert_eq!(door.whose(&entry.cookie, &entry.key), None);
    }

    #[test]
    fn who_guesses_shuts_the_door_for_a_while_and_who_is_inside_stays() {
        let door = Door::default();
        let entry = door.enter(&door.link("ann").unwrap()).unwrap();
        let other = door.link("ann").unwrap();
        for guess in 0..WRONG {
            assert!(door.enter(&guess.to_string()).is_none());
        }
        assert!(door.enter(&other).is_none(), "nothing is looked at any more");
        assert!(door.whose(&entry.cookie, &entry.key).is_some());
    }

    #[test]
    fn the_oldest_end_first() {
        let door = Door::default();
        let entries: Vec<Entry> = (0..=MOST).map(|_| door.enter(&door.link("ann").unwrap()).unwrap()).collect();
        let is_in = |entry: &Entry| door.whose(&entry.cookie, &entry.key).is_some();
        assert!(!is_in(&entries[0]) && entries[1..].iter().all(is_in));
    }
}
