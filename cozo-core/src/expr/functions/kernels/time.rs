//! Functions of columns of times, where the part, the unit, the zone and the pattern are the same in all rows.

use super::super::time::{Part, Pattern, Unit, Zone, micros_of, micros_of_seconds, seconds_of, write_rfc3339};
use super::by_reference::value_at;
use super::{KernelOutcome, Texts, Typed, build_texts, dense, done};
use crate::expr::Operand;
use crate::value::{Column, DataValue, Num, TimeText};

/// The text that an operand is in all rows.
fn constant<'a>(operand: &'a Operand<'_>) -> Option<&'a str> {
    match operand {
        Operand::Scalar(value) => value.get_str(),
        Operand::Column(_) => None,
    }
}

/// The zone of all rows; UTC if there is no such operand.
fn zone(operand: Option<&Operand<'_>>) -> Option<Zone> {
    operand.map_or(Some(Zone::UTC), |operand| Zone::named(constant(operand)?))
}

/// Microseconds since the epoch of each row's time.
fn times(operand: &Operand<'_>, len: usize, zone: Zone) -> Option<Vec<i64>> {
    match dense(operand) {
        Some(Typed::Int(seconds)) => {
            (0..len).map(|row| micros_of(&DataValue::Num(Num::Int(seconds.at(row))), zone)).collect()
        }
        Some(Typed::Float(seconds)) => (0..len).map(|row| micros_of_seconds(seconds.at(row))).collect(),
        Some(Typed::Str(Texts::Rows(texts))) => {
            let parsed = |row| zone.micros_of_text(&TimeText::parse(texts.str_at(row)).ok()?);
            (0..len).map(parsed).collect()
        }
        _ => (0..len).map(|row| micros_of(&value_at(operand, row), zone)).collect(),
    }
}

pub(in super::super) fn date_part(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [part, time, rest @ ..] = operands else { return None };
    let (part, zone) = (Part::named(constant(part)?)?, zone(rest.first())?);
    let micros = times(time, len, zone)?;
    let parts: Option<Vec<i64>> = micros.iter().map(|micros| part.of(*micros, zone)).collect();
    done(match part {
        Part::Epoch => parts.map(|_| Column::floats(micros.into_iter().map(seconds_of).collect()))?,
        _ => Column::ints(parts?),
    })
}

pub(in super::super) fn date_trunc(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [unit, time, rest @ ..] = operands else { return None };
    let (unit, zone) = (Unit::named(constant(unit)?)?, zone(rest.first())?);
    let begin = |micros: i64| unit.truncate(micros, zone).map(seconds_of);
    done(Column::floats(times(time, len, zone)?.into_iter().map(begin).collect::<Option<_>>()?))
}

pub(in super::super) fn format_timestamp(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [time, rest @ ..] = operands else { return None };
    let zone = zone(rest.first())?;
    let pattern = match rest.get(1) {
        Some(pattern) => Some(Pattern::new(constant(pattern)?).ok()?),
        None => None,
    };
    let micros = times(time, len, zone)?;
    let mut failed = false;
    let texts = build_texts(len, |row, text| {
        let written = match pattern {
            Some(pattern) => pattern.write(micros[row], zone, text),
            None => write_rfc3339(micros[row], zone, text),
        };
        failed |= written.is_none();
        Ok(())
    });
    if failed { None } else { texts }
}
