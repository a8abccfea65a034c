//! Files with a name that private keys have and nothing in them but what everybody may see: certificates, lists of revoked
//! ones, public keys. Every Python environment brings one.

use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

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

/// True for a regular file of that kind. What cannot be read, or is anything else, is none.
pub(super) fn is_public(file: &Path) -> bool {
    if file.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("pem")) {
        return false;
    }
    let flags = i32::try_from(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits()).unwrap_or(0);
    let Ok(opened) = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(file) else { return false };
    if !opened.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES) {
        return false;
    }
    let mut content = String::new();
    let read = opened.take(MAX_BYTES + 1).read_to_string(&mut content);
    read.is_ok_and(|length| length as u64 <= MAX_BYTES) && holds_public_blocks(&content)
}

fn holds_public_blocks(content: &str) -> bool {
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
