//! Writes `crates/limpid/link-order.txt`: the functions that the release binary runs when it answers and when it idles.
//!
//! Linked next to each other they fill a fifth of the pages over which they are scattered otherwise. Valgrind's
//! callgrind says which they are. Names change with the versions of compiler and dependencies, and of functions that
//! modules share, with the module's code: some 350 of 8,000 within an evening, for which a start took 2 MB more. The
//! linker passes over names that it does not find.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::program::{Program, block_on};

/// The binary's file name, by which callgrind names what belongs to it.
const BINARY: &str = "limpid";

/// How long the program serves, at the tenth of its speed that it has under callgrind.
const SERVED: Duration = Duration::from_secs(45);

/// Builds the release binary with its symbols, runs it, and writes the list.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--locked", "--package", "limpid"]).env("LIMPID_SYMBOLS", "1");
    let built = build.current_dir(root).status().map_err(|error| format!("cargo: {error}"))?;
    if !built.success() {
        return Err("the release binary was not built".to_owned());
    }
    let names = block_on(called(root))?;
    let file = root.join("crates/limpid/link-order.txt");
    let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    #[expect(clippy::print_stdout, reason = "this is a command-line program")]
    {
        println!("{}: {} functions", file.display(), names.len());
    }
    Ok(())
}

/// The functions that two turns and a serving program run.
async fn called(root: &Path) -> Result<Vec<String>, String> {
    let program = Program::new(root, "[[reply]]\ntext = \"Hello.\"\n[[reply]]\ntext = \"Again.\"\n").await?;
    let seen = tempfile::tempdir().map_err(|error| error.to_string())?;
    let profiles = |run: &str| format!("--callgrind-out-file={}/{run}-%p", seen.path().display());
    let (starts, goes_on, serves) = (profiles("1"), profiles("2"), profiles("3"));
    let valgrind = |profile| ["valgrind", "--quiet", "--tool=callgrind", "--demangle=no", profile];
    let chat = ["chat", "--model", "openai/gpt-5"];
    program.run_under(&valgrind(starts.as_str()), &[&chat[..], &["hi"]].concat())?;
    program.run_under(&valgrind(goes_on.as_str()), &[&chat[..], &["--conversation", "last", "and again"]].concat())?;
    let config = "model = \"openai/gpt-5\"\n[inbox]\nnotifications = true\nlisten = \"127.0.0.1:0\"\n";
    fs::write(program.home().join("limpid.toml"), config).map_err(|error| error.to_string())?;
    program.run(&["inbox", "token"])?;
    program.run(&["task", "add", "Drink water", "--cron", "0 9 * * *"])?;
    let serving = program.start_under(&valgrind(serves.as_str()), &["serve"])?;
    tokio::time::sleep(SERVED).await;
    // Callgrind writes when the program ends by itself.
    Command::new("kill").arg(serving.id().to_string()).status().map_err(|error| format!("kill: {error}"))?;
    let served = serving.wait_with_output().map_err(|error| error.to_string())?;
    if !served.status.success() {
        return Err(format!("limpid serve: {}", String::from_utf8_lossy(&served.stderr)));
    }
    // What a start runs stands before what only a later run does.
    let mut paths = Vec::new();
    for entry in fs::read_dir(seen.path()).map_err(|error| error.to_string())? {
        paths.push(entry.map_err(|error| error.to_string())?.path());
    }
    paths.sort();
    let mut names = Vec::new();
    let mut known = BTreeSet::new();
    for path in paths {
        let profile = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        names.extend(functions(&profile).into_iter().filter(|name| known.insert(name.clone())));
    }
    Ok(names)
}

/// The functions of the program in a profile of callgrind's. It writes a name where it first stands, as `fn=(7) name`,
/// and its number from then on; `ob` is the object of the `fn` lines below it, `cob` and `cfn` are what these call.
fn functions(profile: &str) -> BTreeSet<String> {
    let (mut objects, mut names) = (Numbered::default(), Numbered::default());
    let mut own = false;
    let mut found = BTreeSet::new();
    for line in profile.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        match key {
            "ob" => own = objects.name(value).rsplit('/').next() == Some(BINARY),
            "cob" => _ = objects.name(value),
            "cfn" => _ = names.name(value),
            "fn" => {
                let name = names.name(value);
                // A function that calls itself is written as `name'2`, and one without a name as an address.
                let name = name.split('\'').next().unwrap_or(name);
                found.extend(
                    (own && name.starts_with(|first: char| first == '_' || first.is_alphabetic()))
                        .then(|| name.to_owned()),
                );
            }
            _ => {}
        }
    }
    found
}

/// Names by the number in brackets under which a profile repeats them.
#[derive(Default)]
struct Numbered(std::collections::HashMap<String, String>);

impl Numbered {
    fn name(&mut self, value: &str) -> &str {
        let (number, name) = value.split_once(' ').unwrap_or((value, ""));
        let known = self.0.entry(number.to_owned()).or_default();
        if !name.is_empty() {
            name.trim().clone_into(known);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_program_are_found_by_name_and_number() {
        let profile = "events: Ir\nob=(1) /usr/bin/limpid\nfl=(1) main.rs\nfn=(1) main\n1 5\ncob=(2) /lib/libc.so.6\n\
                       cfn=(2) malloc\ncalls=1 0\n1 9\ncfn=(3) walk'2\ncalls=1 0\n\nob=(2)\nfn=(2)\n1 2\nfn=(4) free\n\n\
                       ob=(1)\nfn=(3)\n1 3\nfn=(5) 0x0000000001216d30\nfn=(6) (below main)\n";
        assert_eq!(functions(profile).into_iter().collect::<Vec<_>>(), ["main", "walk"]);
    }
}
