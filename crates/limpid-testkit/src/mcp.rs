//! A server of the Model Context Protocol of the test's own, and those that nobody here wrote.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

const SCRIPT: &str = include_str!("mcp_server.py");

/// A server of the test's own: a program whose tools stand in a file, which the test may change meanwhile.
#[derive(Debug)]
pub struct McpScript {
    script: PathBuf,
    file: PathBuf,
}

impl McpScript {
    /// Writes it into a folder. `offers` is what it offers: see the script.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(folder: &Path, offers: &Value) -> io::Result<Self> {
        let written = Self { script: folder.join("mcp_server.py"), file: folder.join("mcp_offers.json") };
        std::fs::write(&written.script, SCRIPT)?;
        written.offer(offers)?;
        Ok(written)
    }

    /// Changes what it offers from here on.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn offer(&self, offers: &Value) -> io::Result<()> {
        // A whole file in its place: it may be read at this moment.
        let new = self.file.with_extension("new");
        std::fs::write(&new, offers.to_string())?;
        std::fs::rename(new, &self.file)
    }

    /// The words that start it; `way` says how it behaves from the start.
    pub fn words(&self, way: &str) -> Vec<String> {
        let words = ["python3", &self.script.to_string_lossy(), &self.file.to_string_lossy(), way];
        words.map(str::to_owned).into_iter().filter(|word| !word.is_empty()).collect()
    }
}

/// The words that start a real server; none where it is not there, which is said.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
pub fn real_mcp_server(name: &str) -> Option<Vec<String>> {
    let (variable, words): (_, fn(&str) -> Vec<String>) = match name {
        "time" => ("LIMPID_TEST_MCP_TIME", |path| vec![path.to_owned()]),
        _ => ("LIMPID_TEST_MCP_NODE", |path| vec!["node".to_owned(), path.to_owned()]),
    };
    let Some(place) = std::env::var_os(variable).and_then(|place| place.into_string().ok()) else {
        eprintln!("skipped: {variable} is not set, so the real MCP server `{name}` is not there");
        return None;
    };
    let path =
        if name == "time" { place } else { format!("{place}/@modelcontextprotocol/server-{name}/dist/index.js") };
    Some(words(&path))
}

const CLIENT: &str = include_str!("mcp_client.py");

/// The words that start a client that nobody here wrote, by the protocol's own package for Python: it speaks to the server that
/// `server` starts, begins as `mode` says (`auto` or `legacy`), and carries out `steps`. None where the package is not there,
/// which is said.
///
/// # Errors
/// When the folder cannot be written.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
pub fn real_mcp_client(folder: &Path, mode: &str, steps: &Value, server: &[&str]) -> io::Result<Option<Vec<String>>> {
    let Some(python) = std::env::var_os("LIMPID_TEST_MCP_CLIENT").and_then(|place| place.into_string().ok()) else {
        eprintln!("skipped: LIMPID_TEST_MCP_CLIENT is not set, so the protocol's own client is not there");
        return Ok(None);
    };
    let (script, file) = (folder.join("mcp_client.py"), folder.join("steps.json"));
    std::fs::write(&script, CLIENT)?;
    std::fs::write(&file, steps.to_string())?;
    let words = [&python, &*script.to_string_lossy(), mode, &*file.to_string_lossy()];
    Ok(Some(words.iter().copied().chain(server.iter().copied()).map(str::to_owned).collect()))
}

const PROXY: &str = include_str!("mcp_proxy.py");

/// Writes a proxy into a folder that hands requests on with a token, for whoever has none. Returns the words that start it; it
/// prints its port.
///
/// # Errors
/// When the folder cannot be written.
pub fn mcp_proxy(folder: &Path, port: u16, token: &Path) -> io::Result<Vec<String>> {
    let script = folder.join("mcp_proxy.py");
    std::fs::write(&script, PROXY)?;
    Ok(["python3", &*script.to_string_lossy(), &port.to_string(), &*token.to_string_lossy()].map(str::to_owned).into())
}
