//! Whether the owner's rules of `[policy]` are about any call: else one holds nothing back and lets nothing pass.

use limpid_core::ToolClass;
use limpid_core::policy::{AFTER_SERVER, AddressOrigin, ArgumentPattern, Effect, Row, Rule, ToolFacts, ToolPattern};
use limpid_core::reach::FIND_TOOLS;
use limpid_prompt::problem::nearest;
use limpid_services::mcp::ServerRow;
use limpid_services::tools::Tool;
use serde_json::{Map, Value};

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
    /// The row of the table that its calls are of, where others hear of them or files are written; none where that is not known.
    row: Option<Row>,
}

impl Named {
    fn facts(&self) -> ToolFacts<'_> {
        // Rules that name a class or a group are not looked at.
        ToolFacts { name: &self.name, other_names: &self.other_names, group: "", class: ToolClass::Read }
    }
}

/// A line for each rule that names a tool which is not there, or that lets no call of its tools pass. Of servers that
/// never said what they offer nothing is known.
pub(crate) fn check(agent: &Agent) -> Vec<Check> {
    let servers = agent.mcp().list();
    let tools = tools(agent, &servers);
    let unknown: Vec<&str> = servers.iter().filter(|row| row.tools.is_empty()).map(|row| row.name.as_str()).collect();
    let rules = agent.config().policy.rules();
    let lists = [("allow", &rules.allow), ("ask", &rules.ask), ("deny", &rules.deny)];
    let wrong = lists.into_iter().flat_map(|(list, rules)| rules.iter().map(move |rule| (list, rule)));
    let problem = |(list, rule)| {
        problem(list, rule, &tools, &unknown)
            .or_else(|| unknown_argument(list, rule, &tools))
            .or_else(|| passes_nothing(list, rule, &tools))
            .or_else(|| of_writing(list, rule, &tools))
    };
    wrong.filter_map(problem).collect()
}

/// The names of the arguments that a tool takes.
fn takes(tool: &dyn Tool) -> Option<Vec<String>> {
    Some(tool.schema().get("properties")?.as_object()?.keys().cloned().collect())
}

/// The row of what a tool sends, shows or writes whatever its arguments are. Its class says that it does nothing else.
fn row(tool: &dyn Tool) -> Option<Row> {
    let effect = tool.effect(&Value::Object(Map::new()));
    let always = matches!(effect, Effect::Show(_) | Effect::Send | Effect::TellOthers | Effect::Pay | Effect::Files);
    (always && effect.class() == tool.class()).then(|| Row::of(&effect, AddressOrigin::Composed, &[]))
}

/// A rule of `allow` that names too little for each call of its tools.
fn passes_nothing(list: &str, rule: &Rule, tools: &[Named]) -> Option<Check> {
    let (ToolPattern::Name(_) | ToolPattern::Prefix(_)) = &rule.tool else { return None };
    if list != "allow" {
        return None;
    }
    // One tool may stand there more than once.
    let row = |name: &str| tools.iter().filter(|tool| tool.name == name).find_map(|tool| tool.row);
    let meant = tools.iter().filter(|tool| rule.tool.permits(&tool.facts()));
    let lacks: Option<Vec<&str>> = meant.map(|tool| rule.lacks(row(&tool.name)?)).collect();
    let lacks = lacks?.into_iter().next()?;
    let says = format!("[[policy.allow]] tool = \"{}\" lets no call pass", rule.tool);
    let advice = format!("Add {lacks}, as a question about such a call shows them.");
    Some(Check { what: "rules", ok: false, says, advice: Some(advice) })
}

