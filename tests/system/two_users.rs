//! Host and container under different users: what works, and what the error says when it does not.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

use bashgate_shared::protocol::Answer;
use bashgate_tests::{Host, Output, Site, bin, until};
use serde_json::json;

const HOST: u32 = 23_001;
const AGENT: u32 = 23_002;

fn own(path: &Path, uid: u32) {
    chown(path, Some(uid), Some(uid)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).unwrap().flatten() {
            own(&entry.path(), uid);
        }
    }
}

fn as_user(uid: u32, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={uid}"), format!("--regid={uid}"), "--clear-groups".to_owned()]).arg(program);
    command
}

/// A site that belongs to the host's user and whose mailbox the agent's user can reach, as a mount in a container would.
fn site() -> (Site, std::path::PathBuf) {
    let site = Site::default();
    own(site.path(), HOST);
    own(&site.work(), AGENT);
    for folder in [site.path().to_owned(), site.path().join("mailbox")] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).unwrap();
    }
    // The repository need not be readable for these users.
    let bins = site.path().join("bin");
    std::fs::create_dir(&bins).unwrap();
    for name in ["bashgate", "bashgate-hook"] {
        std::fs::copy(bin(name), bins.join(name)).unwrap();
    }
    (site, bins)
}

fn serve(site: &Site, bins: &Path) -> Host {
    let mut command = as_user(HOST, &bins.join("bashgate"));
    command.arg("serve").arg("--config").arg(site.host_toml());
    Host::start(&mut command)
}

fn check(site: &Site, bins: &Path, command: &str) -> Output {
    let mut hook = Command::new("sh");
    // The strictest umask that a container may have.
    hook.args(["-c", "umask 077; exec \"$@\"", "sh", "setpriv"]);
    hook.args([format!("--reuid={AGENT}"), format!("--regid={AGENT}"), "--clear-groups".to_owned()]);
    hook.arg(bins.join("bashgate-hook")).arg("--config").arg(site.hook_toml()).args(["check", "--", command]);
    Output::of(hook.current_dir(site.work()), b"")
}

#[test]
fn an_agent_of_another_user_is_served() {
    let (site, bins) = site();
    let _host = serve(&site, &bins);
    check(&site, &bins, "make x").expect(0);
    check(&site, &bins, "rm -rf /etc/bashgate").expect(2);
}

#[test]
fn a_request_that_the_host_may_not_read_is_denied_with_the_fix() {
    let (site, bins) = site();
    let _host = serve(&site, &bins);
    let id = uuid::Uuid::new_v4().to_string();
    let folder = site.mailbox("default").join("requests");
    let temporary = folder.join(format!(".{id}.tmp"));
    std::fs::write(&temporary, json!({"type": "security:bash_check", "request_id": id, "command": "ls"}).to_string())
        .unwrap();
    chown(&temporary, Some(AGENT), Some(AGENT)).unwrap();
    std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::rename(temporary, folder.join(format!("{id}.json"))).unwrap();
    let response = until("a response", || site.response("default", &id));
    assert_eq!(response.decision, Answer::Deny);
    for part in ["may not read", "23002", "mode 600", "run `bashgate serve` as that user"] {
        assert!(response.reason.contains(part), "{} lacks {part}", response.reason);
    }
}

#[test]
fn a_mailbox_that_the_agent_may_not_write_is_named_with_the_fix() {
    let (site, bins) = site();
    std::fs::set_permissions(site.mailbox("default").join("requests"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = check(&site, &bins, "make x").expect(2);
    assert!(output.stderr.contains("bashgate workspace add"), "{output:?}");
}

#[test]
fn responses_that_the_agent_may_not_read_are_a_denial_with_the_fix() {
    let (site, bins) = site();
    std::fs::set_permissions(site.mailbox("default").join("responses"), std::fs::Permissions::from_mode(0o700))
        .unwrap();
    let _host = serve(&site, &bins);
    let output = check(&site, &bins, "make x").expect(2);
    assert!(output.stderr.contains("let the container's user read `responses`"), "{output:?}");
}
