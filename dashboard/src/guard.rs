//! Lets in the browser that was opened with the one-time token, and no other site in it.
//!
//! The token in the address is exchanged once for a cookie that other sites' requests do not carry.
//! Each request must name the server's own address as its host, so that no other name can be
//! pointed at it. A change also needs the server's own origin and a token that only its pages know.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

/// The secrets of one run.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The token in the address; `None` once it was used.
    token: Mutex<Option<String>>,
    cookie: String,
    csrf: String,
    port: u16,
}

/// The reason a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// It names another host.
    Host,
    /// It has no cookie, or a wrong one.
    Cookie,
    /// It is a change that another site asks for.
    Origin,
    /// It is a change without the token of the pages.
    Csrf,
    /// The token in the address is wrong or was used.
    Token,
}

impl Denied {
    /// Returns the explanation, and what to do, as sentences.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Host => "This address is not the dashboard's own.",
            Self::Cookie => "This browser has not been let in. Run `anchord dashboard` for a link.",
            Self::Origin => "Another site asked for a change. Nothing was changed.",
            Self::Csrf => "The page is too old to change anything. Load it again and repeat.",
            Self::Token => {
                "This link is wrong, or was used before. Run `anchord dashboard` for a new one."
            }
        }
    }
}

impl Guard {
    /// Creates secrets for the server on a port.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let token = Mutex::new(Some(secret()?));
        Ok(Self { token, cookie: secret()?, csrf: secret()?, port })
    }

    /// Returns the token that lets a browser in; empty if it was used.
    pub(crate) fn token(&self) -> String {
        self.token.lock().clone().unwrap_or_default()
    }

    /// Returns the token that each change must carry.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Exchanges the token for the cookie's header.
    pub(crate) fn exchange(&self, token: &str) -> Result<HeaderValue, Denied> {
        let mut own = self.token.lock();
        if !own.as_deref().is_some_and(|own| same(own, token)) {
            return Err(Denied::Token);
        }
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name(), self.cookie);
        let cookie = HeaderValue::from_str(&cookie).map_err(|_| Denied::Token)?;
        *own = None;
        Ok(cookie)
    }

    /// Checks the host that a request names.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let host = text(headers, &header::HOST);
        if self.hosts().iter().any(|own| host == own) { Ok(()) } else { Err(Denied::Host) }
    }

    /// Checks the cookie of a request.
    pub(crate) fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Denied> {
        let name = self.name();
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let mut pairs =
            cookies.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
        let is_own = |pair: &str| {
            pair.trim()
                .split_once('=')
                .is_some_and(|(key, value)| key == name && same(value, &self.cookie))
        };
        if pairs.any(is_own) { Ok(()) } else { Err(Denied::Cookie) }
    }

    /// Checks that one of the pages asks for a change. `csrf` is the token in the form.
    pub(crate) fn check_change(&self, headers: &HeaderMap, csrf: &str) -> Result<(), Denied> {
        let origin = text(headers, &header::ORIGIN);
        let is_own = self.hosts().iter().any(|own| origin.strip_prefix("http://") == Some(own));
        let site = text(headers, &HeaderName::from_static("sec-fetch-site"));
        if !is_own || !matches!(site, "" | "same-origin") {
            return Err(Denied::Origin);
        }
        if same(csrf, &self.csrf) { Ok(()) } else { Err(Denied::Csrf) }
    }

    fn hosts(&self) -> [String; 2] {
        [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)]
    }

    /// Returns the cookie's name. Cookies belong to a host with all of its ports.
    fn name(&self) -> String {
        format!("anchord_{}", self.port)
    }
}

/// Adds the headers that every reply has.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    const HEADERS: [(&str, &str); 7] = [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Compares two secrets in a time that does not depend on where they differ.
fn same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

/// Returns 128 random bits as hexadecimal digits.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(base16ct::lower::encode_string(&bytes))
}

#[cfg(test)]
mod tests;
