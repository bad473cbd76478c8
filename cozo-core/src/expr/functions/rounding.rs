//! Rounding to decimal places.
//!
//! A Float is rounded by the digits that it is written with, the fewest that tell it from other Floats: `1.005` to two places is
//! `1.01`, although the nearest binary number is a little less. Halves go away from zero.

/// The number rounded to so many places after the point, or, if negative, before it.
pub(super) fn round_float(number: f64, places: i64) -> f64 {
    if places == 0 {
        return number.round();
    }
    if !number.is_finite() || number == 0.0 {
        return number;
    }
    rounded_quickly(number, places).unwrap_or_else(|| rounded_by_digits(number, places))
}

/// The number rounded in binary, where that is sure to give the same: where the digits behind the last place are no half, nor nearly so.
fn rounded_quickly(number: f64, places: i64) -> Option<f64> {
    /// The powers of ten up to this one are exact.
    const MAX_PLACES: i64 = 22;
    /// Products up to this one are off by less than a tenth of the distance from a half.
    const MAX_SCALED: f64 = 1e9;
    const MIN_DISTANCE: f64 = 1e-5;
    if !(1..=MAX_PLACES).contains(&places) {
        return None;
    }
    let power = 10f64.powi(places as i32);
    let scaled = number * power;
    let is_sure = scaled.abs() < MAX_SCALED && (scaled.fract().abs() - 0.5).abs() > MIN_DISTANCE;
    is_sure.then(|| scaled.round() / power)
}

/// The number rounded by the digits that it is written with. It is finite and not 0.
fn rounded_by_digits(number: f64, places: i64) -> f64 {
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    // The first digit counts for 10^exponent, and the last one that is kept for 10^-places.
    let kept = exponent.parse::<i64>().unwrap_or_default().saturating_add(places).saturating_add(1);
    match usize::try_from(kept) {
        Err(_) => 0f64.copysign(number),
        Ok(kept) if kept >= digits.len() => number,
        Ok(kept) => {
            let whole = digits[..kept].iter().fold(0u64, |whole, digit| 10 * whole + u64::from(*digit));
            let rounded = whole + u64::from(digits[kept] >= 5);
            format!("{rounded}e{}", -places).parse().unwrap_or(number).copysign(number)
        }
    }
}

/// The integer rounded to so many places before the point, given as a negative number; `None` if it leaves 64 bits.
pub(super) fn round_int(number: i64, places: i64) -> Option<i64> {
    if places >= 0 {
        return Some(number);
    }
    let power = u32::try_from(places.unsigned_abs()).ok().and_then(|places| 10i128.checked_pow(places));
    let Some(power) = power else { return Some(0) };
    let (quotient, rest) = (i128::from(number) / power, i128::from(number) % power);
    let away = if 2 * rest.abs() >= power { rest.signum() } else { 0 };
    i64::try_from((quotient + away) * power).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_rounded_as_they_are_written() {
        for (number, places, expected) in [
            (1.005, 2, 1.01),
            (2.675, 2, 2.68),
            (-2.5, 0, -3.0),
            (0.15, 1, 0.2),
            (1234.5678, 2, 1234.57),
            (1234.5678, -2, 1200.0),
            (1250.0, -2, 1300.0),
            (50.0, -2, 100.0),
            (49.9, -2, 0.0),
            (4.0, -5, 0.0),
            (9.999, 2, 10.0),
            (0.1 + 0.2, 10, 0.3),
            (1e300, 2, 1e300),
            (5e-324, 400, 5e-324),
            (5e-324, 10, 0.0),
            (1.5, i64::MAX, 1.5),
            (1.5, i64::MIN, 0.0),
            (f64::INFINITY, 2, f64::INFINITY),
        ] {
            assert_eq!(round_float(number, places), expected, "{number} to {places}");
            assert_eq!(round_float(-number, places), -expected, "-{number} to {places}");
        }
        assert!(round_float(f64::NAN, 2).is_nan());
    }

    #[test]
    fn the_quick_way_gives_the_same_as_the_digits() {
        let mut quick = 0;
        for i in 1..200_000u32 {
            let (number, places) = (f64::from(i) * 0.000_37 * 1.7f64.powi(i as i32 % 60 - 30), i64::from(i % 12) - 1);
            let by_digits = rounded_by_digits(number, places);
            if let Some(rounded) = rounded_quickly(number, places) {
                quick += 1;
                assert_eq!(rounded.to_bits(), by_digits.to_bits(), "{number} to {places}");
                assert_eq!(rounded_quickly(-number, places), Some(-by_digits));
            }
        }
        assert!(quick > 50_000, "{quick}");
    }

    #[test]
    fn integers_are_rounded_before_the_point() {
        for (number, places, expected) in [
            (1250, -2, Some(1300)),
            (-1250, -2, Some(-1300)),
            (1249, -2, Some(1200)),
            (7, 3, Some(7)),
            (7, -1, Some(10)),
            (7, -2, Some(0)),
            (i64::MAX, -1, None),
            (i64::MAX, -2, Some(9_223_372_036_854_775_800)),
            (i64::MIN, i64::MIN, Some(0)),
            (i64::MAX, -19, Some(10_000_000_000_000_000_000i128).and_then(|large| i64::try_from(large).ok())),
        ] {
            assert_eq!(round_int(number, places), expected, "{number} to {places}");
        }
    }
}
