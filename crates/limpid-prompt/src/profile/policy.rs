//! `modes/<mode>/policy.toml`: what a mode lets the agent do.

use std::collections::BTreeMap;

use limpid_core::ToolClass;
use limpid_core::policy::{ModeRules, ToolPattern, Writes};
use serde::Deserialize;
use toml::Spanned;

use crate::problem::{Fault, File, Problem};

use super::file_set::FileSet;
use super::shelf::{FileKind, kind};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    allow: Vec<Spanned<String>>,
    #[serde(default)]
    deny: Vec<Spanned<String>>,
    #[serde(default)]
    ask: Vec<Spanned<String>>,
    writes: Option<Spanned<String>>,
}

/// The rules of modes that bring their own.
pub(super) fn policies(set: &FileSet, problems: &mut Vec<Problem>) -> BTreeMap<String, ModeRules> {
    let mut policies = BTreeMap::new();
    for (path, file) in set.files() {
        let FileKind::ModePolicy(mode) = kind(path) else { continue };
        match read(file) {
            Ok(rules) => drop(policies.insert(mode, rules)),
            Err(fault) => problems.push(file.error(fault)),
        }
    }
    policies
}

fn read(file: &File) -> Result<ModeRules, Fault> {
    let raw: Raw = toml::from_str(&file.text).map_err(|error| {
        let fix = "write allow, deny, ask and writes as docs/profiles.md shows them";
        Fault::new(error.span().unwrap_or_default(), error.message().trim_end().to_owned(), fix)
    })?;
    let patterns = |texts: &[Spanned<String>]| {
        let pattern = |text: &Spanned<String>| {
            let bad = |error: limpid_core::policy::BadPattern| {
                Fault::new(text.span(), error.to_string(), "`memory_*` and `class:read` are such patterns")
            };
            ToolPattern::parse(text.get_ref()).map_err(bad)
        };
        texts.iter().map(pattern).collect::<Result<Vec<_>, _>>()
    };
    let class = |text: &Spanned<String>| {
        let bad = || Fault::new(text.span(), format!("`{}` is no class", text.get_ref()), CLASSES);
        ToolClass::parse(text.get_ref()).ok_or_else(bad)
    };
    let writes = raw.writes.as_ref().map_or(Ok(Writes::All), |text| {
        let bad =
            || Fault::new(text.span(), format!("`{}` is not known", text.get_ref()), "write all, documents or none");
        Writes::parse(text.get_ref()).ok_or_else(bad)
    })?;
    Ok(ModeRules {
        allow: patterns(&raw.allow)?,
        deny: patterns(&raw.deny)?,
        ask: raw.ask.iter().map(class).collect::<Result<_, _>>()?,
        writes,
    })
}

const CLASSES: &str = "write read, remember, write, send, execute or change-self";
