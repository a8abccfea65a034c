//! One-time codes: who answers in a channel shows with them that it is they, and not the service that carries their words.
//!
//! A person has a sheet of numbered codes, printed once. What takes a code names its number when they first approve it, so a
//! number belongs to one person and one card, and is used up with that. Whoever runs the service can hold words back, and can
//! say them again about the same card; he cannot let another card through with them, and not this one without the code.
//!
//! A code is HMAC-SHA-256 over its number, cut to eight digits as RFC 4226 does it.

use std::collections::HashMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::command::{Digest, hex, unhex};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::{ApprovalId, Scope};

/// Codes on a sheet.
pub const ROWS: u32 = 100;
/// From so few on, whoever uses a code is told to make a new sheet.
pub const FEW: u32 = 10;
/// Wrong codes for one number; behind them it counts no more.
const TRIES: u8 = 3;
/// Most numbers that are open at once. Beyond it the oldest cards' are used up.
const MOST_OPEN: usize = 1024;
/// Most numbers that one person is asked for about one card: whoever carries the words could use up the sheet with them.
const MOST_OF_CARD: u8 = 4;
/// Longest file of a sheet, in bytes.
const MOST_BYTES: u64 = 4096;

/// Eight digits, as somebody typed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code(String);

impl Code {
    /// Reads `12345678`, and the two halves of it with a blank or a dash between them.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let halves = text.split_once([' ', '-']);
        let digits = halves.map_or(text.to_owned(), |(first, second)| format!("{first}{}", second.trim_start()));
        let is_split_well = halves.is_none_or(|(first, _)| first.len() == 4);
        (is_split_well && digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_digit()))
            .then_some(Self(digits))
    }

    /// True for the same digits. It takes as long for any.
    fn is(&self, other: &str) -> bool {
        self.0.len() == other.len() && self.0.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

/// What is kept of a sheet: how its codes are made, and which are used.
#[derive(Serialize, Deserialize)]
struct Kept {
    account: String,
    /// 64 hexadecimal digits.
    secret: String,
    /// The number that is asked for next, from 1.
    next: u32,
}

/// A sheet, as it is handed over: once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Whose it is.
    pub account: String,
    /// Its codes, from number 1 on.
    pub codes: Vec<String>,
}

/// Why there is no number to ask for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCode {
    /// There is no sheet.
    #[error("you have no sheet of codes; make one on the host: bashgate codes new {0}")]
    None(String),
    /// All are used.
    #[error("all codes of your sheet are used; make a new one on the host: bashgate codes new {0}")]
    Used(String),
    /// Too many were asked for about one card.
    #[error("too many of your codes were asked for about this one; answer on the host itself")]
    TooMany,
    /// The sheet cannot be read or written.
    #[error("your sheet of codes cannot be used ({0}); answer on the host itself")]
    Broken(String),
}

/// What came of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tried {
    /// It is right, and used now. So many are left.
    Right {
        /// Codes that are left.
        left: u32,
    },
    /// It is wrong. So many more tries.
    Wrong {
        /// Its number.
        number: u32,
        /// Tries that are left.
        tries: u8,
    },
    /// No number was asked for yet, or it counts no more.
    NotAsked,
}

/// What a code lets somebody do about a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Approve it, so far.
    Approve(Scope),
    /// Save the rule that is drafted from it.
    SaveRule,
}

/// A number that was asked for: what it lets an account do about a card.
struct Open {
    account: String,
    id: ApprovalId,
    act: Act,
    number: u32,
    wrong: u8,
}

impl Open {
    fn is(&self, account: &str, id: &ApprovalId, act: Act) -> bool {
        self.account == account && self.id == *id && self.act == act
    }
}

/// The sheets of a host.
pub struct Codes {
    folder: PathBuf,
    open: Vec<Open>,
    /// How many numbers an account was asked for about a card.
    asked: HashMap<(String, ApprovalId), u8>,
}

