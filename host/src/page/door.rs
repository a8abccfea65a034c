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

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is no link, or was used, or is too old.
    Unknown,
    /// Too many wrong ones are tried; it may be a good one.
    TooMany,
}

/// What is kept of a secret: who reads memory or a dump finds none.
type Sealed = [u8; 32];

/// Two secrets that were made for one browser, and what the session is called.
pub(super) struct Entry {
    /// Its name, which is no secret.
    pub(super) session: String,
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
    name: String,
    cookie: Sealed,
    /// As it is: the host shows that it knows it.
    key: String,
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

    /// Uses a link up.
    pub(super) fn enter(&self, token: &str) -> Result<Entry, Refused> {
        let [name, cookie, key] = [secret(), secret(), secret()].map(|secret| secret.map_err(|_| Refused::Unknown));
        let (session, cookie, key) = (name?, cookie?, key?);
        let token = sealed(token);
        self.with(|known| {
            let now = Instant::now();
            known.wrong.retain(|at| now.duration_since(*at) < WRONG_IN);
            if known.wrong.len() >= WRONG {
                return Err(Refused::TooMany);
            }
            known.links.retain(|link| link.until > now);
            let Some(at) = known.links.iter().position(|link| link.token == token) else {
                known.wrong.push(now);
                return Err(Refused::Unknown);
            };
            let by = known.links.swap_remove(at).by;
            let kept =
                Session { name: session.clone(), cookie: sealed(&cookie), key: key.clone(), until: now + SESSION, by };
            known.sessions.push(kept);
            drop_oldest(&mut known.sessions);
            Ok(Entry { session, cookie, key })
        })
    }

    /// Whose session these two belong to.
    pub(super) fn whose(&self, cookie: &str, key: &str) -> Option<String> {
        let (cookie, key) = (sealed(cookie), sealed(key));
        self.with(|known| {
            let now = Instant::now();
            known.sessions.retain(|session| session.until > now);
            let session =
                known.sessions.iter().find(|session| session.cookie == cookie && sealed(&session.key) == key)?;
            Some(session.by.clone())
        })
    }

    /// Shows that this is the host that made a session: who does not know its key cannot.
    pub(super) fn proof(&self, session: &str, nonce: &str, host: &str) -> Option<String> {
        self.with(|known| {
            let now = Instant::now();
            let session = known.sessions.iter().find(|kept| kept.name == session && kept.until > now)?;
            let text = format!("{0}:{nonce}:{host}:{0}", session.key);
            Some(hex(&sealed(&text)))
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
        assert!(door.enter("").is_err() && door.enter(token.split_at(1).1).is_err());
        let entry = door.enter(&token).unwrap();
        assert!(door.enter(&token).is_err(), "not twice");
        let proof = door.proof(&entry.session, "n", "h").unwrap();
        assert_eq!(proof, hex(&sealed(&format!("{0}:n:h:{0}", entry.key))));
        assert_eq!(door.proof(&entry.key, "n", "h"), None);
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
            assert!(door.enter(&guess.to_string()).is_err());
        }
        assert_eq!(door.enter(&other).err(), Some(Refused::TooMany), "nothing is looked at any more");
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
