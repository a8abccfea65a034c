//! What a workspace may use up in a time: requests a second, bytes on record and questions to the model an hour. Each flows
//! back evenly, so that nothing is had by waiting for the full hour.

use std::time::{Duration, Instant};

/// An amount that flows back.
#[derive(Debug)]
pub(crate) struct Allowance {
    most: f64,
    per_second: f64,
    left: f64,
    since: Instant,
}

impl Allowance {
    /// So much in each of these times.
    pub(crate) fn new(most: u64, each: Duration) -> Self {
        // Beyond 2^53 an amount is no longer exact, which is no matter here.
        #[expect(clippy::cast_precision_loss, reason = "an amount, not an identity")]
        let most = most as f64;
        Self { most, per_second: most / each.as_secs_f64(), left: most, since: Instant::now() }
    }

    /// True when there is anything left.
    pub(crate) fn has_some(&self) -> bool {
        self.left + self.since.elapsed().as_secs_f64() * self.per_second >= 1.0
    }

    /// Takes so much, if there is as much. False when there is not, and then nothing is taken.
    pub(crate) fn take(&mut self, amount: usize) -> bool {
        let now = Instant::now();
        let flowed = now.duration_since(self.since).as_secs_f64() * self.per_second;
        self.left = (self.left + flowed).min(self.most);
        self.since = now;
        #[expect(clippy::cast_precision_loss, reason = "an amount, not an identity")]
        let amount = amount as f64;
        let enough = self.left >= amount;
        if enough {
            self.left -= amount;
        }
        enough
    }

    /// Takes so much, or as much of it as there is: how much that was.
    pub(crate) fn take_up_to(&mut self, amount: usize) -> usize {
        if self.take(amount) {
            return amount;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "less than the amount, and never below zero"
        )]
        let left = self.left as usize;
        self.left = 0.0;
        left.min(amount)
    }

    /// Gives back what was taken and not used.
    pub(crate) fn give_back(&mut self, amount: usize) {
        #[expect(clippy::cast_precision_loss, reason = "an amount, not an identity")]
        let amount = amount as f64;
        self.left = (self.left + amount).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_flows_back() {
        let mut hour = Allowance::new(10, Duration::from_hours(1));
        assert!(hour.take(6) && !hour.take(6) && hour.take(4) && !hour.take(1));
        let mut part = Allowance::new(10, Duration::from_hours(1));
        assert_eq!((part.take_up_to(6), part.take_up_to(6), part.take_up_to(6)), (6, 4, 0));
        part.give_back(3);
        assert_eq!(part.take_up_to(6), 3);
        let mut quick = Allowance::new(1000, Duration::from_secs(1));
        assert!(quick.take(1000) && !quick.take(900));
        std::thread::sleep(Duration::from_millis(50));
        assert!(quick.take(20) && !quick.take(1000));
    }
}
