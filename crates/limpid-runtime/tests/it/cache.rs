//! How long a provider keeps what it has read, and what that costs.

use crate::kit::{Bench, say};
use jiff::ToSpan;
use limpid_core::Usage;
use limpid_model::catalogue::ModelProfiles;
use limpid_runtime::{Config, Environment};
use limpid_testkit::cache::anthropic_usage;
use serde_json::Value;

/// Minutes between the messages of one day: short exchanges, and breaks of a quarter of an hour and of some hours.
const WITH_BREAKS: [i64; 16] = [1, 12, 2, 25, 1, 18, 40, 2, 180, 15, 1, 22, 9, 35, 150, 14];

/// The same for a day without breaks.
const WITHOUT: [i64; 16] = [1, 2, 1, 3, 2, 1, 2, 4, 1, 2, 3, 1, 2, 2, 1, 3];

/// What a model was sent in the course of a day, each with its time.
async fn day(gaps: &[i64], cache: &str) -> Vec<(i64, Value)> {
    let said = "The kettle is on the left shelf behind the tea, and the tea is green. ".repeat(8);
    let mut bench = Bench::new(&format!("[[reply]]\ntext = \"{said}\"\n").repeat(gaps.len() + 1)).await;
    let config = format!("model = \"anthropic/claude-sonnet-5-5\"\n[path.chat-remote]\ncache = \"{cache}\"\n");
    bench.config = Config::parse(&config, "limpid.toml").unwrap();
    let mut options = bench.options();
    options.config.tools.defer = false;
    let url = format!("{}/v1", bench.server.url());
    options.environment = Environment::new([("ANTHROPIC_BASE_URL".to_owned(), url)]);
    let agent = limpid_runtime::Agent::open(options).unwrap();
    let mut times = Vec::new();
    for gap in std::iter::once(&0).chain(gaps) {
        bench.clock.forward(gap.minutes());
        times.push(agent.now_ms());
        say(&agent, "Where are the kettle and the tea, and which tea is it?").await;
    }
    times.into_iter().zip(bench.server.calls().iter().map(limpid_testkit::Recorded::json)).collect()
}

// MOD-052
#[tokio::test]
async fn the_price_of_a_day_is_least_where_the_cache_outlasts_the_breaks() {
    let price = ModelProfiles::load(None).unwrap().get("anthropic", "claude-sonnet-5-5").price.unwrap();
    let mut lines = Vec::new();
    for (name, gaps) in [("with breaks", WITH_BREAKS), ("without", WITHOUT)] {
        let mut costs = Vec::new();
        for cache in ["off", "5m", "1h", "auto"] {
            let usage = anthropic_usage(&day(&gaps, cache).await);
            assert_eq!(usage.len(), gaps.len() + 1);
            let cost: u64 = usage.iter().map(|usage| price.of(*usage).0).sum();
            let sum = |pick: fn(&Usage) -> u64| usage.iter().map(pick).sum::<u64>();
            let (read, written, hour) =
                (sum(|usage| usage.cached), sum(|usage| usage.cache_written), sum(|usage| usage.cache_written_hour));
            lines.push(format!(
                "{name}, {cache}: {cost} micro dollars; read {read}, written {written}, for an hour {hour}"
            ));
            costs.push(cost);
        }
        let [off, minutes, hour, auto] = costs[..] else { unreachable!() };
        assert!(minutes.min(hour) < off, "{lines:#?}");
        match name {
            "with breaks" => assert!(hour < minutes && auto < minutes, "{lines:#?}"),
            _ => assert!(minutes < hour && auto == minutes, "{lines:#?}"),
        }
    }
}
