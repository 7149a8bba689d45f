//! `web_fetch`: a page of the web as text.

use std::time::Duration;

use async_trait::async_trait;
use limpid_core::message::{FROM_CAPABILITY_URL, FROM_OWN_NETWORK};
use limpid_core::policy::{Destination, Effect, PrivatePlace};
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use limpid_formats::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::web::{Ask, NoPage, Page, TIME, Web, address_of, parse, server_of, with_address};
use crate::{Tool, ToolContext, read_arguments, schema_of, status};

/// Characters that are returned at the least, usually and at most.
const CHARS: (usize, usize, usize) = (100, 20_000, 50_000);

/// Characters that what is said below a cut page takes at most.
const NOTES: usize = 250;

/// How long the page may take to be parsed, with a moment for everything else.
const PARSING: Duration = Duration::from_secs(11);

/// Gets a page of the web as text.
#[derive(Clone)]
pub struct WebFetch {
    web: Web,
    parser: Parser,
}

impl WebFetch {
    /// The tool over a web, whose pages this parser parses.
    pub fn new(web: Web, parser: Parser) -> Self {
        Self { web, parser }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    #[serde(rename = "maxChars")]
    max_chars: Option<usize>,
}

/// Reads arguments with which a page is asked for.
fn read(arguments: Value) -> Result<Arguments, Sentence> {
    let read: Arguments = read_arguments(arguments)?;
    if read.max_chars.is_some_and(|most| !(CHARS.0..=CHARS.2).contains(&most)) {
        return Err(sentence!("`maxChars` is {} to {}", CHARS.0, CHARS.2));
    }
    parse(&read.url)?;
    Ok(read)
}

#[async_trait]
impl Tool for WebFetch {
    fn name(&self) -> &'static str {
        "web_fetch"
    }

    fn group(&self) -> &'static str {
        "web"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, arguments: &Value) -> Effect {
        Effect::Fetch(arguments["url"].as_str().and_then(address_of))
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_public(&self) -> bool {
        true
    }

    fn names_own_network(&self, arguments: &Value) -> bool {
        self.web.names_own(arguments)
    }

    async fn leads_to_own_network(&self, arguments: &Value) -> bool {
        self.web.leads_to_own(arguments).await
    }

    fn canonical(&self, arguments: &Value) -> Value {
        with_address(arguments)
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        server_of(arguments.get("url")?.as_str()?)
    }

    /// A call that may run asks for its page, whatever the model wrote: one that asked for nothing would pass an address over.
    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        read(arguments.clone()).map(drop)
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIME + PARSING)
    }

    fn result_chars(&self) -> Option<usize> {
        Some(CHARS.2 + NOTES)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { url, max_chars } = read(arguments)?;
        let most = max_chars.unwrap_or(CHARS.1);
        let page = self.get(context, &url).await;
        let place = context.private_place.or_else(|| led_to(context, &page));
        let read = match page {
            Ok(page) => self.text(context, page, most).await,
            Err(failed) => Err(failed.why),
        };
        let from = match place {
            Some(PrivatePlace::OwnNetwork) => FROM_OWN_NETWORK,
            Some(PrivatePlace::CapabilityUrl) => FROM_CAPABILITY_URL,
            None => return read,
        };
        // Whether the server answered, and how, is as private as what it said.
        match read {
            Ok(page) => Ok(sentence!("{}\n{}", Sentence::from(from), page).into()),
            Err(why) => Err(sentence!("{} {}", Sentence::from(from), why)),
        }
    }
}

/// The private place that a short address led to, or would have led to.
fn led_to(context: &ToolContext, page: &Result<Page, NoPage>) -> Option<PrivatePlace> {
    let over_key = match page {
        Ok(page) => page.over_key,
        Err(failed) => failed.over_key,
    };
    (context.may_lead_to_key && over_key).then_some(PrivatePlace::CapabilityUrl)
}

impl WebFetch {
    async fn get(&self, context: &ToolContext, url: &str) -> Result<Page, NoPage> {
        // Which hosts a turn may reach is decided before it is made; after a stranger's text, nobody leads on from there.
        let other_hosts = !context.trust.is_foreign();
        let own_network = context.private_place == Some(PrivatePlace::OwnNetwork);
        let hides_names = context.trust.is_foreign();
        let ask = Ask { other_hosts, own_network, hides_names, bans: context.bans.clone(), ..Ask::default() };
        let page = self.web.get(url, &ask).await?;
        if page.is_ok() {
            return Ok(page);
        }
        let host = Labelled::outside(page.url.host_str().unwrap_or_default());
        Err(NoPage { why: sentence!("{} answered {}", host, status(page.status)), over_key: page.over_key })
    }

    async fn text(&self, context: &ToolContext, page: Page, most: usize) -> Result<Labelled<String>, Sentence> {
        let cut = page.cut;
        let read = page.text(&self.parser.for_reader(&context.turn.to_string()), most).await;
        let (mut shown, all) = read.map_err(|broken| {
            sentence!("the page cannot be read: {}; look for another that says the same", broken.why())
        })?;
        if all > most {
            shown.push_str(&format!("\n… {most} of {all} characters"));
        }
        if cut {
            shown.push_str("\n… the page is longer than what is read of one");
        }
        Ok(Labelled::outside(shown))
    }
}
