//! When a channel's people are told: at once, only of what nobody else has answered, not at night.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// When a channel's people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hours {
    /// Of a card that nobody has answered for so long, in milliseconds.
    pub after_ms: u64,
    /// Once more, so long before it lapses, in milliseconds; 0 for not at all.
    pub remind_ms: u64,
    /// Not during these.
    pub quiet: Option<Quiet>,
}

impl Hours {
    /// The usual reminder, in seconds before a card lapses.
    pub const REMIND_S: i64 = 60;

    /// From what stands in the file: seconds, and a span as `22:00-07:00 Europe/Berlin`. Errors name the field.
    pub fn read(after_s: i64, remind_s: i64, quiet: Option<&str>) -> Result<Self, (&'static str, String)> {
        let seconds = |field, given: i64| {
            let fits = u64::try_from(given).ok().filter(|seconds| *seconds <= 3600);
            fits.map(|seconds| seconds * 1000).ok_or_else(|| (field, format!("is {given}; it must be from 0 to 3600")))
        };
        Ok(Self {
            after_ms: seconds("after_s", after_s)?,
            remind_ms: seconds("remind_s", remind_s)?,
            quiet: quiet.map(Quiet::read).transpose().map_err(|why| ("quiet", why))?,
        })
    }

    /// True while nobody is told.
    pub fn is_quiet(&self, unix_ms: u64) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| quiet.holds(unix_ms))
    }
}

/// Hours of each day in which nobody is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    /// Minutes of the day: from the first, up to the second. Over midnight where that is earlier.
    from: u16,
    to: u16,
    zone: TimeZone,
}

impl Quiet {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("is `{text}`; it must be as 22:00-07:00, or 22:00-07:00 Europe/Berlin");
        let (span, zone) = text.split_once(' ').map_or((text, None), |(span, zone)| (span, Some(zone.trim())));
        let (from, to) = span.split_once('-').ok_or_else(wrong)?;
        let minute = |time: &str| {
            let (hours, minutes) = time.split_once(':')?;
            let is_plain =
                hours.len() == 2 && minutes.len() == 2 && time.bytes().all(|b| b.is_ascii_digit() || b == b':');
            let (hours, minutes) = (hours.parse::<u16>().ok()?, minutes.parse::<u16>().ok()?);
            (is_plain && hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
        };
        let (from, to) = minute(from).zip(minute(to)).filter(|(from, to)| from != to).ok_or_else(wrong)?;
        let zone = match zone {
            Some(zone) => {
                TimeZone::get(zone).map_err(|_| format!("names the time zone `{zone}`, which nobody knows"))?
            }
            None => TimeZone::system(),
        };
        Ok(Self { from, to, zone })
    }

    fn holds(&self, unix_ms: u64) -> bool {
        let time = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        // Without a time people are told.
        let Some(time) = time.map(|time| self.zone.to_datetime(time).time()) else { return false };
        let minute = |number: i8| u16::try_from(number).unwrap_or_default();
        let now = minute(time.hour()) * 60 + minute(time.minute());
        if self.from < self.to { (self.from..self.to).contains(&now) } else { now >= self.from || now < self.to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> u64 {
        u64::try_from(text.parse::<Timestamp>().unwrap().as_millisecond()).unwrap()
    }

    #[test]
    fn a_night_goes_over_midnight_and_with_the_summer() {
        let hours = Hours::read(0, 60, Some("22:00-07:00 Europe/Berlin")).unwrap();
        for (time, quiet) in [
            ("2026-01-10T20:59:59Z", false),
            ("2026-01-10T21:00:00Z", true),
            ("2026-01-11T05:59:00Z", true),
            ("2026-01-11T06:00:00Z", false),
            // Two hours ahead in summer.
            ("2026-07-10T19:59:00Z", false),
            ("2026-07-10T20:00:00Z", true),
            ("2026-07-11T05:00:00Z", false),
        ] {
            assert_eq!(hours.is_quiet(at(time)), quiet, "{time}");
        }
        let noon = Hours::read(0, 0, Some("12:00-13:30 UTC")).unwrap();
        assert!(noon.is_quiet(at("2026-01-10T13:29:59Z")) && !noon.is_quiet(at("2026-01-10T13:30:00Z")));
        assert!(!Hours::read(0, 0, None).unwrap().is_quiet(at("2026-01-10T03:00:00Z")));
    }

    #[test]
    fn mistakes_are_named() {
        for text in [
            "",
            "22-7",
            "22:00",
            "24:00-07:00",
            "22:60-07:00",
            "2:00-07:00",
            "22:00-22:00",
            "22:00-07:00 Atlantis",
            "+1:00-02:00",
        ] {
            let (field, why) = Hours::read(0, 0, Some(text)).unwrap_err();
            assert!(field == "quiet" && !why.is_empty(), "{text}");
        }
        assert_eq!(Hours::read(-1, 0, None).unwrap_err().0, "after_s");
        assert_eq!(Hours::read(0, 3601, None).unwrap_err().0, "remind_s");
    }
}
