//! Sums over two vectors: squared differences and products, for `f32`, `f64` and 8-bit codes.
//!
//! Each function is compiled twice on x86-64: for the target of the build, which has SSE2 alone, and for processors with AVX2
//! and FMA, as all of the last ten years have. The processor is asked at run time. Other targets have one version, with what the
//! target guarantees (NEON on ARM). The bodies are plain loops over arrays of partial sums, which compilers turn into vector
//! instructions.
//!
//! ```text
//! a    |-- 32 elements --|-- 32 --|-- 8 --|- 8 -|. rest
//! b    |-----------------|--------|-------|-----|.
//! sums   32 partial sums            8 of them     one    added up in a fixed order
//! ```
//!
//! The order of additions depends on the length alone, so equal vectors have equal results wherever they stand. Results differ in
//! the last bits between processors with FMA and without.

use std::cmp::min;

/// Whether this target has an instruction that multiplies and adds in one step.
const TARGET_FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// The number of rows between the one that is summed and the one that is fetched into the cache.
/// Unit: rows. Bench: `search`.
const ROWS_AHEAD: usize = 3;

/// The bytes of a row that are fetched at most: the rest comes while these are summed.
/// Unit: bytes. Bench: `search`.
const FETCHED_BYTES: usize = 2048;

/// Rows of one length, one after the other.
#[derive(Clone, Copy)]
pub struct Table<'a, T> {
    /// The elements of all rows.
    pub elements: &'a [T],
    /// The number of elements of a row.
    pub stride: usize,
}

impl<'a, T> Table<'a, T> {
    /// The row with a number.
    #[inline(always)]
    pub fn row(self, number: u32) -> &'a [T] {
        let start = number as usize * self.stride;
        &self.elements[start..start + self.stride]
    }

    /// Fetches a row into the cache.
    #[inline(always)]
    pub fn prefetch(self, number: u32) {
        let row = self.row(number);
        let end = min(FETCHED_BYTES, size_of_val(row));
        (0..end).step_by(64).for_each(|at| prefetch(&row[at / size_of::<T>()]));
    }
}

/// Fetches what a reference points to into the cache.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads no value and cannot fault, and every x86-64 processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

macro_rules! float_sums {
    ($term:ident, $sum:ident, $float:ty) => {
        /// `sum` and the product of `a` and `b`, or the square of their difference.
        #[inline(always)]
        fn $term<const FMA: bool, const L2: bool>(a: $float, b: $float, sum: $float) -> $float {
            let (a, b) = if L2 { (a - b, a - b) } else { (a, b) };
            if FMA { a.mul_add(b, sum) } else { a * b + sum }
        }

        /// The sum of products, or of squared differences, over the shorter length.
        #[inline(always)]
        fn $sum<const FMA: bool, const L2: bool>(a: &[$float], b: &[$float]) -> $float {
            const LANES: usize = 32 / size_of::<$float>();
            const WIDE: usize = 4 * LANES;
            let len = min(a.len(), b.len());
            let ((a, a_rest), (b, b_rest)) = (a[..len].as_chunks::<WIDE>(), b[..len].as_chunks::<WIDE>());
            let mut wide = [0.0; WIDE];
            for (a, b) in a.iter().zip(b) {
                for i in 0..WIDE {
                    wide[i] = $term::<FMA, L2>(a[i], b[i], wide[i]);
                }
            }
            let mut lanes: [$float; LANES] =
                std::array::from_fn(|i| (wide[i] + wide[i + LANES]) + (wide[i + 2 * LANES] + wide[i + 3 * LANES]));
            let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks::<LANES>(), b_rest.as_chunks::<LANES>());
            for (a, b) in a.iter().zip(b) {
                for i in 0..LANES {
                    lanes[i] = $term::<FMA, L2>(a[i], b[i], lanes[i]);
                }
            }
            let sum = lanes.iter().fold(0.0, |sum, lane| sum + lane);
            a_rest.iter().zip(b_rest).fold(sum, |sum, (a, b)| $term::<FMA, L2>(*a, *b, sum))
        }
    };
}

float_sums!(term_f32, sum_f32, f32);
float_sums!(term_f64, sum_f64, f64);

/// The sum of products of codes, each a signed byte.
#[inline(always)]
fn sum_codes<const FMA: bool>(a: &[u8], b: &[u8]) -> i32 {
    const WIDE: usize = 32;
    let len = min(a.len(), b.len());
    let product = |a: u8, b: u8| i32::from(a.cast_signed()) * i32::from(b.cast_signed());
    let ((a, a_rest), (b, b_rest)) = (a[..len].as_chunks::<WIDE>(), b[..len].as_chunks::<WIDE>());
    let wide: i32 = a.iter().zip(b).map(|(a, b)| (0..WIDE).map(|i| product(a[i], b[i])).sum::<i32>()).sum();
    wide + a_rest.iter().zip(b_rest).map(|(a, b)| product(*a, *b)).sum::<i32>()
}

