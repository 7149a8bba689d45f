//! Who is let in: a browser that shows its cookie. A link logs one in, once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::header::{ACCEPT, COOKIE, ORIGIN, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::assets;
use super::logins::SESSION_MS;
use super::state::Page;
use crate::ingest::error;

/// What browsers say of whoever asks: the page itself, another server of the same site, another site, or the person.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The cookie of the theme, which any script of the page may read.
const THEME: &str = "limpid-theme";

/// A code in an address.
#[derive(Deserialize)]
pub(super) struct Code {
    code: Option<String>,
}

/// A theme that was picked.
#[derive(Deserialize)]
pub(super) struct Theme {
    theme: String,
}

/// The screen of a browser that is not logged in, or has just been.
#[derive(Template)]
#[template(path = "login.html")]
struct LoginScreen {
    version: &'static str,
    is_in: bool,
    why: &'static str,
}

/// Lets a browser in whose cookie is known. What changes something has to come from this page itself.
pub(super) async fn admit(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    // The name in it was looked at with the host. A browser says itself whether that is the page that asks.
    let from_elsewhere = headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin");
    if changes && (!headers.contains_key(ORIGIN) || from_elsewhere) {
        return error(StatusCode::FORBIDDEN, "this has to be asked for by the page itself");
    }
    if is_inside(&page, headers) {
        return next.run(request).await;
    }
    let wants_page =
        headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok()).is_some_and(|kinds| kinds.contains("text/html"));
    if wants_page && !changes {
        let screen = LoginScreen { version: assets::version(), is_in: false, why: "" };
        return screen.answer(StatusCode::UNAUTHORIZED);
    }
    error(StatusCode::UNAUTHORIZED, "you are not logged in; open the page again")
}

/// Whether a request shows the cookie of a browser that is logged in.
pub(super) fn is_inside(page: &Page, headers: &HeaderMap) -> bool {
    let name = page.cookie_name();
    cookie(headers, &name).is_some_and(|secret| page.logins.knows(secret, page.agent.now_ms()))
}

/// `GET /login?code=…`
pub(super) async fn log_in(
    State(page): State<Arc<Page>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Query(Code { code }): Query<Code>,
) -> Response {
    let screen = |is_in, why| LoginScreen { version: assets::version(), is_in, why };
    let is_in = is_inside(&page, &headers);
    let Some(code) = code else { return screen(is_in, "").answer(StatusCode::OK) };
    let secret = page.agent.new_secret();
    match page.logins.log_in(&code, &secret, page.agent.now_ms()) {
        Ok(true) => {
            let mut response = screen(true, "").answer(StatusCode::OK);
            // A cookie that only requests of the page itself carry would not come back behind a redirect that another site began;
            // so the browser goes on by itself.
            let cookie = format!(
                "{}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{}",
                page.cookie_name(),
                SESSION_MS / 1_000,
                if page.hosts.is_behind_tls(&headers) { "; Secure" } else { "" }
            );
            set_cookie(&mut response, &cookie);
            response
        }
        // Whoever is inside already is led to the page, whatever became of the link.
        Ok(false) if is_in => screen(true, "").answer(StatusCode::OK),
        Ok(false) => match page.door.wrong(from.ip(), Instant::now()) {
            None => {
                screen(false, "This link was used before, or is older than an hour.").answer(StatusCode::UNAUTHORIZED)
            }
            Some(seconds) => {
                let mut response =
                    screen(false, "Too many wrong links. Wait a minute.").answer(StatusCode::TOO_MANY_REQUESTS);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                response
            }
        },
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
    }
}

/// `POST /logout`
pub(super) async fn log_out(State(page): State<Arc<Page>>, headers: HeaderMap) -> Response {
    let name = page.cookie_name();
    if let Some(secret) = cookie(&headers, &name)
        && let Err(why) = page.logins.log_out(secret)
    {
        return error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string());
    }
    let mut response = Redirect::to("/login").into_response();
    set_cookie(&mut response, &format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"));
    response
}

/// `POST /theme`
pub(super) async fn theme(Form(Theme { theme }): Form<Theme>) -> Response {
    let Some(theme) = ["light", "dark", "system"].into_iter().find(|known| *known == theme) else {
        return error(StatusCode::UNPROCESSABLE_ENTITY, "there are light, dark and system");
    };
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &format!("{THEME}={theme}; SameSite=Strict; Path=/; Max-Age=31536000"));
    response
}

/// The theme that was picked; none where the system's is followed.
pub(super) fn theme_of(headers: &HeaderMap) -> Option<&'static str> {
    let picked = cookie(headers, THEME)?;
    ["light", "dark"].into_iter().find(|known| *known == picked)
}

impl LoginScreen {
    fn answer(&self, status: StatusCode) -> Response {
        (status, Html(self.render().unwrap_or_default())).into_response()
    }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}
