//! Which skills a turn activates, and which are left out.

use limpid_core::skill::slash_word;

use super::{PromptSource, RegisteredPrompt};
use crate::inputs::{ActiveSkill, SkillEntry, SkillsInput, UnusedSkill};

/// What decides about the skills of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occasion<'a> {
    /// The ids that were chosen for the conversation, in order.
    pub chosen: &'a [String],
    /// The message that the turn answers.
    pub message: &'a str,
    /// The tools that exist in this turn.
    pub tools: &'a [&'a str],
}

/// The skills of a turn: the index, and the active ones in the order always, chosen, called by name, called by a
/// trigger, each once. What a server offers is in no index, and active only when a person chose it.
pub fn select<'a>(prompts: impl IntoIterator<Item = &'a RegisteredPrompt>, occasion: Occasion<'_>) -> SkillsInput {
    let mut input = SkillsInput::default();
    let mut usable: Vec<&RegisteredPrompt> = Vec::new();
    for prompt in prompts {
        match missing(prompt, occasion.tools) {
            None => usable.push(prompt),
            Some(tools) => {
                input.unused.push(unused(&prompt.id(), format!("it needs tools that are not here: {tools}")));
            }
        }
    }
    let is_own = |prompt: &&RegisteredPrompt| !matches!(prompt.source, PromptSource::Mcp { .. });
    let by_id = |id: &str| usable.iter().copied().find(|prompt| prompt.skill.name.is(id));

    for prompt in usable.iter().copied().filter(is_own).filter(|prompt| prompt.skill.always) {
        activate(&mut input, prompt, true);
    }
    for id in occasion.chosen {
        match by_id(id) {
            Some(prompt) => activate(&mut input, prompt, true),
            None if input.unused.iter().any(|unused| unused.name.eq_ignore_ascii_case(id)) => {}
            None => input.unused.push(unused(id, "it was chosen, but there is no skill of that id".to_owned())),
        }
    }
    if let Some(prompt) = slash_word(occasion.message).and_then(by_id) {
        activate(&mut input, prompt, false);
    }
    for prompt in usable.iter().copied().filter(is_own) {
        if prompt.skill.trigger_in(occasion.message).is_some() {
            activate(&mut input, prompt, false);
        }
    }
    input.index = usable.iter().copied().filter(is_own).map(entry).collect();
    input
}

fn activate(input: &mut SkillsInput, prompt: &RegisteredPrompt, standing: bool) {
    let name = prompt.skill.name.as_str();
    if input.active.iter().any(|active| active.name == name) {
        return;
    }
    input.active.push(ActiveSkill {
        name: name.to_owned(),
        title: prompt.skill.title.clone(),
        body: prompt.skill.body.clone(),
        files: prompt.files.clone(),
        trust: prompt.trust().into(),
        standing,
        version: prompt.skill.version.clone(),
    });
}

fn entry(prompt: &RegisteredPrompt) -> SkillEntry {
    SkillEntry {
        name: prompt.skill.name.to_string(),
        title: prompt.skill.title.clone(),
        description: prompt.skill.description.clone(),
        location: prompt.location.clone(),
        source: prompt.shelf,
        trust: prompt.trust().into(),
    }
}