macro_rules! sums_of_many {
    ($many:ident, $sum:ident, $element:ty $(, $l2:ident)?) => {
        #[inline(always)]
        fn $many<const FMA: bool $(, const $l2: bool)?>(
            query: &[$element],
            rows: Table<'_, $element>,
            numbers: &[u32],
            sums: &mut Vec<f32>,
        ) {
            // A plain loop: what a closure does inside of the standard library is compiled for the target of the build.
            sums.clear();
            sums.resize(numbers.len(), 0.0);
            for (i, (number, sum)) in numbers.iter().zip(sums).enumerate() {
                if let Some(next) = numbers.get(i + ROWS_AHEAD) {
                    rows.prefetch(*next);
                }
                *sum = $sum::<FMA $(, $l2)?>(query, rows.row(*number)) as f32;
            }
        }
    };
}

sums_of_many!(many_f32, sum_f32, f32, L2);
sums_of_many!(many_f64, sum_f64, f64, L2);
sums_of_many!(many_codes, sum_codes, u8);

/// Whether the sum of any row is below the bound for squared differences, or above it for products.
#[inline(always)]
fn any_beyond<const FMA: bool, const L2: bool>(
    query: &[f32],
    rows: Table<'_, f32>,
    numbers: &[u32],
    bound: f32,
) -> bool {
    for number in numbers {
        let sum = sum_f32::<FMA, L2>(query, rows.row(*number));
        if if L2 { sum < bound } else { sum > bound } {
            return true;
        }
    }
    false
}

macro_rules! versions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? = $body:ident $(, $l2:literal)?;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[allow(unsafe_code)]
        pub fn $name($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2($($arg: $type),*) $(-> $result)? {
                    $body::<true $(, $l2)?>($($arg),*)
                }
                // SAFETY: the processor has what the function is compiled for.
                return unsafe { with_avx2($($arg),*) };
            }
            $body::<TARGET_FMA $(, $l2)?>($($arg),*)
        }
    )*};
}