impl Codes {
    /// The sheets in a folder, which need not be there.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder, open: Vec::new(), asked: HashMap::new() }
    }

    /// Makes a sheet. What the account had before counts no more.
    pub fn make(&mut self, account: &str) -> io::Result<Sheet> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
        let kept = Kept { account: account.to_owned(), secret: hex(&secret), next: 1 };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        write(&self.file(account), &kept)?;
        self.forget(account);
        let codes = (1..=ROWS).map(|number| code(&secret, number)).collect();
        Ok(Sheet { account: account.to_owned(), codes })
    }

    /// Takes a sheet away. False when there is none.
    pub fn remove(&mut self, account: &str) -> io::Result<bool> {
        self.forget(account);
        match std::fs::remove_file(self.file(account)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Who has a sheet, and how many codes are left on it.
    pub fn all(&self) -> io::Result<Vec<(String, u32)>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        for entry in entries {
            if let Ok(kept) = read(&entry?.path()) {
                all.push((kept.account, (ROWS + 1).saturating_sub(kept.next)));
            }
        }
        all.sort();
        Ok(all)
    }

    /// The number whose code lets an account do this about a card. It is the same until it is used up, and no other card's or
    /// act's: whoever carries the words could change how far they reach.
    pub fn ask(&mut self, account: &str, id: &ApprovalId, act: Act) -> Result<u32, NoCode> {
        if let Some(open) = self.open.iter().find(|open| open.is(account, id, act)) {
            return Ok(open.number);
        }
        let file = self.file(account);
        let broken = |error: io::Error| NoCode::Broken(error.to_string());
        let kept = match read(&file) {
            Ok(kept) if kept.account == account => kept,
            Ok(_) => return Err(NoCode::Broken("it is somebody else's".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NoCode::None(account.to_owned())),
            Err(error) => return Err(broken(error)),
        };
        let number = kept.next;
        if number > ROWS {
            return Err(NoCode::Used(account.to_owned()));
        }
        if self.asked.len() >= MOST_OPEN {
            self.asked.clear();
        }
        let asked = self.asked.entry((account.to_owned(), id.clone())).or_default();
        if *asked >= MOST_OF_CARD {
            return Err(NoCode::TooMany);
        }
        *asked += 1;
        // It is used up before anybody hears of it.
        write(&file, &Kept { next: number + 1, ..kept }).map_err(broken)?;
        if self.open.len() >= MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push(Open { account: account.to_owned(), id: id.clone(), act, number, wrong: 0 });
        Ok(number)
    }

    /// Takes a code that somebody said about a card.
    pub fn tried(&mut self, account: &str, id: &ApprovalId, act: Act, said: &Code) -> Result<Tried, NoCode> {
        let Some(at) = self.open.iter().position(|open| open.is(account, id, act)) else {
            return Ok(Tried::NotAsked);
        };
        let kept = read(&self.file(account)).map_err(|error| NoCode::Broken(error.to_string()))?;
        let secret = unhex(&kept.secret).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let secret = secret.ok_or_else(|| NoCode::Broken("it is damaged".to_owned()))?;
        let Some(open) = self.open.get_mut(at) else { return Ok(Tried::NotAsked) };
        if said.is(&code(&secret, open.number)) {
            self.open.remove(at);
            return Ok(Tried::Right { left: (ROWS + 1).saturating_sub(kept.next) });
        }
        open.wrong += 1;
        let (number, tries) = (open.number, TRIES.saturating_sub(open.wrong));
        if tries == 0 {
            self.open.remove(at);
        }
        Ok(Tried::Wrong { number, tries })
    }

    fn forget(&mut self, account: &str) {
        self.open.retain(|open| open.account != account);
        self.asked.retain(|(of, _), _| of != account);
    }

    /// Accounts hold letters that no file name may.
    fn file(&self, account: &str) -> PathBuf {
        self.folder.join(format!("{}.json", Digest::of(account.as_bytes()).hex()))
    }
}

fn code(secret: &[u8; 32], number: u32) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(&number.to_be_bytes());
    let bytes = mac.finalize().into_bytes();
    let offset = usize::from(bytes.last().copied().unwrap_or(0) & 15);
    let four = bytes.iter().skip(offset).take(4).fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
    format!("{:08}", (four & 0x7fff_ffff) % 100_000_000)
}

