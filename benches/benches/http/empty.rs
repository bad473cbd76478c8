//! A server that answers everything with nothing: how quick any server made with axum can be.

use std::process::Command;

/// Has this program be that server, on the port that follows.
pub const ARGUMENT: &str = "--empty";

/// This program as that server; the port is missing.
pub fn command() -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.arg(ARGUMENT);
    Ok(command)
}

/// Serves until the process is ended.
pub fn serve(port: Option<String>) -> Result<(), String> {
    let port: u16 = port.and_then(|port| port.parse().ok()).ok_or("no port is given")?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        axum::serve(listener, axum::Router::new().fallback(|| async {})).await
    });
    served.map_err(|error| error.to_string())
}
