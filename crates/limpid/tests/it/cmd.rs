//! The command line by its pages in `tests/cmd`: each page is a home of its own, its commands run one after the other.
//!
//! `TRYCMD=overwrite cargo test -p limpid --test it cmd` writes what the program says; read it before you commit it.

use std::path::{Path, PathBuf};

#[test]
fn every_page_says_what_the_program_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    assert!(!pages.is_empty());
    // A page that fails does not keep the ones after it from being looked at.
    pages.retain(|page| std::panic::catch_unwind(|| look_at(page)).is_err());
    assert!(pages.is_empty(), "these pages say something else than the program: {pages:#?}");
}

fn look_at(page: &Path) {
    let home = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases.insert_var("[HOME]", home.path().display().to_string()).unwrap();
    cases
        .env("LIMPID_HOME", home.path().display().to_string())
        .env("OPENAI_API_KEY", "sk-test-0123456789")
        .env("OPENAI_BASE_URL", "")
        .env("LIMPID_MODEL", "")
        .env("NO_COLOR", "1")
        .env("TZ", "UTC")
        .case(page)
        .run();
}
