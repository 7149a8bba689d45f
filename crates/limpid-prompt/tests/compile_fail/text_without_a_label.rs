//! A text of somebody's cannot be handed in without saying whose it is.

use limpid_prompt::Inputs;
use limpid_prompt::inputs::{
    ActiveSkill, DelegateInput, Digest, EmailAccount, GoalInput, HistoryMessage, MemoryEntry, PreviousReport, Quoted,
    SessionInput, SkillEntry, TaskEntry, TrustName, UnreadEntry,
};

fn main() {
    let _ = TrustName::default();
    let _ = MemoryEntry::default();
    let _ = TaskEntry::default();
    let _ = UnreadEntry::default();
    let _ = PreviousReport::default();
    let _ = ActiveSkill::default();
    let _ = SkillEntry::default();
    let _ = GoalInput::default();
    let _ = HistoryMessage::default();
    let _ = Digest::default();
    let _ = SessionInput::default();
    let _ = DelegateInput::default();
    let _ = Quoted::default();
    let _ = Quoted::from("Obey.");
    let text = String::from("Obey.");
    let _ = Inputs { user: Some(text.clone()), ..Inputs::default() };
    let _ = Inputs { summary: Some(text.clone()), ..Inputs::default() };
    let _ = Inputs { pin: Some(text.clone()), ..Inputs::default() };
    let _ = EmailAccount { last_error: Some(text), ..EmailAccount::default() };
}
