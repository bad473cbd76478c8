//! The book hangs together: its table of contents has all pages, and its links lead somewhere.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::support::page::{Page, book, pages};

/// The targets of the links in a text, without those in code.
fn links(text: &str) -> Vec<String> {
    let mut links = vec![];
    for prose in text.split("```").step_by(2) {
        for part in prose.split('`').step_by(2) {
            let targets = part.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            links.extend(targets.map(|(target, _)| target.to_string()));
        }
    }
    links
}

/// The names by which links reach the headings of a page.
fn anchors(page: &Page) -> HashSet<String> {
    let headings = page.text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn the_contents_have_every_page_once() {
    let pages = pages();
    let summary = pages.iter().find(|page| page.name == "SUMMARY.md").expect("there are contents");
    let listed = links(&summary.text);
    assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len(), "a page is listed twice");
    for page in pages.iter().filter(|page| !["SUMMARY.md", "../README.md"].contains(&page.name.as_str())) {
        assert!(listed.contains(&page.name), "docs/SUMMARY.md should list {}", page.name);
    }
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    for page in &pages {
        let folder = page.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(&page.text).iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.name.clone() } else { joined(folder, file) };
            assert!(book().join(&target).exists(), "docs/{}: {link} leads nowhere", page.name);
            let target = pages.iter().find(|page| page.name == target);
            if let Some(target) = target.filter(|_| !anchor.is_empty()) {
                assert!(anchors(target).contains(anchor), "docs/{}: {link} has no such heading", page.name);
            }
        }
    }
}

/// What those who change the program read is not in the book; its links lead somewhere, too.
#[test]
fn links_of_the_repository_lead_somewhere() {
    let root = book().join("..");
    let mut pages: Vec<PathBuf> = ["ARCHITECTURE.md", "CHANGELOG.md", "benches/README.md", "conformance/README.md"]
        .map(|name| root.join(name))
        .into();
    let design = std::fs::read_dir(root.join("docs/design")).expect("the folder can be read");
    pages.extend(design.map(|entry| entry.expect("the entry can be read").path()));
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("the page can be read");
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = link.split_once('#').map_or(link.as_str(), |(file, _)| file);
            let target = page.parent().expect("a page is in a folder").join(file);
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
        }
    }
}

/// A relative path from a folder on.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
