//! Writes servers into `limpid.toml`. Whatever else stands there stays as it is, comments too.

use std::path::Path;

use limpid_config::{Config, McpServerConfig, read_text};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use crate::error::AgentError;
use crate::settings_file::changed;

/// Adds a server, or puts it in the place of the one of that name.
pub(super) fn put(file: &Path, name: &str, server: &McpServerConfig) -> Result<(), AgentError> {
    change(file, |servers| drop(servers.insert(name, Item::Table(table_of(server)))))
}

/// Says what is wrong with the settings of a new server, before anything of it is started.
pub(super) fn check(name: &str, server: &McpServerConfig) -> Result<(), AgentError> {
    let mut document = DocumentMut::new();
    document["mcp"]["servers"][name] = Item::Table(table_of(server));
    match Config::parse(&document.to_string(), "the new server") {
        Ok(_) => Ok(()),
        Err(error) => Err(AgentError::Invalid(error.to_string())),
    }
}

fn table_of(server: &McpServerConfig) -> Table {
    let mut table = Table::new();
    if let Some(command) = &server.command {
        table["command"] = value(command);
    }
    if !server.args.is_empty() {
        table["args"] = value(server.args.iter().collect::<Array>());
    }
    if !server.env.is_empty() {
        table["env"] = value(server.env.iter().collect::<InlineTable>());
    }
    if !server.env_from.is_empty() {
        table["env_from"] = value(server.env_from.iter().collect::<Array>());
    }
    if let Some(url) = &server.url {
        table["url"] = value(url);
    }
    if !server.headers.is_empty() {
        table["headers"] = value(server.headers.iter().collect::<InlineTable>());
    }
    if let Some(token) = &server.token_env {
        table["token_env"] = value(token);
    }
    if server.seconds != McpServerConfig::default().seconds {
        table["seconds"] = value(i64::from(server.seconds));
    }
    if let Some(resources) = server.resources {
        table["resources"] = value(resources.as_str());
    }
    table
}

/// Takes a server out.
pub(super) fn remove(file: &Path, name: &str) -> Result<(), AgentError> {
    change(file, |servers| {
        servers.remove(name);
    })
}

/// Switches a server on or off, or one of its tools.
pub(super) fn switch(file: &Path, name: &str, tool: Option<&str>, on: bool) -> Result<(), AgentError> {
    change(file, |servers| {
        let Some(server) = servers.get_mut(name).and_then(Item::as_table_like_mut) else { return };
        let place = match tool {
            None => Some(server),
            Some(tool) => {
                let tools = server.entry("tools").or_insert_with(table);
                let tools = tools.as_table_like_mut();
                tools.and_then(|tools| tools.entry(tool).or_insert_with(table).as_table_like_mut())
            }
        };
        let Some(place) = place else { return };
        // What is on anyway needs no word.
        if on {
            place.remove("enabled");
        } else {
            place.insert("enabled", value(false));
        }
    })
}

fn table() -> Item {
    Item::Table(Table::new())
}

/// Changes the tables of the servers. What cannot be read afterwards is not written.
fn change(file: &Path, change: impl FnOnce(&mut dyn toml_edit::TableLike)) -> Result<(), AgentError> {
    let text = read_text(file)?.unwrap_or_default();
    changed(file, &text, |text| {
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        let hidden = || {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        let servers = document.entry("mcp").or_insert_with(hidden).as_table_like_mut();
        let servers = servers.and_then(|mcp| mcp.entry("servers").or_insert_with(hidden).as_table_like_mut());
        change(servers.ok_or_else(|| "`mcp.servers` is no table".to_owned())?);
        Ok(document.to_string())
    })
    .map(drop)
}
