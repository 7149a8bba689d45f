//! What a session may touch besides what the owner has set: the folders and the servers that the editor names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{LoadSessionRequest, McpServer, NewSessionRequest, ResumeSessionRequest};
use limpid_config::{Config, Environment, Home, McpServerConfig};
use sha2::{Digest as _, Sha256};

use crate::address;
use crate::editor_server::{EditorServer, PREFIX};
use crate::starts::{Places, may_last};

/// Letters of the editor's own name for a server that its name here has.
const NAME: usize = 12;

/// Digits of the hash of what starts a server that its name here has. They only tell servers apart: what the owner said yes to is
/// kept under the whole hash, for a stranger finds two commands of so few digits in a minute.
const DIGITS: usize = 12;

/// The end of the name of a record whose yes holds for one session.
const ONE_SESSION: &str = "session";

/// What an editor names for a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// The folder that is worked in.
    pub(crate) cwd: PathBuf,
    /// Other folders.
    pub(crate) folders: Vec<PathBuf>,
    /// Servers of tools.
    pub(crate) servers: Vec<McpServer>,
}

/// What a request that opens a session names.
macro_rules! named_by {
    ($($request:ty),*) => {
        $(impl From<$request> for Named {
            fn from(request: $request) -> Self {
                Self { cwd: request.cwd, folders: request.additional_directories, servers: request.mcp_servers }
            }
        })*
    };
}

named_by!(NewSessionRequest, LoadSessionRequest, ResumeSessionRequest);

/// What a session may touch.
#[derive(Debug)]
pub(crate) struct Granted {
    /// The settings of its agent.
    pub(crate) config: Config,
    /// The folders, without links.
    pub(crate) folders: Vec<PathBuf>,
    /// Its servers.
    pub(crate) servers: Vec<EditorServer>,
}

/// The owner's settings with what an editor names for a session.
///
/// # Errors
/// Why a folder or a server cannot be one of a session.
pub(crate) fn grant(owner: &Config, home: &Home, environment: &Environment, named: &Named) -> Result<Granted, String> {
    let mut config = owner.clone();
    let mut folders = Vec::new();
    for folder in std::iter::once(&named.cwd).chain(&named.folders) {
        let real = real_folder(folder)?;
        if folders.is_empty() && real != real_or_same(home.workspace()) {
            config.files.base = Some(real.clone());
        }
        if folders.contains(&real) {
            continue;
        }
        if !is_own(home, &real) {
            keep_apart(home, &real)?;
            add(&mut config, (owner, home), &real);
        }
        folders.push(real);
    }
    let is_mine = |folder: &Path| nearest(owner, home, folder).is_trusted();
    let workspace = real_or_same(home.workspace());
    let places = places(&config, home, environment);
    // A word may lead from a folder of the owner's into one within it that is not theirs.
    let within = |root: &&PathBuf| places.is_strangers(root) && folders.iter().any(|folder| root.starts_with(folder));
    let within = places.granted.iter().filter(within);
    let theirs = folders.iter().filter(|folder| !folder.starts_with(&workspace) && !is_mine(folder));
    let foreign = theirs.chain(within).cloned().collect();
    let places = Places { foreign, ..places };
    let mut servers = Vec::new();
    for (at, server) in named.servers.iter().enumerate() {
        let (called, server) = settings(server)?;
        let (name, kept_as) = names(&called, &server);
        let lasts = may_last(&server, &places);
        // A yes for one session is none in another one, where the same words would have one that lasts.
        let kept_as = if lasts { kept_as } else { format!("{kept_as}-{ONE_SESSION}") };
        let server = McpServerConfig { kept_as: Some(kept_as), ..server };
        servers.push(EditorServer::new((name.clone(), lasts), (at, &called), &server));
        if config.mcp.servers.get(&name).is_some_and(|other| *other != server) {
            return Err(format!("two MCP servers would be called `{name}` here; rename one of them in the editor"));
        }
        config.mcp.servers.insert(name, server);
    }
    Ok(Granted { config, folders, servers })
}

/// The places that words of a server may lead to.
fn places(config: &Config, home: &Home, environment: &Environment) -> Places {
    let user = environment.get("HOME").map(PathBuf::from);
    let real = real_or_same(home.path().to_owned());
    // A home that is the owner's own folder holds their programs as well.
    let holds_user = user.as_ref().is_some_and(|user| real_or_same(user.clone()).starts_with(&real));
    let limpids = if holds_user { real_or_same(home.outside()) } else { real };
    Places {
        foreign: Vec::new(),
        limpids: vec![limpids],
        trusted: trusted(config, home),
        granted: config.files.grants.iter().chain(&config.files.read).cloned().map(real_or_same).collect(),
        user,
        path: environment.get("PATH").unwrap_or_default().to_owned(),
    }
}

