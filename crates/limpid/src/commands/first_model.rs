//! The first model: when none is set and none is found, one that suits the machine is fetched. Where limpid.toml sets a provider up,
//! none is: its owner wants that provider's models, and hears why there are none.

use limpid_runtime::{Agent, CONNECT_A_MODEL};

use super::context::Context;
use super::model::{downloads, fetch_default};
use crate::confirm::confirmed;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Sees to it that a model can answer: `wanted` by name, the configured one, one that is found, or one that is fetched.
///
/// # Errors
/// When none is found and none can be fetched, the person does not want one, or a provider of theirs offers none.
pub async fn ensure(context: &Context, agent: &Agent, wanted: Option<&str>) -> Result<(), Failure> {
    if wanted.is_some() || context.config.model.is_some() || agent.models().detect().await.is_some() {
        return Ok(());
    }
    if let Some(none) = agent.models().none_offered() {
        return Err(Failure::new(ExitStatus::Model, none.what).advise(none.advice));
    }
    if !cfg!(feature = "local") {
        return Err(no_model(
            "no model is set and none was found, and this program was built without the local engine",
        ));
    }
    let downloads = downloads(context)?;
    let offer = downloads
        .recommend(limpid_runtime::memory_available())
        .ok_or_else(|| no_model("the catalogue of local models is empty"))?;
    let size = offer.bytes.map_or_else(String::new, |bytes| format!(", {:.1} GB", bytes as f64 / 1e9));
    output::tell(&format!(
        "No model is set and none was found (no key in the environment, no server on this machine).\n\
         {} ({}{size}, {}) runs on this machine, without an account.",
        offer.title, offer.parameters, offer.licence
    ));
    if context.environment.stdin_is_terminal {
        if !confirmed("Fetch it now?", true)? {
            return Err(no_model("no model was fetched"));
        }
    } else {
        output::tell("Fetching it; an interrupt stops this without harm.");
    }
    let fetched = fetch_default(context, &downloads).await?;
    if let Some(note) =
        downloads.find(&fetched.name).map(|download| download.note.as_str()).filter(|note| !note.is_empty())
    {
        output::tell(&format!("{}: {note}", fetched.name));
    }
    Ok(())
}

fn no_model(what: &str) -> Failure {
    Failure::new(ExitStatus::Model, what).advise(CONNECT_A_MODEL)
}
