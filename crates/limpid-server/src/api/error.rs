//! What went wrong, in the shape in which clients of OpenAI's expect it.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use limpid_core::FailureClass;
use limpid_prompt::shown::Drawn;
use limpid_runtime::AgentError;
use limpid_store::StoreError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::tokens::ApiRole;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiError {
    status: StatusCode,
    message: String,
    code: Option<&'static str>,
    param: Option<&'static str>,
    /// Seconds after which it may be asked again.
    after: Option<u64>,
    /// Whether asking again by itself would say something twice.
    is_final: bool,
    /// Whether its words may tell of the owner: a provider, a limit, a file.
    is_private: bool,
}

/// The answer to a request that failed.
#[derive(Serialize, ToSchema)]
pub(super) struct ErrorBody {
    error: ErrorInfo,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
struct ErrorInfo {
    /// What was wrong, and what to do.
    #[schema(value_type = String)]
    message: Drawn,
    /// The kind: `invalid_request_error`, `authentication_error`, `permission_error`, `rate_limit_error` or `api_error`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// A word for programs, where there is one.
    code: Option<&'static str>,
    /// The field that is wrong, where it is one.
    param: Option<&'static str>,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            code: None,
            param: None,
            after: None,
            is_final: false,
            is_private: false,
        }
    }

    /// A request that says something wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something that is not there.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self { code: Some("not_found"), ..Self::new(StatusCode::NOT_FOUND, message) }
    }

    pub(super) fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    pub(super) fn param(self, param: &'static str) -> Self {
        Self { param: Some(param), ..self }
    }

    pub(super) fn after(self, seconds: u64) -> Self {
        Self { after: Some(seconds), ..self }
    }

    /// A turn that failed. What was said is kept, so a client must not say it again by itself.
    pub(super) fn failed(class: FailureClass, message: impl Into<String>) -> Self {
        use FailureClass::{Limit, Malformed, Moderated, Overflow, Quota, Rate, TooLarge, UnknownModel};
        let status = match class {
            Quota | Rate | Limit => StatusCode::TOO_MANY_REQUESTS,
            Malformed | TooLarge | Overflow | Moderated | UnknownModel => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self { is_final: true, is_private: true, ..Self::new(status, message) }
    }

    /// A turn that could not be carried on.
    pub(super) fn interrupted(message: impl Into<String>) -> Self {
        let new = Self::new(StatusCode::SERVICE_UNAVAILABLE, message);
        Self { is_final: true, is_private: true, ..new }.code("interrupted")
    }

    /// The same for whoever is at a program of a role: a stranger is told what became of their request, and nothing of the owner's.
    pub(super) fn told_to(self, role: ApiRole) -> Self {
        if role == ApiRole::Owner || !self.is_private {
            return self;
        }
        let message = match self.status.as_u16() {
            400 => "this cannot be answered as it was said; say less, or say it in other words",
            404 => "there is nothing of this name",
            429 => "nothing more is answered for now; ask again later",
            _ => "this could not be answered; ask again later",
        };
        Self { message: message.to_owned(), ..self }
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> ErrorBody {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        ErrorBody { error: ErrorInfo { message: Drawn::new(&self.message), kind, code: self.code, param: self.param } }
    }

    /// The same as a value.
    pub(super) fn value(&self) -> Value {
        serde_json::to_value(self.body()).unwrap_or_default()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_final {
            headers.insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
        }
        response
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        let own = match &error {
            AgentError::NotFound { .. } | AgentError::Store(StoreError::NotFound { .. }) => {
                Self::not_found(error.to_string())
            }
            AgentError::Invalid(_)
            | AgentError::Store(StoreError::Invalid(_) | StoreError::ForStrangers { .. })
            | AgentError::Goal(_) => Self::invalid(error.to_string()),
            AgentError::Model(why) => Self::failed(why.class, error.to_string()),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        };
        Self { is_private: true, ..own }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        AgentError::from(error).into()
    }
}

/// Whatever is not there.
pub(super) async fn missing() -> ApiError {
    ApiError::not_found("there is nothing at this address; GET /v1/openapi.json says what there is")
}

/// An address that is there, asked in another way.
pub(super) async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this address is not asked so; GET /v1/openapi.json says how")
}
