//! Random values; evaluated anew for every row.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::{Timestamp, Uuid};

use super::arguments::{Outcome, check_length, fail, float, int, list, unexpected};
use super::vectors::{floats, is_wide, of_width};
use super::{Family, Function};
use crate::budget::step;
use crate::value::{DataValue, UuidWrapper};

pub(super) const FAMILY: Family = Family { title: "Random values", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "rand_bernoulli",
        &["p"],
        "True with a probability from 0 to 1, else false.",
        &[("rand_bernoulli(1)", "true"), ("rand_bernoulli(0)", "false"), ("rand_bernoulli(1.5)", "")],
        |args| match float("rand_bernoulli", args, 0)? {
            probability if (0.0..=1.0).contains(&probability) => Ok(rand::random_bool(probability).into()),
            _ => Err(unexpected("rand_bernoulli", args, 0, "a probability from 0 to 1")),
        },
    )
    .volatile(),
    Function::new(
        "rand_choose",
        &["list"],
        "A random element of a list, each equally likely; null if the list is empty.",
        &[("rand_choose(['only'])", "'only'"), ("rand_choose([])", "null"), ("rand_choose('abc')", "")],
        |args| match &*list("rand_choose", args, 0)? {
            [] => Ok(DataValue::Null),
            items => Ok(items[rand::random_range(0..items.len())].copy()?),
        },
    )
    .volatile(),
    Function::new(
        "rand_float",
        &[],
        "A random Float from 0 up to, but not including, 1, all equally likely.",
        &[("rand_float() < 1", "true")],
        |_| Ok(rand::random::<f64>().into()),
    )
    .volatile(),
    Function::new(
        "rand_int",
        &["low", "high"],
        "A random Int between two bounds, both included, all equally likely.",
        &[("rand_int(4, 4)", "4"), ("rand_int(3, 1)", "")],
        |args| match (int("rand_int", args, 0)?, int("rand_int", args, 1)?) {
            (low, high) if low > high => fail("rand_int", format!("the lower bound {low} is above the upper {high}")),
            (low, high) => Ok(rand::random_range(low..=high).into()),
        },
    )
    .volatile(),
    Function::new(
        "rand_uuid_v1",
        &[],
        "A new Uuid of version 1, of the present time.",
        &[("uuid_timestamp(rand_uuid_v1()) > 1600000000", "true")],
        |_| Ok(DataValue::Uuid(UuidWrapper(uuid_of_time(SystemTime::now())))),
    )
    .volatile(),
    Function::new(
        "rand_uuid_v4",
        &[],
        "A new random Uuid of version 4.",
        &[("is_uuid(rand_uuid_v4())", "true")],
        |_| Ok(DataValue::Uuid(UuidWrapper(Uuid::new_v4()))),
    )
    .volatile(),
    Function::new(
        "rand_vec",
        &["length", "type?"],
        "A random vector of the given length, with elements from 0 up to, but not including, 1; the type is as in `vec`.",
        &[("length(rand_vec(5))", "5"), ("rand_vec('a')", "")],
        rand_vec,
    )
    .volatile()
    .making_much(),
];

/// The node of the version 1 ids of this process: random, and marked as no hardware address (RFC 4122, 4.5).
static NODE: LazyLock<[u8; 6]> = LazyLock::new(|| {
    let mut node: [u8; 6] = rand::random();
    node[0] |= 1;
    node
});

/// The elements that are made between two looks at the clock.
const PIECE: usize = 4096;

/// A Uuid of version 1, whose times begin in 1582.
fn uuid_of_time(time: SystemTime) -> Uuid {
    let ticks_of = |duration: Duration| (duration.as_nanos() / 100) as u64;
    let ticks = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => EPOCH_TICKS.wrapping_add(ticks_of(after)),
        // A clock that was never set may be before the epoch.
        Err(before) => EPOCH_TICKS.wrapping_sub(ticks_of(before.duration())),
    };
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    Uuid::new_v1(Timestamp::from_gregorian_time(ticks, counter), &NODE)
}

/// Tells apart the ids of one instant.
static COUNTER: LazyLock<AtomicU16> = LazyLock::new(|| AtomicU16::new(rand::random()));

/// The start of Unix time in the ticks of version 1: steps of 100 ns since October 1582 (RFC 9562, 5.1).
const EPOCH_TICKS: u64 = 0x01B2_1DD2_1381_4000;

fn rand_vec(args: &[DataValue]) -> Outcome {
    let length = int("rand_vec", args, 0)?;
    let Ok(length) = u128::try_from(length) else {
        return Err(unexpected("rand_vec", args, 0, "an integer from 0"));
    };
    let (length, wide) = (check_length("rand_vec", length)?, is_wide("rand_vec", args, 1)?);
    let random = || if wide { rand::random::<f64>() } else { f64::from(rand::random::<f32>()) };
    let mut elements = floats(length)?;
    while elements.len() < length {
        let piece = (length - elements.len()).min(PIECE);
        step(piece)?;
        elements.extend(std::iter::repeat_with(random).take(piece));
    }
    Ok(of_width(elements, wide)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_any_time() {
        for seconds in [0, 1, 10_000_000_000] {
            let (after, before) =
                [UNIX_EPOCH + Duration::from_secs(seconds), UNIX_EPOCH - Duration::from_secs(seconds)].into();
            assert_ne!(uuid_of_time(after), uuid_of_time(after));
            let ticks = |time| uuid_of_time(time).get_timestamp().expect("it has a time").to_gregorian().0;
            assert_eq!(ticks(after) - ticks(before), 2 * seconds * 10_000_000);
        }
    }
}
