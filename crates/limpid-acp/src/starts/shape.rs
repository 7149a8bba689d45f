//! The few shapes of a command that a yes lasts for.

use crate::starts::places::{Places, Program};
use crate::starts::words::{bare_name, is_address, is_data, is_package, is_safe_word};

/// Programs that run what their words say, and packages that do: shells and what starts others, languages, builds and what runs a
/// project, packages that start another server.
const INTERPRETERS: [&str; 4] = [
    "sh ash bash csh dash fish ksh mksh rbash tcsh zsh busybox toybox cmd pwsh powershell env nice nohup setsid stdbuf time \
     timeout xargs parallel watch script find expect sudo doas su ssh chroot unshare nsenter bwrap firejail systemd-run strace \
     ltrace gdb lldb wine flock direnv mise asdf volta fnm nvm corepack dbus-run-session xvfb-run git ld-linux-x86-64.so \
     ld-linux-aarch64.so open xdg-open",
    "perl ruby irb node nodejs deno bun tsx ts-node esno esrun vite-node nodemon jiti zx python pythonw pypy ipython php php-cgi \
     lua luajit rscript r julia osascript awk gawk mawk nawk sed tclsh wish java jshell groovy scala kotlin clojure bb guile \
     racket sbcl emacs vim vi nvim ed ghci runghc dotnet mono swift elixir erl iex escript wasmtime wasmer",
    "make gmake ninja just cmake task rake ant gradle mvn go cargo stack cabal mix npm pnpm yarn uv pip pipx poetry pdm hatch rye \
     pixi pipenv conda mamba micromamba bundle gem composer nix nix-shell nix-build devbox turbo nx",
    "mcp fastmcp mcpo supergateway mcp-proxy inspector cross-env dotenv dotenv-cli env-cmd concurrently npx uvx bunx pnpx",
];

/// Programs that fetch a package and run it. `npm exec` is none: it takes its options from among the package's words.
const RUNNERS: [&[&str]; 9] = [
    &["npx"],
    &["bunx"],
    &["uvx"],
    &["pnpx"],
    &["pipx", "run"],
    &["pnpm", "dlx"],
    &["yarn", "dlx"],
    &["bun", "x"],
    &["uv", "tool", "run"],
];

/// Options of theirs that say nothing of what is run.
const RUNNER_FLAGS: [&str; 7] = ["-y", "--yes", "-q", "--quiet", "--isolated", "--refresh", "--"];

/// Options of theirs with a package's name or address behind them.
const RUNNER_VALUES: [&str; 3] = ["--from", "--with", "--package"];

/// Options of containers that take nothing, and with which no folder of this computer is handed over.
const CONTAINER_FLAGS: [&str; 11] =
    ["-i", "--interactive", "--rm", "--init", "-t", "--tty", "-it", "-ti", "--read-only", "-q", "--quiet"];

/// Options of containers with a value that is no folder of this computer.
const CONTAINER_VALUES: [&str; 18] = [
    "-e",
    "--env",
    "--name",
    "--network",
    "--net",
    "-p",
    "--publish",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "--platform",
    "--add-host",
    "-m",
    "--memory",
    "--cpus",
    "--pull",
    "--entrypoint",
];

/// Options behind a volume that name no other folder.
const VOLUME_OPTIONS: [&str; 4] = ["ro", "rw", "z", "Z"];

/// What `podman run` takes for a place on this computer when it stands before a colon.
const TRANSPORTS: [&str; 11] = [
    "containers-storage",
    "dir",
    "docker",
    "docker-archive",
    "docker-daemon",
    "oci",
    "oci-archive",
    "ostree",
    "sif",
    "tarball",
    "atomic",
];

/// How a command is made.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A package's name for a runner, behind so many words.
    Package { behind: usize },
    /// An image for a program that runs containers.
    Container,
    /// A file for an interpreter.
    Script,
    /// A program that is installed.
    Installed,
}

impl Shape {
    pub(super) fn of(program: &Program, arguments: &[String]) -> Self {
        let named = |name: &str| program.names.iter().any(|own| own == name);
        let is_runner = |runner: &&&[&str]| {
            let said = std::iter::once(&program.names[0]).chain(arguments).take(runner.len());
            said.eq(runner.iter().copied())
        };
        if let Some(runner) = RUNNERS.iter().find(is_runner) {
            Self::Package { behind: runner.len() - 1 }
        } else if named("docker") || named("podman") {
            Self::Container
        } else if program.names.iter().any(|name| is_interpreter(name)) {
            Self::Script
        } else {
            Self::Installed
        }
    }

    /// Whether words of this shape start the same program next time.
    pub(super) fn lasts(self, arguments: &[String], places: &Places) -> bool {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match self {
            Self::Package { behind } => package_lasts(words.get(behind..).unwrap_or_default(), places),
            Self::Container => {
                words.split_first().is_some_and(|(word, rest)| *word == "run" && image_lasts(rest, places))
            }
            Self::Script => script_lasts(&words, places),
            Self::Installed => words.iter().all(|word| is_safe_word(word, places)),
        }
    }
}

