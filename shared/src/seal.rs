//! Signing and checking what the host says (Ed25519, RFC 8032).
//!
//! A signature covers every field of a response in one fixed, length-prefixed order, so that no two different responses
//! have the same bytes. The container holds only the public key: it can check, never sign.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::command::{Digest, hex, unhex};
use crate::protocol::{Answer, EgressEnd, Heartbeat, PreviousSignature, RequestId, Response, VERSION, WorkspaceName};

/// The host's signing key. It never prints itself.
pub struct HostKey {
    key: SigningKey,
    public: PublicKey,
    id: String,
}

impl std::fmt::Debug for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostKey({})", self.id)
    }
}

impl HostKey {
    /// The key that grows from these 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let key = SigningKey::from_bytes(seed);
        let public = PublicKey { bytes: key.verifying_key().to_bytes() };
        Self { key, public, id: public.id() }
    }

    /// The key with which others check.
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// What its public half is called: see [`PublicKey::id`].
    pub fn id(&self) -> &str {
        &self.id
    }

    fn sign(&self, bytes: &[u8]) -> String {
        hex(&self.key.sign(bytes).to_bytes())
    }

    /// Makes a response and signs it.
    pub fn respond(&self, answer: &Unsigned) -> Response {
        let mut response = Response {
            decision: answer.decision,
            reason: answer.reason.clone(),
            v: VERSION,
            key_id: self.id.clone(),
            request_id: answer.request_id.to_string(),
            workspace: answer.workspace.to_string(),
            request_sha256: answer.request.as_ref().map(Digest::hex).unwrap_or_default(),
            decided_by: answer.decided_by.clone(),
            taint_epoch: answer.taint_epoch,
            valid_for_ms: answer.valid_for_ms,
            cage: answer.cage,
            egress: answer.egress.clone(),
            signature: String::new(),
        };
        response.signature = self.sign(&response_bytes(&response));
        response
    }

    /// Makes a sign of life and signs it.
    pub fn beat(&self, boot_id: &str, boot_ms: u64) -> Heartbeat {
        let mut beat = Heartbeat {
            v: VERSION,
            boot_id: boot_id.to_owned(),
            boot_ms,
            key_id: self.id.clone(),
            signature: String::new(),
            previous: None,
        };
        beat.signature = self.sign(&heartbeat_bytes(&beat));
        beat
    }

    /// Signs a sign of life for those, too, who still check with this key.
    pub fn countersign(&self, beat: &mut Heartbeat) {
        let own = self.beat(&beat.boot_id, beat.boot_ms);
        beat.previous = Some(PreviousSignature { key_id: own.key_id, signature: own.signature });
    }

    /// Signs that the audit was pruned up to a record: its place and its hash, in hexadecimal digits.
    pub fn checkpoint(&self, seq: u64, hash: &[u8; 32]) -> String {
        self.sign(&checkpoint_bytes(seq, hash))
    }

    /// Signs a statement to others than hooks: what kind of statement it is, as `fleet head`, and its exact text.
    pub fn attest(&self, kind: &str, text: &str) -> String {
        self.sign(&statement_bytes(kind, text))
    }

    /// Signs the operator's own programs, as the bytes that a hook reads.
    pub fn programs(&self, payload: &[u8]) -> String {
        self.sign(&programs_bytes(payload))
    }
}

/// A response before it is signed.
#[derive(Debug, Clone)]
pub struct Unsigned {
    /// Allow or deny.
    pub decision: Answer,
    pub reason: String,
    /// The request that is answered.
    pub request_id: RequestId,
    /// The workspace that asked.
    pub workspace: WorkspaceName,
    /// Digest of the request's exact bytes; `None` only for a request that could not be read.
    pub request: Option<Digest>,
    /// Who said it.
    pub decided_by: String,
    /// The taint epoch.
    pub taint_epoch: u64,
    /// How long it counts, in milliseconds from the asking.
    pub valid_for_ms: u64,
    /// On a denial: whether it may run in the cage instead.
    pub cage: bool,
    /// With that: where it has a way out to.
    pub egress: Vec<EgressEnd>,
    /// The id of the key with which the asker checks, where it says so: while keys are exchanged there are two.
    pub asked_key: Option<String>,
}

/// The host's public key, written `ed25519:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey {
    bytes: [u8; 32],
}

