#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

use limpid_config::McpServerConfig;

use super::*;

struct Desk {
    _home: tempfile::TempDir,
    real: PathBuf,
    places: Places,
}

/// Programs that are installed in a hidden folder.
const PROGRAMS: &str = "npx uvx docker python3 node sh make uv perl serve bash npm";

/// A project whose subfolder is open in an editor, a folder that the owner trusts, one beside it, and programs in hidden folders.
fn desk() -> Desk {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    let folders = [
        "project/tools",
        "project/.git",
        "project/frontend",
        "project/.venv/bin",
        "own/vendor",
        "other",
        ".local/bin",
        ".nvm/.git",
        ".nvm/bin",
        ".limpid/outside/tool",
    ];
    for folder in folders {
        std::fs::create_dir_all(real.join(folder)).unwrap();
    }
    let scripts = ["project/tools", "project/frontend", "own", "own/vendor", "other", ".nvm", ".limpid/outside/tool"];
    for folder in scripts {
        std::fs::write(real.join(folder).join("serve.py"), "").unwrap();
    }
    for name in PROGRAMS.split(' ') {
        program(&real.join(".local/bin").join(name), "");
    }
    program(&real.join(".nvm/bin/npx"), "#!/usr/bin/env node\n");
    program(&real.join(".nvm/bin/shim"), &format!("#!{}/project/.venv/bin/python3\n", real.display()));
    program(&real.join("project/tools/desk"), "");
    link("project/tools/desk", ".local/bin/desk", &real);
    link("project", "own/link", &real);
    link(".local/bin/serve", "project/tools/serve", &real);
    link(".local/bin/python3", "project/.venv/bin/python3", &real);
    let places = Places {
        foreign: vec![real.join("project/frontend")],
        limpids: vec![real.join(".limpid")],
        trusted: vec![real.join("own")],
        granted: vec![real.join("own/vendor")],
        user: Some(real.clone()),
        path: format!("{}/.local/bin:/usr/bin:/bin", real.display()),
    };
    Desk { _home: home, real, places }
}

