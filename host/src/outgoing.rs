//! What every connection to a service has in common: no redirects, no proxy of the environment, a cap on each reply.

use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(2);

/// Makes a client that follows no redirect and asks no proxy of the environment.
pub fn client() -> Result<reqwest::Client, String> {
    builder().build().map_err(|error| error.to_string())
}

/// The same with each request on a connection of its own: what stands on one waits for no other, and ends with none.
pub fn client_apart() -> Result<reqwest::Client, String> {
    builder().http1_only().pool_max_idle_per_host(4).build().map_err(|error| error.to_string())
}

fn builder() -> reqwest::ClientBuilder {
    // Only the first call installs it; later ones find it in place.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT)
        .user_agent(concat!("bashgate/", env!("CARGO_PKG_VERSION")))
}

/// Why a reply was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// It is larger than the cap.
    TooLarge,
    /// It ended early.
    BrokeOff,
}

/// Reads a reply of at most so many bytes.
pub async fn body(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, Broken> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() <= most => bytes.extend_from_slice(&chunk),
            Ok(Some(_)) => return Err(Broken::TooLarge),
            Ok(None) => return Ok(bytes),
            Err(_) => return Err(Broken::BrokeOff),
        }
    }
}