impl PublicKey {
    /// Reads a key in its written form. Whether these bytes are a key at all takes longer to find out than deciding about
    /// most commands, so that it is not done here: of bytes that are none, no signature counts.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = unhex(text.trim().strip_prefix("ed25519:")?)?.try_into().ok()?;
        Some(Self { bytes })
    }

    /// The key itself, if it is one: a point of the curve, and none of those with which everything is signed.
    fn key(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.bytes).ok().filter(|key| !key.is_weak())
    }

    /// The first 16 hexadecimal digits of the key's SHA-256.
    pub fn id(&self) -> String {
        Digest::of(&self.bytes).hex().chars().take(16).collect()
    }

    fn signed(&self, bytes: &[u8], signature: &str) -> bool {
        let signature: Option<[u8; 64]> = unhex(signature).and_then(|bytes| bytes.try_into().ok());
        let signed = |key: VerifyingKey| key.verify_strict(bytes, &Signature::from_bytes(&signature?)).ok();
        self.key().and_then(signed).is_some()
    }

    /// Checks that a response is the host's answer to this very request. Nothing about it counts before.
    pub fn check(&self, response: &Response, asked: &Asked<'_>) -> Result<(), SealError> {
        if response.v != VERSION {
            return Err(SealError::Version(response.v));
        }
        if response.key_id != self.id() {
            return Err(SealError::OtherKey);
        }
        if !self.signed(&response_bytes(response), &response.signature) {
            return Err(SealError::Forged);
        }
        if response.request_id != asked.request_id.as_str() {
            return Err(SealError::OtherRequest);
        }
        if response.workspace != asked.workspace.as_str() {
            return Err(SealError::OtherWorkspace);
        }
        let unread_denial = response.decision == Answer::Deny && response.request_sha256.is_empty() && !response.cage;
        if response.request_sha256 != asked.request.hex() && !unread_denial {
            return Err(SealError::OtherBytes);
        }
        if asked.elapsed_ms >= response.valid_for_ms {
            return Err(SealError::TooLate);
        }
        Ok(())
    }

    /// Checks what [`HostKey::checkpoint`] has signed.
    pub fn check_checkpoint(&self, seq: u64, hash: &[u8; 32], signature: &str) -> bool {
        self.signed(&checkpoint_bytes(seq, hash), signature)
    }

    /// Checks what [`HostKey::attest`] has signed.
    pub fn check_attested(&self, kind: &str, text: &str, signature: &str) -> bool {
        self.signed(&statement_bytes(kind, text), signature)
    }

    /// Checks what [`HostKey::programs`] has signed.
    pub fn check_programs(&self, payload: &[u8], signature: &str) -> bool {
        self.signed(&programs_bytes(payload), signature)
    }

    /// Checks a sign of life.
    pub fn check_heartbeat(&self, beat: &Heartbeat) -> bool {
        let (key_id, signature) = match &beat.previous {
            Some(previous) if previous.key_id == self.id() => (&previous.key_id, &previous.signature),
            _ => (&beat.key_id, &beat.signature),
        };
        // What is signed names the key.
        let beat = Heartbeat { key_id: key_id.clone(), ..beat.clone() };
        beat.v == VERSION && beat.key_id == self.id() && self.signed(&heartbeat_bytes(&beat), signature)
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ed25519:{}", hex(&self.bytes))
    }
}

/// What a hook asked, to hold a response against.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The request's id.
    pub request_id: &'a RequestId,
    /// The hook's own workspace.
    pub workspace: &'a WorkspaceName,
    /// Digest of the exact bytes that were written.
    pub request: Digest,
    /// Time since the hook asked, in milliseconds on a monotonic clock.
    pub elapsed_ms: u64,
}

/// Why a response counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Another version.
    #[error("the response has version {0}")]
    Version(u32),
    /// Signed, if at all, by another key.
    #[error("the response names another key than the hook's configuration")]
    OtherKey,
    /// The signature is not the host's, or a field was changed.
    #[error("the response's signature is not the host's")]
    Forged,
    /// It answers another request.
    #[error("the response answers another request")]
    OtherRequest,
    /// It is for another workspace.
    #[error("the response is for another workspace")]
    OtherWorkspace,
    /// The request was changed between asking and reading.
    #[error("the response answers other bytes than were asked")]
    OtherBytes,
    /// It came too late.
    #[error("the response came too late")]
    TooLate,
}

fn put(out: &mut Vec<u8>, field: &[u8]) {
    out.extend((field.len() as u64).to_be_bytes());
    out.extend(field);
}

