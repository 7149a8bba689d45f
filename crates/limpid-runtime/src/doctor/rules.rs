//! Whether the owner's rules of `[policy]` are about any tool: one that is about none holds nothing back and lets nothing pass.

use limpid_core::ToolClass;
use limpid_core::policy::{AFTER_SERVER, ArgumentPattern, Rule, ToolFacts, ToolPattern};
use limpid_core::reach::FIND_TOOLS;
use limpid_prompt::problem::nearest;
use limpid_services::mcp::ServerRow;
use limpid_services::tools::Tool;

use crate::agent::Agent;
use crate::doctor::check::Check;
use crate::settings::described_tools;

/// A tool as rules may name it.
#[derive(Debug)]
struct Named {
    name: String,
    other_names: Vec<String>,
    /// The arguments that it takes; none where that is not known.
    takes: Option<Vec<String>>,
}

impl Named {
    fn facts(&self) -> ToolFacts<'_> {
        // Rules that name a class or a group are not looked at.
        ToolFacts { name: &self.name, other_names: &self.other_names, group: "", class: ToolClass::Read }
    }
}

/// A line for each rule that names a tool which is not there. Of servers that never said what they offer nothing is known.
pub(crate) fn check(agent: &Agent) -> Vec<Check> {
    let servers = agent.mcp().list();
    let tools = tools(agent, &servers);
    let unknown: Vec<&str> = servers.iter().filter(|row| row.tools.is_empty()).map(|row| row.name.as_str()).collect();
    let rules = agent.config().policy.rules();
    let lists = [("allow", &rules.allow), ("ask", &rules.ask), ("deny", &rules.deny)];
    let wrong = lists.into_iter().flat_map(|(list, rules)| rules.iter().map(move |rule| (list, rule)));
    let problem = |(list, rule)| problem(list, rule, &tools, &unknown).or_else(|| unknown_argument(list, rule, &tools));
    wrong.filter_map(problem).collect()
}

/// The names of the arguments that a tool takes.
fn takes(tool: &dyn Tool) -> Option<Vec<String>> {
    Some(tool.schema().get("properties")?.as_object()?.keys().cloned().collect())
}

/// An argument that a rule names and none of its tools takes: such a rule is about no call.
fn unknown_argument(list: &str, rule: &Rule, tools: &[Named]) -> Option<Check> {
    let (ToolPattern::Name(_), Some(ArgumentPattern::Fields(fields))) = (&rule.tool, &rule.arguments) else {
        return None;
    };
    let meant = tools.iter().filter(|tool| rule.tool.holds_back(&tool.facts()));
    let takes: Vec<&str> = meant.filter_map(|tool| tool.takes.as_ref()).flatten().map(String::as_str).collect();
    if takes.is_empty() {
        return None;
    }
    let (name, _) = fields.iter().find(|(name, _)| !takes.contains(&name.as_str()))?;
    let says = format!("[[policy.{list}]] tool = \"{}\" names `{name}`, which that tool does not take", rule.tool);
    let advice = match nearest(name, takes.iter().copied()) {
        Some(close) => format!("It is about no call. Did you mean `{close}`?"),
        None => format!("It is about no call. The tool takes {}.", takes.join(", ")),
    };
    Some(Check { what: "rules", ok: false, says, advice: Some(advice) })
}

/// Every tool that is known of, whether it can be used now or not.
fn tools(agent: &Agent, servers: &[ServerRow]) -> Vec<Named> {
    let plain = |name: String| Named { name, other_names: Vec::new(), takes: None };
    let own = described_tools().into_iter().chain([FIND_TOOLS.to_owned()]).map(plain);
    let there = agent.all_tools();
    let there = there.iter().map(|tool| Named {
        name: tool.name().to_owned(),
        other_names: tool.other_names().to_vec(),
        takes: takes(&**tool),
    });
    let offered = servers.iter().flat_map(|row| &row.tools);
    let offered =
        offered.map(|tool| Named { name: tool.called.clone(), other_names: tool.other_names.clone(), takes: None });
    own.chain(there).chain(offered).collect()
}

