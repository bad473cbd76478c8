//! Web pages in the browsers of our users: which of them may use the server.
//!
//! A page of another site can make a browser send requests to a server on the same machine. If it uses the server's address, the
//! browser says so in `Origin` or `Sec-Fetch-Site`; if it has its own name lead to a loopback address, `Host` has that
//! name. Programs that are no browsers send none of these, but for `Host`, which they take from the address.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::error::ServerError;
use super::state::App;

/// What pages and names are let in.
#[derive(Default)]
pub struct Guard {
    /// Whether `Host` must be a name of this machine.
    pub on_loopback: bool,
    /// Further names in `Host`.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may use the server; `*` is any.
    pub cors_origins: Vec<String>,
}

impl Guard {
    /// Fails if a page sent the request that may not.
    pub fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), ServerError> {
        let host = asked_host(headers, uri)?;
        let name = match host {
            Some(host) => Some(name_of(host).ok_or_else(|| ServerError::BadHost(format!("its Host is '{host}'")))?),
            None => None,
        };
        if self.on_loopback && !name.is_some_and(|name| self.is_ours(name)) {
            return Err(ServerError::Host(host.unwrap_or_default().to_string()));
        }
        match headers.get(header::ORIGIN) {
            Some(origin) => {
                let origin = origin.to_str().unwrap_or_default();
                let same = host.is_some_and(|host| {
                    origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
                });
                let allowed = same || self.cors_origins.iter().any(|allowed| allowed == "*" || allowed == origin);
                if allowed { Ok(()) } else { Err(ServerError::Origin(origin.to_string())) }
            }
            // Pages load images, or follow links, without an `Origin`.
            None => match text(headers, &HeaderName::from_static("sec-fetch-site")) {
                Some("cross-site" | "same-site") if uri.path() != "/" => {
                    Err(ServerError::Origin("another site".to_string()))
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether a name is one of this machine.
    fn is_ours(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            || self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
    }

    /// What tells browsers that the pages of the allowed origins may read responses; nothing if there are none.
    pub fn cors(&self) -> Option<CorsLayer> {
        if self.cors_origins.is_empty() {
            return None;
        }
        let origins = match self.cors_origins.iter().any(|origin| origin == "*") {
            true => AllowOrigin::any(),
            false => {
                AllowOrigin::list(self.cors_origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
            }
        };
        let headers = [header::CONTENT_TYPE, header::AUTHORIZATION, HeaderName::from_static("x-cozo-auth")];
        let methods = [Method::GET, Method::POST, Method::PUT, Method::DELETE];
        Some(CorsLayer::new().allow_origin(origins).allow_methods(methods).allow_headers(headers))
    }
}

/// The host that a request is for, perhaps with a port. Programs on the way may each choose another one of several.
fn asked_host<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Result<Option<&'r str>, ServerError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(|host| host.to_str().unwrap_or("?"));
    if hosts.next().is_some() {
        return Err(ServerError::BadHost("it has several headers Host".to_string()));
    }
    Ok(uri.authority().map(|authority| authority.as_str()).or(host))
}

/// The name or address of `name`, `name:port`, `[address]` or `[address]:port`.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok() && !port.starts_with('+');
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:".contains(&byte));
    let ends_well = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    (ends_well && is_name(name)).then_some(name)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Lets requests pass that no foreign page sent.
pub async fn refuse_foreign_pages(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.guard.check(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, path: &str, pairs: &[(&'static str, &str)]) -> bool {
        let header = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs.iter().map(header) {
            headers.append(name, value);
        }
        guard.check(&headers, &path.parse().expect("a path")).is_ok()
    }

    #[test]
    fn loopback_servers_know_their_names() {
        let guard = Guard { on_loopback: true, allowed_hosts: vec!["db.test".to_string()], ..Guard::default() };
        for good in ["localhost", "LOCALHOST:9070", "127.0.0.1:1", "127.9.9.9", "[::1]:9070", "db.test:80"] {
            assert!(check(&guard, "/text-query", &[("host", good)]), "{good}");
        }
        for bad in ["evil.test", "localhost.evil.test:9070", "127.0.0.1.evil.test", "10.0.0.1", "", "[::2]"] {
            assert!(!check(&guard, "/text-query", &[("host", bad)]), "{bad}");
        }
        for bad in [
            "localhost:abc",
            "localhost:70000",
            "localhost:+80",
            "localhost:80:80",
            "127.0.0.1:80@evil.test",
            "[::1",
            "[::1]80",
            "a/b",
            "a b",
        ] {
            assert!(!check(&guard, "/text-query", &[("host", bad)]), "{bad}");
            assert!(!check(&Guard::default(), "/text-query", &[("host", bad)]), "{bad}");
        }
        for several in [["localhost", "localhost"], ["localhost", "evil.test"]] {
            assert!(!check(&guard, "/text-query", &several.map(|host| ("host", host))), "{several:?}");
        }
        assert!(
            check(&guard, "http://localhost:80/", &[("host", "evil.test")]),
            "the address of the request goes first"
        );
        assert!(!check(&guard, "http://evil.test/", &[("host", "localhost")]));
        assert!(!check(&guard, "http://127.0.0.1:80@evil.test/", &[("host", "localhost")]));
        assert!(!check(&guard, "/text-query", &[]));
        assert!(check(&Guard::default(), "/text-query", &[("host", "anything")]));
    }

    #[test]
    fn pages_of_other_origins_are_refused_unless_named() {
        let guard = Guard { cors_origins: vec!["https://app.test".to_string()], ..Guard::default() };
        let with = |origin| check(&guard, "/text-query", &[("host", "db.test:1"), ("origin", origin)]);
        assert!(with("http://db.test:1") && with("https://db.test:1") && with("https://app.test"));
        assert!(!with("http://db.test") && !with("https://evil.test") && !with("null") && !with("http://app.test"));
        let any = Guard { cors_origins: vec!["*".to_string()], ..Guard::default() };
        assert!(check(&any, "/", &[("host", "db.test"), ("origin", "https://evil.test")]));
        assert!(guard.cors().is_some() && Guard::default().cors().is_none());
    }

    #[test]
    fn pages_load_nothing_from_here() {
        let guard = Guard::default();
        let from = |path, site| check(&guard, path, &[("host", "db.test"), ("sec-fetch-site", site)]);
        assert!(from("/export/r", "same-origin") && from("/export/r", "none") && from("/", "cross-site"));
        assert!(!from("/export/r", "cross-site") && !from("/rules/x?arity=1", "same-site"));
    }
}
