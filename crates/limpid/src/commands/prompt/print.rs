//! A prompt in the form that was asked for.

use limpid_prompt::Prompt;

use crate::cli::ShowArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Prints a prompt in the form that was asked for.
pub(super) fn print(prompt: &Prompt, args: &ShowArgs) -> Result<(), Failure> {
    if let Some(number) = args.message {
        let message = prompt.messages().get(number).ok_or_else(|| {
            let count = prompt.messages().len();
            Failure::new(
                ExitStatus::Usage,
                format!("there is no message {number}; this prompt has {count}, counted from 0"),
            )
        })?;
        return if args.json {
            output::json_line(&serde_json::to_string_pretty(message).unwrap_or_default())
        } else {
            output::data(message.text())
        };
    }
    if args.json {
        return output::json_line(&serde_json::to_string_pretty(prompt).unwrap_or_default());
    }
    if args.explain {
        return output::data(&prompt.explain());
    }
    output::data(&prompt.to_text())?;
    if let Some(advice) = prompt.advice() {
        output::tell(advice.trim_end());
    }
    Ok(())
}