/// The bytes of a response that are signed: a domain, then every field behind its length.
pub fn response_bytes(response: &Response) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    put(&mut out, b"bashgate response 1");
    put(&mut out, &response.v.to_be_bytes());
    for field in [
        response.decision.as_str(),
        &response.reason,
        &response.key_id,
        &response.request_id,
        &response.workspace,
        &response.request_sha256,
        &response.decided_by,
    ] {
        put(&mut out, field.as_bytes());
    }
    put(&mut out, &response.taint_epoch.to_be_bytes());
    put(&mut out, &response.valid_for_ms.to_be_bytes());
    if response.cage {
        // Left out where it is false, so that older programs and ours agree on everything that they share.
        put(&mut out, b"cage");
    }
    if !response.egress.is_empty() {
        put(&mut out, b"egress");
        for end in &response.egress {
            put(&mut out, end.host.as_bytes());
            put(&mut out, &end.port.to_be_bytes());
            put(&mut out, &end.up_bytes.to_be_bytes());
            put(&mut out, &end.down_bytes.to_be_bytes());
        }
    }
    out
}

fn checkpoint_bytes(seq: u64, hash: &[u8; 32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(96);
    put(&mut out, b"bashgate checkpoint 1");
    put(&mut out, &seq.to_be_bytes());
    put(&mut out, hash);
    out
}

fn statement_bytes(kind: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 96);
    put(&mut out, b"bashgate statement 1");
    put(&mut out, kind.as_bytes());
    put(&mut out, text.as_bytes());
    out
}

fn programs_bytes(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 64);
    put(&mut out, b"bashgate programs 1");
    put(&mut out, payload);
    out
}

