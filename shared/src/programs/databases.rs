//! Clients of databases: their languages have commands that start programs, read files and reach other machines.

use super::languages::GIVEN;
use super::{Kind, Operands, Program, Rule, Runs, Terminal};

const fn database(names: &'static [&'static str], terminal: Terminal, not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "runs what a database and its own commands say", Kind::Mixed, Rule::Never(Operands::Data))
        .runs(Runs::Code)
        .here(&[])
        .terminal(terminal)
        .not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    database(
        &["psql"],
        Terminal {
            valued: &["-h", "-U", "-p", "-d", "-v"],
            settled: ("clf", &["-V", "--version", "--help", "--command", "--file", "--list"]),
            ..Terminal::ALWAYS
        },
        &["psql -c 'select 1' db", "psql db"],
    )
    .configured_by(&["~/.psqlrc", "~/.pg_service.conf", "~/.pgpass"]),
    database(
        &["mysql", "mariadb"],
        Terminal {
            valued: &["-u", "-h", "-P", "-D"],
            settled: ("e", &["-V", "--version", "--help", "--execute"]),
            ..Terminal::ALWAYS
        },
        &["mysql -e 'select 1'"],
    )
    .configured_by(&["~/.my.cnf", "~/.mylogin.cnf", "/etc/my.cnf", "/etc/mysql"]),
    database(
        &["sqlite3"],
        Terminal { settled: ("", GIVEN), operands: 2, ..Terminal::ALWAYS },
        &["sqlite3 x.db '.shell id'", "sqlite3 x.db"],
    ),
    database(
        &["mongosh"],
        Terminal { settled: ("", &["--eval", "--file", "--version", "--help"]), ..Terminal::ALWAYS },
        &["mongosh --eval 1"],
    )
    .configured_by(&["~/.mongoshrc.js"]),
    database(
        &["redis-cli"],
        Terminal { valued: &["-h", "-p", "-a", "-n", "-u"], ..super::languages::PROMPT },
        &["redis-cli ping"],
    )
    .configured_by(&["~/.redisclirc"])
    .tells(&["config get"]),
];
