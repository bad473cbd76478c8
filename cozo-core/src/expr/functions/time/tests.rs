//! Zones with their gaps, ends of months, and the edges of the calendar.

use super::*;
use crate::value::parse_time_micros;

fn zone(name: &str) -> Zone {
    Zone::named(name).expect(name)
}

fn micros(text: &str) -> i64 {
    parse_time_micros(text).expect(text)
}

/// A moment as a text in a zone.
fn show(micros: i64, zone: Zone) -> String {
    let mut text = String::new();
    write_rfc3339(micros, zone, &mut text).expect("it is in the calendar");
    text
}

/// The moment of a text in a zone, as a text.
fn moment(text: &str, name: &str) -> String {
    let read = crate::value::TimeText::parse(text).expect(text);
    show(zone(name).micros_of_text(&read).expect(text), zone(name))
}

#[test]
fn skipped_local_times_move_on_and_repeated_ones_are_the_first() {
    for (text, name, expected) in [
        ("2024-03-31 01:59:59", "Europe/Berlin", "2024-03-31T01:59:59+01:00"),
        ("2024-03-31 02:00", "Europe/Berlin", "2024-03-31T03:00:00+02:00"),
        ("2024-03-31 02:30", "Europe/Berlin", "2024-03-31T03:30:00+02:00"),
        ("2024-03-31 03:00", "Europe/Berlin", "2024-03-31T03:00:00+02:00"),
        ("2024-10-27 02:30", "Europe/Berlin", "2024-10-27T02:30:00+02:00"),
        ("2024-10-27 03:00", "Europe/Berlin", "2024-10-27T03:00:00+01:00"),
        ("2024-10-27 02:30+01", "Europe/Berlin", "2024-10-27T02:30:00+01:00"),
        // Where summer time begins at midnight, the day begins at one.
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T01:00:00-02:00"),
        ("2018-11-04 00:30", "America/Sao_Paulo", "2018-11-04T01:30:00-02:00"),
        // The clocks were put forward at 23:30, so the day began at 00:30.
        ("1919-03-31", "America/Toronto", "1919-03-31T00:30:00-04:00"),
        ("1919-03-31 00:00", "America/Toronto", "1919-03-31T01:00:00-04:00"),
        // Samoa left out a whole day.
        ("2011-12-30", "Pacific/Apia", "2011-12-31T00:00:00+14:00"),
        ("2011-12-30 10:00", "Pacific/Apia", "2011-12-31T10:00:00+14:00"),
        // The day began twice.
        ("2024-11-03", "America/Havana", "2024-11-03T00:00:00-04:00"),
        ("2024-01-01", "UTC", "2024-01-01T00:00:00+00:00"),
        ("1800-01-01", "Europe/Paris", "1800-01-01T00:00:00+00:09"),
    ] {
        assert_eq!(moment(text, name), expected, "{text} in {name}");
    }
}

#[test]
fn days_keep_the_time_of_day_and_hours_do_not() {
    let berlin = zone("Europe/Berlin");
    let noon = micros("2024-03-30 11:00");
    assert_eq!(show(noon, berlin), "2024-03-30T12:00:00+01:00");
    let after = |count, unit: Unit, from| show(unit.add(from, count, berlin).expect("in the calendar"), berlin);
    assert_eq!(after(1, Unit::Day, noon), "2024-03-31T12:00:00+02:00");
    assert_eq!(after(24, Unit::Hour, noon), "2024-03-31T13:00:00+02:00");
    assert_eq!(after(30, Unit::Week, noon), "2024-10-26T12:00:00+02:00");
    assert_eq!(Unit::Day.difference(noon, Unit::Hour.add(noon, 23, berlin).expect("in the calendar"), berlin), Some(1));
    assert_eq!(
        Unit::Day.difference(noon, Unit::Hour.add(noon, 23, berlin).expect("in the calendar"), Zone::UTC),
        Some(0)
    );
    // A repeated hour stays the one that it was.
    for offset in ["+02:00", "+01:00"] {
        let text = format!("2024-10-27T02:30:00{offset}");
        assert_eq!(after(0, Unit::Day, micros(&text)), text);
        let begin = Unit::Hour.truncate(micros(&text), berlin).expect("in the calendar");
        assert_eq!(show(begin, berlin), format!("2024-10-27T02:00:00{offset}"));
    }
}

