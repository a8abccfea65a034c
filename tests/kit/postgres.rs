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
    /// The folder with its data, in [`Self::folder`].
    data: &'static str,
    /// Its data lies on a disk of its own, which ends with the value.
    has_disk: bool,
}

/// A copy of a server, which has followed it for a while.
pub struct Copied(());

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
        Self::made(config, None)
    }

    /// A server whose data lies on a disk of its own, of so many MiB.
    pub fn on_a_disk_of(mib: u32) -> Self {
        Self::made("min_wal_size = 2MB\nmax_wal_size = 4MB", Some(mib))
    }

    /// A server on this port with this password and the certificate `server.pem` of a folder.
    pub fn with_tls(port: u16, password: &str, certs: &Path) -> Self {
        // A server wants its key for itself.
        let key = tempfile::Builder::new().prefix("bashgate-key-").tempdir().unwrap().keep();
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o755)).unwrap();
        let (certificate, own) = (key.join("server.pem"), key.join("server.key"));
        std::fs::copy(certs.join("server.pem"), &certificate).unwrap();
        std::fs::copy(certs.join("server.key"), &own).unwrap();
        if rustix::process::geteuid().is_root() {
            Output::of(Command::new("chown").arg("postgres").arg(&own), b"").expect(0);
        }
        let tls = format!("ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'", certificate.display(), own.display());
        let server = Self::made_at(&tls, None, port, password.to_owned());
        let _ = std::fs::remove_dir_all(key);
        server
    }

    fn made(config: &str, disk: Option<u32>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::made_at(config, disk, port, format!("boss-{}", std::process::id()))
    }

    fn made_at(config: &str, disk: Option<u32>, port: u16, password: String) -> Self {
        let folder = tempfile::Builder::new().prefix("bashgate-postgres-").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        if let Some(mib) = disk {
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).arg(&data);
            Output::of(&mut mount, b"").expect(0);
        }
        let word = folder.path().join("word");
        std::fs::write(&word, &password).unwrap();
        // It refuses to work for root.
        if rustix::process::geteuid().is_root() {
            for path in [&data, &word] {
                Output::of(Command::new("chown").arg("postgres").arg(path), b"").expect(0);
            }
        }
        let mut server = Self { folder, port, password, server: None, data: "data", has_disk: disk.is_some() };
        let initdb = [
            "-A",
            "scram-sha-256",
            "-U",
            "boss",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
            "--wal-segsize=1",
        ];
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
        server.arg("-D").arg(self.data_folder()).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        self.server = Some(server.stderr(log).spawn().unwrap());
        until("PostgreSQL", || (self.sql_in("postgres", "SELECT 1").code == Some(0)).then_some(()));
    }

    /// Where its data lies.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join(self.data)
    }

    /// Makes a copy of it that follows it, as a replica does, and ends that: what comes from now on the copy lacks.
    pub fn copied(&self) -> Copied {
        let copy = self.folder.path().join("copy");
        let mut backup = self.program("pg_basebackup");
        backup.args([
            "-h",
            "127.0.0.1",
            "-U",
            "boss",
            "-p",
            &self.port.to_string(),
            "-X",
            "stream",
            "-R",
            "-c",
            "fast",
            "-D",
        ]);
        // Its folder belongs to whoever runs the server.
        std::fs::create_dir(&copy).unwrap();
        std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o700)).unwrap();
        if rustix::process::geteuid().is_root() {
            Output::of(Command::new("chown").arg("postgres").arg(&copy), b"").expect(0);
        }
        Output::of(backup.arg(&copy).env("PGPASSWORD", &self.password), b"").expect(0);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut follows = self.program("postgres");
        follows.arg("-D").arg(&copy).args(["-c", &format!("port={port}")]).env("PGPASSWORD", &self.password);
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let follows = follows.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut copy = Self {
            folder: TempDir::new().unwrap(),
            port,
            password: self.password.clone(),
            server: Some(follows),
            data: "none",
            has_disk: false,
        };
        let upto = self.sql("SELECT pg_current_wal_lsn()").expect(0).stdout;
        until("the copy to follow", || {
            let there = copy.sql(&format!("SELECT pg_last_wal_replay_lsn() >= '{}'::pg_lsn", upto.trim()));
            (there.stdout.trim() == "t").then_some(())
        });
        copy.kill();
        Copied(())
    }

    /// It dies, and its copy is the server from now on, where it was.
    pub fn fails_over(&mut self, Copied(()): Copied) {
        self.kill();
        self.data = "copy";
        std::fs::remove_file(self.data_folder().join("standby.signal")).unwrap();
        self.start();
    }

    /// Nothing of it moves, until [`Self::goes_on`].
    pub fn hangs(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// See [`Self::hangs`].
    pub fn goes_on(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let Some(server) = &self.server else { return };
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", server.id())).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        for pid in children.chain([i32::try_from(server.id()).unwrap()]) {
            let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal);
        }
    }

    /// True where the server has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.server.as_mut().is_none_or(|server| server.try_wait().unwrap().is_some())
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
        self.goes_on();
        self.kill();
        if self.has_disk {
            let _ = Command::new("umount").arg("-l").arg(self.folder.path().join("data")).status();
        }
    }
}
