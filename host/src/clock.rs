//! The two clocks: time since boot for every deadline, the wall clock for records that people read.
//!
//! Deadlines never look at the wall clock: it may jump by years.

/// A moment, read once and passed on as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Now {
    /// Milliseconds since boot, suspend included.
    pub boot_ms: u64,
    /// Milliseconds since 1970, by the wall clock.
    pub unix_ms: u64,
}

/// Reads both clocks.
pub fn now() -> Now {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(boot.tv_nsec).unwrap_or(0);
    let unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Now { boot_ms: seconds * 1000 + nanos / 1_000_000, unix_ms: u64::try_from(unix.as_millis()).unwrap_or(0) }
}

/// The kernel's id of this boot; times since boot of another one mean nothing.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| "unknown".to_owned(), |id| id.trim().to_owned())
}

/// A wall-clock time as `2026-01-31 12:34:56Z`, for people.
pub fn date(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01 in the proleptic Gregorian calendar; years then end with February.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_for_people() {
        for (ms, want) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_767_225_599_999, "2025-12-31 23:59:59Z"),
            (1_795_305_600_000, "2026-11-22 00:00:00Z"),
        ] {
            assert_eq!(date(ms), want);
        }
    }
}
