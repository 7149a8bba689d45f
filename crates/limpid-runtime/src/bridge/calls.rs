//! One call of a client's: judged, run, or kept for the owner.

use limpid_core::agent::DELEGATION;
use limpid_core::draft::{MOST_AFTER_STRANGERS, MOST_OF_BACKGROUND_AFTER_STRANGERS, MOST_OF_CLIENTS};
use limpid_core::policy::Effect;
use limpid_core::reach::FIND_TOOLS;
use limpid_core::{CallId, ConversationId, Sentence, Tier, ToolCall, TurnId, sentence};
use limpid_mcp::serving::{LentAnswer, Refusal};
use limpid_services::drafts::new_draft;
use limpid_services::error::AgentError;
use limpid_services::tools::{CallContext, Decision, Permit, ShownItems, ToolContext, TurnToolExecutor, Written};
use limpid_store::DraftRoom;
use limpid_turn::arguments::canonical;
use limpid_turn::{HeldCall, PlannedCall, ToolOutcome, Why};
use serde_json::{Map, Value};

use super::delegation::write_turn;
use super::{Bridge, CLIENTS, tools_of, trouble};

/// Groups of tools that an agent of a client's may have besides what is lent: of files it reads what is lent, and whatever else these do
/// to the owner's waits for them.
const OF_AGENTS: [&str; 3] = ["files", "programs", "web"];

/// A call, and what it is made in.
struct Made {
    conversation: ConversationId,
    turn: TurnId,
    planned: PlannedCall,
    tools: TurnToolExecutor,
    context: CallContext,
}

impl Bridge {
    /// Carries out a call, or says what became of it.
    pub(super) async fn call_tool(&self, name: &str, arguments: Map<String, Value>) -> Result<LentAnswer, Refusal> {
        let made = match self.make(name, arguments).await? {
            Ok(made) => made,
            Err(why) => return Ok(self.failed(why)),
        };
        match made.tools.decide(&made.planned, &made.context, self.agent.now_ms()).await {
            Decision::Run(permit) => self.run(made, *permit).await.map_err(trouble),
            Decision::Refused(why) => Ok(self.failed(why)),
            // An agent belongs to the call that waits for it: a draft would start it when its client is gone.
            Decision::Ask(_) if self.delegates(&made.planned.call) => Ok(self.failed(
                "not done: the owner's rules have every agent asked about, and a client's agent cannot wait for an \
                 answer; the owner can start it"
                    .into(),
            )),
            Decision::Ask(why) => self.keep(made, why).await.map_err(trouble),
        }
    }

    /// What judges calls of clients.
    pub(super) async fn judge(&self) -> Result<TurnToolExecutor, AgentError> {
        let built = self.lent().await?;
        Ok(self.agent.executor().for_turn(built.gathered.policy, None, std::iter::empty()))
    }

    /// Whether the owner's rules let a client have what a call of this tool would give it.
    pub(super) async fn rules_allow(&self, judge: &TurnToolExecutor, name: &str, arguments: Value) -> bool {
        let id = CallId::new(self.agent.context().host.new_id("call"));
        let call = ToolCall { id, name: name.to_owned(), arguments: arguments.to_string() };
        let timeout = self.agent.context().tools.time_limit(name, &self.agent.context().config.limits);
        let planned = PlannedCall { call, timeout, approved: None };
        let decision = judge.decide(&planned, &CallContext::of(CLIENTS), self.agent.now_ms()).await;
        matches!(decision, Decision::Run(_))
    }

