//! Inputs from a file.

use std::path::Path;

use limpid_config::{MAX_FILE, regular_file};
use limpid_prompt::inputs::Inputs;

use crate::failure::{ExitStatus, Failure};

/// Reads an inputs file; `-` is standard input.
pub(super) fn read_inputs(file: &Path) -> Result<Inputs, Failure> {
    let name = file.display().to_string();
    let text =
        if name == "-" { std::io::read_to_string(std::io::stdin()) } else { regular_file::read_text(file, MAX_FILE) };
    let text = text.map_err(|error| Failure::new(ExitStatus::Files, format!("{name}: {error}")))?;
    Inputs::from_json(&text).map_err(|error| {
        Failure::new(ExitStatus::Files, format!("{name}: {error}"))
            .advise("The fields are listed by: limpid prompt schema")
    })
}
