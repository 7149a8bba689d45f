//! `service`: a unit of systemd for the user, or an agent of launchd.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::context::Context;
use crate::cli::ServiceCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `service …`.
///
/// # Errors
/// When this system has no such services, or the file cannot be written.
pub fn run(context: &Context, command: &ServiceCommand) -> Result<(), Failure> {
    let service = Service::of(context)?;
    match command {
        ServiceCommand::Install { print: true } => output::data(&service.text),
        ServiceCommand::Install { print: false } => install(&service),
        ServiceCommand::Uninstall => uninstall(&service),
    }
}

/// A service as a system wants it.
struct Service {
    file: PathBuf,
    text: String,
    /// Commands that begin to use the file.
    start: Vec<Vec<String>>,
    /// Commands that stop using it.
    stop: Vec<Vec<String>>,
}

impl Service {
    fn of(context: &Context) -> Result<Self, Failure> {
        let environment = &context.environment;
        let program = environment
            .program
            .as_deref()
            .ok_or_else(|| Failure::new(ExitStatus::Failed, "this program does not know its own file"))?;
        let folder = |name: &str| environment.variable(name).map(PathBuf::from);
        let user = folder("HOME")
            .ok_or_else(|| Failure::new(ExitStatus::Usage, "your home folder is unknown").advise("Set HOME."))?;
        let home = context.home.path();
        if cfg!(target_os = "macos") {
            Ok(Self::launchd(program, home, &user))
        } else if cfg!(target_os = "linux") {
            let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| user.join(".config"));
            Ok(Self::systemd(program, home, &config))
        } else {
            Err(Failure::new(ExitStatus::Usage, "services are for Linux with systemd and for macOS")
                .advise("Have your system start `limpid serve` by its own means."))
        }
    }

    fn systemd(program: &Path, home: &Path, config: &Path) -> Self {
        const UNIT: &str = "limpid.service";
        let text = format!(
            "[Unit]\nDescription=Limpid, a personal agent\n\n\
             [Service]\nExecStart={} --home {} serve\nEnvironmentFile=-{}\nRestart=on-failure\nRestartSec=5\n\n\
             [Install]\nWantedBy=default.target\n",
            systemd_word(&program.display().to_string()),
            systemd_word(&home.display().to_string()),
            home.join("env").display().to_string().replace('%', "%%"),
        );
        let systemctl = |words: &[&str]| {
            ["systemctl", "--user"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>()
        };
        Self {
            file: config.join("systemd/user").join(UNIT),
            text,
            start: vec![systemctl(&["daemon-reload"]), systemctl(&["enable", "--now", UNIT])],
            stop: vec![systemctl(&["disable", "--now", UNIT])],
        }
    }

    fn launchd(program: &Path, home: &Path, user: &Path) -> Self {
        const LABEL: &str = "agent.limpid";
        let file = user.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
        let words =
            [program.display().to_string(), "--home".to_owned(), home.display().to_string(), "serve".to_owned()];
        let words: String = words.iter().map(|word| format!("    <string>{}</string>\n", xml(word))).collect();
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n\
             \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
             \x20 <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <true/>\n\
             \x20 <key>StandardErrorPath</key>\n  <string>{}</string>\n</dict>\n</plist>\n",
            xml(&home.join("data/serve.log").display().to_string()),
        );
        let launchctl = |word: &str| vec!["launchctl".to_owned(), word.to_owned(), file.display().to_string()];
        Self { text, start: vec![launchctl("load")], stop: vec![launchctl("unload")], file }
    }
}

fn install(service: &Service) -> Result<(), Failure> {
    let file = &service.file;
    let failed = |error: std::io::Error| Failure::new(ExitStatus::Failed, format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(file, &service.text).map_err(failed)?;
    output::tell(&format!("Wrote {}.", file.display()));
    carry_out(&service.start)?;
    output::tell("`limpid serve` runs and starts again when you log in.");
    Ok(())
}

fn uninstall(service: &Service) -> Result<(), Failure> {
    let file = &service.file;
    if !file.exists() {
        output::tell("There is no service.");
        return Ok(());
    }
    let stopped = carry_out(&service.stop);
    std::fs::remove_file(file)
        .map_err(|error| Failure::new(ExitStatus::Failed, format!("{}: {error}", file.display())))?;
    output::tell(&format!("Removed {}.", file.display()));
    stopped
}

/// Runs the system's own commands; one that fails is for the person to run.
fn carry_out(commands: &[Vec<String>]) -> Result<(), Failure> {
    for words in commands {
        let Some((program, rest)) = words.split_first() else { continue };
        let status = Command::new(program).args(rest).stdin(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            let command = words.join(" ");
            return Err(Failure::new(ExitStatus::Failed, format!("`{command}` failed"))
                .advise(format!("Run it yourself: {command}")));
        }
    }
    Ok(())
}

/// A word of a command line in a unit.
fn systemd_word(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_program_with_its_home_whatever_they_are_called() {
        let (program, home) = (Path::new("/opt/my \"apps\"/limpid"), Path::new("/home/ada & bob/100%/.limpid"));
        let systemd = Service::systemd(program, home, Path::new("/home/ada/.config"));
        let launchd = Service::launchd(program, home, Path::new("/home/ada"));
        let told = |service: &Service| {
            let commands =
                |commands: &[Vec<String>]| commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join("; ");
            let Service { file, text, start, stop } = service;
            format!("{}\n{}\n{}\n{text}", file.display(), commands(start), commands(stop))
        };
        insta::assert_snapshot!(format!("{}\n{}", told(&systemd), told(&launchd)));
    }
}
