//! The nearest of all vectors, computed by a scan of the relation. It reads each vector once, and a copy of the same bytes stands
//! beside it.

use std::hint::black_box;
use std::time::Instant;

use cozo::{DataValue, DbInstance};
use cozo_benches::figures::Figures;

use crate::data::{DIM, QUERIES, Vectors};
use crate::database::{list, micros, run, with_vectors};
use crate::vectors::{FILTERS, exact};

/// The figures of the part.
pub fn measure(vectors: &Vectors) -> Result<Figures, String> {
    let points = &vectors.points;
    let mut figures = Figures::new("search", format!("exact: {} vectors of {DIM} elements", points.len()));
    let db = with_vectors(points)?;
    check(&db, vectors)?;
    let queries: Vec<DataValue> = vectors.queries.iter().map(|query| list(query)).collect();
    let bytes = points.len() * DIM * size_of::<f32>();
    for (test, filter) in std::iter::once(("all", "true")).chain(FILTERS) {
        let took = micros(&db, &exact(filter), &queries)?;
        figures.add("mem", test, "us", took);
        if filter == "true" {
            figures.add("mem", test, "GB/s", bytes as f64 / took / 1e3);
        }
    }
    let took = copy(points);
    figures.add("memory copy", "all", "us", took);
    figures.add("memory copy", "all", "GB/s", bytes as f64 / took / 1e3);
    Ok(figures)
}

/// Compares what is found with distances that are computed here.
fn check(db: &DbInstance, vectors: &Vectors) -> Result<(), String> {
    for query in vectors.queries.iter().take(5) {
        let distance = |point: &Vec<f32>| {
            let squares = point.iter().zip(query).map(|(x, y)| f64::from(x - y).powi(2));
            squares.sum::<f64>()
        };
        let mut wanted: Vec<f64> = vectors.points.iter().map(distance).collect();
        wanted.sort_by(f64::total_cmp);
        wanted.truncate(10);
        let found = run(db, &exact("true"), &[("q", list(query))])?;
        let near = |(row, wanted): (&Vec<DataValue>, &f64)| (row[1].get_float().unwrap_or(-1.0) - wanted).abs() < 1e-3;
        if found.rows.len() != wanted.len() || !found.rows.iter().zip(&wanted).all(near) {
            return Err(format!("the nearest have distances {:?}, found was {:?}", wanted, found.rows));
        }
    }
    Ok(())
}

/// How many microseconds one thread takes to copy the elements from one block of memory into another.
fn copy(points: &[Vec<f32>]) -> f64 {
    let from: Vec<f32> = points.iter().flatten().copied().collect();
    let mut to = from.clone();
    let start = Instant::now();
    for _ in 0..QUERIES {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
    }
    start.elapsed().as_secs_f64() * 1e6 / QUERIES as f64
}
