//! The hidden sub-command that parses, without the rest of the program.

fn main() -> std::process::ExitCode {
    limpid_formats::worker::main(std::env::args_os()).map_or(std::process::ExitCode::from(2), Into::into)
}
