//! In which channels a desk speaks: in each one desk at a time, for as long as the database gives it. What a channel has shown is in the
//! database, so that another desk goes on with that; it hears what is said from then on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use bashgate::chat::Board;
use bashgate::chat::link::{self, Hears, Overheard, Running};
use bashgate::chat::settings::Settings;
use bashgate::clock;
use bashgate::held::held;
use tokio::sync::{Notify, mpsc};
use tokio_postgres::Client;

use crate::database::DatabaseError;
use crate::random_hex;

/// For how long a desk may speak in a channel before it has to ask again, in seconds by the database's clock.
const SPEAKS_S: i32 = 15;
/// After how long without having been given more time it falls silent by itself, by its own clock: well before another one begins.
const SILENT: Duration = Duration::from_secs(10);
/// How often it asks for more time.
pub(super) const RENEW: Duration = Duration::from_secs(3);

/// A channel in which this desk speaks.
struct Speech {
    _running: Running,
    /// When it was given time last.
    given: Instant,
    /// What it remembers and the database has not got.
    memory: Arc<Mutex<Option<String>>>,
}

type Speeches = Arc<Mutex<BTreeMap<String, Speech>>>;

/// Ends what was given no more time, whatever whoever asks for it waits for.
async fn watch(speeches: Weak<Mutex<BTreeMap<String, Speech>>>) {
    while let Some(speeches) = speeches.upgrade() {
        held(&speeches).retain(|name, speech| {
            let keeps = speech.given.elapsed() < SILENT;
            if !keeps {
                tracing::warn!(channel = name, "the desk was given no more time to speak here");
            }
            keeps
        });
        drop(speeches);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// The channels of a desk.
pub(super) struct Speaking {
    channels: BTreeMap<String, Settings>,
    board: Board,
    hears: Hears,
    /// Who this is: another run of the same desk is another one.
    holder: String,
    speeches: Speeches,
    /// What each channel was to remember last.
    own: Arc<Mutex<BTreeMap<String, String>>>,
    remembers: Arc<Notify>,
}

/// What somebody said, and when it was heard, in milliseconds since 1970.
pub(super) type Heard = (Overheard, u64);

impl Speaking {
    pub(super) fn new(
        channels: &BTreeMap<String, Settings>,
        board: Board,
        heard: mpsc::UnboundedSender<Heard>,
    ) -> Result<Self, String> {
        let speeches = Speeches::default();
        tokio::spawn(watch(Arc::downgrade(&speeches)));
        Ok(Self {
            channels: channels.clone(),
            board,
            hears: Arc::new(move |overheard| heard.send((overheard, clock::now().unix_ms)).is_ok()),
            holder: random_hex::<16>().map_err(|error| error.to_string())?,
            speeches,
            own: Arc::default(),
            remembers: Arc::default(),
        })
    }

    /// Waits until a channel has something to remember.
    pub(super) async fn remembers(&self) {
        self.remembers.notified().await;
    }

    /// Says nothing any more.
    pub(super) fn falls_silent(&self) {
        held(&self.speeches).clear();
    }

    /// Asks for more time in each channel, and begins to speak where no other desk does.
    pub(super) async fn renew(&self, client: &Client) -> Result<(), DatabaseError> {
        for (name, settings) in &self.channels {
            client.execute("INSERT INTO channel (name) VALUES ($1) ON CONFLICT DO NOTHING", &[name]).await?;
            let asked = Instant::now();
            // Who is not first waits for nobody.
            let row = client
                .query_opt(
                    "WITH free AS (
                         SELECT name, holder FROM channel
                         WHERE name = $1 AND (holder = $2 OR until < now() OR until > now() + interval '1 minute')
                         FOR UPDATE SKIP LOCKED)
                     UPDATE channel SET holder = $2, until = now() + make_interval(secs => $3)
                     FROM free WHERE channel.name = free.name
                     RETURNING channel.memory, free.holder",
                    &[name, &self.holder, &f64::from(SPEAKS_S)],
                )
                .await?;
            let mut speeches = held(&self.speeches);
            match (row, speeches.get_mut(name)) {
                (None, _) => {
                    speeches.remove(name);
                }
                (Some(_), Some(speech)) => speech.given = asked,
                (Some(row), None) => {
                    let memory = Arc::new(Mutex::new(None));
                    let (kept, notify) = (memory.clone(), self.remembers.clone());
                    let (own, named) = (self.own.clone(), name.clone());
                    let keeps: link::Keeps = Box::new(move |text: String| {
                        held(&own).insert(named.clone(), text.clone());
                        *held(&kept) = Some(text);
                        notify.notify_one();
                    });
                    // Where nobody else has spoken since, this desk knows best: the database may have been put back.
                    let own = held(&self.own).get(name).cloned().filter(|_| row.get::<_, String>(1) == self.holder);
                    let was = own.unwrap_or_else(|| row.get(0));
                    match link::start_kept(settings, &self.board, &was, keeps, &self.hears) {
                        Ok(running) => {
                            let speech = Speech { _running: running, given: asked, memory };
                            speeches.insert(name.clone(), speech);
                        }
                        // Others go on.
                        Err(why) => tracing::error!(channel = name, why, "the channel cannot be opened"),
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts what channels remember into the database.
    pub(super) async fn keep(&self, client: &Client) -> Result<(), DatabaseError> {
        let all: Vec<_> =
            held(&self.speeches).iter().map(|(name, speech)| (name.clone(), speech.memory.clone())).collect();
        for (name, memory) in &all {
            let Some(text) = held(memory).take() else { continue };
            let kept = client
                .execute("UPDATE channel SET memory = $3 WHERE name = $1 AND holder = $2", &[name, &self.holder, &text])
                .await;
            match kept {
                // Another desk speaks there: this one was away for too long.
                Ok(0) => {
                    held(&self.speeches).remove(name);
                }
                Ok(_) => {}
                Err(error) => {
                    // The next connection has it.
                    held(memory).get_or_insert(text);
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Lets another desk begin at once.
    pub(super) async fn leaves(&self, client: &Client) {
        held(&self.speeches).clear();
        let _ = client.execute("UPDATE channel SET until = '-infinity' WHERE holder = $1", &[&self.holder]).await;
    }
}
