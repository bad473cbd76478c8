//! Distances and nodes as one integer, which sorts by distance and then by node.
//!
//! ```text
//! bit   63 .......... 32 | 31 ........... 1 | 0
//!       distance, ordered | node or slot     | whether its links were followed
//! ```
//!
//! The bits of an `f32` are changed so that they sort as integers; NaN sorts last. Lists of candidates hold such keys: to compare
//! two of them is one instruction, and a distance that is NaN breaks no order.

/// The bit of a candidate whose links were followed.
pub(super) const FOLLOWED: u64 = 1;

/// The bits that sort like the distance. All values of NaN become the greatest.
#[inline(always)]
pub(super) fn ordered(distance: f32) -> u32 {
    // The addition makes 0.0 of -0.0.
    let bits = (distance + 0.0).to_bits();
    let flip = (bits.cast_signed() >> 31).cast_unsigned() | (1 << 31);
    if distance.is_nan() { u32::MAX } else { bits ^ flip }
}

/// The key of a node at a distance.
#[inline(always)]
pub(super) fn key(distance: f32, node: u32) -> u64 {
    u64::from(ordered(distance)) << 32 | u64::from(node) << 1
}

/// The node of a key.
#[inline(always)]
pub(super) fn node_of(key: u64) -> u32 {
    (key as u32) >> 1
}

/// The ordered bits of the distance of a key.
#[inline(always)]
pub(super) fn order_of(key: u64) -> u32 {
    (key >> 32) as u32
}

/// The distance of a key.
pub(super) fn distance_of(key: u64) -> f32 {
    let bits = order_of(key);
    match bits {
        u32::MAX => f32::NAN,
        _ if bits >> 31 == 1 => f32::from_bits(bits ^ (1 << 31)),
        _ => f32::from_bits(!bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_distances() {
        let distances = [f32::NEG_INFINITY, -2.5, -1e-40, 0.0, 1e-40, 0.5, 1.0, f32::MAX, f32::INFINITY, f32::NAN];
        let keys: Vec<u64> = distances.iter().map(|distance| key(*distance, 7)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for (key, distance) in keys.iter().zip(distances) {
            assert_eq!(distance_of(*key).to_bits(), distance.to_bits());
            assert_eq!(node_of(*key | FOLLOWED), 7);
        }
        assert_eq!(ordered(-0.0), ordered(0.0));
        assert_eq!(ordered(-f32::NAN), u32::MAX);
    }
}
