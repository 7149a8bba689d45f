//! The skills that ship, embedded into the program.

use include_dir::{Dir, include_dir};

static SHIPPED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/skills");

/// The SKILL.md of every skill that ships, with the name of its folder, in the order of the names.
pub fn shipped_skills() -> Vec<(&'static str, &'static str)> {
    let text = |dir: &'static Dir<'static>| {
        let folder = dir.path().to_str()?;
        let file = dir.get_file(dir.path().join("SKILL.md"))?;
        Some((folder, file.contents_utf8()?))
    };
    let mut skills: Vec<_> = SHIPPED.dirs().filter_map(text).collect();
    skills.sort_unstable();
    skills
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-036
    #[test]
    fn every_skill_that_ships_is_one_and_its_line_is_short() {
        let skills = shipped_skills();
        assert!(skills.iter().any(|(folder, _)| *folder == "write-skill"));
        for (folder, text) in skills {
            let skill = crate::skill::parse(text, folder).unwrap();
            assert_eq!(skill.name.as_str(), folder);
            let line = format!("- {}: {}", skill.name, skill.description);
            assert!(line.len() <= 45, "{} bytes: {line}", line.len());
            assert!(!skill.body.is_empty() && !text.contains("allowed-tools"));
        }
    }
}
