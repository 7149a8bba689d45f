//! MEA-06: size of the release binary, with the local engine and without.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Table;
use super::program::release_folder;

// MEA-06
pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let lean = release_folder(root).with_file_name("lean");
    let built = Command::new("cargo")
        .current_dir(root)
        .args(["build", "--release", "--quiet", "-p", "limpid", "--no-default-features", "--target-dir"])
        .arg(&lean)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.success() {
        return Err("the build without the local engine failed".to_owned());
    }
    let size = |file: &Path| {
        fs::metadata(file)
            .map(|data| format!("{:.1}", data.len() as f64 / 1e6))
            .map_err(|error| format!("{}: {error}", file.display()))
    };
    Ok(Table {
        title: "MEA-06 Size of the release binary",
        how: "File size in MB (10⁶ bytes), stripped.".to_owned(),
        target: "≤ 42 MB without, ≤ 50 MB with the local engine",
        head: vec!["without the local engine", "with it"],
        rows: vec![vec![size(&lean.join("release/limpid"))?, size(&release_folder(root).join("limpid"))?]],
    })
}
