//! A PostgreSQL server of a test's own: the real one of the system's packages, on loopback.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{Output, until};

/// A server, and a database `fleet` in it. It ends with the value.
pub struct Postgres {
    folder: TempDir,
    port: u16,
    /// The password of the role `boss`, who may do everything.
    password: String,
    server: Option<Child>,
}

impl Default for Postgres {
    fn default() -> Self {
        Self::with("")
    }
}

/// The folder of the newest version's programs.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed: tests/tools.sh does it");
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.unwrap().path().join("bin")).collect();
    versions.retain(|bin| bin.join("initdb").exists());
    versions.sort();
    versions.pop().expect("a version of PostgreSQL")
}

impl Postgres {
    /// A server with these lines in its configuration.
    pub fn with(config: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("bashgate-postgres-").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let word = folder.path().join("word");
        let password = format!("boss-{}", std::process::id());
        std::fs::write(&word, &password).unwrap();
        // It refuses to work for root.
        if rustix::process::geteuid().is_root() {
            for path in [&data, &word] {
                Output::of(Command::new("chown").arg("postgres").arg(path), b"").expect(0);
            }
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { folder, port, password, server: None };
        let initdb =
            ["-A", "scram-sha-256", "-U", "boss", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"];
        let mut making = server.program("initdb");
        Output::of(making.args(initdb).arg("-D").arg(&data).arg(format!("--pwfile={}", word.display())), b"").expect(0);
        let lines = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nfsync = off\nmax_connections = 50\n{config}\n"
        );
        std::fs::write(data.join("postgresql.auto.conf"), lines).unwrap();
        server.start();
        server.sql_in("postgres", "CREATE DATABASE fleet").expect(0);
        server
    }

    /// Its folder, into which whoever runs it can look.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn program(&self, name: &str) -> Command {
        let program = programs().join(name);
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path()).env_remove("LD_LIBRARY_PATH");
        command
    }

    /// Starts it again.
    pub fn start(&mut self) {
        assert!(self.server.is_none());
        let mut server = self.program("postgres");
        server.arg("-D").arg(self.folder.path().join("data")).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        self.server = Some(server.stderr(log).spawn().unwrap());
        until("PostgreSQL", || (self.sql_in("postgres", "SELECT 1").code == Some(0)).then_some(()));
    }

    /// Kills it, as a power cut would.
    pub fn kill(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let pid = rustix::process::Pid::from_child(&server);
        // At SIGQUIT it ends its own processes at once, and saves nothing.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        server.wait().unwrap();
    }

    /// Who may do everything, as `bashgate fleet init` takes it.
    pub fn url(&self) -> String {
        format!("postgres://boss@127.0.0.1:{}/fleet", self.port)
    }

    /// The password for [`Self::url`].
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Runs statements in the fleet's database, as who may do everything; lines of fields between `|`.
    pub fn sql(&self, statements: &str) -> Output {
        self.sql_in("fleet", statements)
    }

    fn sql_in(&self, database: &str, statements: &str) -> Output {
        self.sql_as("boss", &self.password, database, statements)
    }

    /// The same as somebody else.
    pub fn sql_as(&self, role: &str, password: &str, database: &str, statements: &str) -> Output {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-U", role, "-d", database, "-f", "-"])
            .env("PGPASSWORD", password)
            .env("PGOPTIONS", "-c search_path=bashgate")
            .env_remove("LD_LIBRARY_PATH");
        Output::of(&mut psql, statements.as_bytes())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}
