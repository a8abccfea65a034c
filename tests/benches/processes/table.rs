//! What was measured, as one table: ours, the other side of the same run, the ratio, and the budget.

use std::fmt::Write as _;
use std::time::Duration;

/// Times in milliseconds.
pub struct Times(pub Vec<f64>);

impl Times {
    /// The time below which this share of all lies.
    pub fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a few hundred values"
        )]
        let index = ((sorted.len() - 1) as f64 * share) as usize;
        sorted[index]
    }
}

/// Rows in Markdown.
#[derive(Default)]
pub struct Table(String);

impl Table {
    /// Adds a row, and shows it at once: a bench takes a while.
    pub fn row(&mut self, what: &str, ours: &str, other: &str, ratio: &str, budget: &str) {
        println!("{what}: {ours}; {other} {ratio}");
        writeln!(self.0, "| {what} | {ours} | {other} | {ratio} | {budget} |").unwrap();
    }

    /// Times beside other times: the median and the slowest of a hundred. A budget is for the ratio.
    pub fn compare(&mut self, what: &str, ours: &Times, side: &str, other: &Times, budgets: [&str; 2]) {
        for ((name, share), budget) in [("p50", 0.5), ("p99", 0.99)].into_iter().zip(budgets) {
            let (one, two) = (ours.at(share), other.at(share));
            let budget = if budget.is_empty() { String::new() } else { format!("{budget} x") };
            self.row(
                &format!("{what}, {name}"),
                &format!("{one:.3} ms"),
                &format!("{side}: {two:.3} ms"),
                &format!("{:.2}", one / two),
                &budget,
            );
        }
    }

    /// Things done in a time, beside things that another did in its time.
    #[expect(clippy::too_many_arguments, reason = "two sides of a row")]
    pub fn rates(
        &mut self,
        what: &str,
        ours: usize,
        took: Duration,
        side: &str,
        other: usize,
        other_took: Duration,
        budget: &str,
    ) {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let rate = |count: usize, took: Duration| count as f64 / took.as_secs_f64();
        let (one, two) = (rate(ours, took), rate(other, other_took));
        let ratio = format!("{:.2}", one / two);
        self.row(what, &format!("{one:.0} /s"), &format!("{side}: {two:.0} /s"), &ratio, budget);
    }

    /// Prints everything, with the machine and the day.
    pub fn print(&self) {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let model = read("/proc/cpuinfo");
        let model = model.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown processor");
        let kernel = read("/proc/sys/kernel/osrelease");
        let at = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let date = bashgate::clock::date(u64::try_from(at).unwrap());
        println!("\n{date}, {cpus} x {model}, Linux {}\n", kernel.trim());
        println!("| what | ours | other side | ratio | budget |\n| --- | --- | --- | --- | --- |\n{}", self.0);
    }
}
