//! `mcp`.

mod serve;

use std::collections::BTreeMap;

use limpid_config::McpServerConfig;
use limpid_core::{SEEN_DIGITS, is_seen_hash};
use limpid_runtime::mcp::{LoginClient, LoginWish, NewServer, Probed, ServerRow, ToolReview, ToolState};
use limpid_runtime::{Agent, line_diff};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::context::Context;
use crate::cli::{McpAddArgs, McpCommand};
use crate::confirm::confirmed;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `mcp …`.
///
/// # Errors
/// When there is no such server or tool, no connection to it, or a file cannot be written.
pub async fn run(context: &Context, command: &McpCommand) -> Result<(), Failure> {
    let agent = context.agent()?;
    match command {
        McpCommand::List { server, json } => list(&agent, server.as_deref(), *json),
        McpCommand::Add(args) => add(context, &agent, args).await,
        McpCommand::Test { server, json } => test(&agent, server, *json).await,
        McpCommand::Enable { server, tool, hash } => {
            let probed = agent.mcp().probe(server).await?;
            tell_left_out(&probed);
            let answer = hash.as_deref().map_or(Answer::Asked, Answer::ToThis);
            if !enable(context, &agent, (server, tool.as_deref()), answer)? {
                return Ok(());
            }
            agent.mcp().switch(server, None, true)?;
            match tool {
                Some(tool) => Ok(agent.mcp().switch(server, Some(tool), true)?),
                None => Ok(()),
            }
        }
        McpCommand::Disable { server, tool } => {
            if let Some(tool) = tool {
                // A word that is no tool would be kept and do nothing.
                agent.mcp().waiting(server, Some(tool))?;
            }
            agent.mcp().switch(server, tool.as_deref(), false)?;
            output::tell("Disabled.");
            Ok(())
        }
        McpCommand::Serve(args) => serve::run(context, agent, args).await,
        McpCommand::Login { server, scope, client_id, client_secret_env } => {
            let secret = client_secret_env.as_deref().map(|variable| {
                let missing = || Failure::new(ExitStatus::Usage, format!("the variable {variable} is not set"));
                context.environment.variable(variable).map(str::to_owned).ok_or_else(missing)
            });
            let client = client_id.clone().map(|id| (id, secret));
            let client = match client {
                Some((id, secret)) => Some(LoginClient { id, secret: secret.transpose()? }),
                None => None,
            };
            let wish = LoginWish { scopes: scope.clone(), client };
            agent.mcp().login((server, None), wish, |host, address| tell_login(server, host, address)).await?;
            output::tell("Logged in.");
            Ok(())
        }
        McpCommand::Logout { server } => {
            agent.mcp().logout(server)?;
            output::tell("Forgotten.");
            Ok(())
        }
        McpCommand::Remove { server } => {
            agent.mcp().remove(server)?;
            output::tell("Removed.");
            Ok(())
        }
    }
}

fn list(agent: &Agent, server: Option<&str>, json: bool) -> Result<(), Failure> {
    let mut rows = agent.mcp().list();
    if let Some(server) = server {
        rows.retain(|row| row.name == server);
        if rows.is_empty() {
            return Err(Failure::new(ExitStatus::Usage, format!("there is no MCP server `{server}`"))
                .advise("`limpid mcp list` lists them."));
        }
    }
    if json {
        return output::json("servers", &rows.iter().map(shape).collect::<Vec<_>>());
    }
    if let (Some(_), [row]) = (server, rows.as_slice()) {
        let tool = |tool: &limpid_runtime::mcp::ToolRow| {
            let effect = tool.effect.unwrap_or("not declared: each call waits for you");
            vec![tool.name.clone(), tool.called.clone(), tool.state.as_str().to_owned(), effect.to_owned()]
        };
        let tools: Vec<Vec<String>> = row.tools.iter().map(tool).collect();
        return output::line(&output::table(&["tool", "called", "state", "what it changes"], &tools));
    }
    if rows.is_empty() {
        output::tell("No MCP server is set up. `limpid mcp add NAME -- PROGRAM …` adds one.");
        return Ok(());
    }
    let line = |row: &ServerRow| {
        let wrong = row.problem.clone().unwrap_or_default();
        vec![
            row.name.clone(),
            if row.enabled { "on" } else { "off" }.to_owned(),
            counted(row),
            row.target.clone(),
            wrong,
        ]
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    output::line(&output::table(&["server", "state", "tools", "where", "wrong"], &lines))
}

/// How many tools a server has, and how many of them wait.
fn counted(row: &ServerRow) -> String {
    let count = |state: &[ToolState]| row.tools.iter().filter(|tool| state.contains(&tool.state)).count();
    let waiting = count(&[ToolState::New, ToolState::Changed]);
    let ready = format!("{} ready", count(&[ToolState::Ready]));
    if waiting > 0 { format!("{ready}, {waiting} to look at") } else { ready }
}

fn shape(row: &ServerRow) -> Value {
    let tools: Vec<Value> = row
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "called": tool.called, "state": tool.state.as_str(), "effect": tool.effect }))
        .collect();
    json!({
        "name": row.name, "enabled": row.enabled, "target": row.target, "tools": tools, "left_out": row.left_out,
        "problem": row.problem,
    })
}

async fn test(agent: &Agent, server: &str, json: bool) -> Result<(), Failure> {
    let probed = agent.mcp().probe(server).await?;
    let waiting = agent.mcp().waiting(server, None)?.len();
    if json {
        let left_out: Vec<String> = probed.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        return output::json(
            "test",
            &json!({
                "server": server, "revision": probed.revision, "tools": probed.tools, "prompts": probed.prompts,
                "resources": probed.resources, "waiting": waiting, "left_out": left_out,
            }),
        );
    }
    output::tell(&answers(server, &probed));
    tell_left_out(&probed);
    if waiting > 0 {
        output::tell(&format!("{waiting} of its tools wait for you to look at them: limpid mcp enable {server}"));
    }
    Ok(())
}

