//! What is signed in a fleet, of whatever kind.

use bashgate_shared::seal::{HostKey, PublicKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A statement, and who signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The statement as JSON, exactly as it was signed.
    pub text: String,
    /// The signature.
    pub signature: String,
}

/// Something that is signed.
pub trait Statement: Serialize + DeserializeOwned {
    /// What it is signed as: nothing counts as another kind of statement.
    const KIND: &'static str;

    /// The statement as text, and a signature on it.
    fn sign(&self, key: &HostKey) -> Signed {
        let text = serde_json::to_string(self).unwrap_or_default();
        let signature = key.attest(Self::KIND, &text);
        Signed { text, signature }
    }
}

impl Signed {
    /// Reads it where this key has signed it.
    pub fn read<S: Statement>(&self, key: &PublicKey) -> Option<S> {
        let is_signed = key.check_attested(S::KIND, &self.text, &self.signature);
        is_signed.then(|| serde_json::from_str(&self.text).ok()).flatten()
    }
}
