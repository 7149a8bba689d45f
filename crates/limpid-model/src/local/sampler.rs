//! Draws the next token, within a grammar when the reply must have a form.

use limpid_core::FailureClass;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use crate::model::{ModelError, ReplyForm, Sampling};

const TEMPERATURE: f32 = 0.7;
const TOP_K: i32 = 40;
const TOP_P: f32 = 0.95;
const MIN_P: f32 = 0.05;
/// How much less likely a token is that stood among the last ones: small models go in circles without it.
const REPEAT_PENALTY: f32 = 1.1;
const REPEAT_TOKENS: i32 = 64;
/// How much less likely the next token of a passage is that the reply holds already: by `CIRCLE_PENALTY` from this
/// many tokens on, and by `CIRCLE_GROWTH` times more with each further one. Short repetitions are free.
const CIRCLE_TOKENS: i32 = 12;
const CIRCLE_PENALTY: f32 = 0.8;
const CIRCLE_GROWTH: f32 = 1.75;
/// How far back such a passage is looked for.
const CIRCLE_REACH: i32 = 2048;
/// Asks the engine to draw a seed.
const ANY_SEED: u32 = u32::MAX;

/// How tokens are drawn for one reply.
pub(super) struct Sampler {
    chain: LlamaSampler,
    grammar: Option<LlamaSampler>,
}

impl Sampler {
    pub(super) fn new(model: &LlamaModel, sampling: Sampling, reply: &ReplyForm) -> Result<Self, ModelError> {
        let grammar = match reply {
            ReplyForm::Text => None,
            ReplyForm::Json { name, schema } => Some(grammar(model, name, schema)?),
        };
        let chain = chain(sampling, grammar.is_none().then_some(model));
        Ok(Self { chain, grammar })
    }

    /// The next token after the last one that was evaluated.
    pub(super) fn next(&mut self, context: &LlamaContext<'_>) -> Result<LlamaToken, ModelError> {
        let Some(grammar) = &mut self.grammar else { return Ok(self.chain.sample(context, -1)) };
        let mut candidates = context.token_data_array_ith(-1);
        candidates.apply_sampler(&mut self.chain);
        let mut token = candidates.selected_token().filter(|token| allows(grammar, *token));
        if token.is_none() {
            // Asking the grammar about every token costs more than drawing twice.
            let mut candidates = context.token_data_array_ith(-1);
            candidates.apply_sampler(grammar);
            candidates.apply_sampler(&mut self.chain);
            token = candidates.selected_token();
        }
        let broken =
            || ModelError::new(FailureClass::Garbage, "the local model found no token that its grammar allows");
        let token = token.ok_or_else(broken)?;
        grammar.try_accept(token).map_err(|_| broken())?;
        self.chain.accept(token);
        Ok(token)
    }
}

/// The steps of a draw; what the reply holds already is made less likely when the model is given.
fn chain(sampling: Sampling, model: Option<&LlamaModel>) -> LlamaSampler {
    let temperature = sampling.temperature.unwrap_or(TEMPERATURE);
    if temperature <= 0.0 {
        return LlamaSampler::chain([LlamaSampler::greedy()], true);
    }
    let penalties = model.map(|model| {
        let words = LlamaSampler::penalties(model.n_vocab(), REPEAT_TOKENS, REPEAT_PENALTY, 0.0, 0.0);
        let no_breaks: [&str; 0] = [];
        [words, LlamaSampler::dry(model, CIRCLE_PENALTY, CIRCLE_GROWTH, CIRCLE_TOKENS, CIRCLE_REACH, no_breaks)]
    });
    let steps = [
        LlamaSampler::top_k(TOP_K),
        LlamaSampler::top_p(sampling.top_p.unwrap_or(TOP_P), 1),
        LlamaSampler::min_p(MIN_P, 1),
        LlamaSampler::temp(temperature),
        LlamaSampler::dist(sampling.seed.unwrap_or(ANY_SEED)),
    ];
    LlamaSampler::chain(penalties.into_iter().flatten().chain(steps), true)
}

fn grammar(model: &LlamaModel, name: &str, schema: &serde_json::Value) -> Result<LlamaSampler, ModelError> {
    let refused = |why: String| {
        let message = format!("the schema `{name}` cannot be turned into a grammar for the local model: {why}");
        ModelError::new(FailureClass::Malformed, message)
    };
    let rules = llama_cpp_2::json_schema_to_grammar(&schema.to_string()).map_err(|error| refused(error.to_string()))?;
    LlamaSampler::grammar(model, &rules, "root").map_err(|error| refused(error.to_string()))
}

/// Whether the grammar lets this token come next.
fn allows(grammar: &mut LlamaSampler, token: LlamaToken) -> bool {
    let mut only = LlamaTokenDataArray::new(vec![LlamaTokenData::new(token, 1.0, 0.0)], false);
    only.apply_sampler(grammar);
    only.data.first().is_some_and(|data| data.logit().is_finite())
}
