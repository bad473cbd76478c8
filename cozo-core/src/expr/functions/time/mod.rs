//! Moments: seconds since the Unix epoch as numbers, validities, and dates and times as texts.
//!
//! A function takes a *time* in any of these forms and reads it as microseconds since the epoch, exactly. Where the calendar
//! of a place matters, the last argument is its [`Zone`]; without it the calendar is that of UTC.
//!
//! | file | what |
//! |---|---|
//! | `arguments` | times and zones as arguments |
//! | `calls` | the bodies of the functions |
//! | `zone` | local times, and those that summer time skips or repeats |
//! | `unit`, `part` | units to count and cut by, and the parts of a date |
//! | `pattern` | strftime patterns |

mod arguments;
mod calls;
mod part;
mod pattern;
#[cfg(test)]
mod tests;
mod unit;
mod zone;

pub(super) use arguments::{micros_of, micros_of_seconds};
pub(super) use calls::{now, seconds_of};
pub(super) use part::Part;
pub(super) use pattern::{Pattern, write_rfc3339};
pub(super) use unit::Unit;
pub(super) use zone::Zone;

use super::{Family, Function, kernels};

pub(super) const FAMILY: Family = Family { title: "Time", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "date_add",
        &["time", "count", "unit", "zone?"],
        "The time a number of units later, or earlier if the number is negative, in seconds. Months, quarters and years \
         keep the day of the month or, if that month is shorter, take its last day. Days and weeks keep the time of day in \
         the zone, even where summer time begins or ends. Units are those of `date_trunc`, also in the plural.",
        &[
            ("format_timestamp(date_add('2024-01-31', 1, 'month'))", "'2024-02-29T00:00:00+00:00'"),
            ("format_timestamp(date_add('2024-05-01 10:30', -90, 'minutes'))", "'2024-05-01T09:00:00+00:00'"),
            (
                "format_timestamp(date_add('2024-03-30 12:00', 1, 'day', 'Europe/Paris'), 'Europe/Paris')",
                "'2024-03-31T12:00:00+02:00'",
            ),
            ("date_add(0, 1, 'fortnight')", ""),
        ],
        calls::date_add,
    ),
    Function::new(
        "date_diff",
        &["unit", "from", "to", "zone?"],
        "The number of whole units that have passed: the greatest that `date_add` can add to the first time without passing \
         the second; negative if the second is earlier. Boundaries do not count: from 23:59 to 00:01 no day has passed. To \
         count boundaries, subtract results of `date_trunc`.",
        &[
            ("date_diff('year', '1990-06-15', '2024-06-14')", "33"),
            ("date_diff('year', '1990-06-15', '2024-06-15')", "34"),
            ("date_diff('day', '2024-05-01 23:59', '2024-05-02 00:01')", "0"),
            ("date_diff('month', '2024-03-31', '2024-01-31')", "-2"),
        ],
        calls::date_diff,
    ),
    Function::new(
        "date_part",
        &["part", "time", "zone?"],
        "A part of a time as an Int: `year`, `quarter`, `month`, `day`, `hour`, `minute` or `second`; `week`, the week of \
         ISO 8601, which belongs to `iso_year`; `weekday`, from 1 for Monday to 7; `day_of_year`. `millisecond` and \
         `microsecond` count from the beginning of the minute. `epoch` is the seconds since the Unix epoch, as a Float.",
        &[
            ("date_part('year', '2024-05-01')", "2024"),
            ("date_part('weekday', '2024-05-01')", "3"),
            ("date_part('hour', 0, 'Asia/Tokyo')", "9"),
            ("date_part('millisecond', '2024-05-01 10:30:15.25')", "15250"),
            ("date_part('epoch', validity(1500000))", "1.5"),
            ("date_part('era', 0)", ""),
        ],
        calls::date_part,
    )
    .with_kernel(kernels::time::date_part),
    Function::new(
        "date_trunc",
        &["unit", "time", "zone?"],
        "The beginning of the `year`, `quarter`, `month`, `week` (Monday), `day`, `hour`, `minute`, `second`, `millisecond` \
         or `microsecond` that contains a time, in seconds.",
        &[
            ("format_timestamp(date_trunc('month', '2024-05-17 10:30'))", "'2024-05-01T00:00:00+00:00'"),
            ("format_timestamp(date_trunc('week', '2024-05-01'))", "'2024-04-29T00:00:00+00:00'"),
            ("format_timestamp(date_trunc('day', 0, 'Asia/Tokyo'))", "'1969-12-31T15:00:00+00:00'"),
            ("date_trunc('day', 'today')", ""),
        ],
        calls::date_trunc,
    )
    .with_kernel(kernels::time::date_trunc),
    Function::new(
        "format_timestamp",
        &["time", "zone?", "pattern?"],
        "A time as an RFC 3339 text to the millisecond, in UTC or in a time zone of the IANA database; or by a strftime pattern, \
         such as `%d.%m.%Y %H:%M`.",
        &[
            ("format_timestamp(1.5)", "'1970-01-01T00:00:01.500+00:00'"),
            ("format_timestamp(0, 'Asia/Tokyo')", "'1970-01-01T09:00:00+09:00'"),
            ("format_timestamp('2024-05-01', 'UTC', '%A, %-d %B %Y')", "'Wednesday, 1 May 2024'"),
            ("format_timestamp(0, 'Mars/Base')", ""),
            ("format_timestamp(0, 'UTC', '%Q')", ""),
        ],
        calls::format_timestamp,
    )
    .with_kernel(kernels::time::format_timestamp),
    Function::new(
        "from_micros",
        &["micros"],
        "Converts microseconds since the Unix epoch to seconds.",
        &[("from_micros(1500000)", "1.5"), ("from_micros(to_micros('2024-05-01'))", "parse_timestamp('2024-05-01')")],
        calls::from_micros,
    ),
    Function::new(
        "make_timestamp",
        &["year", "month", "day", "hour?", "minute?", "second?", "zone?"],
        "The time of a date and a time of day, in seconds. The second may have a fraction. A zone may follow the day, the hour, \
         the minute or the second.",
        &[
            ("make_timestamp(1970, 1, 2)", "86400.0"),
            ("make_timestamp(1970, 1, 1, 0, 1, 2.5)", "62.5"),
            ("make_timestamp(1970, 1, 1, 9, 'Asia/Tokyo')", "0.0"),
            ("make_timestamp(2023, 2, 29)", ""),
        ],
        calls::make_timestamp,
    ),
    Function::new("now", &[], "The seconds since the Unix epoch, now.", &[("now() > 1600000000", "true")], |_| {
        Ok(now().into())
    })
    .volatile(),
    Function::new(
        "parse_timestamp",
        &["text", "zone?", "pattern?"],
        "The seconds since the Unix epoch of a date or time such as `2024-05-01`, `2024-05-01 10:30` or \
         `2024-05-01T10:30:15.25+02:00`; or of a text that follows a strftime pattern. A text without an offset is in the \
         zone, or in UTC. A date means its first moment.",
        &[
            ("parse_timestamp('1970-01-01T00:00:01.5Z')", "1.5"),
            ("parse_timestamp('1970-01-02')", "86400.0"),
            ("parse_timestamp('1970-01-01 09:00', 'Asia/Tokyo')", "0.0"),
            ("parse_timestamp('2.1.1970', 'UTC', '%d.%m.%Y')", "86400.0"),
            ("parse_timestamp('yesterday')", ""),
        ],
        calls::parse_timestamp,
    ),
    Function::new(
        "to_micros",
        &["time", "zone?"],
        "The microseconds since the Unix epoch of a time, as an Int: the unit of a Validity and of `@`.",
        &[
            ("to_micros(1.5)", "1500000"),
            ("to_micros('1970-01-01 00:00:00.000001')", "1"),
            ("to_micros(validity(77))", "77"),
            ("to_micros('soon')", ""),
        ],
        calls::to_micros,
    ),
    Function::new(
        "validity",
        &["micros", "asserts?"],
        "A Validity of a time in microseconds since the Unix epoch or as a text: an assertion, or with `false` a retraction. A text \
         with a leading `~` is a retraction, too.",
        &[
            ("to_int(validity(77))", "77"),
            ("to_bool(validity(1, false))", "false"),
            ("validity('1970-01-02')", "validity(86400000000)"),
            ("to_bool(validity('~2024-05-01 10:30'))", "false"),
            ("validity('x')", ""),
        ],
        calls::validity,
    ),
];
