//! How the stream of a reply is read.

use crate::errors::Fault;
use crate::model::ModelEvent;

/// A stream that is being read: payloads in, events out.
pub(crate) trait Decoder: Send + Sync {
    /// Takes the payload of one frame.
    fn feed(&mut self, payload: &str, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;

    /// Ends the reply: what was held back, what was counted, and why it is over.
    ///
    /// A stream that broke off before its end is a fault, and none of its calls are reported.
    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;
}
