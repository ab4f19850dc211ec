//! Requests that are let in, and others that are not.

use super::*;

const PORT: u16 = 40_123;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    };
    pairs.iter().map(pair).collect()
}

#[test]
fn a_token_lets_in_once() {
    let guard = Guard::new(PORT).unwrap();
    let token = guard.token();
    assert_eq!(guard.exchange("wrong"), Err(Denied::Token));
    assert_eq!(guard.exchange(""), Err(Denied::Token));
    let cookie = guard.exchange(&token).unwrap();
    let cookie = cookie.to_str().unwrap();
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly"), "{cookie}");
    assert_eq!(guard.exchange(&token), Err(Denied::Token), "a second time");
    assert_eq!(guard.exchange(""), Err(Denied::Token), "no token is left that could be guessed");
    let (pair, _) = cookie.split_once(';').unwrap();
    guard.check_cookie(&headers(&[("cookie", &format!("other=1; {pair}"))])).unwrap();
    for wrong in ["", "anchord_40123=", "anchord_40124=abc"] {
        assert_eq!(guard.check_cookie(&headers(&[("cookie", wrong)])), Err(Denied::Cookie));
    }
    let others = Guard::new(PORT).unwrap();
    assert_eq!(others.check_cookie(&headers(&[("cookie", pair)])), Err(Denied::Cookie));
}

#[test]
fn another_host_is_turned_away() {
    let guard = Guard::new(PORT).unwrap();
    for own in ["127.0.0.1:40123", "localhost:40123"] {
        guard.check_host(&headers(&[("host", own)])).unwrap();
    }
    for other in ["", "127.0.0.1", "evil.example:40123", "127.0.0.1:40124", "127.0.0.1:40123.evil"]
    {
        assert_eq!(guard.check_host(&headers(&[("host", other)])), Err(Denied::Host), "{other}");
    }
}

#[test]
fn a_change_needs_the_own_origin_and_the_token() {
    let guard = Guard::new(PORT).unwrap();
    let csrf = guard.csrf().to_owned();
    let own = headers(&[("origin", "http://127.0.0.1:40123"), ("sec-fetch-site", "same-origin")]);
    guard.check_change(&own, &csrf).unwrap();
    guard.check_change(&headers(&[("origin", "http://localhost:40123")]), &csrf).unwrap();
    assert_eq!(guard.check_change(&own, "wrong"), Err(Denied::Csrf));
    assert_eq!(guard.check_change(&own, ""), Err(Denied::Csrf));
    for pairs in [
        &[][..],
        &[("origin", "null")],
        &[("origin", "https://evil.example")],
        &[("origin", "http://127.0.0.1:40124")],
        &[("origin", "http://127.0.0.1:40123"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://127.0.0.1:40123"), ("sec-fetch-site", "same-site")],
    ] {
        assert_eq!(guard.check_change(&headers(pairs), &csrf), Err(Denied::Origin), "{pairs:?}");
    }
}
