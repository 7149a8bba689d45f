//! The machine, in the words that prompts use: those of Go for programs, the usual ones for people.

use limpid_prompt::inputs::PlatformInfo;

/// The machine that this program was built for.
pub(crate) fn platform() -> PlatformInfo {
    let (os, name) = match std::env::consts::OS {
        "macos" => ("darwin", "macOS"),
        "windows" => ("windows", "Windows"),
        "linux" => ("linux", "Linux"),
        other => (other, other),
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    let runtime = concat!("Rust ", env!("CARGO_PKG_RUST_VERSION")).to_owned();
    PlatformInfo { os: os.to_owned(), arch: arch.to_owned(), name: name.to_owned(), runtime }
}