fn answers(server: &str, probed: &Probed) -> String {
    let Probed { tools, prompts, resources, .. } = probed;
    format!("{server} answers: {tools} tools, {prompts} prompts, {resources} resources.")
}

fn tell_left_out(probed: &Probed) {
    for (name, why) in &probed.left_out {
        output::tell(&output::named(&[("Prompt left out: ", name), (": ", why)], ""));
    }
}

async fn add(context: &Context, agent: &Agent, args: &McpAddArgs) -> Result<(), Failure> {
    let mut words = args.command.iter().cloned();
    let default = McpServerConfig::default();
    let config = McpServerConfig {
        command: words.next(),
        args: words.collect(),
        env: pairs(&args.env)?,
        env_from: args.env_from.clone(),
        url: args.url.clone(),
        headers: pairs(&args.header)?,
        token_env: args.token_env.clone(),
        seconds: args.seconds.unwrap_or(default.seconds),
        ..default
    };
    let new = NewServer { name: args.server.clone(), config };
    let probed = if args.login {
        agent.mcp().add_with_login(&new, |host, address| tell_login(&new.name, host, address)).await?
    } else {
        agent.mcp().add(&new).await?
    };
    output::tell(&answers(&new.name, &probed));
    tell_left_out(&probed);
    let answer = if args.yes { Answer::Yes } else { Answer::Asked };
    enable(context, agent, (&new.name, None), answer).map(drop)
}

/// Where the owner logs in; nothing opens it for them.
fn tell_login(server: &str, host: &str, address: &str) {
    let at = format!("Log in to {server} at ");
    let told = output::named(&[(&at, host)], ". Open this address in your browser:");
    output::tell(&format!("{told}\n{address}"));
}

fn pairs(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    };
    let wrong = |word: &String| Failure::new(ExitStatus::Usage, format!("`{word}` is not NAME=VALUE"));
    words.iter().map(|word| pair(word).ok_or_else(|| wrong(word))).collect()
}

/// What the owner says to tools that wait.
#[derive(Clone, Copy)]
enum Answer<'a> {
    /// They are asked.
    Asked,
    /// Yes, whatever a server that they add says.
    Yes,
    /// Yes to what has this hash: what they were shown before.
    ToThis(&'a str),
}

/// Shows what waits, and asks whether it may be used. Says whether nothing waits any more.
fn enable(
    context: &Context,
    agent: &Agent,
    (server, tool): (&str, Option<&str>),
    answer: Answer<'_>,
) -> Result<bool, Failure> {
    let waiting = agent.mcp().waiting(server, tool)?;
    if waiting.is_empty() {
        output::tell("Nothing waits for you to look at it.");
        return Ok(true);
    }
    for review in &waiting {
        output::data(&page(review))?;
    }
    let (many, wait) = match waiting.len() {
        1 => ("1 tool".to_owned(), "waits"),
        count => (format!("{count} tools"), "wait"),
    };
    let hash = hash_of(&waiting);
    match answer {
        Answer::Yes => {}
        Answer::ToThis(seen) if is_seen_hash(seen, &hash) => {}
        Answer::ToThis(seen) => {
            return Err(Failure::new(ExitStatus::Failed, format!("what waits is not what has the hash {seen}"))
                .advise(format!(
                    "When you have read this: limpid mcp enable {server} --hash {}",
                    &hash[..SEEN_DIGITS]
                )));
        }
        Answer::Asked if !context.environment.stdin_is_terminal => {
            let (tool, hash) = (tool.map(|tool| format!(" {tool}")).unwrap_or_default(), &hash[..SEEN_DIGITS]);
            output::tell(&format!(
                "{many} {wait} for you. When you have read this: limpid mcp enable {server}{tool} --hash {hash}"
            ));
            return Ok(false);
        }
        Answer::Asked => {
            if !confirmed(&format!("May the agent use {many} of {server} as shown?"), false)? {
                output::tell(&format!("None of it is used. `limpid mcp enable {server}` asks again."));
                return Ok(false);
            }
        }
    }
    agent.mcp().enable(server, &waiting)?;
    if waiting.iter().any(ToolReview::ends_yeses) {
        output::tell(ToolReview::ENDS_YESES);
    }
    output::tell(&format!(
        "{many} may be used. Each call waits for you unless limpid.toml declares what it changes:\n\
         [mcp.servers.{server}.tools.NAME]\neffect = \"look\""
    ));
    Ok(true)
}

/// Stands for all that was shown, of all tools together.
fn hash_of(waiting: &[ToolReview]) -> String {
    let mut hash = Sha256::new();
    for review in waiting {
        // The text as it is shown, in which the order of a schema's fields stands too.
        hash.update(format!("{}:{} {}:{}\n", review.name.len(), review.name, review.now.len(), review.now));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the owner looks at: the whole text of a tool, or how it differs from what they have looked at before.
fn page(review: &ToolReview) -> String {
    let text = match &review.before {
        None => review.now.clone(),
        Some(before) => line_diff(before, &review.now).unified_diff().context_radius(3).to_string(),
    };
    let state = if review.before.is_some() { "changed" } else { "new" };
    let lines = output::behind_margin(text.trim_end_matches('\n'));
    let about = format!(" ({state}, sha256 {})", &review.sha256[..12]);
    format!("{}\n{lines}\n\n", output::named(&[("=== ", &review.name)], &about))
}
