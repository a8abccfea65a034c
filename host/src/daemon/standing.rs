//! How everything stands: what is held, why, what is let through ahead, what workspaces have seen.

use std::collections::HashSet;

use bashgate_shared::protocol::WorkspaceName;
use serde_json::{Value, json};

use super::core::{Core, Workspace};
use crate::approval::{Ahead, ApprovalId, Card};
use crate::chat::{board, card, notice};
use crate::clock;
use crate::config::InspectorKind;
use crate::control::{self, Reply};
use crate::taint::Cause;

impl Core {
    /// What is held in these workspaces, or what was denied and can be overruled.
    pub(super) fn pending(&self, denied: bool, is_meant: impl Fn(&WorkspaceName) -> bool) -> Reply {
        let now = clock::now();
        let mut cards: Vec<&Card> = if denied {
            self.book.denied(now).map(|denied| &denied.card).collect()
        } else {
            // What is not on record yet is not asked about yet.
            let told: HashSet<&ApprovalId> =
                self.cases.values().filter(|open| open.announced).filter_map(|open| open.approval.as_ref()).collect();
            self.book.cards().filter(|card| told.contains(&card.id)).collect()
        };
        cards.retain(|card| is_meant(&card.workspace));
        let data: Vec<Value> = cards.iter().map(|card| control::card(card, now.boot_ms, None)).collect();
        let text = if cards.is_empty() && denied {
            "No denial can be overruled.".to_owned()
        } else {
            notice::list(cards.into_iter(), now.boot_ms)
        };
        Reply::done(text, Value::Array(data))
    }

    pub(super) fn show(&self, id: &ApprovalId) -> Reply {
        let now = clock::now();
        match self.book.card(id) {
            Some(card) => {
                // What was denied and can be overruled has no version.
                let shown = self.desk.board().card(id).filter(|shown| shown.over.is_none());
                let data = control::card(card, now.boot_ms, shown.map(|shown| shown.version));
                Reply::done(card::render(card, now.boot_ms, true), data)
            }
            None => Reply::refused(format!("nothing is held under `{id}`")),
        }
    }

    /// Why one is asked.
    pub(super) fn why(&self, id: &ApprovalId) -> Reply {
        let Some(card) = self.book.card(id) else { return Reply::refused(format!("nothing is held under `{id}`")) };
        let mut text = format!(
            "{id} is asked by the rule `{}`: {}\nThe command is {}, and workspace {} is {}.",
            card.rule,
            notice::one_line(&card.reason, 1000),
            card.class,
            card.workspace,
            card.taint
        );
        if let Some(advice) = &card.advice {
            text.push_str(&format!("\n{}", notice::one_line(advice, 500)));
        }
        text.push_str(&told(&card.causes));
        Reply::done(
            text,
            json!({"id": id, "rule": card.rule, "reason": card.reason, "taint": card.taint, "causes": card.causes}),
        )
    }

    /// What workspaces have seen, one line for each.
    pub(super) fn taints(&self, is_meant: impl Fn(&WorkspaceName) -> bool) -> Reply {
        let of = self.workspaces.iter().filter(|(name, _)| is_meant(name));
        let lines: Vec<String> = of.map(|(name, known)| format!("{name}: {}", known.taint())).collect();
        let none = "There is no workspace here.".to_owned();
        Reply::done(if lines.is_empty() { none } else { lines.join("\n") }, Value::Null)
    }

    /// What is being decided now. What has its answer runs in its container, and is seen there.
    pub(super) fn tasks(&self, is_meant: impl Fn(&WorkspaceName) -> bool) -> Reply {
        const LISTED: usize = 30;
        let mut open: Vec<_> = self.cases.values().filter(|open| is_meant(&open.workspace)).collect();
        open.sort_by_key(|open| open.since);
        let waits = |open: &super::cases::Open| match (&open.approval, open.case.is_held(), open.case.is_decided()) {
            (_, _, true) => "is being put on record".to_owned(),
            (Some(id), true, _) => format!("waits for a person: {id}"),
            _ => "is with the inspector".to_owned(),
        };
        let line = |open: &&super::cases::Open| {
            let command = notice::one_line(&open.check.shown(), 100);
            format!("{}  {} s  {}  {command}", open.workspace, open.since.elapsed().as_secs(), waits(open))
        };
        let mut lines: Vec<String> = open.iter().take(LISTED).map(line).collect();
        if open.len() > LISTED {
            lines.push(format!("and {} more", open.len() - LISTED));
        }
        let none = "Nothing is being decided.".to_owned();
        Reply::done(if lines.is_empty() { none } else { lines.join("\n") }, json!({"open": open.len()}))
    }

    /// What is let through ahead.
    pub(super) fn grants(&self, is_meant: impl Fn(&WorkspaceName) -> bool) -> Reply {
        let ahead = self.ahead(is_meant);
        let now = clock::now().boot_ms;
        let lines: Vec<String> = ahead.iter().map(|grant| line_of(grant, now)).collect();
        let data: Vec<Value> = ahead.iter().map(|grant| grant_json(grant, now)).collect();
        let none = "Nothing is let through ahead.".to_owned();
        Reply::done(if lines.is_empty() { none } else { lines.join("\n") }, json!(data))
    }

