//! The gate as the runner sees it: its configuration, and its own files, which no command may see or change.

use std::path::{Path, PathBuf};

use bashgate_hook::gate::config::{Config, ConfigError};
use bashgate_hook::install;

use crate::presets::{PresetError, Presets};

/// The gate in front of every run.
#[derive(Debug)]
pub struct Gate {
    /// Its configuration; `None` where there is none, and then only what is provably local may run.
    pub config: Option<Config>,
    /// Where it was looked for.
    pub config_file: PathBuf,
}

impl Gate {
    /// Reads the configuration. Without a gate, only what is provably local can run; a gate that is broken is an error.
    pub fn load(config_file: &Path) -> Result<Self, ConfigError> {
        let config = match Config::load(config_file) {
            Ok(config) => Some(config),
            Err(ConfigError::Unreadable { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { config, config_file: config_file.to_owned() })
    }

    /// All presets: the built-in ones, and those of `runner.toml` beside the configuration.
    pub fn presets(&self) -> Result<Presets, PresetError> {
        Presets::load(&self.config_file.with_file_name("runner.toml"))
    }

    /// What is the gate's and may be read: its programs and settings, and the agents' settings in which it stands.
    pub fn readable_files(&self) -> Vec<PathBuf> {
        let project = std::env::current_dir().unwrap_or_default();
        self.installed_files().into_iter().chain(install::where_we_stand(&project)).collect()
    }

    /// The gate's programs and settings, wherever agents call it.
    pub fn installed_files(&self) -> Vec<PathBuf> {
        let config = self.config.as_ref();
        let programs = std::env::current_exe().into_iter().flat_map(|own| [own.with_file_name("bashgate-hook"), own]);
        let settings = config.map(|config| config.file.with_file_name("runner.toml"));
        let more = config.and_then(|config| config.cage_runner.clone());
        programs.chain(settings).chain(more).collect()
    }

    /// The gate's own files, which no command may see or change.
    pub fn hidden_files(&self) -> Vec<PathBuf> {
        let Some(config) = &self.config else { return Vec::new() };
        // Where one folder holds the host's files as well, as on a single machine, those too.
        let beside = ["bashgate.toml", "state", "inspector.key"].map(|name| config.file.with_file_name(name));
        [config.mailbox.clone(), config.file.clone()].into_iter().chain(beside).collect()
    }
}
