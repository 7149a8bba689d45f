//! `docs/cli.md`, written from the definitions of the command line and the table of exit codes.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;
use crate::failure::ExitStatus;

/// The whole page.
pub fn cli_reference() -> String {
    let mut page = String::from(
        "# Command line\n\nWritten by `cargo xtask docs` from the program's own definitions; edit those, not this page.\n\
         Data goes to standard output, everything else to standard error. Every list and show command takes `--json`,\n\
         whose shape carries `\"version\": 1`. Colours are off when the output is no terminal or `NO_COLOR` is set.\n\n\
         ## Exit codes\n\n| code | meaning |\n|---|---|\n",
    );
    for status in ExitStatus::ALL {
        let _ = writeln!(page, "| {} | {} |", status.code(), status.meaning());
    }
    page.push_str(include_str!("reference/environment.md"));
    let mut command = Cli::command();
    command.build();
    command_section(&mut page, &command, "limpid");
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// The man page, in roff.
///
/// # Errors
/// When writing to memory fails, which it does not.
pub fn man_page() -> std::io::Result<Vec<u8>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    page.extend_from_slice(b".SH COMMANDS\n");
    for sub in command.get_subcommands() {
        man_entry(&mut page, sub, "limpid")?;
    }
    page.extend_from_slice(b".SH EXIT STATUS\n");
    for status in ExitStatus::ALL {
        writeln!(page, ".TP\n{}\n{}", status.code(), status.meaning())?;
    }
    Ok(page)
}

/// One command on the man page, then those below it.
fn man_entry(page: &mut Vec<u8>, command: &Command, above: &str) -> std::io::Result<()> {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(page, ".SS {}\n{}", name.replace('-', "\\-"), about.replace('-', "\\-"))?;
    for arg in command.get_arguments().filter(|arg| is_own(arg, &name)) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(page, ".TP\n\\fB{}\\fR\n{}", spelled(arg).replace('-', "\\-"), help.replace('-', "\\-"))?;
    }
    command.get_subcommands().try_for_each(|sub| man_entry(page, sub, &name))
}

fn command_section(page: &mut String, command: &Command, name: &str) {
    let depth = 2 + name.matches(' ').count().min(2);
    let _ = write!(page, "\n{} `{name}`\n\n", "#".repeat(depth));
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let _ = write!(page, "{}.\n\n", about.to_string().trim_end_matches('.'));
    }
    let positionals = command.get_positionals().map(|arg| format!(" {}", positional(arg)));
    let options = if command.get_opts().any(|arg| is_own(arg, name)) { " [OPTIONS]" } else { "" };
    let sub = match (command.has_subcommands(), name) {
        (false, _) => "",
        (true, "limpid") => " [COMMAND]",
        (true, _) => " <COMMAND>",
    };
    let _ = writeln!(page, "```\n{name}{options}{}{sub}\n```", positionals.collect::<String>());

    let rows: Vec<String> = command.get_arguments().filter(|arg| is_own(arg, name)).map(row).collect();
    if !rows.is_empty() {
        let _ = writeln!(page, "\n| option | meaning |\n|---|---|");
        for row in rows {
            let _ = writeln!(page, "{row}");
        }
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        command_section(page, sub, &format!("{name} {}", sub.get_name()));
    }
}

/// Options that hold for every command stand under `limpid` alone.
fn is_own(arg: &Arg, name: &str) -> bool {
    !arg.is_hide_set()
        && !matches!(arg.get_id().as_str(), "help" | "version")
        && (name == "limpid" || !arg.is_global_set())
}

fn positional(arg: &Arg) -> String {
    let name = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map_or_else(|| arg.get_id().to_string(), ToString::to_string);
    let dots = if arg.get_num_args().is_some_and(|range| range.max_values() > 1) { "…" } else { "" };
    if arg.is_required_set() {
        format!("<{}>{dots}", name.to_uppercase())
    } else {
        format!("[{}]{dots}", name.to_uppercase())
    }
}

/// An argument as it is written: `--limit N`, `<ID>`.
fn spelled(arg: &Arg) -> String {
    if arg.is_positional() {
        positional(arg)
    } else {
        let names = [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))];
        let value = if arg.get_action().takes_values() {
            arg.get_value_names().and_then(|names| names.first()).map_or_else(String::new, |name| format!(" {name}"))
        } else {
            String::new()
        };
        format!("{}{value}", names.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

fn row(arg: &Arg) -> String {
    let shown = spelled(arg);
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() {
        let _ = write!(help, ": {}", possible.join(", "));
    }
    if let Some(default) = arg.get_default_values().first().filter(|_| arg.get_action().takes_values()) {
        let _ = write!(help, " [default: {}]", default.to_string_lossy());
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(help, " (also `{}`)", variable.to_string_lossy());
    }
    format!("| `{}` | {} |", shown.replace('|', "\\|"), help.replace('|', "\\|"))
}
