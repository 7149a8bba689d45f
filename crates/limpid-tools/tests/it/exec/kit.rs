//! A home with a workspace, folders of both kinds beside it, and programs that run in the sandbox.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_config::regular_file::Opened;
use limpid_core::Trust;
use limpid_tools::exec::confinement::{Limits, Network};
use limpid_tools::exec::places::Places;
use limpid_tools::exec::{Exec, Programs};
use limpid_tools::files::{Grants, Root};
use limpid_tools::{Snapshot, Tool, ToolContext};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::context;

/// A user without rights, for whom programs run when the tests run as root.
pub(super) const NOBODY: u32 = 65534;

/// The binary that makes the sandbox.
pub(super) const HELPER: &str = env!("CARGO_BIN_EXE_limpid-sandbox");

/// Folders: `home` with `workspace`, `outside` and `skills`; `mine`, granted and trusted; `mine/theirs` and `theirs`,
/// granted and not trusted; `read`, for reading; `nowhere`, not granted.
pub(super) struct Bench {
    pub(super) folder: TempDir,
    pub(super) programs: Programs,
}

pub(super) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

/// Gives everything to the user that programs run as.
pub(super) fn hand_over(path: &Path) {
    if !is_root() {
        return;
    }
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| hand_over(&entry.unwrap().path()));
    }
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("limpid-bench-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in
            ["home/workspace/sub", "home/outside", "home/skills/tea", "mine/theirs", "theirs", "read", "nowhere"]
        {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path("home/workspace/tea.md"), "oolong\n").unwrap();
        fs::write(path("home/soul.md"), "the soul\n").unwrap();
        fs::write(path("home/skills/tea/SKILL.md"), "# Tea\n").unwrap();
        for name in ["home/outside", "mine/theirs", "theirs", "nowhere"] {
            fs::write(path(name).join("letter.md"), "Dear all\n").unwrap();
        }
        for name in ["mine", "read"] {
            fs::write(path(name).join("own.md"), "my own\n").unwrap();
        }
        hand_over(folder.path());
        let root = |name: &str, write, trust| Root { folder: path(name), write, trust };
        let grants = Grants::new(path("home/workspace"), path("home/data/locks"))
            .with(root("home/skills", false, Trust::File))
            .with(root("mine", true, Trust::File))
            .with(root("mine/theirs", true, Trust::Outside))
            .with(root("theirs", true, Trust::Outside))
            .with(root("read", false, Trust::File))
            .with(root("home/outside", true, Trust::Outside));
        let programs = Programs {
            grants,
            scripts: vec![path("home/skills")],
            helper: helper(folder.path()),
            home: path("home"),
            outside: path("home/outside"),
            toolchains: Vec::new(),
            shell: true,
            network: Network::default(),
            path: Vec::new(),
            environment: Vec::new(),
            own_environment: Vec::new(),
            limits: Limits::default(),
            folders: Vec::new(),
            places: Places::default(),
        };
        Self { folder, programs }
    }

    /// The same on a system that allows no namespaces. Only root can make one, so elsewhere there is none.
    pub(super) fn without_namespaces() -> Option<Self> {
        if !is_root() {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "SKIPPED: only root can make a system without namespaces");
            return None;
        }
        let mut bench = Self::new();
        bench.programs.helper = helper_without_namespaces(bench.folder.path());
        Some(bench)
    }

    /// The same with no granted folder within another: without namespaces no part of one can be hidden.
    pub(super) fn flat(mut self) -> Self {
        let root = |name: &str, write, trust| Root { folder: self.path(name), write, trust };
        self.programs.grants = Grants::new(self.path("home/workspace"), self.path("home/data/locks"))
            .with(root("home/skills", false, Trust::File))
            .with(root("mine", true, Trust::File))
            .with(root("theirs", true, Trust::Outside))
            .with(root("read", false, Trust::File))
            .with(root("home/outside", true, Trust::Outside));
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command in a turn of the owner's own.
    pub(super) async fn run(&self, command: &str) -> String {
        self.run_as(Trust::Owner, command).await
    }

    /// Runs a command to which the owner said yes, in a turn that has read a stranger's text.
    pub(super) async fn run_approved(&self, command: &str) -> String {
        let exec = Exec::new(Arc::new(self.programs.clone()));
        let call = json!({ "command": command.replace("{}", &self.folder.path().display().to_string()) });
        let mut snapshot = Snapshot::new(self.path("home/data/approved/1")).unwrap();
        let program = exec.starts(&call).unwrap().program;
        snapshot.keep(&program, Opened::at_no_link(&program).unwrap(), 1 << 26).unwrap().unwrap();
        hand_over(&self.path("home/data"));
        let approved = ToolContext { approved: true, snapshot: Some(Arc::new(snapshot)), ..context(Trust::Outside) };
        match exec.run(&judged(&exec, &approved, &call), call).await {
            Ok(told) => told.into_parts().0,
            Err(error) => format!("error: {}", error.text()),
        }
    }

    /// Runs a command in a turn that has read something of this label. `{}` stands for the bench's folder.
    pub(super) async fn run_as(&self, trust: Trust, command: &str) -> String {
        let command = command.replace("{}", &self.folder.path().display().to_string());
        let exec = Exec::new(Arc::new(self.programs.clone()));
        let call = json!({ "command": command });
        match exec.run(&judged(&exec, &context(trust), &call), call).await {
            Ok(told) => told.into_parts().0,
            Err(error) => format!("error: {}", error.text()),
        }
    }
}

/// What a call knows that was judged.
pub(super) fn judged(exec: &Exec, context: &ToolContext, call: &Value) -> ToolContext {
    let program = exec.strangers_program(context.trust, context.approved, call);
    ToolContext { program, ..context.clone() }
}

/// The helper, without rights even where the tests have them.
fn helper(folder: &Path) -> PathBuf {
    if !is_root() {
        return HELPER.into();
    }
    // What the tests make for a program belongs to root, and the program is nobody.
    let hands_over = format!("chown -R {NOBODY}:{NOBODY} '{}' 2>/dev/null", folder.join("home/data/scratch").display());
    script(folder, &format!("{hands_over}; exec {} '{HELPER}' \"$@\"", unprivileged()))
}

/// The helper where the system allows no namespaces: the kernel gives none to what runs in another root.
fn helper_without_namespaces(folder: &Path) -> PathBuf {
    let second = folder.join("second");
    let text = format!("#!/bin/sh\ncd \"$1\"; shift\nexec {} '{HELPER}' \"$@\"\n", unprivileged());
    fs::write(&second, text).unwrap();
    fs::set_permissions(&second, fs::Permissions::from_mode(0o755)).unwrap();
    let second = second.display();
    let text = format!(
        "exec unshare -m sh -c 'mount --rbind / /mnt && exec chroot /mnt \"$@\"' sh '{second}' \"$PWD\" \"$@\""
    );
    script(folder, &text)
}

/// The beginning of a command without the tests' rights.
pub(super) fn unprivileged() -> String {
    if !is_root() {
        return String::new();
    }
    format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups")
}

pub(super) fn script(folder: &Path, text: &str) -> PathBuf {
    let script = folder.join("helper");
    fs::write(&script, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}