/// What is wrong with a rule, if it names no tool.
fn problem(list: &str, rule: &Rule, tools: &[Named], unknown: &[&str]) -> Option<Check> {
    let (ToolPattern::Name(name) | ToolPattern::Prefix(name)) = &rule.tool else { return None };
    let fits = |tool: &&Named| match list {
        "allow" => rule.tool.permits(&tool.facts()),
        _ => rule.tool.holds_back(&tool.facts()),
    };
    let may_be_there = match name.split_once(AFTER_SERVER) {
        Some((server, _)) => unknown.contains(&server),
        None => list != "allow" && !unknown.is_empty(),
    };
    if may_be_there || tools.iter().any(|tool| fits(&tool)) {
        return None;
    }
    let mut meant: Vec<String> = Vec::new();
    for tool in tools.iter().filter(|tool| rule.tool.holds_back(&tool.facts())) {
        let called = format!("`{}`", tool.name);
        if !meant.contains(&called) {
            meant.push(called);
        }
    }
    let advice = match nearest(name, tools.iter().map(|tool| tool.name.as_str())) {
        _ if !meant.is_empty() => {
            format!("A server's tool is allowed by its whole name: write {}.", meant.join(" or "))
        }
        Some(close) => format!("Did you mean `{close}`?"),
        None => "Tools of servers are called `SERVER__TOOL`; `limpid mcp list SERVER` has their names.".to_owned(),
    };
    let says = format!("[[policy.{list}]] tool = \"{}\" is about no tool", rule.tool);
    Some(Check { what: "rules", ok: false, says, advice: Some(advice) })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-071
    #[test]
    fn a_rule_about_an_argument_that_its_tool_does_not_take_is_told() {
        let takes = Some(vec!["key".to_owned(), "content".to_owned()]);
        let tools = [Named { name: "memory_store".to_owned(), other_names: Vec::new(), takes }];
        let told = |field: &str| {
            let pattern = ArgumentPattern::Fields(vec![(field.to_owned(), ArgumentPattern::Text("*".to_owned()))]);
            let tool = ToolPattern::parse("memory_store").unwrap();
            let rule = Rule { tool, arguments: Some(pattern), destination: None, max_bytes: None };
            unknown_argument("deny", &rule, &tools).map(|check| check.advice.unwrap())
        };
        assert_eq!(told("key"), None);
        assert_eq!(told("kee").as_deref(), Some("It is about no call. Did you mean `key`?"));
        assert_eq!(told("destination").as_deref(), Some("It is about no call. The tool takes key, content."));
    }

    // SEC-071
    #[test]
    fn a_rule_that_is_about_no_tool_is_told_with_what_to_write() {
        let named = |name: &str, others: &[&str]| Named {
            name: name.to_owned(),
            other_names: others.iter().map(|name| (*name).to_owned()).collect(),
            takes: None,
        };
        let tools = [
            named("read_file", &[]),
            named("desk__keep", &["keep", "desk_keep"]),
            named("toys__keep", &["keep", "toys_keep"]),
        ];
        let told = |list: &str, tool: &str, unknown: &[&str]| {
            let rule =
                Rule { tool: ToolPattern::parse(tool).unwrap(), arguments: None, destination: None, max_bytes: None };
            problem(list, &rule, &tools, unknown).map(|check| format!("{}. {}", check.says, check.advice.unwrap()))
        };
        for (list, tool) in [
            ("allow", "read_file"),
            ("allow", "desk__keep"),
            ("allow", "desk__*"),
            ("allow", "class:send"),
            ("allow", "group:mcp-desk"),
            ("ask", "keep"),
            ("deny", "desk_keep"),
            ("deny", "desk_*"),
        ] {
            assert_eq!(told(list, tool, &[]), None, "{list} {tool}");
        }
        let wrong =
            [("allow", "keep"), ("allow", "desk_*"), ("deny", "read_fil"), ("ask", "press__print"), ("deny", "x*")];
        insta::assert_snapshot!(wrong.map(|(list, tool)| told(list, tool, &[]).unwrap()).join("\n"));
        // What a server offers that never answered may be anything.
        assert_eq!(told("ask", "press__print", &["press"]), None);
        assert_eq!(told("deny", "print", &["press"]), None);
        assert!(told("allow", "print", &["press"]).is_some() && told("ask", "desk__print", &["press"]).is_some());
    }
}
