//! Starts the sandbox and collects what the program says.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use limpid_core::{Labelled, Trust};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command as Process;
use tokio::sync::Notify;

use super::command::{Command, path_variable};
use super::confinement::Confinement;
use super::disk;
use super::outside;
use super::programs::Programs;
use super::remade::AsBegun;
use super::sandbox;
use super::stand_in::StandIn;
use super::toolchains::HOMES;
use super::view::View;

/// Seconds that the tool's own end may take after the program was told to end.
pub(super) const LAST_SECONDS: u64 = 15;

/// Bytes that are kept of each stream's beginning, and of its end.
const KEPT: usize = 256 * 1024;

/// Words of a program that found no network, in small letters: of curl, git, Python, Node, Cargo and the system's own library.
const MISSED_NETWORK: [&str; 7] = [
    "could not resolve",
    "couldn't resolve",
    "enotfound",
    "eai_again",
    "failed to lookup address",
    "name resolution",
    "network is unreachable",
];

/// How a command is run.
#[derive(Clone, Debug)]
pub struct Manner {
    /// What it sees.
    pub view: View,
    /// Whether it changes nothing at all.
    pub read_only: bool,
    /// Whether the owner said yes to it.
    pub approved: bool,
    /// Files that it gets as copies, each by its path and the copy's.
    pub frozen: Vec<(PathBuf, PathBuf)>,
    /// Folders of skills that it does not see.
    pub unused_skills: Vec<PathBuf>,
}

/// What a program may touch, the empty folder that it writes where it has one, and what was at the places that it must not see.
type Prepared = (Confinement, Option<StandIn>, Arc<AsBegun>);

/// What a program may touch, with what goes with it. To find that out takes looks at many files.
///
/// # Errors
/// A sentence for the model when nothing may be run.
fn prepared(programs: &Programs, command: &Command, manner: Manner) -> Result<Prepared, String> {
    let Manner { view, read_only, approved, frozen, unused_skills } = manner;
    let mut confinement = outside::confinement(programs, command, view, (read_only, !approved))?;
    confinement.frozen = frozen;
    confinement.without_skills(&unused_skills);
    let begun = Arc::new(AsBegun::of(&confinement));
    let is_empty = match view {
        View::Reading { write, .. } => write,
        // What it does not name it does not see, and leaves something beside it.
        View::Low { .. } | View::Apart | View::Enclosed { .. } => view.writes_outside() && !command.named.outside.any,
        View::High { .. } => false,
    };
    let stand_in = (is_empty && !read_only).then(|| programs.stand_in(&mut confinement)).transpose()?;
    if confinement.spares_disk {
        let room = disk::room(confinement.write.iter().map(|place| place.path.as_path()))?;
        confinement.limits.disk_bytes = confinement.limits.disk_bytes.min(room.bytes);
        confinement.limits.files = confinement.limits.files.min(room.files);
    }
    Ok((confinement, stand_in, begun))
}

