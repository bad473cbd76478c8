//! The open databases by number. Numbers begin with 0, and none is used twice.

use std::collections::BTreeMap;

use cozo::DbInstance;
use parking_lot::RwLock;

static HANDLES: RwLock<Handles> = RwLock::new(Handles::new());

struct Handles {
    next: i32,
    open: BTreeMap<i32, DbInstance>,
}

impl Handles {
    const fn new() -> Self {
        Handles { next: 0, open: BTreeMap::new() }
    }

    fn insert(&mut self, db: DbInstance) -> Result<i32, String> {
        let id = self.next;
        self.next = id.checked_add(1).ok_or("this process has opened 2147483647 databases, and can open no more")?;
        self.open.insert(id, db);
        Ok(id)
    }
}

/// Keeps a database, and gives its number.
pub fn insert(db: DbInstance) -> Result<i32, String> {
    HANDLES.write().insert(db)
}

/// The database of a number; a handle of it, so that others may close it meanwhile.
pub fn get(id: i32) -> Result<DbInstance, String> {
    HANDLES.read().open.get(&id).cloned().ok_or_else(|| "database closed".to_string())
}

/// Closes the database of a number, and stops what it runs; whether it was open.
pub fn close(id: i32) -> bool {
    let closed = HANDLES.write().open.remove(&id);
    // Dropped without the lock: letting go of files takes time.
    closed.inspect(DbInstance::interrupt_all).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_with_an_error() {
        let mut handles = Handles { next: i32::MAX - 1, open: BTreeMap::new() };
        assert_eq!(handles.insert(DbInstance::default()), Ok(i32::MAX - 1));
        assert!(handles.insert(DbInstance::default()).is_err());
        assert!(handles.insert(DbInstance::default()).is_err());
        assert_eq!(handles.open.len(), 1);
    }
}