/// A rule of `allow` about files: it is no fault, but whoever relies on it has to know when it does not hold.
fn of_writing(list: &str, rule: &Rule, tools: &[Named]) -> Option<Check> {
    let (ToolPattern::Name(_) | ToolPattern::Prefix(_)) = &rule.tool else { return None };
    let writes = |tool: &Named| tool.row.is_some_and(Row::writes_files) && rule.tool.permits(&tool.facts());
    if list != "allow" || !tools.iter().any(writes) {
        return None;
    }
    let says = format!("[[policy.allow]] tool = \"{}\" holds only until a stranger's text is read", rule.tool);
    let advice = "After that each change of your files waits for your yes.".to_owned();
    Some(Check { what: "rules", ok: true, says, advice: Some(advice) })
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
    let plain = |name: String| Named { name, other_names: Vec::new(), takes: None, row: None };
    let own = described_tools().into_iter().chain([FIND_TOOLS.to_owned()]).map(plain);
    let there = agent.all_tools();
    let there = there.iter().map(|tool| Named {
        name: tool.name().to_owned(),
        other_names: tool.other_names().to_vec(),
        takes: takes(&**tool),
        row: row(&**tool),
    });
    let offered = servers.iter().flat_map(|row| &row.tools);
    let offered = offered.map(|tool| Named {
        name: tool.called.clone(),
        other_names: tool.other_names.clone(),
        takes: None,
        // What is not declared counts as sent.
        row: tool.effect.is_none().then_some(Row::Send),
    });
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
        let tools = [Named { name: "memory_store".to_owned(), other_names: Vec::new(), takes, row: None }];
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
    fn a_rule_that_names_too_little_for_every_call_of_its_tools_is_told() {
        let named =
            |name: &str, row: Option<Row>| Named { name: name.to_owned(), other_names: Vec::new(), takes: None, row };
        let tools = [
            named("open_url", None),
            named("open_url", Some(Row::Show)),
            named("send_sms", Some(Row::Send)),
            named("web_fetch", None),
        ];
        let told = |list: &str, tool: &str, to: Option<&str>, with: Option<&str>| {
            let arguments = with.map(|text| ArgumentPattern::Text(text.to_owned()));
            let (tool, destination) = (ToolPattern::parse(tool).unwrap(), to.map(str::to_owned));
            let rule = Rule { tool, arguments, destination, max_bytes: None };
            passes_nothing(list, &rule, &tools).map(|check| format!("{}. {}", check.says, check.advice.unwrap()))
        };
        let (to, with) = (Some("docs.rs"), Some("x"));
        assert_eq!(
            told("allow", "open_url", to, None).unwrap(),
            "[[policy.allow]] tool = \"open_url\" lets no call pass. Add `arguments`, as a question about such a call \
             shows them."
        );
        assert!(told("allow", "open_url", None, None).unwrap().contains("Add `destination` and `arguments`, "));
        assert!(told("allow", "send_*", None, with).unwrap().contains("Add `destination`, "));
        for (list, tool, to, with) in [
            ("allow", "open_url", to, with),
            ("allow", "send_sms", to, None),
            ("allow", "web_fetch", None, None),
            ("allow", "*", None, None),
            ("deny", "open_url", None, None),
        ] {
            assert_eq!(told(list, tool, to, with), None, "{list} {tool}");
        }
    }

    // SEC-060 SEC-071
    #[test]
    fn a_rule_about_a_tool_that_writes_files_is_told_with_when_it_holds() {
        let named = |name: &str, row| Named { name: name.to_owned(), other_names: Vec::new(), takes: None, row };
        let tools = [named("write_file", Some(Row::ChangeFile)), named("send_sms", Some(Row::Send))];
        let told = |list: &str, tool: &str| {
            let rule =
                Rule { tool: ToolPattern::parse(tool).unwrap(), arguments: None, destination: None, max_bytes: None };
            of_writing(list, &rule, &tools)
        };
        let Check { ok, says, .. } = told("allow", "write_file").unwrap();
        let holds = "[[policy.allow]] tool = \"write_file\" holds only until a stranger's text is read";
        assert_eq!((ok, says.as_str()), (true, holds));
        assert!(told("allow", "write_*").is_some());
        for (list, tool) in
            [("allow", "send_sms"), ("allow", "class:write"), ("deny", "write_file"), ("ask", "write_*")]
        {
            assert_eq!(told(list, tool), None, "{list} {tool}");
        }
    }

    // SEC-071
    #[test]
    fn a_rule_that_is_about_no_tool_is_told_with_what_to_write() {
        let named = |name: &str, others: &[&str]| Named {
            name: name.to_owned(),
            other_names: others.iter().map(|name| (*name).to_owned()).collect(),
            takes: None,
            row: None,
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
