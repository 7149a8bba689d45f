//! The hidden sub-commands of the sandbox without the rest of the program, and what a hostile program would try.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = limpid_tools::exec::sandbox::main(std::env::args_os()) {
        return code.into();
    }
    std::process::ExitCode::from(2)
}