versions! {
    /// The sum of squared differences.
    l2_f32(a: &[f32], b: &[f32]) -> f32 = sum_f32, true;
    /// The sum of products.
    dot_f32(a: &[f32], b: &[f32]) -> f32 = sum_f32, false;
    /// The sum of squared differences.
    l2_f64(a: &[f64], b: &[f64]) -> f64 = sum_f64, true;
    /// The sum of products.
    dot_f64(a: &[f64], b: &[f64]) -> f64 = sum_f64, false;
    /// The sum of products of codes, each a signed byte.
    dot_codes(a: &[u8], b: &[u8]) -> i32 = sum_codes;
    /// [`l2_f32`] of the query with each of the rows.
    l2_f32_of(query: &[f32], rows: Table<'_, f32>, numbers: &[u32], sums: &mut Vec<f32>) = many_f32, true;
    /// [`dot_f32`] of the query with each of the rows.
    dot_f32_of(query: &[f32], rows: Table<'_, f32>, numbers: &[u32], sums: &mut Vec<f32>) = many_f32, false;
    /// Whether [`l2_f32`] of the query with any of the rows is below a bound.
    is_any_l2_below(query: &[f32], rows: Table<'_, f32>, numbers: &[u32], bound: f32) -> bool = any_beyond, true;
    /// Whether [`dot_f32`] of the query with any of the rows is above a bound.
    is_any_dot_above(query: &[f32], rows: Table<'_, f32>, numbers: &[u32], bound: f32) -> bool = any_beyond, false;
    /// [`l2_f64`] of the query with each of the rows, rounded.
    l2_f64_of(query: &[f64], rows: Table<'_, f64>, numbers: &[u32], sums: &mut Vec<f32>) = many_f64, true;
    /// [`dot_f64`] of the query with each of the rows, rounded.
    dot_f64_of(query: &[f64], rows: Table<'_, f64>, numbers: &[u32], sums: &mut Vec<f32>) = many_f64, false;
    /// [`dot_codes`] of the query with each of the rows, which may be longer.
    dot_codes_of(query: &[u8], rows: Table<'_, u8>, numbers: &[u32], sums: &mut Vec<f32>) = many_codes;
}

macro_rules! cosine_distances {
    ($($name:ident, $of_sums:ident, $dot:ident, $float:ty;)*) => {$(
        /// 1 minus the cosine of the angle between two vectors; NaN if one has only zeros.
        pub fn $name(a: &[$float], b: &[$float]) -> $float {
            $of_sums(a, b, $dot(a, a), $dot(b, b))
        }

        /// The same, with the sums of products of each vector with itself.
        pub fn $of_sums(a: &[$float], b: &[$float], a_with_a: $float, b_with_b: $float) -> $float {
            let product = a_with_a * b_with_b;
            if product.is_normal() {
                return 1.0 - $dot(a, b) / product.sqrt();
            }
            // The squares are too large or too small for the type.
            let wide = |row: &[$float]| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
            scaled_cosine_distance(wide(a), wide(b)) as $float
        }
    )*};
}

cosine_distances! {
    cosine_distance_f32, cosine_distance_of_sums_f32, dot_f32, f32;
    cosine_distance_f64, cosine_distance_of_sums_f64, dot_f64, f64;
}

/// The cosine distance of vectors that are divided by their greatest elements.
fn scaled_cosine_distance(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    for row in [&mut a, &mut b] {
        let greatest = row.iter().fold(0.0_f64, |greatest, x| greatest.max(x.abs()));
        row.iter_mut().for_each(|x| *x /= greatest);
    }
    1.0 - dot_f64(&a, &b) / (dot_f64(&a, &a) * dot_f64(&b, &b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_give_the_same_sums() {
        for len in 0..140_usize {
            let number = |i: usize| ((i * 37 + len * 11) % 255) as f64 - 127.0;
            let (a, b): (Vec<f64>, Vec<f64>) = (0..len).map(|i| (number(i), number(i + 5))).unzip();
            let [a32, b32] = [&a, &b].map(|row| row.iter().map(|x| *x as f32).collect::<Vec<f32>>());
            let [codes_a, codes_b] =
                [&a, &b].map(|row| row.iter().map(|x| (*x as i8).cast_unsigned()).collect::<Vec<u8>>());
            // Integers of this size have exact sums in any order.
            let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let l2: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
            assert_eq!([sum_f64::<false, false>(&a, &b), dot_f64(&a, &b)], [dot, dot]);
            assert_eq!([sum_f64::<false, true>(&a, &b), l2_f64(&a, &b)], [l2, l2]);
            assert_eq!([sum_f32::<false, false>(&a32, &b32), dot_f32(&a32, &b32)], [dot as f32, dot as f32]);
            assert_eq!([sum_f32::<false, true>(&a32, &b32), l2_f32(&a32, &b32)], [l2 as f32, l2 as f32]);
            let codes = [sum_codes::<false>(&codes_a, &codes_b), dot_codes(&codes_a, &codes_b)];
            assert_eq!(codes, [dot as i32, dot as i32]);
        }
    }

    #[test]
    fn cosines_of_great_and_small_vectors_are_right() {
        for scale in [1e-45_f32, 1e-23, 1.0, 1e25, 3e38] {
            let distance = cosine_distance_f32(&[scale, 0.0], &[1.0, 1.0]);
            assert!((distance - 0.292_893_2).abs() < 1e-6, "{scale}: {distance}");
        }
        for scale in [5e-324_f64, 1e-170, 1.0, 1e200] {
            let distance = cosine_distance_f64(&[scale, scale], &[2.0, 2.0]);
            assert!(distance.abs() < 1e-12, "{scale}: {distance}");
        }
        assert!(cosine_distance_f32(&[0.0, 0.0], &[1.0, 1.0]).is_nan());
        assert!(cosine_distance_f64(&[f64::INFINITY, 0.0], &[1.0, 1.0]).is_nan());
    }

    #[test]
    fn sums_of_many_are_those_of_each() {
        let elements: Vec<f32> = (0..700).map(|i| (i * i % 101) as f32).collect();
        let (rows, numbers, mut sums) = (Table { elements: &elements, stride: 7 }, [99, 0, 3, 3, 50, 98], vec![1.0; 9]);
        l2_f32_of(rows.row(1), rows, &numbers, &mut sums);
        let expected: Vec<f32> = numbers.iter().map(|number| l2_f32(rows.row(1), rows.row(*number))).collect();
        assert_eq!(sums, expected);
        let least = expected.iter().copied().fold(f32::MAX, f32::min);
        assert!(is_any_l2_below(rows.row(1), rows, &numbers, least + 1.0));
        assert!(!is_any_l2_below(rows.row(1), rows, &numbers, least));
    }
}