/// Runs a command and returns what it said: its output, its errors, and how it ended; as somebody else's where what it must not see was
/// made anew meanwhile. When the future is dropped, or when `stop` is done, everything that was started ends.
///
/// # Errors
/// A sentence for the model when the sandbox cannot be started.
pub async fn run(
    programs: &Arc<Programs>,
    command: &Command,
    manner: Manner,
    stop: impl Future<Output = ()>,
) -> Result<Labelled<String>, String> {
    let Manner { view, read_only, .. } = manner;
    let (with, runs) = (Arc::clone(programs), command.clone());
    // Nobody else waits for the looks.
    let looked = tokio::task::spawn_blocking(move || prepared(&with, &runs, manner)).await;
    let (confinement, stand_in, begun) =
        looked.map_err(|error| format!("what the program may touch is unknown: {error}"))??;
    let limits = confinement.limits;
    let closed: Vec<String> = confinement.closed.iter().map(|place| programs.called(&place.path)).collect();
    let (stdin, alive) = sandbox::told(&confinement)?;
    let mut process = Process::new(&programs.helper);
    process
        .args(sandbox::words(&command.program, &command.words))
        .env_clear()
        .envs(programs.environment.iter().cloned())
        .envs(programs.own_environment.iter().filter(|_| view.knows_variables()).cloned())
        .envs(environment(programs))
        .current_dir(&command.folder)
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = process.spawn().map_err(|error| format!("the sandbox cannot be started: {error}"))?;
    // It holds the other end of the stream, which is the sandbox's alone.
    drop(process);
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("the sandbox cannot be started: it has no streams".to_owned());
    };
    let spent = Arc::new(Spent { bytes: AtomicU64::new(0), limit: limits.output_bytes, over: Notify::new() });
    let streams = async { tokio::join!(collect(stdout, &spent), collect(stderr, &spent)) };
    let early = (stop, Arc::clone(&begun).until_remade());
    let (ended, (out, err)) = tokio::join!(end(alive, limits.seconds, (&spent, early), child.wait()), streams);
    let mut text = out;
    if !err.is_empty() {
        line(&mut text, "STDERR:");
        line(&mut text, &err);
    }
    line(&mut text, &ended);
    let remade = begun.remade().map(|place| programs.called(place));
    if let Some(place) = &remade {
        line(
            &mut text,
            &format!("`{place}` was replaced or removed while it ran, so its output counts as a stranger's."),
        );
    }
    let saw_outside_empty = stand_in.is_some() && !matches!(view, View::Reading { .. });
    if let Some(laid) = stand_in.and_then(StandIn::lay_down) {
        line(&mut text, &laid);
    }
    if ended != "Exit code: 0" {
        let lacked_network = !view.has_network() && speaks_of_network(&text);
        about_view(programs, view, read_only, &closed).iter().for_each(|sentence| line(&mut text, sentence));
        if saw_outside_empty {
            line(&mut text, "`outside/` was empty for it when it began, since the command names nothing there.");
        }
        if lacked_network && !programs.network.is_granted() {
            line(&mut text, "It had no network: the owner granted none (`network` under [exec] in limpid.toml).");
        }
    }
    for sentence in programs.left_out() {
        line(&mut text, &sentence);
    }
    Ok(Labelled::new(text, if remade.is_some() { Trust::Outside } else { Trust::Owner }))
}

/// Whether what a program said reads as if it had missed the network.
fn speaks_of_network(text: &str) -> bool {
    let said = text.to_lowercase();
    MISSED_NETWORK.iter().any(|words| said.contains(words))
}

/// What a program may have failed for, by what it could not see or reach.
fn about_view(programs: &Programs, view: View, read_only: bool, closed: &[String]) -> Vec<String> {
    let mut sentences = Vec::new();
    match view {
        View::High { .. } => {}
        _ if read_only => {}
        View::Low { write: false } => sentences.push(
            "It could write nothing: it may be a stranger's and could read the owner's folders, and they were not asked. If it has to \
             write, call it again, and the owner is asked."
                .to_owned(),
        ),
        View::Reading { write: false, .. } => sentences.push(
            "It could write nothing but its own scratch: a stranger's text led to it, and the owner was not asked about this very call."
                .to_owned(),
        ),
        View::Enclosed { write: false } => sentences.push(
            "It could write nothing but its own scratch: it may be a stranger's, and the owner was not asked. If it has to leave a file, \
             call it again, and the owner is asked."
                .to_owned(),
        ),
        _ => sentences.push(format!("It could write only in `{}`.", programs.outside.display())),
    }
    match view {
        View::Apart => sentences.push(
            "It may be a stranger's and had the network, so it saw none of the owner's folders and variables.".to_owned(),
        ),
        View::Reading { .. } => sentences.push(
            "It saw none of the folders of others, and `outside/` was empty when it began. To use such a folder, start the \
             program in it."
                .to_owned(),
        ),
        View::Enclosed { .. } => sentences.push(
            "It may be a stranger's, so it saw none of the owner's folders and variables, and had no network. It sees a \
             folder or file of theirs that the command names."
                .to_owned(),
        ),
        View::Low { .. } => {
            sentences.push(
                "It may be a stranger's, so of the folders of others it saw those alone that the command names, and none of the \
                 owner's variables."
                    .to_owned(),
            );
            if programs.network.is_granted() {
                sentences.push("It had no network, since it could read the owner's folders.".to_owned());
            }
        }
        View::High { .. } => {
            if let [first, others @ ..] = closed {
                let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
                sentences.push(format!(
                    "`{first}`{more} was closed to it, since it is not the owner's. A program sees such a folder where the command names it."
                ));
            }
        }
    }
    sentences
}