#[test]
fn months_end_on_their_last_day() {
    for (from, count, unit, expected) in [
        ("2024-01-31", 1, Unit::Month, "2024-02-29"),
        ("2023-01-31", 1, Unit::Month, "2023-02-28"),
        ("2024-03-31", -1, Unit::Month, "2024-02-29"),
        ("2024-02-29", 1, Unit::Year, "2025-02-28"),
        ("2024-02-29", 4, Unit::Year, "2028-02-29"),
        ("2024-02-29", -124, Unit::Year, "1900-02-28"),
        ("2024-11-30", 1, Unit::Quarter, "2025-02-28"),
        ("0001-01-01", -1, Unit::Day, "0000-12-31"),
        ("0000-01-31", -1, Unit::Quarter, "-0001-10-31"),
        ("9999-12-31", 1, Unit::Day, "+10000-01-01"),
        ("1970-01-01", -1, Unit::Second, "1969-12-31T23:59:59"),
    ] {
        let expected = micros(&if expected.contains('T') { format!("{expected}Z") } else { expected.to_string() });
        assert_eq!(unit.add(micros(from), count, Zone::UTC), Some(expected), "{from} + {count} {unit:?}");
    }
}

#[test]
fn differences_are_the_greatest_that_can_be_added() {
    let times = [
        "-0004-02-29 12:00",
        "1969-12-31 23:59:59.5",
        "1970-01-01",
        "2023-03-31",
        "2024-01-30",
        "2024-01-31 10:00",
        "2024-02-29",
        "2024-03-01",
        "2024-03-31 01:30",
        "2024-10-27 00:30",
        "2024-10-27 01:30",
        "2025-02-28",
        "2048-02-29",
    ];
    let units = [Unit::Millisecond, Unit::Hour, Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year];
    for (zone, unit) in
        ["UTC", "Europe/Berlin", "America/Havana"].iter().flat_map(|name| units.map(|unit| (zone(name), unit)))
    {
        for (i, from) in times.iter().enumerate() {
            for to in &times[i..] {
                let (from, to) = (micros(from), micros(to));
                let count = unit.difference(from, to, zone).expect("in the calendar");
                let add = |count| unit.add(from, count, zone).expect("in the calendar");
                assert!(count >= 0 && add(count) <= to && add(count + 1) > to, "{count} {unit:?}s from {from} to {to}");
                assert_eq!(unit.difference(to, from, zone), Some(-count));
            }
        }
    }
}

#[test]
fn units_begin_where_they_begin() {
    for (unit, time, name, expected) in [
        (Unit::Year, "2024-05-17 10:30", "UTC", "2024-01-01T00:00:00+00:00"),
        (Unit::Quarter, "2024-05-17 10:30", "UTC", "2024-04-01T00:00:00+00:00"),
        (Unit::Quarter, "2024-12-31", "UTC", "2024-10-01T00:00:00+00:00"),
        (Unit::Month, "2024-02-29", "UTC", "2024-02-01T00:00:00+00:00"),
        (Unit::Week, "2024-05-05", "UTC", "2024-04-29T00:00:00+00:00"),
        (Unit::Week, "2024-05-06", "UTC", "2024-05-06T00:00:00+00:00"),
        (Unit::Week, "2024-01-01", "UTC", "2024-01-01T00:00:00+00:00"),
        (Unit::Day, "1969-12-31 23:59:59.999999", "UTC", "1969-12-31T00:00:00+00:00"),
        (Unit::Second, "1969-12-31 23:59:59.999999", "UTC", "1969-12-31T23:59:59+00:00"),
        (Unit::Hour, "2024-05-17 10:45", "Asia/Kathmandu", "2024-05-17T16:00:00+05:45"),
        (Unit::Day, "2018-11-04 10:00", "America/Sao_Paulo", "2018-11-04T01:00:00-02:00"),
        (Unit::Day, "2024-10-27 22:59", "Europe/Berlin", "2024-10-27T00:00:00+02:00"),
        (Unit::Month, "2024-12-31 23:30", "Europe/Berlin", "2025-01-01T00:00:00+01:00"),
        (Unit::Year, "-0043-03-15", "UTC", "-0043-01-01T00:00:00+00:00"),
    ] {
        let begin = unit.truncate(micros(time), zone(name)).expect("in the calendar");
        assert_eq!(show(begin, zone(name)), expected, "{unit:?} of {time} in {name}");
    }
}

#[test]
fn the_parts_of_a_time_are_those_of_its_calendar() {
    let parts = |text: &str, name: &str| -> Vec<i64> {
        let names = ["year", "iso_year", "quarter", "month", "week", "day", "weekday", "day_of_year", "hour", "minute"];
        let names = names.into_iter().chain(["second", "millisecond", "microsecond", "epoch"]);
        let part = |part: &str| Part::named(part).expect(part).of(micros(text), zone(name)).expect("in the calendar");
        names.map(part).collect()
    };
    let eve = [2024, 2025, 4, 12, 1, 31, 2, 366, 23, 59, 58, 58_250, 58_250_001, 1_735_689_598];
    assert_eq!(parts("2024-12-31 23:59:58.250001", "UTC"), eve);
    let new_year = [2025, 2025, 1, 1, 1, 1, 3, 1, 0, 59, 58, 58_250, 58_250_001, 1_735_689_598];
    assert_eq!(parts("2024-12-31 23:59:58.250001", "Europe/Berlin"), new_year);
    assert_eq!(parts("1969-12-31 23:59:59.5", "UTC")[10..], [59, 59_500, 59_500_000, -1]);
    assert_eq!(parts("2021-01-03", "UTC")[..8], [2021, 2020, 1, 1, 53, 3, 7, 3]);
    assert_eq!(parts("-0001-12-31", "UTC")[..2], [-1, -1]);
}