fn real_folder(folder: &Path) -> Result<PathBuf, String> {
    if !folder.is_absolute() {
        return Err(format!("`{}` is not an absolute path. Open a folder by its full path.", folder.display()));
    }
    let real = folder.canonicalize().map_err(|error| format!("`{}` cannot be opened: {error}", folder.display()))?;
    if !real.is_dir() {
        return Err(format!("`{}` is not a folder.", folder.display()));
    }
    Ok(real)
}

/// Whether a folder lies where every agent of the home works.
fn is_own(home: &Home, folder: &Path) -> bool {
    [home.workspace(), home.outside()].into_iter().any(|own| folder.starts_with(real_or_same(own)))
}

/// A folder without links, or as it is called when it is not there yet.
fn real_or_same(folder: PathBuf) -> PathBuf {
    folder.canonicalize().unwrap_or(folder)
}

/// Refuses the home and what holds it: settings, keys and the store are in there.
fn keep_apart(home: &Home, folder: &Path) -> Result<(), String> {
    let own = home.path().canonicalize().unwrap_or_else(|_| home.path().to_owned());
    if own.starts_with(folder) || folder.starts_with(&own) {
        let (folder, own) = (folder.display(), own.display());
        return Err(format!("`{folder}` cannot be a session's folder, for Limpid's home {own} is there; open another"));
    }
    Ok(())
}

/// Grants a folder. What the owner has written down about the nearest folder that holds it stays: whether it may be changed, and
/// whose its files are. Of others nobody knows who wrote what is in there.
fn add(config: &mut Config, (owner, home): (&Config, &Home), folder: &Path) {
    let nearest = nearest(owner, home, folder);
    if nearest.read > nearest.grants {
        config.files.read.push(folder.to_owned());
    } else {
        config.files.grants.push(folder.to_owned());
    }
    if nearest.is_trusted() {
        config.files.trusted.push(folder.to_owned());
    }
}

/// How deep the innermost folder around a place lies that each list of `[files]` has.
struct Nearest {
    grants: Option<usize>,
    read: Option<usize>,
    trusted: Option<usize>,
}

impl Nearest {
    /// Whether the place is the owner's: of the folders around it the innermost one is trusted.
    fn is_trusted(&self) -> bool {
        self.trusted.is_some() && self.trusted >= self.grants.max(self.read)
    }
}

fn nearest(owner: &Config, home: &Home, folder: &Path) -> Nearest {
    let nearest = |real: Vec<PathBuf>| {
        let around = real.into_iter().filter(|listed| folder.starts_with(listed));
        around.map(|listed| listed.components().count()).max()
    };
    let real = |list: &[PathBuf]| list.iter().cloned().map(real_or_same).collect();
    let files = &owner.files;
    Nearest {
        grants: nearest(real(&files.grants)),
        read: nearest(real(&files.read)),
        trusted: nearest(trusted(owner, home)),
    }
}

/// The folders that the owner trusts, without links; none behind a link that somebody else could have laid.
fn trusted(config: &Config, home: &Home) -> Vec<PathBuf> {
    let resolver = config.files.resolver(home);
    config.files.trusted.iter().filter_map(|folder| resolver.path(folder)).collect()
}

/// A server as settings have it, and what the editor calls it.
fn settings(server: &McpServer) -> Result<(String, McpServerConfig), String> {
    match server {
        McpServer::Stdio(program) => {
            let config = McpServerConfig {
                command: Some(program.command.display().to_string()),
                args: program.args.clone(),
                env: program.env.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect(),
                ..McpServerConfig::default()
            };
            Ok((program.name.clone(), config))
        }
        McpServer::Http(remote) => {
            let headers = remote.headers.iter().map(|header| (header.name.clone(), header.value.clone()));
            let config = McpServerConfig {
                url: Some(address::parse(&remote.url)?.into()),
                headers: headers.collect::<BTreeMap<_, _>>(),
                ..McpServerConfig::default()
            };
            Ok((remote.name.clone(), config))
        }
        McpServer::Sse(remote) => Err(format!(
            "the MCP server at {:?} speaks SSE, which is not supported; give its address for streamable HTTP",
            remote.url
        )),
        _ => Err("Unknown kind of MCP server. Use a program or an HTTP address.".to_owned()),
    }
}

