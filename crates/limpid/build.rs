//! How the release binary is linked: the functions that a start runs stand together, so that it touches few pages of
//! the program (MEA-04, MEA-05), and what relocates them is packed (MEA-06).
//!
//! `link-order.txt` names the functions; `cargo run --release -p xtask -- order` writes it. A linker that does not know
//! an option links without it: the program is the same, only larger in memory.

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script everything in its environment")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link-order.txt");
    println!("cargo::rerun-if-env-changed=LIMPID_SYMBOLS");
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    let order = Path::new(env!("CARGO_MANIFEST_DIR")).join("link-order.txt");
    let ordered = format!("-Wl,--symbol-ordering-file={},--no-warn-symbol-ordering", order.display());
    let packed = "-Wl,-z,pack-relative-relocs".to_owned();
    // The profile keeps names, since the order goes by them; who wants to see them asks for them.
    let is_mac = env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos");
    let bare =
        env::var_os("LIMPID_SYMBOLS").is_none().then(|| if is_mac { "-Wl,-x" } else { "-Wl,--strip-all" }.to_owned());
    for argument in [ordered, packed].into_iter().chain(bare).filter(|argument| links(argument)) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// Whether the linker of this build takes an option, and this machine starts what comes out.
fn links(argument: &str) -> bool {
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else { return false };
    let (source, program) = (folder.join("probe.rs"), folder.join("probe"));
    if fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", linker.display()));
    }
    let target = env::var("TARGET").unwrap_or_default();
    rustc.arg("--target").arg(&target).arg("-C").arg(format!("link-arg={argument}"));
    let built = rustc.arg("-o").arg(&program).arg(&source).output().is_ok_and(|done| done.status.success());
    // A program for another machine cannot be tried here.
    built && (env::var("HOST").ok() != Some(target) || Command::new(&program).status().is_ok_and(|ran| ran.success()))
}
