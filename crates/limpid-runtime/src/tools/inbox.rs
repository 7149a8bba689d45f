//! Tools that look through text messages and notifications, and write text messages (KAI-095).

mod look;
mod send;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::inbox::{Source, preview};
use limpid_store::{InboxItem, ItemId};
use limpid_tools::Outlet;

use super::{Tool, ToolParts};
use crate::config::GatewayConfig;
use crate::gather::shown_id;
use crate::world::Environment;

/// The tools of the sources that are on, in the order in which they are declared.
pub(super) fn tools(parts: &ToolParts<'_>) -> Vec<Arc<dyn Tool>> {
    let config = &parts.config.inbox;
    let store = || Arc::clone(parts.store);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for (source, on) in [(Source::Sms, config.sms), (Source::Notification, config.notifications)] {
        if on {
            tools.push(Arc::new(look::Check { store: store(), source }));
            tools.push(Arc::new(look::Read { store: store(), source }));
            tools.push(Arc::new(look::Search { store: store(), source }));
        }
    }
    if let Some(gateway) = config.gateway.as_ref().and_then(|gateway| outlet(gateway, parts.environment)) {
        tools.push(Arc::new(send::SendSms { gateway: gateway.clone() }));
        if config.sms {
            tools.push(Arc::new(send::ReplySms { gateway, store: store() }));
        }
    }
    tools
}

/// The program or the address that sends text messages; none when neither is set.
fn outlet(gateway: &GatewayConfig, environment: &Environment) -> Option<Outlet> {
    if !gateway.command.is_empty() {
        return Some(Outlet::Program(gateway.command.clone()));
    }
    let token = gateway.token_env.as_deref().and_then(|name| environment.get(name)).map(str::to_owned);
    Some(Outlet::Address { url: gateway.url.clone()?, token })
}

/// The group that texts list the tools of a source under.
const fn group(source: Source) -> &'static str {
    match source {
        Source::Mail => "mail",
        Source::Sms => "sms",
        Source::Notification => "notifications",
    }
}

/// The item that a model means: `i12`, or `12`.
fn item_id(word: &str) -> Result<ItemId, String> {
    let number = word.trim().trim_start_matches('i');
    number.parse().map(ItemId).map_err(|_| format!("`{word}` is no id of an item, such as i12"))
}

/// An item in one line.
fn line(item: &InboxItem, zone: &TimeZone) -> String {
    let new = &item.new;
    let parts = [new.sender.as_str(), new.title.as_str()].map(preview);
    let head = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    format!("{} {} {head}: {}", shown_id(item), moment(new.posted_ms, zone), preview(&new.text))
}

/// A moment of the owner's clock.
fn moment(ms: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or_default();
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}
