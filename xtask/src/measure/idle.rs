//! MEA-05: what `limpid serve` holds of memory when nothing happens.

use std::fs;
use std::path::Path;
use std::time::Duration;

use limpid_testkit::Dovecot;
use limpid_testkit::mail::PASSWORD;

use super::Table;
use super::program::{Program, block_on};
use super::resident::Resident;

/// What is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Idle {
    /// Seconds from the start to the measure
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u64,
}

/// The owner's mail address.
const ADDRESS: &str = "me@example.com";

// MEA-05
pub(crate) fn measure(root: &Path, idle: Idle) -> Result<Table, String> {
    let (resident, mail) = block_on(run(root, idle))?;
    let mb = |kb: u64| format!("{:.1}", kb as f64 / 1000.0);
    Ok(Table {
        title: "MEA-05 Idle memory of `limpid serve`",
        how: format!(
            "The release binary serves a home with a heartbeat, a daily task, the door for what is handed in, and {mail}; \
             {} s after its start the kernel says what is resident (`/proc/PID/smaps_rollup`, MB). Of a file: the binary \
             and its data, which the kernel can drop and read again; own: what only this process has.",
            idle.seconds
        ),
        target: "≤ 20 MB without the local engine loaded (leanest peer: 48.7)",
        head: vec!["resident", "own", "of a file", "of a file, own"],
        rows: vec![vec![mb(resident.all), mb(resident.own), mb(resident.all - resident.own), mb(resident.own_of_file)]],
    })
}

/// What is resident in the end, and what stood for mail.
async fn run(root: &Path, idle: Idle) -> Result<(Resident, &'static str), String> {
    let program = Program::new(root, "[[reply]]\ntext = \"Here.\"\n").await?;
    let dovecot = Dovecot::start();
    let config = "model = \"openai/scripted\"\n[inbox]\nnotifications = true\nlisten = \"127.0.0.1:0\"\n";
    fs::create_dir_all(program.home()).map_err(|error| error.to_string())?;
    fs::write(program.home().join("limpid.toml"), config).map_err(|error| error.to_string())?;
    program.run(&["inbox", "token"])?;
    program.run(&["task", "add", "Drink water", "--cron", "0 9 * * *"])?;
    let mail = match &dovecot {
        Some(dovecot) => {
            let server = format!("127.0.0.1:{}", dovecot.port);
            let words = ["inbox", "mail", "add", ADDRESS, "--imap", &server, "--smtp", &server, "--security", "none"];
            program.pipe(&words, &format!("{PASSWORD}\n"))?;
            "a mail account of a Dovecot on this machine that it waits on"
        }
        None => "no mail account, as no Dovecot is installed here",
    };
    let mut child = program.start(&["serve"])?;
    tokio::time::sleep(Duration::from_secs(idle.seconds)).await;
    let resident = Resident::of(&child.id().to_string());
    let ended = child.try_wait().map_err(|error| error.to_string())?;
    child.kill().map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match ended {
        None => Ok((resident?, mail)),
        Some(status) => Err(format!("it ended by itself ({status}): {}", String::from_utf8_lossy(&output.stderr))),
    }
}
