//! Pages of the book in `docs/`, and the blocks of code in them.

#![allow(dead_code, reason = "each test program uses its part")]

use std::ops::Range;
use std::path::{Path, PathBuf};

/// Set to write what programs give into the pages instead of comparing it.
const BLESS: &str = "COZO_BLESS_DOCS";

/// A page.
pub struct Page {
    /// The path from `docs/` on.
    pub name: String,
    pub text: String,
}

/// A block of code.
#[derive(Clone)]
pub struct Block {
    /// What stands behind the backticks: a language and, after commas, how it is meant.
    pub info: String,
    pub code: String,
    /// Where the block begins, with the name of the page.
    pub place: String,
    /// Where the code is in the page, in bytes.
    range: Range<usize>,
}

/// The folder of the book.
pub fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// All pages, by name, with the page that leads to them.
pub fn pages() -> Vec<Page> {
    let mut pages = vec![read_page(&book().join("../README.md"), "../README.md".to_string())];
    read_folder(&book(), "", &mut pages);
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

fn read_folder(folder: &Path, prefix: &str, pages: &mut Vec<Page>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = format!("{prefix}{}", path.file_name().expect("it has a name").to_string_lossy());
        // Pages on the design are read in the repository, not in the book.
        if path.is_dir() && name != "design" {
            read_folder(&path, &format!("{name}/"), pages);
        } else if name.ends_with(".md") {
            pages.push(read_page(&path, name));
        }
    }
}

fn read_page(path: &Path, name: String) -> Page {
    Page { text: std::fs::read_to_string(path).expect("the page can be read"), name }
}

impl Page {
    /// The blocks of code, in order.
    pub fn blocks(&self) -> Vec<Block> {
        let (mut blocks, mut open, mut at): (Vec<Block>, Option<Block>, usize) = (vec![], None, 0);
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let end = at + line.len();
            match (open.take(), line.strip_prefix("```")) {
                (Some(mut block), Some(_)) => {
                    block.range.end = at;
                    block.code = self.text[block.range.clone()].to_string();
                    blocks.push(block);
                }
                (Some(block), None) => open = Some(block),
                (None, Some(info)) => {
                    let place = format!("docs/{}:{}", self.name, number + 1);
                    open = Some(Block { info: info.trim().to_string(), code: String::new(), place, range: end..end });
                }
                (None, None) => {}
            }
            at = end;
        }
        assert!(open.is_none(), "docs/{}: the last block does not end", self.name);
        blocks
    }
}

impl Block {
    pub fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }
}

/// What blocks of a page should have in them. Dropping it fails with all that differ, or writes them.
pub struct Expectations<'a> {
    page: &'a Page,
    differing: Vec<(Block, String)>,
}

impl<'a> Expectations<'a> {
    pub fn new(page: &'a Page) -> Self {
        Expectations { page, differing: vec![] }
    }

    /// Notes that this block should have this text; blanks at its end do not matter.
    pub fn expect(&mut self, block: &Block, found: &str) {
        if block.code.trim_end() != found.trim_end() {
            self.differing.push((block.clone(), found.trim_end().to_string()));
        }
    }

    fn bless(&self) {
        let mut text = self.page.text.clone();
        for (block, found) in self.differing.iter().rev() {
            text.replace_range(block.range.clone(), &format!("{found}\n"));
        }
        std::fs::write(book().join(&self.page.name), text).expect("the page can be written");
    }
}

impl Drop for Expectations<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() || self.differing.is_empty() {
            return;
        }
        if std::env::var_os(BLESS).is_some() {
            return self.bless();
        }
        let report = self.differing.iter().map(|(block, found)| format!("{} should be\n{found}\n", block.place));
        panic!("{}\n`make docs` writes it.", report.collect::<Vec<_>>().join("\n"));
    }
}
