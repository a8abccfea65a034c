//! Clients that are not run by `make test`, real ones: Gemini CLI, Copilot CLI and `OpenCode`, and the agents' SDKs with
//! the examples of `docs/examples` between them and the real hook. `make clients` installs what is needed and runs this.

mod agents;
mod sdks;
