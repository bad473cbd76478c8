//! Dates and times as texts: the one parser for functions, columns of type Validity, and `@`.
//!
//! | text | is |
//! |---|---|
//! | `2024-05-01` | the first moment of the day |
//! | `2024-05-01 10:30`, `2024-05-01T10:30:15.25` | seconds and their fraction may be left out |
//! | `2024-05-01 10:30Z`, `...+02:00`, `...+0200`, `...+02` | with the offset of its zone from UTC |
//! | `+12024-05-01`, `-0043-03-15` | years of other than four digits have a sign; the year 0 is 1 BC |
//!
//! A text without an offset is in UTC, or in a zone that its reader knows; zones are not known here.

use chrono::{FixedOffset, NaiveDate, NaiveDateTime, TimeDelta};

use super::ParseError;

/// How to write a date or time, for messages.
pub const TIME_FORMS: &str = "'2024-05-01', '2024-05-01 10:30', '2024-05-01T10:30:15.25Z' or '2024-05-01 10:30+02:00'";

/// How much of an offending text an error quotes, in characters.
const QUOTED_CHARACTERS: usize = 40;

/// A date or time as a text says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText {
    /// The date and the time of day; midnight if there is a date only.
    pub local: NaiveDateTime,
    /// Whether there is a time of day.
    pub has_time_of_day: bool,
    /// The offset from UTC, if the text has one.
    pub offset: Option<FixedOffset>,
}

/// What is wrong with a text.
enum Flaw {
    /// It has another form.
    Form,
    /// It has the form, but there is no such day, time of day or offset.
    NoSuchTime,
}

impl TimeText {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<TimeText, ParseError> {
        Parser { rest: text.as_bytes() }.time().map_err(|flaw| {
            let end = text.char_indices().nth(QUOTED_CHARACTERS).map(|(end, _)| end);
            let (quoted, dots) = end.map_or((text, ""), |end| (&text[..end], "..."));
            ParseError(match flaw {
                Flaw::Form => format!("'{quoted}{dots}' is no date or time: write it as {TIME_FORMS}"),
                Flaw::NoSuchTime => format!("'{quoted}{dots}' is a time that does not exist"),
            })
        })
    }

    /// Microseconds since the Unix epoch. Without an offset the text is in UTC.
    pub fn micros(&self) -> i64 {
        let offset_seconds = self.offset.map_or(0, |offset| offset.local_minus_utc());
        self.local.and_utc().timestamp_micros() - i64::from(offset_seconds) * 1_000_000
    }
}

/// Microseconds since the Unix epoch of a date or time. Without an offset it is in UTC.
pub fn parse_time_micros(text: &str) -> Result<i64, ParseError> {
    Ok(TimeText::parse(text)?.micros())
}

