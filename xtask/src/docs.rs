//! The generated pages: written by `cargo xtask docs`, compared by `cargo xtask docs --check`.

use std::fs;
use std::path::Path;

use limpid_prompt::Profiles;

/// Writes every generated page, or with `check` fails when one is stale.
pub(crate) fn run(root: &Path, check: bool) -> Result<(), String> {
    let man = limpid::reference::man_page().map_err(|error| format!("man page: {error}"))?;
    let pages = [
        ("docs/cli.md", limpid::reference::cli_reference()),
        ("docs/openapi.json", limpid_server::openapi()),
        ("docs/limpid.1", String::from_utf8_lossy(&man).into_owned()),
        ("docs/settings.md", limpid_config::settings_page()),
        ("docs/prompts.md", limpid_prompt::reference::prompts_page(&Profiles::shipped())),
    ];
    let mut stale = Vec::new();
    for (name, text) in pages {
        let file = root.join(name);
        if fs::read_to_string(&file).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            stale.push(name);
        } else {
            fs::write(&file, text).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("stale: {}; run `cargo xtask docs` and commit", stale.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-014
    #[test]
    fn the_generated_pages_are_what_the_program_says() {
        run(&crate::root(), true).unwrap();
    }
}
