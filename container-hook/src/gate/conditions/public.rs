//! Files that are called like secrets and hold nothing but what everybody may see: certificates, lists of revoked ones and
//! public keys under a name that private keys have, of which every Python environment brings one; git's configuration without
//! a token in it.

use std::path::Path;

use bashgate_shared::classify::secrets::GitText;
use bashgate_shared::classify::{git_config, secrets};

use super::text;
use crate::gate::ask::read_capped;
use crate::gate::git::config;
use crate::gate::shown;

/// Largest file that is looked at, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

const BLOCKS: [&str; 4] = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL", "PUBLIC KEY"];
/// What stands between the certificates of the bundles in use.
const REMARKS: [&str; 7] = [
    "# Issuer: ",
    "# Subject: ",
    "# Label: ",
    "# Serial: ",
    "# MD5 Fingerprint: ",
    "# SHA1 Fingerprint: ",
    "# SHA256 Fingerprint: ",
];

/// True for a name that tells nothing by itself.
pub(in crate::gate) fn may_be_public(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ["pem", "crt"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// True for a regular file of that kind. What cannot be read, or is anything else, is none.
pub(in crate::gate) fn is_public(file: &Path) -> bool {
    let lower = text(file).to_ascii_lowercase();
    // Links called `.pem` lead to files called `.crt` on Debian.
    let may_be = secrets::git_text(&lower).is_some() || may_be_public(&lower);
    may_be && read_capped(file, MAX_BYTES).is_ok_and(|bytes| is_public_content(file, &bytes))
}

/// The same for what a file of this path holds, or held.
pub(in crate::gate) fn is_public_content(file: &Path, bytes: &[u8]) -> bool {
    let lower = text(file).to_ascii_lowercase();
    let Ok(content) = std::str::from_utf8(bytes) else { return false };
    match secrets::git_text(&lower) {
        Some(GitText::Config) => holds_no_token(content),
        Some(GitText::Log) => git_config::is_plain_log(bytes),
        Some(GitText::Leftover) => changes_no_secret(content),
        None => may_be_public(&lower) && holds_public_blocks(content),
    }
}

/// True for a path that names a secret, where its content does not say otherwise. Links have been followed.
pub(super) fn is_secret(real: &Path) -> bool {
    secrets::is_secret_path(&text(real)) && !is_public(real)
}

/// True for changes of files that are no secrets, and for one of a file without a name in which nothing is set.
fn changes_no_secret(content: &str) -> bool {
    let names_secret = |line: &str| {
        let marks = ["diff --git ", "+++ ", "--- ", "rename from ", "rename to ", "copy from "];
        let named = marks.iter().find_map(|mark| line.strip_prefix(mark));
        named.is_some_and(|names| {
            names.split([' ', '\t', '"']).any(|name| {
                let path = name.split_once('/').map_or(name, |(_, path)| path);
                [name, path].into_iter().any(|path| !path.is_empty() && secrets::is_secret_path(path))
            })
        })
    };
    let sets = |line: &str| {
        let line = line.trim_start_matches(['+', '-', ' ']).trim_start_matches("export ");
        line.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        })
    };
    let has_names = content.lines().any(|line| line.starts_with("diff --git ") || line.starts_with("+++ "));
    content.lines().all(|line| !names_secret(line) && (has_names || !sets(line)))
        && shown::credentials_in(content).is_empty()
}

fn holds_no_token(content: &str) -> bool {
    // What stands in a remark is shown like everything else.
    let mut remarks = content.lines().map(str::trim_start).filter(|line| line.contains(['#', ';']));
    if remarks.any(|line| line.contains("://") && line.contains('@')) || !shown::credentials_in(content).is_empty() {
        return false;
    }
    config::read(content).is_some_and(|all| all.iter().all(|one| !git_config::is_secret(&one.key, &one.value)))
}

/// True for a text of certificates and public keys and nothing else.
pub(in crate::gate) fn holds_public_blocks(content: &str) -> bool {
    let mut inside: Option<&str> = None;
    let mut blocks = 0;
    for line in content.lines() {
        let line = line.trim_end_matches('\r');
        let marked = |mark: &str| line.strip_prefix(mark).and_then(|rest| rest.strip_suffix("-----"));
        match inside {
            None if line.is_empty() || REMARKS.iter().any(|remark| line.starts_with(remark)) => {}
            None => match marked("-----BEGIN ") {
                Some(kind) if BLOCKS.contains(&kind) => inside = Some(kind),
                _ => return false,
            },
            Some(kind) if marked("-----END ") == Some(kind) => {
                inside = None;
                blocks += 1;
            }
            Some(_) => {
                let encoded = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
                if line.len() > 76 || !line.bytes().all(encoded) {
                    return false;
                }
            }
        }
    }
    inside.is_none() && blocks > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: &str) -> String {
        format!("-----BEGIN {kind}-----\nMIIBszCCAVmgAwIBAgIU\nabc=\n-----END {kind}-----\n")
    }

    #[test]
    fn a_configuration_of_git_is_public_without_a_token() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let file = folder.path().join(".git/config");
        for (content, public) in [
            ("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://host/a.git\n", true),
            ("[remote \"origin\"]\n\turl = https://me:pass@host/a.git\n", false),
            ("[http \"https://host/\"]\n\textraheader = AUTHORIZATION: basic abc\n", false),
            ("[alias]\n\tapi = !curl -H 'PRIVATE-TOKEN: x'\n", false),
            ("[core\n", false),
        ] {
            std::fs::write(&file, content).unwrap();
            assert_eq!(is_public(&file), public, "{content}");
        }
    }

    #[test]
    fn only_what_everybody_may_see_is_public() {
        let certificate = block("CERTIFICATE");
        for content in [
            certificate.clone(),
            format!("\n# Issuer: CN=x\n# Serial: 1\n{certificate}\n{}", block("PUBLIC KEY")),
            block("X509 CRL").replace('\n', "\r\n"),
        ] {
            assert!(holds_public_blocks(&content), "{content}");
        }
        let private = block("PRIVATE KEY");
        for content in [
            String::new(),
            "\n".to_owned(),
            private.clone(),
            block("RSA PRIVATE KEY"),
            format!("{certificate}{private}"),
            format!("{certificate}password = x\n"),
            format!("# token: x\n{certificate}"),
            certificate.replace("-----END CERTIFICATE-----\n", ""),
            certificate.replace("abc=", "a secret of mine"),
            certificate.replace("END CERTIFICATE", "END PUBLIC KEY"),
        ] {
            assert!(!holds_public_blocks(&content), "{content}");
        }
    }

    #[test]
    fn links_pipes_and_large_files_are_not_public() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.pem"), block("CERTIFICATE")).unwrap();
        std::fs::write(at("a.key"), block("CERTIFICATE")).unwrap();
        std::os::unix::fs::symlink(at("a.pem"), at("link.pem")).unwrap();
        let large = usize::try_from(MAX_BYTES).unwrap() / block("CERTIFICATE").len() + 1;
        std::fs::write(at("large.pem"), block("CERTIFICATE").repeat(large)).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe.pem"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(is_public(&at("a.pem")));
        for name in ["a.key", "link.pem", "large.pem", "pipe.pem", "missing.pem"] {
            assert!(!is_public(&at(name)), "{name}");
        }
    }
}
