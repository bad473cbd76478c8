//! An index as bytes, for storage, and back. Who stores them adds a checksum, so the bytes have none; still, damaged bytes give an error
//! or an index that finds the wrong nodes, and never a panic.
//!
//! ```text
//! head      magic, version | metric, precision, quantization, flags | dim, nodes | m, ef_construction | layers, entry
//! rows      the vectors or codes, as long as the head says
//! layers    for each from the lowest up: its nodes (none for the lowest), then its links
//! twins     heads, starts, members
//! infinite  nodes
//! ```
//!
//! Numbers are little-endian. A list of nodes begins with its length.

use super::graph::{Graph, Layer, NONE};
use super::index::VectorIndex;
use super::metric::Metric;
use super::options::{GraphOptions, Quantization};
use super::rows::{Precision, VectorError};
use super::space::{Space, SpaceRows};
use super::thresholds::{MAX_LAYERS, MAX_LINKS, MAX_NODES};
use super::twins::Twins;

const MAGIC: [u8; 4] = *b"VIDX";

/// The version of the format that this module writes, and the only one that it reads.
const VERSION: u32 = 1;

const METRICS: [Metric; 3] = [Metric::L2, Metric::Cosine, Metric::InnerProduct];
const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];
const QUANTIZATIONS: [Quantization; 2] = [Quantization::None, Quantization::Int8];

const EXTEND_CANDIDATES: u8 = 1;
const KEEP_PRUNED: u8 = 2;

type Checked<T> = Result<T, VectorError>;

impl VectorIndex {
    /// The index as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.memory_bytes());
        self.write_head(&mut bytes);
        match &self.space.rows {
            SpaceRows::F32(all) => write_all(&mut bytes, all, |x| x.to_le_bytes()),
            SpaceRows::F64(all) => write_all(&mut bytes, all, |x| x.to_le_bytes()),
            SpaceRows::Codes(all) => bytes.extend_from_slice(all),
        }
        for layer in &self.graph.layers {
            write_list(&mut bytes, &layer.nodes);
            write_all(&mut bytes, &layer.links, |x| x.to_le_bytes());
        }
        let Twins { heads, starts, members } = &self.twins;
        for list in [heads, starts, members, &self.infinite] {
            write_list(&mut bytes, list);
        }
        bytes
    }

    fn write_head(&self, bytes: &mut Vec<u8>) {
        let GraphOptions { metric, quantization, m, ef_construction, extend_candidates, keep_pruned_connections } =
            self.options;
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(METRICS.iter().position(|other| *other == metric).unwrap_or(0) as u8);
        bytes.push(PRECISIONS.iter().position(|other| *other == self.precision()).unwrap_or(0) as u8);
        bytes.push(QUANTIZATIONS.iter().position(|other| *other == quantization).unwrap_or(0) as u8);
        bytes.push(u8::from(extend_candidates) * EXTEND_CANDIDATES + u8::from(keep_pruned_connections) * KEEP_PRUNED);
        for number in [self.dim(), self.len(), m, ef_construction, self.graph.layers.len(), self.graph.entry as usize] {
            bytes.extend((number as u64).to_le_bytes());
        }
    }

    /// The index that bytes are of. Fails if they are not of an index, are too few or too many, or contradict one another.
    pub fn from_bytes(bytes: &[u8]) -> Checked<Self> {
        let mut bytes = IndexBytes(bytes);
        let (mut index, layers) = read_head(&mut bytes)?;
        let (len, m) = (index.len(), index.options.m);
        for layer in 0..layers {
            let (nodes, slots) = match layer {
                0 => (bytes.list(0)?, len),
                _ => bytes.list(len).map(|nodes| (nodes.clone(), nodes.len()))?,
            };
            let width = if layer == 0 { 2 * m } else { m };
            let below = index.graph.layers.last();
            let down = down_of(&nodes, below)?;
            let links: Vec<u32> = bytes.numbers(slots.checked_mul(width).ok_or(DAMAGED)?)?;
            // `NONE` and one more is 0.
            let highest = links.iter().fold(0, |highest, link| link.wrapping_add(NONE.wrapping_neg()).max(highest));
            check(highest as usize <= slots, "a link leads to no node")?;
            index.graph.layers.push(Layer { nodes, down, width, links });
        }
        let slots = index.graph.layers.last().map_or(1, Layer::len);
        check((index.graph.entry as usize) < slots, "there is no such entry")?;
        index.twins = read_twins(&mut bytes, len)?;
        index.infinite = bytes.list(len)?;
        check(bytes.0.is_empty(), "there are more bytes")?;
        Ok(index)
    }
}

const DAMAGED: VectorError = VectorError::Bytes("a length is too great");

fn check(is_right: bool, fault: &'static str) -> Checked<()> {
    if is_right { Ok(()) } else { Err(VectorError::Bytes(fault)) }
}

