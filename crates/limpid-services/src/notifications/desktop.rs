//! The desktop of this machine, by the program that its system has for it.

use async_trait::async_trait;
use limpid_config::Environment;
use limpid_core::Sentence;
use limpid_tools::Outlet;
use serde_json::Value;

use crate::notifications::notice::{Notice, Notifier};

/// What shows notifications on the desktops of Linux.
const PROGRAM: &str = "notify-send";

/// Whether the desktop is told, by the owner's setting or because there is one.
pub(crate) fn is_used(set: Option<bool>, environment: &Environment) -> bool {
    set.unwrap_or_else(|| missing(environment, cfg!(target_os = "macos")).is_none())
}

/// What is missing for notifications on a desktop; none when they can be shown.
pub fn missing(environment: &Environment, mac: bool) -> Option<&'static str> {
    if environment.get("SSH_CONNECTION").is_some() {
        return Some("this is a remote session");
    }
    if mac {
        return None;
    }
    if ["WAYLAND_DISPLAY", "DISPLAY"].iter().all(|name| environment.get(name).is_none()) {
        return Some("there is no desktop session");
    }
    let folders = environment.get("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(folders).any(|folder| folder.join(PROGRAM).is_file());
    (!is_there).then_some("there is no notify-send; the package libnotify-bin or libnotify has it")
}

/// The desktop.
pub(crate) struct Desktop;

#[async_trait]
impl Notifier for Desktop {
    fn name(&self) -> &'static str {
        "desktop"
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        Outlet::Program(words(notice, cfg!(target_os = "macos")))
            .hand_over(&Value::Null)
            .await
            .map_err(Sentence::into_text)
    }
}

/// The program with its arguments. What the notice says is an argument of its own, never part of a script.
fn words(notice: &Notice, mac: bool) -> Vec<String> {
    if mac {
        let script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
        return ["osascript", "-e", script, "--", notice.title.as_str(), notice.body.as_str()]
            .map(str::to_owned)
            .to_vec();
    }
    let id = format!("--replace-id={}", number(&notice.id));
    [PROGRAM, "--app-name=Limpid", &id, "--", notice.title.as_str(), &escaped(notice.body.as_str())]
        .map(str::to_owned)
        .to_vec()
}

/// A number that is always the same for an id, for servers that know notices by numbers. Never 0, which is none.
fn number(id: &str) -> u32 {
    // FNV-1a: small, and the same on every machine.
    id.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)).max(1)
}

/// A body may hold a few tags of HTML on such servers, and `notify-send` reads escapes of C in it; what was written is meant as it
/// stands.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use limpid_prompt::shown::Shown;

    use super::*;

    // TERM-009
    #[test]
    fn the_desktop_is_told_where_there_is_one_unless_the_owner_says_otherwise() {
        let bin = tempfile::tempdir().unwrap();
        std::fs::write(bin.path().join(PROGRAM), "").unwrap();
        let path = bin.path().display().to_string();
        let of = |variables: &[(&str, &str)]| {
            Environment::new(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
        };
        let desktop = [("DISPLAY", ":0"), ("PATH", path.as_str())];
        let wayland = [("WAYLAND_DISPLAY", "wayland-0"), ("PATH", path.as_str())];
        let remote = [("DISPLAY", ":10"), ("PATH", path.as_str()), ("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")];
        let cases: [(&[(&str, &str)], bool); 5] = [
            (&desktop, true),
            (&wayland, true),
            (&remote, false),
            (&[("PATH", path.as_str())], false),
            (&[("DISPLAY", ":0"), ("PATH", "/nowhere")], false),
        ];
        for (variables, told) in cases {
            assert_eq!(missing(&of(variables), false).is_none(), told, "{variables:?}");
        }
        assert_eq!(missing(&of(&[]), true), None, "a Mac has one");
        assert!(!is_used(Some(false), &of(&desktop)) && is_used(Some(true), &of(&[])));
    }

    // KAI-068 SEC-089
    #[test]
    fn a_notice_is_an_argument_and_takes_the_place_of_the_last_one() {
        let notice = |title: &str| Notice {
            id: "c1".to_owned(),
            title: Shown::new(title),
            body: Shown::new(r"-a <b> & c \074\033"),
            link: None,
        };
        let first = words(&notice("--hint=x"), false);
        assert_eq!(first[0], "notify-send");
        assert_eq!(first[3..], ["--", "--hint=x", r"-a &lt;b&gt; &amp; c \\074\\033"], "it reads escapes of C");
        assert_eq!(first[2], words(&notice("other"), false)[2], "one id, one place");
        assert_ne!(number("c1"), number("c2"));
        assert_eq!(words(&notice("t"), true)[3..], ["--", "t", r"-a <b> & c \074\033"]);
    }
}