#[test]
fn seconds_keep_microseconds() {
    for text in ["2024-05-01 10:30:15.000001", "1969-12-31 23:59:59.999999", "2199-12-31 23:59:59.999999", "1700-01-01"]
    {
        let exact = micros(text);
        assert_eq!(micros_of_seconds(seconds_of(exact)), Some(exact), "{text}");
    }
    for beyond in [f64::NAN, f64::INFINITY, -1e300, 9.3e12] {
        assert_eq!(micros_of_seconds(beyond), None);
    }
}

#[test]
fn what_is_beyond_the_calendar_is_nothing() {
    let units = [Unit::Microsecond, Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year];
    let (first, last) = (micros("-262143-01-01"), micros("+262142-12-31T23:59:59.999999"));
    for zone in [Zone::UTC, zone("Pacific/Apia"), zone("America/New_York")] {
        for unit in units {
            assert_eq!(unit.add(last, i64::MAX, zone), None);
            assert_eq!(unit.add(first, i64::MIN, zone), None);
            for edge in [i64::MIN, first - 1, first, last, last + 1, i64::MAX] {
                let _ = (unit.truncate(edge, zone), unit.add(edge, 1, zone), unit.add(edge, -1, zone));
                let _ = (unit.difference(edge, last, zone), unit.difference(first, edge, zone));
                let (mut text, pattern) = (String::new(), Pattern::new("%+ %c %s %G %Z").expect("a pattern"));
                let _ = (write_rfc3339(edge, zone, &mut text), pattern.write(edge, zone, &mut text));
            }
        }
        assert_eq!(Part::Year.of(i64::MAX, zone), None);
        assert_eq!(Part::Week.of(i64::MIN, zone), None);
    }
}

#[test]
fn patterns_print_and_read() {
    let berlin = zone("Europe/Berlin");
    let may = micros("2024-05-01 08:30:15.25");
    for (pattern, expected) in [
        ("%Y-%m-%d %H:%M:%S", "2024-05-01 10:30:15"),
        ("%d.%m.%y, %-H:%M Uhr %Z", "01.05.24, 10:30 Uhr CEST"),
        ("%a %e %b %I:%M %p", "Wed  1 May 10:30 AM"),
        ("%G-W%V-%u %j %q", "2024-W18-3 122 2"),
        ("%s %6f %.3f %% %z %:z", "1714552215 250000 .250 % +0200 +02:00"),
        ("", ""),
    ] {
        let mut text = String::new();
        Pattern::new(pattern).expect(pattern).write(may, berlin, &mut text).expect(pattern);
        assert_eq!(text, expected, "{pattern}");
    }
    for (text, pattern, expected) in [
        ("1.5.2024", "%d.%m.%Y", "2024-04-30T22:00:00Z"),
        ("05/01/24 10:30 AM", "%D %I:%M %p", "2024-05-01T08:30:00Z"),
        ("2024-05-01 10:30:15.25 +0530", "%Y-%m-%d %H:%M:%S%.f %z", "2024-05-01T05:00:15.25Z"),
        ("1714552215", "%s", "2024-05-01T08:30:15Z"),
        ("2024-W18-3", "%G-W%V-%u", "2024-04-30T22:00:00Z"),
        ("31.3.2024 02:30", "%d.%m.%Y %H:%M", "2024-03-31T01:30:00Z"),
    ] {
        let read = Pattern::new(pattern).expect(pattern).read(text).expect(text);
        assert_eq!(berlin.micros_of_text(&read), Some(micros(expected)), "{text} by {pattern}");
    }
    for (text, pattern) in [
        ("1.5.2024", "%Y-%m-%d"),
        ("30.2.2024", "%d.%m.%Y"),
        ("2024", "%Y"),
        ("2024-05-01 10", "%Y-%m-%d %H"),
        ("2024-05-01 Thu", "%Y-%m-%d %a"),
        ("2024-05-01 x", "%Y-%m-%d"),
        ("2024-05-01 CET", "%Y-%m-%d %Z"),
        ("99999999999999999999", "%s"),
    ] {
        assert!(Pattern::new(pattern).expect(pattern).read(text).is_err(), "{text} by {pattern}");
    }
    for bad in ["%Q", "100%", "%", "%-", "%5f", "%:", &"%Y".repeat(200)] {
        assert!(Pattern::new(bad).is_err(), "{bad}");
    }
}