    async fn make(&self, name: &str, arguments: Map<String, Value>) -> Result<Result<Made, Sentence>, Refusal> {
        let built = self.lent().await.map_err(trouble)?;
        if tools_of(&built).iter().all(|tool| tool.name() != name) {
            return Err(Refusal::Unknown(format!("there is no tool `{name}`")));
        }
        let arguments = match canonical(&Value::Object(arguments).to_string()) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(Err(why)),
        };
        let context = self.agent.context();
        let conversation = self.agent.directory().of_clients().await.map_err(trouble)?;
        let tools = self.agent.executor().for_turn(built.gathered.policy, None, std::iter::empty());
        let call = ToolCall { id: CallId::new(context.host.new_id("call")), name: name.to_owned(), arguments };
        let call = tools.as_run(&call, CLIENTS);
        let timeout = context.tools.time_limit(name, &context.config.limits);
        Ok(Ok(Made {
            turn: TurnId::new(context.host.new_id("mcp")),
            planned: PlannedCall { call, timeout, approved: None },
            context: CallContext { conversation: Some(conversation.clone()), ..CallContext::of(CLIENTS) },
            conversation,
            tools,
        }))
    }

    /// The tools that agents of clients may have: what is lent, and what looks at nothing else of the owner's.
    async fn tools_of_agents(&self) -> Result<Vec<String>, AgentError> {
        let lent = tools_of(&self.lent().await?);
        let own = self.agent.context().tools.all().iter();
        let of_agents = own.filter(|tool| OF_AGENTS.contains(&tool.group())).map(|tool| tool.name().to_owned());
        let lent = lent.iter().map(|tool| tool.name().to_owned());
        Ok(lent.chain(of_agents).chain([FIND_TOOLS.to_owned()]).collect())
    }

    /// Whether a call starts agents.
    fn delegates(&self, call: &ToolCall) -> bool {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        self.agent.context().tools.tool(&call.name).is_some_and(|tool| tool.effect(&arguments) == Effect::Delegate)
    }

    async fn run(&self, made: Made, permit: Permit) -> Result<LentAnswer, AgentError> {
        let Made { conversation, turn, planned, tools, .. } = made;
        let context = self.agent.context();
        let PlannedCall { call, timeout, .. } = planned;
        if context.tools.tool(&call.name).is_some_and(|tool| tool.group() == DELEGATION) {
            // Those of a client that was killed have ended.
            self.agent.agents().recover(Some(&conversation)).await?;
        }
        if self.delegates(&call) {
            write_turn(&self.agent, &conversation, &turn).await?;
        }
        let context = ToolContext {
            now: context.host.now(),
            zone: context.host.zone(),
            conversation,
            turn,
            call: call.id.clone(),
            trust: CLIENTS,
            tier: Tier::ALL[2],
            read_only: tools.is_read_only(),
            approved: false,
            snapshot: None,
            bans: limpid_core::policy::Bans::default(),
            unused_skills: Vec::new(),
            private_place: None,
            may_lead_to_key: true,
            drawn: false,
            program: None,
            send_state: None,
            tools_of_agents: Some(self.tools_of_agents().await?),
            shown: ShownItems::default(),
            written: Written::default(),
            owner: None,
        };
        Ok(match tokio::time::timeout(timeout, tools.run(context, permit)).await {
            Ok(ToolOutcome { said, failed, .. }) => LentAnswer { text: self.shown(said), failed },
            Err(_) => self.failed(sentence!("no result within {} s; its outcome is unknown", timeout.as_secs())),
        })
    }

    /// Keeps a call for the owner, and says so. All clients share one conversation, and leave some of the room of strangers' runs.
    async fn keep(&self, made: Made, why: Why) -> Result<LentAnswer, AgentError> {
        let Made { conversation, turn, planned, tools, context } = made;
        let Some(described) = tools.describe(&planned.call, &context).await else {
            return Ok(self.failed("it cannot be described to the owner, so it was not kept".into()));
        };
        let held = HeldCall { call: planned.call, why };
        let led_by = "A program that is connected over MCP asked for this.".to_owned();
        let new = new_draft((&conversation, &turn), &held, described, (led_by, CLIENTS), self.agent.now_ms());
        let room = DraftRoom {
            open: MOST_AFTER_STRANGERS,
            of_turn: MOST_OF_CLIENTS,
            of_chat: Some(MOST_OF_CLIENTS),
            of_background: (MOST_OF_BACKGROUND_AFTER_STRANGERS, MOST_OF_CLIENTS),
        };
        // Whoever asked may stop waiting: what is kept is told of all the same.
        let agent = self.agent.clone();
        let kept = tokio::spawn(async move {
            let Some(draft) = agent.drafts().keep(new, room).await? else { return Ok::<_, AgentError>(None) };
            let id = draft.id.0;
            agent.drafts().tell_kept(&draft, "An MCP client asked for it; it calls").await?;
            Ok(Some(id))
        });
        let broke = |_| AgentError::Invalid("the call could not be kept".to_owned());
        let Some(id) = kept.await.map_err(broke)?? else {
            return Ok(self.failed(
                "not done and not kept: too many drafts wait for the owner already; ask them to answer some with \
                 `limpid draft list`"
                    .into(),
            ));
        };
        let kept = sentence!(
            "not done yet: kept as draft {}, which the owner approves or refuses with `limpid draft`; do not call it again",
            id
        );
        Ok(LentAnswer { text: self.shown(kept.into()), failed: false })
    }

    fn failed(&self, why: Sentence) -> LentAnswer {
        LentAnswer { text: self.shown(why.into()), failed: true }
    }
}
