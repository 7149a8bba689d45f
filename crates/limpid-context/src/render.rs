//! The one place where the prompt of a request is rendered.

use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Profile, Prompt, RenderError, RenderRequest};

/// Renders a path's prompt, without counting its tokens.
pub fn render(profile: &Profile, path: &str, inputs: &Inputs) -> Result<Prompt, RenderError> {
    render_as(profile, path, inputs, false)
}

/// The same with the use of each budget, for somebody who looks at it.
pub(crate) fn render_with_budgets(profile: &Profile, path: &str, inputs: &Inputs) -> Result<Prompt, RenderError> {
    render_as(profile, path, inputs, true)
}

fn render_as(profile: &Profile, path: &str, inputs: &Inputs, count_tokens: bool) -> Result<Prompt, RenderError> {
    let span = tracing::debug_span!("prompt.render", path, bytes = tracing::field::Empty).entered();
    let request = RenderRequest { path, inputs, counter: &Estimate::default(), count_tokens };
    let prompt = profile.render(request)?;
    if !span.is_disabled() {
        span.record("bytes", prompt.messages().iter().map(|message| message.text().len()).sum::<usize>());
    }
    Ok(prompt)
}
