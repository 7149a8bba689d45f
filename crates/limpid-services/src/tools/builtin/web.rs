//! Tools of the web, as the owner has set them up.

use std::sync::Arc;

use limpid_config::{Config, Engine, Environment, SearchConfig, WebConfig};
use limpid_formats::Parser;
use limpid_tools::search::{Brave, DuckDuckGo, SearchEngine, Searxng};
use limpid_tools::{Addresses, GetLocationFromIp, OpenUrl, SystemScreen, Web, WebFetch, WebSearch};

use crate::tools::Tool;

/// The variable that holds Brave's key when none is named.
const BRAVE_KEY: &str = "BRAVE_API_KEY";

/// The tools that are set up, in the order in which they are declared.
pub fn tools(config: &Config, environment: &Environment, parser: &Parser) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    // What is wrong with an engine is said by `doctor`.
    if let Ok(Some(engine)) = engine(&config.search, environment, parser) {
        tools.push(Arc::new(WebSearch::new(engine, parser.clone())));
    }
    let WebConfig { also, mirrors, .. } = &config.web;
    // What is named as both is the owner's.
    let mirrors = mirrors.iter().filter(|mirror| !also.contains(mirror)).copied().collect();
    let web = Web::new(Addresses::PublicAnd(mirrors)).with_own(also.clone());
    if config.web.fetch {
        tools.push(Arc::new(WebFetch::new(web.clone(), parser.clone())));
    }
    if config.web.open {
        tools.push(Arc::new(OpenUrl::new(Arc::new(SystemScreen), web)));
    }
    if let Some(service) = &config.location.service {
        tools.push(Arc::new(GetLocationFromIp::new(service)));
    }
    tools
}

/// The engine that the owner has set; none when there is none.
///
/// # Errors
/// What is missing for it.
pub fn engine(
    config: &SearchConfig,
    environment: &Environment,
    parser: &Parser,
) -> Result<Option<Arc<dyn SearchEngine>>, (String, &'static str)> {
    let Some(engine) = config.engine else { return Ok(None) };
    let url = config.url.as_deref();
    Ok(Some(match engine {
        Engine::Searxng => {
            let advice = "Set `url` under `[search]` in limpid.toml to the address of your server.";
            let url = url.ok_or_else(|| ("SearXNG has no address of its own".to_owned(), advice))?;
            Arc::new(Searxng::new(url))
        }
        Engine::Brave => {
            let variable = config.key_env.as_deref().unwrap_or(BRAVE_KEY);
            let advice = "Set it, or name another as `key_env` under `[search]` in limpid.toml.";
            let key =
                environment.get(variable).ok_or_else(|| (format!("{variable} holds no key for Brave"), advice))?;
            Arc::new(Brave::new(key, url).map_err(|why| (format!("{variable}: {}", why.text()), advice))?)
        }
        Engine::DuckDuckGo => Arc::new(DuckDuckGo::new(url, parser.clone())),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-093
    #[test]
    fn an_engine_is_there_when_it_has_all_that_it_needs() {
        let keys = [("BRAVE_API_KEY", "k1"), ("OTHER_KEY", "k2")].map(|(name, key)| (name.to_owned(), key.to_owned()));
        let keys = Environment::new(keys);
        let says = |toml: &str, environment: &Environment| {
            let config = Config::parse(&format!("[search]\n{toml}"), "limpid.toml").unwrap();
            match engine(&config.search, environment, &Parser::in_this_process()) {
                Ok(None) => "none".to_owned(),
                Ok(Some(engine)) => format!("{} at {}", engine.name(), engine.host()),
                Err((why, advice)) => format!("{why}. {advice}"),
            }
        };
        let none = Environment::default();
        assert_eq!(says("", &none), "none");
        assert_eq!(says("engine = \"duckduckgo\"", &none), "DuckDuckGo at html.duckduckgo.com");
        assert_eq!(
            says("engine = \"searxng\"\nurl = \"http://10.0.0.5:8888\"", &none),
            "SearXNG at http://10.0.0.5:8888"
        );
        assert!(says("engine = \"searxng\"", &none).starts_with("SearXNG has no address of its own. Set `url`"));
        assert_eq!(says("engine = \"brave\"", &keys), "Brave at api.search.brave.com");
        assert!(says("engine = \"brave\"", &none).starts_with("BRAVE_API_KEY holds no key for Brave. Set it"));
        assert!(says("engine = \"brave\"\nkey_env = \"NO_KEY\"", &keys).starts_with("NO_KEY holds no key"));
    }
}
