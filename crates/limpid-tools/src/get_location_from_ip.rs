//! `get_location_from_ip`: the rough place of this machine, by a service that the owner has set.

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::web::{Addresses, Ask, Web, host_of, server_of};
use crate::{Tool, ToolContext, echoed, read_arguments, schema_of, status};

/// Fields of such services that say where, in the order in which they are told.
const FIELDS: [&str; 12] = [
    "city",
    "region",
    "regionName",
    "region_name",
    "country",
    "country_name",
    "loc",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "timezone",
];

/// Asks a service where this machine's address is.
#[derive(Clone)]
pub struct GetLocationFromIp {
    web: Web,
    service: String,
}

impl GetLocationFromIp {
    /// The tool over a service that answers with a JSON object.
    pub fn new(service: &str) -> Self {
        Self { web: Web::new(Addresses::Any), service: service.to_owned() }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[async_trait]
impl Tool for GetLocationFromIp {
    fn name(&self) -> &'static str {
        "get_location_from_ip"
    }

    fn group(&self) -> &'static str {
        "time"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn destination(&self, _: &Value) -> Option<Destination> {
        server_of(&self.service)
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments {} = read_arguments(arguments)?;
        let page = self.web.get(&self.service, &Ask::default()).await?;
        let host = host_of(&self.service).unwrap_or_default();
        if !page.is_ok() {
            return Err(sentence!("{} answered {}", echoed(&host), status(page.status)));
        }
        let place: Map<String, Value> = serde_json::from_slice(&page.body)
            .map_err(|_| sentence!("{} answered with no JSON object", echoed(&host)))?;
        let line = |name: &&str| match place.get(*name)? {
            Value::String(text) if !text.trim().is_empty() => Some(format!("{name}: {}", text.trim())),
            Value::Number(number) => Some(format!("{name}: {number}")),
            _ => None,
        };
        let lines: Vec<String> = FIELDS.iter().filter_map(line).collect();
        if lines.is_empty() {
            return Err(sentence!("{} did not say where", echoed(&host)));
        }
        Ok(Labelled::outside(lines.join("\n")))
    }
}
