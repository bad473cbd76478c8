//! The programs in C in the pages of the book, `docs/`: they compile without a warning, and print what the page says.

use std::path::Path;
use std::process::Command;

use super::page::{Expectations, Page, pages};
use super::support::{compile_file, run};

fn check(page: &Page, folder: &Path) -> usize {
    let blocks = page.blocks();
    let mut expectations = Expectations::new(page);
    let programs: Vec<usize> = (0..blocks.len()).filter(|i| blocks[*i].info == "c").collect();
    for i in &programs {
        let source = folder.join(format!("program{i}.c"));
        std::fs::write(&source, &blocks[*i].code).expect("the program can be written");
        let printed = run(&mut Command::new(compile_file(&source, folder)));
        if let Some(output) = blocks.get(i + 1).filter(|block| block.info == "text") {
            expectations.expect(output, &printed);
        }
    }
    programs.len()
}

#[test]
fn programs_print_what_the_pages_say() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let programs: usize = pages().iter().map(|page| check(page, folder.path())).sum();
    assert!(programs > 0);
}
