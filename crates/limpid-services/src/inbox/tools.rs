//! Tools that look through text messages and notifications, and write text messages.

mod read;
mod send_sms;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_config::{Config, Environment, GatewayConfig};
use limpid_core::inbox::{PREVIEW_CHARS, Source, preview};
use limpid_core::{Sentence, Tier, sentence};
use limpid_store::{InboxItem, ItemId, Store};
use limpid_tools::Outlet;
use serde_json::Value;

use crate::tools::{Tool, ToolContext, echoed};

/// Characters of a list of new items, at most.
const LIST: usize = 16_000;

/// The same at the two smallest tiers.
const SMALL_LIST: usize = 2_000;

/// Characters of a result that are left for what stands around a list.
const HEAD: usize = 400;

/// The tools of the sources that are on, in the order in which they are declared.
pub fn tools(store: &Arc<dyn Store>, config: &Config, environment: &Environment) -> Vec<Arc<dyn Tool>> {
    let result_chars = config.limits.result_chars;
    let config = &config.inbox;
    let store = || Arc::clone(store);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for (source, on) in [(Source::Sms, config.sms), (Source::Notification, config.notifications)] {
        if on {
            tools.push(Arc::new(read::Check { store: store(), source, result_chars }));
            tools.push(Arc::new(read::Read { store: store(), source }));
            tools.push(Arc::new(read::Search { store: store(), source }));
        }
    }
    if let Some(gateway) = config.gateway.as_ref().and_then(|gateway| outlet(gateway, environment)) {
        tools.push(Arc::new(send_sms::SendSms { gateway: gateway.clone() }));
        if config.sms {
            tools.push(Arc::new(send_sms::ReplySms { gateway, store: store() }));
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

/// Characters that a list of new items may have: it must reach the model whole, since what stands in it is not listed
/// again. A small window shortens long results.
pub(crate) fn list_room(context: &ToolContext, result_chars: usize) -> usize {
    let most = if context.tier <= Tier::ALL[1] { SMALL_LIST } else { LIST };
    most.min(result_chars.saturating_sub(HEAD))
}

/// How many of these lines fit into so many characters; the first one always does.
pub(crate) fn fitting(lines: &[String], room: usize) -> usize {
    let mut used = 0;
    let fits = lines.iter().take_while(|line| {
        used += line.chars().count() + 1;
        used <= room
    });
    fits.count().max(1).min(lines.len())
}

/// The number by which a prompt and the tools know an item: mail of an account by the account's, all others by ours.
pub fn shown_id(item: &InboxItem) -> String {
    item.new.uid.map_or_else(|| format!("i{}", item.id.0), |uid| uid.uid.to_string())
}

/// The item that a model means: `i12`, or `12`.
fn item_id(word: &str) -> Result<ItemId, Sentence> {
    let number = word.trim().trim_start_matches('i');
    number.parse().map(ItemId).map_err(|_| sentence!("`{}` is no id of an item, such as i12", echoed(word)))
}

/// An item in one line.
fn line(item: &InboxItem, zone: &TimeZone) -> String {
    let new = &item.new;
    let parts = [new.sender.as_str(), new.title.as_str()].map(preview);
    let head = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    format!("{} {} {head}: {}", shown_id(item), moment(new.posted_ms, zone), preview(&new.text))
}

/// What whoever is asked about a call is told of the item that it names; none where there is none of that source.
async fn in_words(store: &dyn Store, source: Source, arguments: &Value) -> Option<String> {
    let id = item_id(arguments["id"].as_str()?).ok()?;
    let item = store.item(id).await.ok()?.filter(|item| item.new.source == source)?;
    let new = &item.new;
    let beginning = preview(&new.text);
    let more = if beginning.chars().count() < PREVIEW_CHARS { "" } else { "…" };
    let title = preview(&new.title);
    let title = if title.is_empty() { title } else { format!("{title}: ") };
    Some(format!("{source} i{}, which a stranger wrote, from {}: {title}{beginning}{more}", id.0, preview(&new.sender)))
}

/// A moment of the owner's clock.
fn moment(ms: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or_default();
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}