/// A package's name, behind few options. The words behind it are its data, unless it runs what they say.
fn package_lasts(words: &[&str], places: &Places) -> bool {
    let is_source = |word: &str| is_package(word) && !runs_words(word) || is_git(word);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        if RUNNER_FLAGS.contains(word) {
            continue;
        }
        if RUNNER_VALUES.contains(&name) {
            match value.or_else(|| words.next().copied()) {
                Some(value) if is_package(value) || is_git(value) => continue,
                _ => return false,
            }
        }
        return is_source(word) && words.all(|word| is_data(word, places));
    }
    false
}

fn is_git(word: &str) -> bool {
    is_address(word) && (word.starts_with("git+https://") || word.starts_with("https://"))
}

fn runs_words(package: &str) -> bool {
    let name = bare_name(package);
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    is_interpreter(&name) || is_interpreter(plain)
}

fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().flat_map(|names| names.split_whitespace()).any(|known| known == name)
}

/// An image's name, behind options that hand over no folder that a project may lie in. The words behind it are the container's.
fn image_lasts(words: &[&str], places: &Places) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return is_image(word);
        }
        if CONTAINER_FLAGS.contains(word) {
            continue;
        }
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let Some(value) = value.or_else(|| words.next().copied()) else {
            return false;
        };
        let is_safe = match name {
            "-v" | "--volume" => is_volume_lasting(value, places),
            "--mount" => value.split(',').all(|field| is_mount_field(field, places)),
            "--env-file" => places.is_safe(value),
            _ => CONTAINER_VALUES.contains(&name),
        };
        if !is_safe {
            return false;
        }
    }
    false
}

/// `SOURCE:TARGET`, with words behind it that name nothing more.
fn is_volume_lasting(value: &str, places: &Places) -> bool {
    let mut parts = value.split(':');
    let source = parts.next().unwrap_or_default();
    let target = parts.next().is_none_or(is_plain_path);
    let options = parts.next().unwrap_or("rw");
    is_volume_safe(source, places)
        && target
        && options.split(',').all(|option| VOLUME_OPTIONS.contains(&option))
        && parts.next().is_none()
}

/// A field of `--mount` that leads to no folder but the one that it plainly names. Programs read quotes, other fields and other
/// spellings as more.
fn is_mount_field(field: &str, places: &Places) -> bool {
    match field.split_once('=') {
        None => field == "readonly",
        Some(("type", kind)) => matches!(kind, "bind" | "volume"),
        Some(("source" | "src", source)) => is_volume_safe(source, places),
        Some(("target" | "dst" | "destination", target)) => is_plain_path(target),
        Some(_) => false,
    }
}

fn is_plain_path(path: &str) -> bool {
    path.starts_with('/') && path.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._/".contains(letter))
}

/// A volume by its name, or a safe folder.
fn is_volume_safe(source: &str, places: &Places) -> bool {
    is_package(source) && !source.contains('/') || places.is_safe(source)
}

/// The name of an image in a registry, as `server`, `server:1.2`, or `host:5000/scope/server@sha256:0a1b`.
fn is_image(word: &str) -> bool {
    let (word, digest) = word.split_once("@sha256:").unwrap_or((word, "0"));
    let (folder, last) = word.rsplit_once('/').map_or((None, word), |(folder, last)| (Some(folder), last));
    let (name, tag) = last.split_once(':').unwrap_or((last, "1"));
    let (host, scope) = folder.map_or(("x", None), |folder| match folder.split_once('/') {
        Some((host, scope)) => (host, Some(scope)),
        None => (folder, None),
    });
    let (host, port) = host.split_once(':').unwrap_or((host, "1"));
    let is_part = |part: &str| {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._".contains(letter);
        part.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && part.chars().all(plain)
    };
    let is_tag = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    is_part(host)
        && !port.is_empty()
        && port.chars().all(|letter| letter.is_ascii_digit())
        && scope.into_iter().flat_map(|scope| scope.split('/')).all(is_part)
        && is_part(name)
        && !(folder.is_none() && TRANSPORTS.contains(&name))
        && !tag.is_empty()
        && tag.chars().all(is_tag)
        && digest.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// A safe file, which is no interpreter itself, before everything else.
fn script_lasts(words: &[&str], places: &Places) -> bool {
    let Some((script, rest)) = words.split_first() else {
        return false;
    };
    let program = places.program(script, &places.path);
    let runs = program.is_none_or(|program| matches!(Shape::of(&program, &[]), Shape::Script | Shape::Container));
    script.starts_with('/') && !runs && rest.iter().all(|word| is_safe_word(word, places))
}