/// The bytes of a heartbeat that are signed.
pub fn heartbeat_bytes(beat: &Heartbeat) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    put(&mut out, b"bashgate heartbeat 1");
    put(&mut out, &beat.v.to_be_bytes());
    put(&mut out, beat.boot_id.as_bytes());
    put(&mut out, &beat.boot_ms.to_be_bytes());
    put(&mut out, beat.key_id.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RequestId {
        RequestId::parse(text).unwrap()
    }

    type Change = fn(&mut Response);

    #[test]
    fn only_the_hosts_answer_to_these_bytes_counts() {
        let key = HostKey::from_seed(&[7; 32]);
        let request_id = id("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b");
        let workspace = WorkspaceName::parse("default").unwrap();
        let request = Digest::of(b"request");
        let unsigned = Unsigned {
            decision: Answer::Allow,
            reason: "clean".to_owned(),
            request_id: request_id.clone(),
            workspace: workspace.clone(),
            request: Some(request),
            decided_by: "policy".to_owned(),
            taint_epoch: 3,
            valid_for_ms: 1000,
            cage: false,
            egress: Vec::new(),
            asked_key: None,
        };
        let good = key.respond(&unsigned);
        let asked = Asked { request_id: &request_id, workspace: &workspace, request, elapsed_ms: 5 };
        assert_eq!(key.public().check(&good, &asked), Ok(()));

        let end = || EgressEnd { host: "h.example".to_owned(), port: 443, up_bytes: 1, down_bytes: 2 };
        let changed: [(&str, Change, SealError); 11] = [
            ("decision", |r| r.decision = Answer::Deny, SealError::Forged),
            ("reason", |r| r.reason.push('x'), SealError::Forged),
            ("request", |r| r.request_id = "00000000-0000-4000-8000-000000000000".to_owned(), SealError::Forged),
            ("workspace", |r| r.workspace.push('x'), SealError::Forged),
            ("digest", |r| r.request_sha256 = Digest::of(b"y").hex(), SealError::Forged),
            ("who", |r| r.decided_by = "human:x".to_owned(), SealError::Forged),
            ("epoch", |r| r.taint_epoch += 1, SealError::Forged),
            ("validity", |r| r.valid_for_ms += 1, SealError::Forged),
            ("cage", |r| r.cage = true, SealError::Forged),
            (
                "egress",
                |r| r.egress.push(EgressEnd { host: "x".to_owned(), port: 1, up_bytes: 1, down_bytes: 1 }),
                SealError::Forged,
            ),
            ("signature", |r| r.signature = "00".repeat(64), SealError::Forged),
        ];
        for (what, change, want) in changed {
            let mut bad = good.clone();
            change(&mut bad);
            assert_eq!(key.public().check(&bad, &asked), Err(want), "{what}");
        }
        let other_id = id("00000000-0000-4000-8000-000000000000");
        let other_name = WorkspaceName::parse("other").unwrap();
        for (asked, want) in [
            (Asked { request_id: &other_id, ..asked }, SealError::OtherRequest),
            (Asked { workspace: &other_name, ..asked }, SealError::OtherWorkspace),
            (Asked { request: Digest::of(b"z"), ..asked }, SealError::OtherBytes),
            (Asked { elapsed_ms: 1001, ..asked }, SealError::TooLate),
        ] {
            assert_eq!(key.public().check(&good, &asked), Err(want));
        }
        let stranger = HostKey::from_seed(&[8; 32]);
        assert_eq!(stranger.public().check(&good, &asked), Err(SealError::OtherKey));
        let mut posing = stranger.respond(&unsigned);
        posing.key_id = key.public().id();
        assert_eq!(key.public().check(&posing, &asked), Err(SealError::Forged));

        // Only a denial may leave the bytes open.
        let open = key.respond(&Unsigned { request: None, ..unsigned.clone() });
        assert_eq!(key.public().check(&open, &asked), Err(SealError::OtherBytes));
        let open = key.respond(&Unsigned { request: None, decision: Answer::Deny, ..unsigned.clone() });
        assert_eq!(key.public().check(&open, &asked), Ok(()));
        // And nothing runs on it, in no cage either.
        let open = key.respond(&Unsigned { request: None, decision: Answer::Deny, cage: true, ..unsigned.clone() });
        assert_eq!(key.public().check(&open, &asked), Err(SealError::OtherBytes));
        let mut caged = key.respond(&Unsigned { decision: Answer::Deny, cage: true, ..unsigned.clone() });
        assert_eq!(key.public().check(&caged, &asked), Ok(()));
        caged.cage = false;
        assert_eq!(key.public().check(&caged, &asked), Err(SealError::Forged));
        let outward = key.respond(&Unsigned { decision: Answer::Deny, cage: true, egress: vec![end()], ..unsigned });
        assert_eq!(key.public().check(&outward, &asked), Ok(()));
        let changes: [fn(&mut EgressEnd); 4] =
            [|end| end.host.push('x'), |end| end.port = 80, |end| end.up_bytes += 1, |end| end.down_bytes += 1];
        for change in changes {
            let mut other = outward.clone();
            other.egress.iter_mut().for_each(change);
            assert_eq!(key.public().check(&other, &asked), Err(SealError::Forged));
        }
    }

    #[test]
    fn a_public_key_reads_back_and_others_do_not() {
        let key = HostKey::from_seed(&[9; 32]);
        let text = key.public().to_string();
        assert_eq!(PublicKey::parse(&text).as_ref(), Some(key.public()));
        for bad in ["", "ed25519:", "ed25519:00", &text.replace("ed25519", "rsa"), &format!("{text}00")] {
            assert!(PublicKey::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_key_has_signed_nothing() {
        let key = HostKey::from_seed(&[9; 32]);
        let zero = "00".repeat(32);
        // Points of small order, with which one signature fits many texts, and bytes that are no point.
        for bytes in [&zero, &format!("01{}", "00".repeat(31)), &format!("{}7f", "ff".repeat(31)), &"ff".repeat(32)] {
            let public = PublicKey::parse(&format!("ed25519:{bytes}")).unwrap();
            let mut beat = key.beat("boot", 5);
            beat.key_id = public.id();
            for signature in [beat.signature.clone(), "00".repeat(64), format!("01{}", "00".repeat(63))] {
                beat.signature = signature;
                assert!(!public.check_heartbeat(&beat), "{bytes}");
            }
        }
    }

    #[test]
    fn while_keys_are_exchanged_a_heartbeat_counts_for_both() {
        let (old, new, other) =
            (HostKey::from_seed(&[8; 32]), HostKey::from_seed(&[9; 32]), HostKey::from_seed(&[7; 32]));
        let mut beat = new.beat("boot", 5);
        old.countersign(&mut beat);
        assert!(new.public().check_heartbeat(&beat) && old.public().check_heartbeat(&beat));
        assert!(!other.public().check_heartbeat(&beat));
        beat.boot_ms = 6;
        assert!(!new.public().check_heartbeat(&beat) && !old.public().check_heartbeat(&beat));
    }

    #[test]
    fn a_heartbeat_is_checked() {
        let key = HostKey::from_seed(&[9; 32]);
        let mut beat = key.beat("boot", 5);
        assert!(key.public().check_heartbeat(&beat));
        beat.boot_ms = 6;
        assert!(!key.public().check_heartbeat(&beat));
    }
}