    /// Shows everybody what is let through ahead, as it is now, and says what of it has ended, if it was for a time.
    pub(super) fn show_ahead(&mut self) {
        let now = clock::now().boot_ms;
        let shown = |grant: &Ahead| board::Ahead {
            id: grant.id.clone(),
            workspace: grant.workspace.clone(),
            words: line_of(grant, now),
            is_for_a_time: grant.until_boot_ms != u64::MAX,
        };
        let ahead: Vec<board::Ahead> = self.ahead(|_| true).iter().map(shown).collect();
        let is_over = |known: &board::Ahead| known.is_for_a_time && !ahead.iter().any(|one| one.id == known.id);
        let over: Vec<board::Ahead> = self.desk.board().ahead().into_iter().filter(is_over).collect();
        self.desk.board().lets_ahead(ahead);
        for board::Ahead { id, workspace, .. } in over {
            let words = format!("What was let through ahead in {workspace} has ended ({id}): it is asked about again.");
            self.remark(&workspace, &words);
        }
    }

    /// What is let through ahead in the workspaces that are meant.
    pub(super) fn ahead(&self, is_meant: impl Fn(&WorkspaceName) -> bool) -> Vec<Ahead> {
        let epoch_of = |name: &WorkspaceName| self.workspaces.get(name).map(|known| known.seen.epoch);
        let mut ahead = self.book.ahead(clock::now(), epoch_of);
        ahead.retain(|grant| is_meant(&grant.workspace));
        ahead
    }

    /// How everything stands; `whole` for whoever may hear of the host itself, too.
    pub(super) fn status(&self, is_meant: impl Fn(&WorkspaceName) -> bool, whole: bool) -> Reply {
        let now = clock::now().boot_ms;
        let up = self.times.started.elapsed().as_secs();
        let mut lines = vec![format!(
            "bashgate {}, up for {} h {} min{}",
            env!("CARGO_PKG_VERSION"),
            up / 3600,
            up / 60 % 60,
            if self.config.policy.enforce { "" } else { "; SHADOW MODE: everything is let through" }
        )];
        let inspector = match &self.config.inspector {
            InspectorKind::Offline => "offline rules".to_owned(),
            InspectorKind::Anthropic(endpoint) | InspectorKind::OpenAi(endpoint) => endpoint.model.clone(),
        };
        let is_out = self.book.is_out();
        lines.push(format!("inspector: {inspector}{}", if is_out { ", which does not answer" } else { "" }));
        let mut workspaces = Vec::new();
        for (name, known) in self.workspaces.iter().filter(|(name, _)| is_meant(name)) {
            let held = self.book.cards().filter(|card| card.workspace == *name).count();
            let open = self.cases.values().filter(|open| open.workspace == *name).count();
            let paused = known.paused.as_ref().map(|(_, until)| until.saturating_sub(now)).filter(|left| *left > 0);
            let mut line = format!("{name}: {}, {held} held", known.taint());
            if let Some(left) = paused {
                line.push_str(&format!(", paused for {} min", left.div_ceil(60_000)));
            }
            if known.muted {
                line.push_str(", muted");
            }
            lines.push(line);
            workspaces.push(json!({"workspace": name, "taint": known.taint(), "epoch": known.seen.epoch, "held": held,
                                   "open": open, "paused_ms": paused, "muted": known.muted}));
        }
        let ahead = self.ahead(is_meant);
        lines.extend(ahead.iter().map(|grant| line_of(grant, now)));
        let (mut channels, mut fleet) = (Value::Null, Value::Null);
        if whole {
            if let Some(standing) = self.fleet_standing() {
                lines.push(standing.words());
                fleet = json!(standing);
            }
            let Reply { text, data, .. } = self.chat_list();
            if !self.config.chat.is_empty() {
                lines.push(text);
            }
            channels = data;
        }
        let ahead: Vec<Value> = ahead.iter().map(|grant| grant_json(grant, now)).collect();
        let data = json!({"version": env!("CARGO_PKG_VERSION"), "up_s": up, "enforce": self.config.policy.enforce,
                          "inspector": inspector, "inspector_is_out": is_out, "workspaces": workspaces, "ahead": ahead,
                          "channels": channels, "fleet": fleet});
        Reply::done(lines.join("\n"), data)
    }

    pub(super) fn taint_show(&self, name: &WorkspaceName) -> Reply {
        let seen = self.workspaces.get(name).map(Workspace::seen_now).unwrap_or_default();
        let mut text = format!("{name}: {} (epoch {})", seen.taint, seen.epoch);
        text.push_str(&told(&seen.causes));
        Reply::done(text, json!({"workspace": name, "taint": seen.taint, "epoch": seen.epoch, "causes": seen.causes}))
    }
}

/// Causes of a taint, a line for each.
fn told(causes: &[Cause]) -> String {
    let mut text = String::new();
    for cause in causes {
        text.push_str(&format!(
            "\n  {}: {} by {} at {}",
            cause.label.word(),
            notice::one_line(&cause.source, 200),
            notice::one_line(&cause.by, 200),
            clock::date(cause.at_ms)
        ));
    }
    text
}

fn line_of(grant: &Ahead, now_boot_ms: u64) -> String {
    let last = match grant.until_boot_ms {
        u64::MAX => "until its taint changes".to_owned(),
        until => format!("for {} more min", until.saturating_sub(now_boot_ms).div_ceil(60_000)),
    };
    format!(
        "ahead in {}, by {}, {last}, {} so far: {} (end it with: deny {})",
        grant.workspace,
        grant.by,
        grant.used,
        notice::one_line(&grant.words, 300),
        grant.id
    )
}

fn grant_json(grant: &Ahead, now_boot_ms: u64) -> Value {
    // Nothing where it has no end of its own.
    let left = (grant.until_boot_ms != u64::MAX).then(|| grant.until_boot_ms.saturating_sub(now_boot_ms));
    json!({"id": grant.id, "workspace": grant.workspace, "by": grant.by.to_string(),
           "covers": crate::policy::credentials::mask(&grant.words), "used": grant.used, "everything": grant.is_everything,
           "left_ms": left})
}
