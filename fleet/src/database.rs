//! A connection to the fleet's database: over TLS wherever it leaves the machine, and never for ever.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::ConfigVerifierExt as _;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long something may take.
const MOST_TIME: Duration = Duration::from_secs(20);
/// How long a connection whose other end is gone counts as one.
const SILENT: Duration = Duration::from_secs(30);

/// Where a database is, and how its server is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The database.
    pub database: String,
    /// The certificates that its own is signed by, in PEM; none: those that the machine trusts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

/// Who connects.
#[derive(Clone, Serialize, Deserialize)]
pub struct Login {
    /// The role.
    pub role: String,
    /// Its password.
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Login({})", self.role)
    }
}

/// What goes wrong with a database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// Not an address.
    #[error("`{given}` is no address of a database: {why}")]
    Address {
        /// What was given, without its password.
        given: String,
        /// Why not.
        why: String,
    },
    /// The certificates cannot be used.
    #[error("the certificates to know the database's server by cannot be used: {0}")]
    Certificates(String),
    /// It does not answer.
    #[error("the database at {host}:{port} does not answer: {why}")]
    Unreachable {
        /// The server.
        host: String,
        /// Its port.
        port: u16,
        /// Why.
        why: String,
    },
    /// It does not let this role in.
    #[error("the database does not let {role} in: {why}")]
    NotLetIn {
        /// The role.
        role: String,
        /// What it says.
        why: String,
    },
    /// It says no to a statement, or broke off.
    #[error("the database fails: {0}")]
    Sql(String),
}

impl DatabaseError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Address { .. } => "give it as postgres://ROLE@HOST:PORT/DATABASE; the password as PGPASSWORD",
            Self::Certificates(_) => "give the certificate of the server's issuer in PEM with --ca FILE",
            Self::Unreachable { .. } => {
                "check that the server runs, that this machine reaches it, and that its certificate names it"
            }
            Self::NotLetIn { .. } => {
                "check role and password; a host whose token was used or is too old needs a new one: bashgate fleet enrol"
            }
            Self::Sql(_) => "see the server's log; what was not written is tried again",
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(why(&error))
    }
}

/// What an error says, with what the server said of it.
fn why(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    text
}

impl Address {
    /// Reads `postgres://ROLE@HOST:PORT/DATABASE`. Who connects is in it, too; a password there or, better, in `PGPASSWORD`.
    pub fn parse(url: &str, password: Option<String>, ca: Option<String>) -> Result<(Self, Login), DatabaseError> {
        let wrong = |why: &str| {
            // A password stands between `:` and `@`.
            let shown = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
            DatabaseError::Address { given: shown.to_owned(), why: why.to_owned() }
        };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("it does not begin with postgres://"));
        }
        let config: Config = url.parse().map_err(|error: tokio_postgres::Error| wrong(&why(&error)))?;
        let [Host::Tcp(host)] = config.get_hosts() else { return Err(wrong("it names no server, or several")) };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let database = config.get_dbname().ok_or_else(|| wrong("it names no database"))?.to_owned();
        let role = config.get_user().ok_or_else(|| wrong("it names no role"))?.to_owned();
        let in_url = config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let password = in_url.or(password).unwrap_or_default();
        Ok((Self { host: host.clone(), port, database, ca }, Login { role, password }))
    }

    /// True where nothing leaves the machine.
    fn is_here(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Connects. What is not answered within half a minute fails.
    pub async fn connect(&self, login: &Login) -> Result<Client, DatabaseError> {
        self.connect_and_hear(login, Arc::default()).await
    }

    /// The same, and is told when the server notifies of something that was listened for. A notification may get lost: whoever waits for
    /// one looks by himself, too.
    pub async fn connect_and_hear(&self, login: &Login, hears: Arc<Notices>) -> Result<Client, DatabaseError> {
        let mut config = Config::new();
        config
            .host(&self.host)
            .port(self.port)
            .dbname(&self.database)
            .user(&login.role)
            .password(&login.password)
            .application_name("bashgate")
            .connect_timeout(CONNECT)
            .tcp_user_timeout(SILENT)
            .keepalives_idle(SILENT)
            .options("-c search_path=bashgate -c statement_timeout=30000 -c lock_timeout=10000");
        let failed = |error: tokio_postgres::Error| match error.as_db_error() {
            Some(_) => DatabaseError::NotLetIn { role: login.role.clone(), why: why(&error) },
            None => DatabaseError::Unreachable { host: self.host.clone(), port: self.port, why: why(&error) },
        };
        let late = |_| DatabaseError::Unreachable {
            host: self.host.clone(),
            port: self.port,
            why: "it takes too long".to_owned(),
        };
        // Nobody listens on the way from this machine to itself.
        if self.is_here() && self.ca.is_none() {
            config.ssl_mode(SslMode::Disable);
            let connecting = tokio::time::timeout(CONNECT * 2, config.connect(NoTls));
            let (client, connection) = connecting.await.map_err(late)?.map_err(failed)?;
            tokio::spawn(drive(connection, hears));
            return Ok(client);
        }
        config.ssl_mode(SslMode::Require);
        let tls = MakeRustlsConnect::new(self.tls()?);
        let connecting = tokio::time::timeout(CONNECT * 2, config.connect(tls));
        let (client, connection) = connecting.await.map_err(late)?.map_err(failed)?;
        tokio::spawn(drive(connection, hears));
        Ok(client)
    }

    fn tls(&self) -> Result<rustls::ClientConfig, DatabaseError> {
        let wrong = |why: String| DatabaseError::Certificates(why);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let Some(ca) = &self.ca else {
            // Only the first call installs it; later ones find it in place.
            let _ = rustls::crypto::ring::default_provider().install_default();
            return rustls::ClientConfig::with_platform_verifier().map_err(|error| wrong(error.to_string()));
        };
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("there is none in the file".to_owned()));
        }
        let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        Ok(config.map_err(|error| wrong(error.to_string()))?.with_root_certificates(roots).with_no_client_auth())
    }
}