/// Reads the head and the rows. Returns an index without layers, and their number.
fn read_head(bytes: &mut IndexBytes<'_>) -> Checked<(VectorIndex, usize)> {
    check(bytes.take(4)? == MAGIC, "they begin otherwise")?;
    check(bytes.take(4)? == VERSION.to_le_bytes(), "they are of another version")?;
    let kinds = bytes.take(4)?;
    let unknown = VectorError::Bytes("an option is unknown");
    let metric = *METRICS.get(usize::from(kinds[0])).ok_or(unknown)?;
    let precision = *PRECISIONS.get(usize::from(kinds[1])).ok_or(unknown)?;
    let quantization = *QUANTIZATIONS.get(usize::from(kinds[2])).ok_or(unknown)?;
    let numbers = bytes.numbers::<u64>(6)?;
    let mut numbers = numbers.into_iter().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let mut next = || numbers.next().unwrap_or(0);
    let (dim, len, m, ef_construction, layers, entry) = (next(), next(), next(), next(), next(), next());
    check(len <= MAX_NODES && (2..=MAX_LINKS).contains(&m) && ef_construction > 0, "an option is out of range")?;
    check(layers <= MAX_LAYERS && (layers == 0 || len > 0), "there are too many layers")?;
    let options = GraphOptions {
        metric,
        quantization,
        m,
        ef_construction,
        extend_candidates: kinds[3] & EXTEND_CANDIDATES != 0,
        keep_pruned_connections: kinds[3] & KEEP_PRUNED != 0,
    };
    let mut space = Space { metric, precision, dim, len, rows: SpaceRows::Codes(vec![]) };
    check(dim > 0 || len == 0, "vectors are empty")?;
    let count = |stride: usize| len.checked_mul(stride).ok_or(DAMAGED);
    space.rows = match (quantization, precision) {
        (Quantization::Int8, _) => {
            let stride = dim.checked_add(super::codes::FACTOR_BYTES).ok_or(DAMAGED)?;
            SpaceRows::Codes(bytes.take(count(stride)?)?.to_vec())
        }
        (_, Precision::F32) => SpaceRows::F32(bytes.numbers(count(dim)?)?),
        (_, Precision::F64) => SpaceRows::F64(bytes.numbers(count(dim)?)?),
    };
    let mut index = VectorIndex::without_graph(space, options);
    index.graph = Graph { layers: vec![], entry: u32::try_from(entry).map_err(|_| DAMAGED)? };
    Ok((index, layers))
}

/// The slots of nodes on the layer below.
fn down_of(nodes: &[u32], below: Option<&Layer>) -> Checked<Vec<u32>> {
    let Some(below) = below else { return Ok(vec![]) };
    check(!nodes.is_empty() && nodes.is_sorted_by(|a, b| a < b), "the nodes of a layer are out of order")?;
    let missing = VectorError::Bytes("a node is missing on a lower layer");
    nodes.iter().map(|node| below.slot(*node).ok_or(missing)).collect()
}

fn read_twins(bytes: &mut IndexBytes<'_>, len: usize) -> Checked<Twins> {
    let (heads, starts, members) = (bytes.list(len)?, bytes.list(usize::MAX)?, bytes.list(len)?);
    let ends = (starts.first().copied().unwrap_or(0), starts.last().copied().unwrap_or(0));
    let is_right = heads.is_sorted_by(|a, b| a < b)
        && (heads.len() + 1 == starts.len() || (heads.is_empty() && starts.is_empty()))
        && starts.is_sorted()
        && ends == (0, members.len() as u32);
    check(is_right, "equal vectors are out of order")?;
    Ok(Twins { heads, starts, members })
}

/// Bytes that are read from the front.
struct IndexBytes<'a>(&'a [u8]);

impl<'a> IndexBytes<'a> {
    fn take(&mut self, len: usize) -> Checked<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(VectorError::Bytes("they end too soon"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn numbers<T: Number>(&mut self, len: usize) -> Checked<Vec<T>> {
        let bytes = self.take(len.checked_mul(size_of::<T>()).ok_or(DAMAGED)?)?;
        Ok(T::all(bytes))
    }

    /// A list of numbers below a limit.
    fn list(&mut self, limit: usize) -> Checked<Vec<u32>> {
        let len = self.numbers::<u32>(1)?[0];
        let numbers: Vec<u32> = self.numbers(len as usize)?;
        check(numbers.iter().all(|number| (*number as usize) < limit), "a number is out of range")?;
        Ok(numbers)
    }
}

/// A number with a fixed number of bytes.
trait Number: Sized {
    /// The numbers that bytes are of.
    fn all(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            fn all(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|bytes| <$number>::from_le_bytes(*bytes)).collect()
            }
        }
    )*};
}

numbers!(u32, u64, f32, f64);

fn write_all<T: Copy, const N: usize>(bytes: &mut Vec<u8>, numbers: &[T], to_bytes: impl Fn(T) -> [u8; N]) {
    let start = bytes.len();
    bytes.resize(start + numbers.len() * N, 0);
    bytes[start..].as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(place, number)| *place = to_bytes(*number));
}

fn write_list(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend((numbers.len() as u32).to_le_bytes());
    write_all(bytes, numbers, |x| x.to_le_bytes());
}
