//! Logins at servers: the owner's browser, and what it brings back.

use std::time::Duration;

use limpid_config::McpServerConfig;
use limpid_mcp::{Login, LoginWish};

use super::owner::told;
use super::servers::McpServers;
use super::settings;
use crate::error::AgentError;

/// How long the owner may take in their browser.
const IN_BROWSER: Duration = Duration::from_secs(600);

impl McpServers {
    /// Has the owner log in at a server of the settings, or at an address that is to become one. `tell` gets the host that grants
    /// access and the address to open there, which is a stranger's.
    ///
    /// # Errors
    /// When there is no such server, it is a program, or the login comes to nothing.
    pub async fn login(
        &self,
        (server, url): (&str, Option<&str>),
        wish: LoginWish,
        tell: impl FnOnce(&str, &str),
    ) -> Result<(), AgentError> {
        let url = match url {
            Some(url) => {
                settings::check(server, &McpServerConfig { url: Some(url.to_owned()), ..McpServerConfig::default() })?;
                url.to_owned()
            }
            None => self.known(server)?.url.clone().ok_or_else(|| {
                AgentError::Invalid(format!("the MCP server `{server}` is a program: there is nowhere to log in"))
            })?,
        };
        let failed = |error: limpid_mcp::McpError| told(error.sentence(server));
        let login = Login::begin(&url, &self.kept_login(server, &url), wish).await.map_err(failed)?;
        let (at, redeems) = login.hosts().unwrap_or_default();
        let hosts = if at == redeems { at } else { format!("{at}, which hands the login to {redeems}") };
        tell(&hosts, login.address());
        login.finish(IN_BROWSER).await.map_err(failed)?;
        Ok(())
    }

    /// Forgets what a login at a server gave.
    ///
    /// # Errors
    /// When there is no such server, or the file cannot be removed.
    pub fn logout(&self, server: &str) -> Result<(), AgentError> {
        self.known(server)?;
        self.forget_login(server)
    }

    pub(super) fn forget_login(&self, server: &str) -> Result<(), AgentError> {
        match std::fs::remove_file(self.options().home.mcp_login(server)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(AgentError::Invalid(format!("what the login at `{server}` gave cannot be removed: {error}")))
            }
            _ => Ok(()),
        }
    }
}