/// What a connection was notified of.
#[derive(Debug, Default)]
pub struct Notices {
    any: Notify,
    fleet: AtomicBool,
}

/// Here is notified that the fleet's roll has changed, or what a host tells the others.
pub const OF_FLEET: &str = "bashgate_fleet";

impl Notices {
    /// Waits until there is something new.
    pub async fn something(&self) {
        self.any.notified().await;
    }

    /// Whether something of [`OF_FLEET`] has changed since this was asked last.
    pub fn of_fleet(&self) -> bool {
        self.fleet.swap(false, Ordering::Relaxed)
    }
}

/// Does something with a database. What one that holds on to a connection does not answer in time has failed.
pub async fn timely<T, E: From<DatabaseError>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let late = || DatabaseError::Sql("it does not answer in time".to_owned()).into();
    tokio::time::timeout(MOST_TIME, work).await.unwrap_or_else(|_| Err(late()))
}

/// How long to wait before something is tried again: longer each time, and as the first time where it has worked for a while.
pub struct Pauses {
    first: Duration,
    most: Duration,
    next: Duration,
    begun: Instant,
}

impl Pauses {
    /// From the first to the longest.
    pub fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, next: first, begun: Instant::now() }
    }

    /// It is tried now.
    pub fn begins(&mut self) {
        self.begun = Instant::now();
    }

    /// It has worked: the next time is as the first one.
    pub fn has_worked(&mut self) {
        self.next = self.first;
    }

    /// It has failed: how long to wait.
    pub fn pause(&mut self) -> Duration {
        let pause = if self.begun.elapsed() > self.most { self.first } else { self.next };
        self.next = (pause * 2).min(self.most);
        pause
    }
}

/// Keeps a connection going until it ends.
async fn drive<S, T>(mut connection: Connection<S, T>, hears: Arc<Notices>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(of) = message {
            hears.fleet.fetch_or(of.channel() == OF_FLEET, Ordering::Relaxed);
            hears.any.notify_one();
        }
    }
    // Whoever waits for something finds that nothing comes any more.
    hears.any.notify_one();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_server_database_and_role() {
        let (address, login) =
            Address::parse("postgres://boss:secret@db.example:5433/fleet", Some("other".to_owned()), None).unwrap();
        assert_eq!((address.host.as_str(), address.port, address.database.as_str()), ("db.example", 5433, "fleet"));
        assert_eq!((login.role.as_str(), login.password.as_str()), ("boss", "secret"));
        assert_eq!(format!("{login:?}"), "Login(boss)");
        let (address, login) = Address::parse("postgresql://boss@127.0.0.1/fleet", Some("p".to_owned()), None).unwrap();
        assert_eq!((address.port, login.password.as_str(), address.is_here()), (5432, "p", true));
        for bad in ["", "x", "mysql://a@b/c", "postgres://a@b", "postgres://b/c", "postgres:///c", "postgres://a@b,d/c"]
        {
            assert!(Address::parse(bad, None, None).is_err(), "{bad}");
        }
        let error = Address::parse("mysql://boss:secret@b/c", None, None).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