fn read(file: &Path) -> io::Result<Kept> {
    let opened = OpenOptions::new().read(true).open(file)?;
    let mut text = String::new();
    opened.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

fn write(file: &Path, kept: &Kept) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // Made with mode 0600.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(&serde_json::to_vec(kept)?)?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: Act = Act::Approve(Scope::Once);

    fn id(random: u8) -> ApprovalId {
        ApprovalId::from_random([random; 5])
    }

    fn sheets() -> (tempfile::TempDir, Codes) {
        let folder = tempfile::tempdir().unwrap();
        let codes = Codes::in_folder(folder.path().join("codes"));
        (folder, codes)
    }

    fn of(sheet: &Sheet, number: u32) -> Code {
        Code::parse(&sheet.codes[usize::try_from(number).unwrap() - 1]).unwrap()
    }

    #[test]
    fn a_code_has_eight_digits_and_its_number_says_which() {
        let secret = [7; 32];
        let all: std::collections::HashSet<String> = (1..=ROWS).map(|number| code(&secret, number)).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|code| code.len() == 8 && Code::parse(code).is_some()));
        assert_eq!(code(&secret, 3), code(&secret, 3));
        assert_ne!(code(&[8; 32], 3), code(&secret, 3));
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        for text in ["12345678", "1234 5678", "1234-5678", " 1234 5678 ", "1234  5678"] {
            assert_eq!(Code::parse(text), Some(Code("12345678".to_owned())), "{text}");
        }
        for text in ["", "1234567", "123456789", "1234x678", "12 345678", "123-45678", "1234-5678-", "١٢٣٤٥٦٧٨"]
        {
            assert_eq!(Code::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_code_counts_for_one_person_and_one_card_once() {
        let (_folder, mut codes) = sheets();
        let (ann, bob) = (codes.make("telegram:1").unwrap(), codes.make("telegram:2").unwrap());
        assert_eq!(codes.ask("telegram:1", &id(1), ONCE), Ok(1));
        assert_eq!(codes.ask("telegram:1", &id(1), ONCE), Ok(1), "the same while it is open");
        assert_eq!(codes.ask("telegram:1", &id(2), ONCE), Ok(2));
        // Another card's, another person's.
        assert_eq!(codes.tried("telegram:1", &id(1), ONCE, &of(&ann, 2)), Ok(Tried::Wrong { number: 1, tries: 2 }));
        assert_eq!(codes.tried("telegram:1", &id(1), ONCE, &of(&bob, 1)), Ok(Tried::Wrong { number: 1, tries: 1 }));
        assert_eq!(codes.tried("telegram:2", &id(1), ONCE, &of(&bob, 1)), Ok(Tried::NotAsked));
        assert_eq!(codes.tried("telegram:1", &id(1), ONCE, &of(&ann, 1)), Ok(Tried::Right { left: 98 }));
        assert_eq!(codes.tried("telegram:1", &id(1), ONCE, &of(&ann, 1)), Ok(Tried::NotAsked), "once");
        // A code for once lets nothing more run, whoever changes the words on their way.
        assert_eq!(codes.ask("telegram:2", &id(5), ONCE), Ok(1));
        let grant = Act::Approve(Scope::Grant { minutes: 60 });
        for act in [Act::Approve(Scope::Session), grant, Act::SaveRule] {
            assert_eq!(codes.tried("telegram:2", &id(5), act, &of(&bob, 1)), Ok(Tried::NotAsked));
        }
        assert_eq!(codes.ask("telegram:2", &id(5), grant), Ok(2));
        assert_eq!(codes.tried("telegram:2", &id(5), grant, &of(&bob, 1)), Ok(Tried::Wrong { number: 2, tries: 2 }));
        // After three wrong ones it is another number.
        for tries in [2, 1, 0] {
            let wrong = Code("00000000".to_owned());
            assert_eq!(codes.tried("telegram:1", &id(2), ONCE, &wrong), Ok(Tried::Wrong { number: 2, tries }));
        }
        assert_eq!(codes.tried("telegram:1", &id(2), ONCE, &of(&ann, 2)), Ok(Tried::NotAsked));
        assert_eq!(codes.ask("telegram:1", &id(2), ONCE), Ok(3));
    }

    #[test]
    fn nobody_who_carries_words_uses_up_a_sheet_with_one_card() {
        let (_folder, mut codes) = sheets();
        codes.make("a").unwrap();
        let grants = (1..=60).map(|minutes| Act::Approve(Scope::Grant { minutes }));
        let asked: Vec<_> = grants.map(|act| codes.ask("a", &id(1), act)).collect();
        assert_eq!(asked.iter().filter(|asked| asked.is_ok()).count(), 4);
        assert_eq!(asked.last(), Some(&Err(NoCode::TooMany)));
        assert_eq!(codes.ask("a", &id(2), ONCE), Ok(5), "about another card");
        assert_eq!(codes.ask("a", &id(1), Act::Approve(Scope::Grant { minutes: 1 })), Ok(1), "what is open stays open");
    }

    #[test]
    fn a_used_number_stays_used_whatever_happens() {
        let (folder, mut codes) = sheets();
        let first = codes.make("a").unwrap();
        assert_eq!(codes.ask("a", &id(1), ONCE), Ok(1));
        let mut again = Codes::in_folder(folder.path().join("codes"));
        assert_eq!(again.tried("a", &id(1), ONCE, &of(&first, 1)), Ok(Tried::NotAsked), "not over a restart");
        assert_eq!(again.ask("a", &id(1), ONCE), Ok(2));
        // A new sheet ends the old one.
        let second = again.make("a").unwrap();
        assert_ne!(first.codes, second.codes);
        assert_eq!(again.tried("a", &id(1), ONCE, &of(&first, 2)), Ok(Tried::NotAsked));
        for number in 1..=100 {
            let [.., high, low] = u32::to_be_bytes(number);
            assert_eq!(again.ask("a", &ApprovalId::from_random([0, 0, 1, high, low]), ONCE), Ok(number));
        }
        assert_eq!(again.ask("a", &id(9), ONCE), Err(NoCode::Used("a".to_owned())));
        assert_eq!(again.all().unwrap(), [("a".to_owned(), 0)]);
    }

    #[test]
    fn without_a_sheet_that_can_be_read_there_is_no_code() {
        let (folder, mut codes) = sheets();
        assert_eq!(codes.ask("a", &id(1), ONCE), Err(NoCode::None("a".to_owned())));
        assert!(!codes.remove("a").unwrap());
        let sheet = codes.make("a").unwrap();
        let file = codes.file("a");
        // Somebody else's in its place, or damaged.
        codes.make("b").unwrap();
        std::fs::copy(codes.file("b"), &file).unwrap();
        assert!(matches!(codes.ask("a", &id(1), ONCE), Err(NoCode::Broken(_))));
        for text in ["", "{", "{\"account\":\"a\",\"secret\":\"00\",\"next\":1}"] {
            std::fs::write(&file, text).unwrap();
            let asked = codes.ask("a", &id(1), ONCE);
            let tried = codes.tried("a", &id(1), ONCE, &of(&sheet, 1));
            assert!(asked.is_err() || !matches!(tried, Ok(Tried::Right { .. })), "{text}: {asked:?} {tried:?}");
        }
        // What cannot be written is not asked for.
        codes.make("a").unwrap();
        std::fs::remove_dir_all(folder.path().join("codes")).unwrap();
        assert!(codes.ask("a", &id(2), ONCE).is_err());
    }
}