/// Reads a text from its start.
struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    /// The whole text.
    fn time(&mut self) -> Result<TimeText, Flaw> {
        let date = self.date()?;
        let midnight = date.and_hms_opt(0, 0, 0).ok_or(Flaw::NoSuchTime)?;
        if self.rest.is_empty() {
            return Ok(TimeText { local: midnight, has_time_of_day: false, offset: None });
        }
        self.expect(b"Tt ")?;
        let local = midnight.checked_add_signed(self.time_of_day()?).ok_or(Flaw::NoSuchTime)?;
        let offset = if self.rest.is_empty() { None } else { Some(self.offset()?) };
        if self.rest.is_empty() { Ok(TimeText { local, has_time_of_day: true, offset }) } else { Err(Flaw::Form) }
    }

    /// `2024-05-01`; the year with a sign if it has other than four digits.
    fn date(&mut self) -> Result<NaiveDate, Flaw> {
        let sign = self.eat(b"+-");
        let year = match sign {
            None => self.digits(4, 4)?,
            Some(_) => self.digits(4, 6)?,
        };
        self.expect(b"-")?;
        let month = self.digits(2, 2)?;
        self.expect(b"-")?;
        let day = self.digits(2, 2)?;
        let year = if sign == Some(b'-') { -(year as i32) } else { year as i32 };
        NaiveDate::from_ymd_opt(year, month, day).ok_or(Flaw::NoSuchTime)
    }

    /// `10:30`, `10:30:15` or `10:30:15.25` as the time since midnight. The second 60 is the leap second, which counts as
    /// the first of the next minute.
    fn time_of_day(&mut self) -> Result<TimeDelta, Flaw> {
        let hour = self.digits(2, 2)?;
        self.expect(b":")?;
        let minute = self.digits(2, 2)?;
        let (mut second, mut micros) = (0, 0);
        if self.eat(b":").is_some() {
            second = self.digits(2, 2)?;
            if self.eat(b".").is_some() {
                micros = self.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 60 {
            return Err(Flaw::NoSuchTime);
        }
        let seconds = hour * 3600 + minute * 60 + second;
        Ok(TimeDelta::microseconds(i64::from(seconds) * 1_000_000 + micros))
    }

    /// A fraction of a second in microseconds. Digits beyond the sixth are cut off.
    fn fraction(&mut self) -> Result<i64, Flaw> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(Flaw::Form);
        }
        let (fraction, rest) = self.rest.split_at(digits);
        self.rest = rest;
        let padded = fraction.iter().chain(std::iter::repeat(&b'0')).take(6);
        Ok(padded.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0')))
    }

    /// `Z`, `+02:00`, `+0200` or `+02`, perhaps after a blank.
    fn offset(&mut self) -> Result<FixedOffset, Flaw> {
        self.eat(b" ");
        if self.eat(b"Zz").is_some() {
            return FixedOffset::east_opt(0).ok_or(Flaw::NoSuchTime);
        }
        // RFC 3339 allows the minus sign of typography too.
        let minus = self.rest.strip_prefix("\u{2212}".as_bytes());
        let sign = match minus {
            Some(rest) => {
                self.rest = rest;
                b'-'
            }
            None => self.expect(b"+-")?,
        };
        let hours = self.digits(2, 2)?;
        let minutes = match self.eat(b":") {
            None if self.rest.is_empty() => 0,
            _ => self.digits(2, 2)?,
        };
        if hours > 23 || minutes > 59 {
            return Err(Flaw::NoSuchTime);
        }
        let seconds = (hours * 3600 + minutes * 60) as i32;
        FixedOffset::east_opt(if sign == b'-' { -seconds } else { seconds }).ok_or(Flaw::NoSuchTime)
    }

    /// Takes one of some bytes, if it comes next.
    fn eat(&mut self, any_of: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        any_of.contains(first).then(|| {
            self.rest = rest;
            *first
        })
    }

    fn expect(&mut self, any_of: &[u8]) -> Result<u8, Flaw> {
        self.eat(any_of).ok_or(Flaw::Form)
    }

    /// A number of so many digits.
    fn digits(&mut self, least: usize, most: usize) -> Result<u32, Flaw> {
        let count = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        if count < least {
            return Err(Flaw::Form);
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    #[test]
    fn all_forms_of_a_moment_are_read() {
        let may = 1_714_559_415_250_000;
        for text in [
            "2024-05-01T10:30:15.25Z",
            "2024-05-01t10:30:15.250z",
            "2024-05-01 10:30:15.25",
            "2024-05-01 10:30:15.2500009",
            "2024-05-01T12:30:15.25+02:00",
            "2024-05-01 12:30:15.25+0200",
            "2024-05-01 12:30:15.25 +02",
            "2024-05-01 06:00:15.25-04:30",
            "2024-05-01 06:00:15.25\u{2212}04:30",
            "2024-05-02 10:29:15.25+23:59",
            "+2024-05-01 10:30:15.25",
        ] {
            assert_eq!(parse_time_micros(text), Ok(may), "{text}");
        }
        assert_eq!(parse_time_micros("2024-05-01 10:30"), Ok(may - 15_250_000));
        assert_eq!(parse_time_micros("2024-05-01 10:30+00"), Ok(may - 15_250_000));
        assert_eq!(parse_time_micros("2024-05-01"), Ok(may / DAY * DAY));
    }

    #[test]
    fn times_are_read_far_from_the_epoch() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("1900-03-01", -25_508),
            ("0001-01-01", -719_162),
            ("0000-02-29", -719_469),
            ("-0001-12-31", -719_529),
            ("-0000-01-01", -719_528),
            ("+10000-01-01", 2_932_897),
            ("+262142-12-31", 95_026_236),
        ] {
            assert_eq!(parse_time_micros(text), Ok(days * DAY), "{text}");
        }
        assert_eq!(parse_time_micros("1969-12-31 23:59:59.999999"), Ok(-1));
    }

    #[test]
    fn a_leap_second_is_the_first_second_of_the_next_minute() {
        assert_eq!(parse_time_micros("2016-12-31T23:59:60Z"), parse_time_micros("2017-01-01"));
        assert_eq!(parse_time_micros("2016-12-31T23:59:60.5Z"), parse_time_micros("2017-01-01T00:00:00.5Z"));
    }

    #[test]
    fn other_texts_are_refused_with_the_forms() {
        for text in [
            "",
            "2024",
            "2024-05",
            "2024-5-1",
            "24-05-01",
            "12024-05-01",
            "+024-05-01",
            "2024/05/01",
            "2024-05-01T",
            "2024-05-01 10",
            "2024-05-01 10:3",
            "2024-05-01 10:30:",
            "2024-05-01 10:30:15.",
            "2024-05-01  10:30",
            "2024-05-01 10:30 ",
            " 2024-05-01",
            "2024-05-01Z",
            "2024-05-01+02:00",
            "2024-05-01 10:30+2",
            "2024-05-01 10:30+02:0",
            "2024-05-01 10:30+02:",
            "2024-05-01 10:30+02000",
            "2024-05-01 10:30Zulu",
            "2024-05-01 10:30 Europe/Paris",
            "yesterday",
            "~2024-05-01",
            "٢٠٢٤-05-01",
            "2024-05-01é10:30",
        ] {
            let error = parse_time_micros(text).expect_err(text).to_string();
            assert!(
                error.contains(text) && error.contains("is no date or time") && error.contains(TIME_FORMS),
                "{error}"
            );
        }
        let long = parse_time_micros(&"é".repeat(1000)).expect_err("it is no date").to_string();
        assert!(long.starts_with(&format!("'{}...'", "é".repeat(QUOTED_CHARACTERS))), "{long}");
    }

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in [
            "2023-02-29",
            "1900-02-29",
            "2024-00-01",
            "2024-13-01",
            "2024-04-31",
            "2024-05-00",
            "2024-05-01 24:00",
            "2024-05-01 10:60",
            "2024-05-01 10:30:61",
            "2024-05-01 10:30+24:00",
            "2024-05-01 10:30-02:60",
            "+262143-01-01",
            "-262144-01-01",
            "+999999-01-01",
        ] {
            let error = parse_time_micros(text).expect_err(text).to_string();
            assert_eq!(error, format!("'{text}' is a time that does not exist"));
        }
    }

    #[test]
    fn offsets_and_times_of_day_are_told() {
        let date = TimeText::parse("2024-05-01").expect("a date");
        assert!(!date.has_time_of_day && date.offset.is_none());
        let time = TimeText::parse("2024-05-01 00:00-03:30").expect("a time");
        assert!(time.has_time_of_day);
        assert_eq!(time.offset.map(|offset| offset.local_minus_utc()), Some(-12_600));
    }
}