/// The name of an editor's server, which none of the owner's has by chance, and what the owner's yes to it is kept under. Another
/// program of the same name has others, and so has the same program with other variables, which can make it run anything.
fn names(called: &str, server: &McpServerConfig) -> (String, String) {
    let plain = called.chars().take(NAME).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let mut hash = Sha256::new();
    let words = server.command.iter().chain(&server.args).chain(&server.url);
    let counts = [server.args.len(), server.env.len(), server.headers.len()].map(|count| count.to_string());
    let pairs = server.env.iter().chain(&server.headers);
    let given = pairs.flat_map(|(name, value)| [name, value]);
    let counts = counts.iter().map(String::as_str);
    let rest = words.chain(given).map(String::as_str);
    for word in std::iter::once(called).chain(counts).chain(rest) {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    let digits = hash.finalize().iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    let front = format!("{PREFIX}{}-", plain.collect::<String>());
    (format!("{front}{}", &digits[..DIGITS]), format!("{front}{digits}"))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{McpServerHttp, McpServerStdio};

    use super::*;

    /// What a session has of servers that are all called `memory` and started by these packages.
    fn granted(packages: &[[&str; 2]]) -> Result<Granted, String> {
        let folder = tempfile::tempdir().unwrap();
        let (cwd, home) = (folder.path().join("project"), Home::new(folder.path().join("home")));
        std::fs::create_dir_all(&cwd).unwrap();
        let server = |words: &[&str; 2]| {
            let args = ["-y"].iter().chain(words).map(|word| (*word).to_owned()).collect();
            McpServer::Stdio(McpServerStdio::new("memory", "npx").args(args))
        };
        let named = Named { cwd, folders: Vec::new(), servers: packages.iter().map(server).collect() };
        grant(&Config::default(), &home, &Environment::default(), &named)
    }

    // SEC-023
    #[test]
    fn a_yes_to_a_server_is_none_to_another_one_whose_hash_begins_alike() {
        let known = ["@modelcontextprotocol/server-memory", "--label=0148566e"];
        let other = ["other-mcp-server", "--label=01999e3b"];
        let one = |package| {
            let granted = granted(&[package]).unwrap();
            let name = granted.servers[0].name.clone();
            let kept_as = granted.config.mcp.servers[&name].kept_as.clone().unwrap();
            (name, kept_as)
        };
        let ((name, kept_as), (same_name, other_kept_as)) = (one(known), one(other));
        assert_eq!([&*name, &*same_name], ["editor-memory-d7c9d8571ec5"; 2], "or this tests nothing");
        assert!(kept_as.starts_with(&name) && kept_as.len() > 64, "{kept_as}");
        // No program is found here, so a yes to none of them lasts.
        assert!(kept_as.ends_with("-session"), "{kept_as}");
        assert_ne!(kept_as, other_kept_as);
        let error = granted(&[known, other]).unwrap_err();
        assert!(error.contains("rename one of them"), "no yes to the first starts the second: {error}");
        assert!(granted(&[known, known]).is_ok());
    }

    // SEC-023
    #[test]
    fn an_address_is_kept_in_the_form_that_is_shown_and_used() {
        let set = |url: &str| settings(&McpServer::Http(McpServerHttp::new("desk", url))).map(|(_, config)| config);
        let config = set("HTTP://0x7f.1:80/x/../y").unwrap();
        assert_eq!(config.url.as_deref(), Some("http://127.0.0.1/y"));
        assert_eq!(names("desk", &config), names("desk", &set("http://127.0.0.1/y").unwrap()));
        assert!(set("http://api.example@127.0.0.1/").is_err());
    }

    /// The folder of a session is the owner's, and one within it is not.
    // SEC-023 SEC-075
    #[test]
    fn a_yes_lasts_only_where_no_word_may_lead_into_a_strangers_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (cwd, home) = (real.join("app"), Home::new(real.join("home")));
        std::fs::create_dir_all(cwd.join("vendor")).unwrap();
        std::fs::write(cwd.join("vendor/serve.py"), "").unwrap();
        let lasts = |read: Vec<PathBuf>| {
            let mut config = Config::default();
            config.files.trusted = vec![cwd.clone()];
            config.files.read = read;
            let server = McpServerStdio::new("desk", "python3").args(vec!["vendor/serve.py".to_owned()]);
            let named = Named { cwd: cwd.clone(), folders: Vec::new(), servers: vec![McpServer::Stdio(server)] };
            let granted = grant(&config, &home, &Environment::default(), &named).unwrap();
            let kept_as = granted.config.mcp.servers[&granted.servers[0].name].kept_as.clone().unwrap();
            (granted.servers[0].lasts, kept_as.ends_with("-session"))
        };
        assert_eq!(lasts(Vec::new()), (true, false));
        assert_eq!(lasts(vec![cwd.join("vendor")]), (false, true), "and the yes is kept for that session alone");
    }

    // SEC-023 SEC-088
    #[test]
    fn a_folder_is_not_trusted_because_a_trusted_one_is_a_link_to_it_in_a_granted_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (theirs, home) = (real.join("code/theirs"), Home::new(real.join("home")));
        std::fs::create_dir_all(&theirs).unwrap();
        let trusted = |named: &str| {
            let mut config = Config::default();
            config.files.grants = vec![real.join("code")];
            config.files.trusted = vec![real.join(named)];
            let named = Named { cwd: theirs.clone(), ..Named::default() };
            let granted = grant(&config, &home, &Environment::default(), &named).unwrap();
            granted.config.files.trusted.contains(&theirs)
        };
        assert!(trusted("code/theirs"), "or this tests nothing");
        std::os::unix::fs::symlink(&theirs, real.join("code/mine")).unwrap();
        assert!(!trusted("code/mine"), "a stranger lays links in there, too");
    }
}
