//! Checks of everything that an answer needs, one line each (SUR-004).

use limpid_prompt::problem::Severity;

use crate::agent::Agent;
use crate::home::read_text;

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// What is there, or what is wrong and what to do about it.
    pub finding: Result<String, String>,
}

impl Agent {
    /// Checks home, prompt files, profiles, database, model, clock and zone.
    pub async fn doctor(&self) -> Vec<Check> {
        let model = match self.inner.model(None).await {
            Err(error) => Err(error.to_string()),
            Ok(model) => Ok(match self.found_model().await {
                Some(found) => format!("{} ({})", found.model, found.because),
                None => model.info().name(),
            }),
        };
        vec![
            Check { name: "home", finding: self.check_home() },
            Check { name: "prompt files", finding: self.check_files() },
            Check { name: "profiles", finding: self.check_profiles() },
            Check { name: "database", finding: self.check_database().await },
            Check { name: "model", finding: model },
            Check { name: "clock", finding: Ok(self.clock_line()) },
        ]
    }

    /// The model that was found, when none is set.
    pub async fn found_model(&self) -> Option<crate::models::Found> {
        match self.inner.config.model {
            Some(_) => None,
            None => self.inner.find_model().await,
        }
    }

    fn check_home(&self) -> Result<String, String> {
        let home = self.home().path();
        let about =
            std::fs::metadata(home).map_err(|error| format!("{}: {error}; run `limpid init`", home.display()))?;
        if about.permissions().readonly() {
            return Err(format!("{} cannot be written; check its owner and permissions", home.display()));
        }
        Ok(home.display().to_string())
    }

    fn check_files(&self) -> Result<String, String> {
        let mut own = Vec::new();
        for (name, path) in [("soul.md", self.home().soul()), ("safety.md", self.home().safety())] {
            let text = read_text(&path).map_err(|error| error.to_string())?;
            own.push(format!("{name} {}", if text.is_some() { "yours" } else { "shipped" }));
        }
        Ok(own.join(", "))
    }

    fn check_profiles(&self) -> Result<String, String> {
        let profiles = self.profiles().map_err(|error| error.to_string())?;
        let wrong: Vec<String> = profiles
            .problems()
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(ToString::to_string)
            .collect();
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
        let wanted = &self.config().agent.profile;
        if names.contains(&wanted.as_str()) {
            Ok(names.join(", "))
        } else {
            Err(format!("limpid.toml wants the profile `{wanted}`, but there are: {}", names.join(", ")))
        }
    }

    async fn check_database(&self) -> Result<String, String> {
        let listed = self.inner.store.conversations(u32::MAX).await.map_err(|error| error.to_string())?;
        let unfinished = self.inner.store.unfinished_turns().await.map_err(|error| error.to_string())?;
        let broken = listed.broken.len() + unfinished.broken.len();
        if broken > 0 {
            return Err(format!("{broken} records cannot be read; everything else can"));
        }
        Ok(format!("{} conversations, {} unfinished turns", listed.rows.len(), unfinished.rows.len()))
    }

    fn clock_line(&self) -> String {
        let now = self.inner.clock.now().to_zoned(self.zone());
        format!("{} ({})", now.strftime("%Y-%m-%d %H:%M %:z"), self.zone().iana_name().unwrap_or("UTC"))
    }
}
