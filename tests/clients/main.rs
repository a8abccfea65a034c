//! Clients that are not run by `make test`: the agents' SDKs, real ones, with the examples of `docs/examples` between them and
//! the real hook. `make clients` installs what is needed and runs this.

mod sdks;