/// The tools that a prompt needs and that are not there, as a list for people.
fn missing(prompt: &RegisteredPrompt, tools: &[&str]) -> Option<String> {
    let missing: Vec<&str> =
        prompt.required_tools().iter().map(String::as_str).filter(|tool| !tools.contains(tool)).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

fn unused(name: &str, reason: String) -> UnusedSkill {
    UnusedSkill { name: name.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use limpid_core::Skill;

    use super::*;

    fn prompt(id: &str, change: impl FnOnce(&mut Skill)) -> RegisteredPrompt {
        let mut skill = Skill::new(id.parse().unwrap(), format!("about {id}"), format!("{id}'s text"));
        change(&mut skill);
        RegisteredPrompt::new(skill, PromptSource::Config, format!("{id}.md"), 0)
    }

    fn shelf() -> Vec<RegisteredPrompt> {
        vec![
            prompt("green", |skill| skill.triggers = vec!["oolong".to_owned()]),
            prompt("house", |skill| skill.always = true),
            prompt("review", |skill| skill.version = Some("1.2".to_owned())),
            prompt("tea", |skill| skill.triggers = vec!["tea".to_owned(), "oolong".to_owned()]),
            prompt("mail", |skill| skill.required_tools = vec!["read_email".to_owned(), "send".to_owned()]),
            RegisteredPrompt {
                source: PromptSource::Mcp { server: "desk".to_owned() },
                ..prompt("plan", |skill| {
                    skill.always = true;
                    skill.triggers = vec!["tea".to_owned()];
                })
            },
        ]
    }

    fn active(chosen: &[&str], message: &str) -> Vec<String> {
        let chosen: Vec<String> = chosen.iter().map(|id| (*id).to_owned()).collect();
        let input = select(&shelf(), Occasion { chosen: &chosen, message, tools: &["send"] });
        let mark = |skill: &ActiveSkill| if skill.standing { "" } else { "/" };
        input.active.iter().map(|skill| format!("{}{}", mark(skill), skill.name)).collect()
    }

    // KAI-098 KAI-099 KOSHI-031 OLLM-061 LES-131
    #[test]
    fn always_then_chosen_then_called_by_name_then_by_a_trigger_each_once() {
        let cases: [(&[&str], &str, &[&str]); 9] = [
            (&[], "hi", &["house"]),
            (&[], "/Tea now", &["house", "/tea"]),
            (&[], "some tea?", &["house", "/tea"]),
            (&[], "an Oolong?", &["house", "/green", "/tea"]),
            (&[], "/green oolong", &["house", "/green", "/tea"]),
            (&["TEA", "review", "tea"], "/review", &["house", "tea", "review"]),
            (&["review", "tea"], "hi", &["house", "review", "tea"]),
            (&[], "/nothing of the kind", &["house"]),
            (&[], "steam /tea", &["house", "/tea"]),
        ];
        for (chosen, message, wanted) in cases {
            assert_eq!(active(chosen, message), wanted, "{chosen:?} {message:?}");
        }
    }

    // OLLM-059
    #[test]
    fn what_a_server_offers_is_in_no_index_and_comes_only_when_chosen_as_a_strangers_text() {
        assert_eq!(active(&["plan"], "hi"), ["house", "plan"]);
        assert_eq!(active(&[], "/plan"), ["house", "/plan"]);
        let chosen = ["plan".to_owned()];
        let input = select(&shelf(), Occasion { chosen: &chosen, ..Occasion::default() });
        assert!(input.index.iter().all(|entry| entry.name != "plan"));
        assert_eq!(input.active[1].trust, crate::inputs::TrustName::Outside);
    }

    // OLLM-060 KOSHI-006
    #[test]
    fn what_lacks_its_tools_or_does_not_exist_is_left_out_with_the_reason() {
        let chosen = ["mail".to_owned(), "gone".to_owned()];
        let input = select(&shelf(), Occasion { chosen: &chosen, message: "/mail", tools: &["send"] });
        assert_eq!(input.active.len(), 1);
        assert!(input.index.iter().all(|entry| entry.name != "mail"));
        insta::assert_debug_snapshot!(input.unused);
        let all = select(&shelf(), Occasion { chosen: &chosen, message: "", tools: &["send", "read_email"] });
        assert_eq!(all.active[1].name, "mail");
    }

    // KOSHI-030
    #[test]
    fn the_index_has_every_skill_that_can_be_used_whether_it_is_active_or_not() {
        for (chosen, message) in [(&[][..], "hi"), (&["review".to_owned()], "/tea and oolong")] {
            let input = select(&shelf(), Occasion { chosen, message, tools: &[] });
            let index: Vec<&str> = input.index.iter().map(|entry| entry.name.as_str()).collect();
            assert_eq!(index, ["green", "house", "review", "tea"], "{message}");
        }
    }

    // OLLM-062
    #[test]
    fn a_version_goes_with_the_active_skill() {
        let input = select(&shelf(), Occasion { message: "/review", ..Occasion::default() });
        assert_eq!(input.active[1].version.as_deref(), Some("1.2"));
    }
}