fn program(file: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn link(to: &str, at: &str, home: &std::path::Path) {
    std::os::unix::fs::symlink(home.join(to), home.join(at)).unwrap();
}

impl Desk {
    fn lasts(&self, words: &str) -> bool {
        self.lasts_with(words, "X", "")
    }

    fn lasts_with(&self, words: &str, name: &str, value: &str) -> bool {
        let home = |text: &str| text.replace("HOME", &self.real.display().to_string());
        let mut words = words.split('|').map(home);
        let server = McpServerConfig {
            command: words.next(),
            args: words.collect(),
            env: std::iter::once((name.to_owned(), home(value))).collect(),
            ..McpServerConfig::default()
        };
        may_last(&server, &self.places)
    }
}

// SEC-023 SEC-075
#[test]
fn a_yes_lasts_for_servers_as_their_documents_set_them_up() {
    let desk = desk();
    for words in [
        "npx|-y|@scope/server",
        "npx|-y|@scope/server@1.2|https://mcp.example/sse",
        "npx|-y|mcp-remote|https://mcp.example/sse|--header|Authorization: Bearer ${TOKEN}",
        "npx|-y|@modelcontextprotocol/server-filesystem|HOME/project/frontend",
        "npx|-y|mcp-postgres|postgresql://ada:x@db.example/notes?sslmode=require",
        "HOME/.nvm/bin/npx|-y|@scope/server",
        "uvx|--from|git+https://code.example/a/b@v1|server",
        "uvx|server==1.2",
        "uvx|server[cli]@latest",
        "uvx|mcp-server-git|--repository|HOME/project",
        "uvx|mcp-server-sqlite|--db-path|HOME/notes.db",
        "uv|tool|run|server",
        "docker|run|-i|--rm|-e|GITHUB_TOKEN|ghcr.io/github/github-mcp-server",
        "docker|run|-i|--rm|-v|notes:/data|--mount|type=bind,src=HOME/own,dst=/own|mcp/filesystem:1|/data",
        "docker|run|--mount|type=bind,source=HOME/own,destination=/own,readonly|-v|HOME/own:/x:ro,z|python:3.12-slim|python3|x:y",
        "docker|run|--mount=type=volume,src=notes,target=/data|localhost:5000/mcp/notes:1.2_A",
        "docker|run|ghcr.io/a/b@sha256:0123456789abcdef",
        "python3|HOME/own/serve.py|--level=3",
        "node|HOME/.nvm/serve.py|HOME/own",
        "HOME/.local/bin/serve|--port|3000",
        "serve",
    ] {
        assert!(desk.lasts(words), "{words}");
    }
    let values = [
        ("TOKEN", "a!b$c%d&e~f"),
        ("TOKEN", "ab/cd+ef=="),
        ("HEADERS", r#"{"Authorization": "Bearer ntn_x", "Version": "2022-06-28"}"#),
        ("ADDRESS", "https://x.example/a?b=c"),
        ("DATABASE", "postgres://ada:x@db.example/notes"),
        ("ADDRESSES", r#"["https://x.example/a"]"#),
        ("NOTES", "HOME/own"),
        ("PATH", "HOME/.local/bin:/usr/bin"),
        ("PYTHONUNBUFFERED", "1"),
        ("NODE_ENV", "production"),
        ("level_2", "w"),
    ];
    for (name, value) in values {
        assert!(desk.lasts_with("npx|server", name, value), "{name}={value}");
    }
}

// SEC-023 SEC-075
#[test]
fn what_a_trusted_folder_has_started_lasts_but_for_what_strangers_write() {
    let mut desk = desk();
    desk.places.foreign.clear();
    assert!(desk.lasts("sh|-c|cd tools"));
    assert!(!desk.lasts("python3|HOME/.limpid/outside/tool/serve.py"));
    assert!(desk.lasts("python3|HOME/own/serve.py") && !desk.lasts("python3|HOME/own/vendor/serve.py"));
    assert!(!desk.lasts("sh|-c|python3 HOME/.limpid/outside/tool/serve.py"));
}

// SEC-023 SEC-075
#[test]
fn a_yes_does_not_last_where_a_word_may_lead_to_somebody_elses_program() {
    let desk = desk();
    for words in [
        // Beside the folder that is open, within it, around it, and in another one.
        "python3|HOME/project/tools/serve.py",
        "python3|HOME/project/frontend/serve.py",
        "python3|HOME/other/serve.py",
        "python3|HOME/.limpid/outside/tool/serve.py",
        "uv|--directory|HOME/project/tools|run|serve.py",
        "uv|--directory=HOME/project/tools|run|serve.py",
        "serve|HOME/project/tools/desk",
        "serve|/usr/bin:HOME/project/tools/desk",
        // By a way that begins elsewhere.
        "python3|tools/serve.py",
        "python3|../../project/tools/serve.py",
        "serve|..",
        "serve|@tools/../../serve.py",
        "python3|/proc/self/cwd/../../serve.py",
        "python3|HOME/own/link/tools/serve.py",
        "python3|HOME/own/../project/tools/serve.py",
        "serve|file:///there/serve.py",
        // By links and what scripts name: the project's own, and ones into it.
        "desk",
        "HOME/project/tools/serve",
        "HOME/project/.venv/bin/python3|HOME/own/serve.py",
        "HOME/.nvm/bin/shim",
        // By no file that is there, or by modules.
        "there-is-none",
        "python3|-m|desk",
        "python3|-u|HOME/own/serve.py",
        "python3",
        // By addresses that are none.
        "node|x://../../project/tools/serve.js",
        "node|--import|FILE://HOME/project/tools/serve.mjs|-e|0",
        "npx|-y|git+file://HOME/project",
        "npx|-y|https://../../project",
        "npx|-y|HTTPS://code.example/a",
        "uvx|--from|git+file://HOME/project|desk",
        // By packages that run what follows, and runners' own options.
        "npx|-y|tsx|HOME/project/tools/serve.ts",
        "npx|-y|server|HOME/project/tools/serve.ts",
        "npx|-y|@modelcontextprotocol/inspector|node|x",
        "uvx|python3.12|-m|desk",
        "npx|--prefix|HOME/project|server",
        "npx|-c|server",
        "npx|user/repository",
        "npx|..",
        "npx",
        "npm|exec|server",
        // Behind the letters of options.
        "make|-CHOME/project|serve",
        "serve|-CHOME/project",
        // Computed.
        "perl|-e|exec join chr 47, q--, q-home-",
        "bash|HOME/own/serve.py|exec python3",
        "sh|-c|exec python3 HOME/project/tools/serve.py",
        "sh|-c|cd $(echo Y29kZQ) && exec python3 serve.py",
        "serve|--eval|x",
        "serve|-c|x",
    ] {
        assert!(!desk.lasts(words), "{words}");
    }
}

// SEC-023 SEC-075
#[test]
fn a_yes_does_not_last_where_a_container_may_see_what_is_somebody_elses() {
    let desk = desk();
    for words in [
        // By containers that see the project.
        "docker|run|-v|HOME/project:/x|image",
        "docker|run|--volume=./x:/x|image",
        "docker|run|--mount|type=bind,src=HOME/project,dst=/x|image",
        "docker|run|--privileged|image",
        "docker|compose|up",
        // By images that are no names of a registry, but folders and files that a project may hold.
        "docker|run|oci:HOME/project/img",
        "docker|run|oci:img",
        "docker|run|oci:img:latest",
        "docker|run|dir:img",
        "docker|run|docker-archive:img.tar",
        "docker|run|sif:img",
        "docker|run|x/oci:y/img",
        "docker|run|host:port/img",
        "docker|run|:1/img",
        "docker|run|img@x",
        "docker|run|img/",
        // By what says in another way where a folder is.
        "docker|run|--mount|type=bind,\"source=HOME/project\",dst=/x|image",
        "docker|run|--mount|type=bind,SRC=HOME/project,dst=/x|image",
        "docker|run|--mount|type=volume,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=HOME/project,dst=/x|image",
        "docker|run|--mount|type=image,src=image,dst=/x|image",
        "docker|run|--mount|type=bind,src=HOME/own,src=HOME/project,dst=/x|image",
        "docker|run|--mount|type=bind,src=HOME/own,dst=\"/x|image",
        "docker|run|--mount|type=bind, src=HOME/own,dst=/x|image",
        "docker|run|-v|HOME/own:/x:O,upperdir=HOME/project|image",
    ] {
        assert!(!desk.lasts(words), "{words}");
    }
}

// SEC-023 SEC-075
#[test]
fn a_yes_does_not_last_where_a_variable_may_lead_to_somebody_elses_program() {
    let desk = desk();
    let values = [
        ("X", "HOME/project/tools"),
        ("X", "/usr/bin:HOME/project/tools"),
        ("X", "/not/there"),
        ("X", "sh -c '/not/there'"),
        ("X", r#"{"serve": "HOME/project/tools"}"#),
        ("X", "x://../../project"),
        ("X", "~/project"),
        ("NODE_OPTIONS", "-rdesk"),
        ("npm_config_node_options", "-rdesk"),
        ("PYTHONPATH", "HOME/project"),
        ("PATH", "HOME/project/tools:/usr/bin"),
        // By functions and commands for a shell.
        ("BASH_FUNC_exec%%", "() { cd; cd w; source run.sh; }"),
        ("BASH_FUNC_exec()", "w"),
        ("X%%", "w"),
        ("", "w"),
        ("exec", "() { cd; cd w; source run.sh; }"),
        ("X", "$(sh run.sh)"),
        ("X", "`sh run.sh`"),
        ("BASH_COMPAT", "w"),
        ("SHELLOPTS", "xtrace"),
        ("BASHOPTS", "extdebug"),
        ("PS4", "w"),
        ("BROWSER", "w"),
    ];
    for (name, value) in values {
        assert!(!desk.lasts_with("npx|server", name, value), "{name}={value}");
    }
}

// SEC-023 SEC-075
#[test]
fn a_name_lasts_where_no_project_can_lay_another_program_before_it() {
    let mut desk = desk();
    let path = desk.places.path.clone();
    for before in ["project/node_modules/.bin", "project/.venv/bin", "other", "own/link/tools"] {
        for words in ["serve", "npx|-y|server", "HOME/.nvm/bin/npx|-y|server"] {
            desk.places.path.clone_from(&path);
            assert!(desk.lasts(words), "{words}");
            desk.places.path = format!("{}:{path}", desk.real.join(before).display());
            assert!(!desk.lasts(words), "{before} {words}");
        }
    }
}
