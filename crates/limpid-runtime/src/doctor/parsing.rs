//! What holds a page or a mail that is made to break what parses it.

use limpid_formats::Layers;

use super::check::Check;
use crate::agent::AgentOptions;

/// Asks a worker what it could do. Where fewer layers hold, that is no fault of the installation.
pub(super) async fn check(options: &AgentOptions) -> Check {
    const WHAT: &str = "parsing";
    match options.parser().layers().await {
        Ok(Some(layers)) => Check { what: WHAT, ok: true, says: says(layers), advice: None },
        Ok(None) => {
            let says = "pages and mail are parsed in this process, which one of them can end".to_owned();
            let advice = Some("Name a helper that parses them in processes of its own.".to_owned());
            Check { what: WHAT, ok: true, says, advice }
        }
        Err(broken) => {
            let says = format!("pages and mail cannot be parsed: {broken}");
            Check::of(WHAT, Err((says, "Install Limpid anew, and start it from where it lies.")))
        }
    }
}

fn says(layers: Layers) -> String {
    let Layers { files, network, processes, memory } = layers;
    let known = [
        (files, "open no file"),
        (network, "reach no network"),
        (processes, "start no process"),
        (memory, "get 256 MiB of memory"),
        (true, "end after 10 seconds"),
    ];
    let those = |holding| {
        let those: Vec<&str> = known.iter().filter(|(holds, _)| *holds == holding).map(|(_, what)| *what).collect();
        those.join(", ")
    };
    let open = those(false);
    let open = if open.is_empty() { open } else { format!("; this system does not make sure that they {open}") };
    format!("pages and mail are parsed in processes that {}{open}", those(true))
}
