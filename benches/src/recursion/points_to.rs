//! Which objects a variable may point to, by inclusion (Andersen, 1994), with fields and without the order of statements.
//!
//! The programs are generated: functions of a few variables, in which objects are made, assigned, stored into fields and loaded
//! again; some assignments pass a value to another function, as a call does.

use std::collections::{BTreeMap, HashSet};

use cozo::{DataValue, DbInstance, NamedRows};
use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};

use crate::run;

/// The script; it answers how many pairs of variable and object there are.
pub const POINTS_TO: &str = "points_to[v, o] := *alloc[v, o]
    points_to[v, o] := *assign[v, w], points_to[w, o]
    points_to[v, o] := *load[v, base, field], points_to[base, b], field_points_to[b, field, o]
    field_points_to[b, field, o] := *store[base, field, w], points_to[base, b], points_to[w, o]
    ?[count(v)] := points_to[v, o]";

/// A function has so many variables.
const VARIABLES: u32 = 12;

/// Objects have so many fields.
const FIELDS: u32 = 6;

/// A program, as the facts that the analysis needs. All are numbered.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// `v = new o`
    pub alloc: Vec<(u32, u32)>,
    /// `v = w`
    pub assign: Vec<(u32, u32)>,
    /// `v = base.field`
    pub load: Vec<(u32, u32, u32)>,
    /// `base.field = w`
    pub store: Vec<(u32, u32, u32)>,
}

impl Program {
    /// A program of so many functions, always the same.
    pub fn generate(functions: u32) -> Program {
        let mut random = Random::seed_from_u64(1994);
        let mut program = Program::default();
        for function in 0..functions {
            let variable = |random: &mut Random| function * VARIABLES + random.random_range(0..VARIABLES);
            for _ in 0..4 {
                let object = program.alloc.len() as u32;
                program.alloc.push((variable(&mut random), object));
            }
            for _ in 0..12 {
                program.assign.push((variable(&mut random), variable(&mut random)));
            }
            for _ in 0..5 {
                let field = random.random_range(0..FIELDS);
                program.load.push((variable(&mut random), variable(&mut random), field));
                program.store.push((variable(&mut random), field, variable(&mut random)));
            }
            // A call: most are near, and hand a value on and another one back.
            let other = (function + random.random_range(1..20)) % functions;
            let argument = other * VARIABLES + random.random_range(0..VARIABLES);
            program.assign.push((argument, variable(&mut random)));
            if random.random_range(0..3) == 0 {
                program.assign.push((variable(&mut random), other * VARIABLES + random.random_range(0..VARIABLES)));
            }
        }
        program
    }

    /// Puts the facts into relations of their names.
    pub fn load_into(&self, db: &DbInstance) {
        run(
            db,
            "{:create alloc {v: Int, o: Int}} {:create assign {v: Int, w: Int}}
             {:create load {v: Int, base: Int, field: Int}} {:create store {base: Int, field: Int, w: Int}}",
            &[],
        );
        let pairs = |facts: &[(u32, u32)]| facts.iter().map(|(a, b)| row([*a, *b])).collect::<Vec<_>>();
        let triples = |facts: &[(u32, u32, u32)]| facts.iter().map(|(a, b, c)| row([*a, *b, *c])).collect::<Vec<_>>();
        let relation = |name: &str, headers: &[&str], rows| {
            (name.to_string(), NamedRows::new(headers.iter().map(|header| header.to_string()).collect(), rows))
        };
        let relations = [
            relation("alloc", &["v", "o"], pairs(&self.alloc)),
            relation("assign", &["v", "w"], pairs(&self.assign)),
            relation("load", &["v", "base", "field"], triples(&self.load)),
            relation("store", &["base", "field", "w"], triples(&self.store)),
        ];
        db.import_relations(BTreeMap::from(relations)).unwrap_or_else(|error| panic!("{error:?}"));
    }

    /// How many pairs of variable and object there are, by rounds over all statements until nothing changes.
    pub fn pairs(&self) -> usize {
        let mut of_variables: HashSet<(u32, u32)> = self.alloc.iter().copied().collect();
        let mut of_fields: HashSet<(u32, u32, u32)> = HashSet::new();
        loop {
            let before = (of_variables.len(), of_fields.len());
            let mut objects: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            of_variables.iter().for_each(|(v, o)| objects.entry(*v).or_default().push(*o));
            let mut in_fields: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
            of_fields.iter().for_each(|(b, field, o)| in_fields.entry((*b, *field)).or_default().push(*o));
            let of = |variable: &u32| objects.get(variable).map_or(&[] as &[u32], Vec::as_slice);
            for (v, w) in &self.assign {
                of_variables.extend(of(w).iter().map(|o| (*v, *o)));
            }
            for (v, base, field) in &self.load {
                let fields = of(base).iter().filter_map(|b| in_fields.get(&(*b, *field)));
                of_variables.extend(fields.flatten().map(|o| (*v, *o)));
            }
            for (base, field, w) in &self.store {
                of(base).iter().for_each(|b| of_fields.extend(of(w).iter().map(|o| (*b, *field, *o))));
            }
            if (of_variables.len(), of_fields.len()) == before {
                return of_variables.len();
            }
        }
    }
}

fn row<const N: usize>(numbers: [u32; N]) -> Vec<DataValue> {
    numbers.iter().map(|number| DataValue::from(i64::from(*number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count;

    #[test]
    fn what_is_stored_into_a_field_is_loaded_from_it() {
        // a = new 0; b = new 1; a.0 = b; c = a; d = c.0; e = c.1
        let program = Program {
            alloc: vec![(0, 0), (1, 1)],
            assign: vec![(2, 0)],
            load: vec![(3, 2, 0), (4, 2, 1)],
            store: vec![(0, 0, 1)],
        };
        // a and c point to 0; b and d to 1; e to nothing.
        assert_eq!(program.pairs(), 4);
        let db = DbInstance::default();
        program.load_into(&db);
        assert_eq!(count(&db, POINTS_TO), 4);
    }

    #[test]
    fn the_database_finds_all_pairs() {
        let program = Program::generate(60);
        let db = DbInstance::default();
        program.load_into(&db);
        assert!(program.pairs() > 60 * 12);
        assert_eq!(count(&db, POINTS_TO), program.pairs() as i64);
    }
}