/// Waits for the end, and brings it about when the time or the output is spent, when it is to stop, or when what it must not see was made
/// anew. The sandbox ends everything when its standard input is closed.
async fn end(
    alive: UnixStream,
    seconds: u64,
    (spent, (stop, remade)): (&Spent, (impl Future<Output = ()>, impl Future<Output = ()>)),
    waiting: impl Future<Output = std::io::Result<std::process::ExitStatus>>,
) -> String {
    tokio::pin!(waiting);
    let why = tokio::select! {
        status = &mut waiting => return match status {
            Ok(status) => format!("Exit code: {}", status.code().unwrap_or(-1)),
            Err(error) => format!("How it ended is unknown: {error}"),
        },
        () = tokio::time::sleep(Duration::from_secs(seconds)) => format!(
            "Ended after {seconds} s; it had not finished. `seconds` under [exec] in limpid.toml says how long programs may take."
        ),
        () = spent.over.notified() => format!("Ended; it wrote more than {} MiB.", spent.limit / 1024 / 1024),
        () = stop => "Ended: a program that the owner approved goes first. Call this one again when that has ended.".to_owned(),
        () = remade => "Ended: a folder that it must not see or change was replaced while it ran. Run it again.".to_owned(),
    };
    drop(alive);
    match tokio::time::timeout(Duration::from_secs(LAST_SECONDS / 2), &mut waiting).await {
        Ok(_) => why,
        Err(_) => format!("{why} Some of what it started may still run."),
    }
}

/// Output that was read so far, of both streams.
struct Spent {
    bytes: AtomicU64,
    limit: u64,
    over: Notify,
}

/// Reads a stream to its end and keeps its beginning and its end.
async fn collect(mut stream: impl AsyncRead + Unpin, spent: &Spent) -> String {
    let (mut head, mut tail, mut missing) = (Vec::new(), VecDeque::new(), 0_usize);
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let before = spent.bytes.fetch_add(count as u64, Ordering::SeqCst);
        if before + count as u64 > spent.limit {
            spent.over.notify_one();
        }
        let (first, rest) = buffer[..count].split_at(count.min(KEPT - head.len()));
        head.extend_from_slice(first);
        tail.extend(rest);
        let more = tail.len().saturating_sub(KEPT);
        missing += more;
        tail.drain(..more);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tail = text(tail.make_contiguous());
    if missing == 0 {
        // The cut between the two may go through a letter.
        return if tail.is_empty() { text(&head) } else { text(&head) + &tail };
    }
    format!("{}\n[… {missing} bytes left out …]\n{tail}", text(&head))
}

/// What every program's environment says: where programs are, and that no language or tool loads a user's own settings.
fn environment(programs: &Programs) -> Vec<(String, String)> {
    let languages: Vec<&PathBuf> = programs.giver().given(&programs.toolchains).map(|(written, _)| written).collect();
    let folders = programs.giver().given(&programs.path).map(|(written, _)| written.clone());
    let folders = folders.chain(languages.iter().map(|folder| folder.join("bin")));
    let mut variables = vec![
        ("PATH".to_owned(), path_variable(&folders.collect::<Vec<_>>())),
        ("PYTHONNOUSERSITE".to_owned(), "1".to_owned()),
        ("PYTHONSAFEPATH".to_owned(), "1".to_owned()),
        ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("npm_config_userconfig".to_owned(), "/dev/null".to_owned()),
    ];
    for (name, variable) in HOMES {
        let found = languages.iter().find(|folder| folder.ends_with(name));
        variables.extend(found.map(|folder| (variable.to_owned(), folder.display().to_string())));
    }
    variables
}

fn line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
