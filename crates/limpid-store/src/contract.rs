//! What every store must do, as tests.
//!
//! A store passes when [`contract_suite!`](crate::contract_suite) passes for it:
//! ```ignore
//! limpid_store::contract_suite!(|| async { Bench { store, other, keep } });
//! ```
//! Each case gets an empty store. A new case is a function here and a name in the macro.

#![allow(clippy::unwrap_used, reason = "a case is a test")]
#![allow(clippy::missing_panics_doc, reason = "a case is a test")]

use std::any::Any;
use std::sync::Arc;

use crate::Store;

pub mod agent_plans;
pub mod agents;
pub mod archived;
pub mod conversations;
pub mod deleted;
pub mod deliveries;
pub mod drafts;
pub mod file_versions;
pub mod goals;
pub mod heartbeats;
pub mod inbox;
pub mod instructing;
pub mod leases;
pub mod memories;
pub mod promotions;
pub mod recall;
pub mod request_log;
pub mod sample;
pub mod settings;
pub mod skills;
pub mod tasks;
pub mod timers;
pub mod turns;
pub mod vectors;
pub mod windows;

/// An empty store under test.
pub struct Bench {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The same database as another owner sees it.
    pub other: Arc<dyn Store>,
    /// What must live as long as the store (a temporary folder).
    pub keep: Box<dyn Any + Send>,
}

/// Runs every case against what the closure makes: a future of a [`Bench`](crate::contract::Bench).
#[macro_export]
macro_rules! contract_suite {
    ($bench:expr) => {
        $crate::contract_cases! { $bench =>
            agent_plans {
                a_strangers_plans_push_out_only_a_strangers
                a_plan_is_read_for_as_long_as_a_task_of_it_is_under_way
                a_task_that_a_limit_holds_back_says_so_until_it_is_wanted_again
                a_task_of_the_owners_stays_theirs_whoever_has_it_started_or_says_why_it_failed
            }
            agents {
                an_agent_is_kept_as_it_was_given
                an_agent_ends_once_and_is_told_once
                the_newest_plans_are_kept_and_those_that_were_started
                a_task_has_the_label_of_why_it_got_no_agent
                a_message_to_an_agent_comes_before_its_end_or_finds_it_ended
                an_agent_that_is_waited_for_sends_no_message
                a_turn_gives_a_task_once_and_few_agents_work_at_a_time
                a_tree_of_agents_comes_to_an_end
                strangers_agents_take_no_place_number_or_tokens_of_the_owners
                what_an_agent_costs_is_its_chats
                strangers_agents_push_none_of_the_owners_out_of_a_list
                work_that_an_agent_of_the_owners_began_stays_theirs
                whatever_happens_each_agent_ends_once_and_is_told_once
            }
            archived {
                an_archived_conversation_is_whole_and_in_no_list_but_its_own
                what_is_said_in_an_archived_conversation_brings_it_back
                conversations_are_found_by_title_and_by_what_was_said
                strangers_push_nothing_out_of_what_is_found
                what_a_strangers_text_led_to_pushes_nothing_out_of_what_is_found
            }
            deleted {
                a_deleted_conversation_goes_whole_and_alone
                what_a_deleted_conversation_cost_stays
                what_is_at_work_keeps_a_conversation
            }
            conversations {
                a_conversation_is_found_again
                the_last_one_is_the_one_written_to_last
                the_trust_of_a_conversation_is_that_of_its_least_trusted_message
                settings_change_alone
                audience_and_window_are_kept
                turns_are_taken_out_and_put_back
                messages_come_back_as_they_were_written
                a_long_conversation_comes_back_whole
                calls_are_written_with_their_results
                the_newest_messages_tell_which_tools_are_used
                what_strangers_had_called_ranks_no_tool
                an_accepted_message_waits_until_a_turn_takes_it
                a_message_that_waits_can_be_taken_back
                a_message_delivered_twice_is_accepted_once
                a_key_belongs_to_its_conversation
                a_message_that_began_a_conversation_is_found_again
                nobody_sees_what_is_anothers
                any_text_is_kept
            }
            deliveries {
                a_key_is_delivered_once_ever
                which_draft_a_delivery_tells_of_is_no_matter_of_its_words
                what_was_delivered_is_unread_until_it_is_read
                a_push_is_known_until_its_end
                what_has_nothing_to_say_leaves_no_trace
                a_dead_target_and_a_stale_lease_are_refused
                nothing_is_delivered_to_strangers
            }
            drafts {
                a_draft_is_kept_once_with_all_that_it_is
                a_draft_moves_forward_only
                a_draft_moves_as_it_was_seen_or_not_at_all
                there_is_room_for_so_many_drafts
                the_background_leaves_room_for_drafts_of_chats
                drafts_of_strangers_take_no_place_of_the_owners
                an_edit_voids_approval
            }
            inbox {
                an_item_is_kept_once_as_it_came
                the_oldest_item_stops_waiting
                what_was_too_many_is_put_aside_as_one
                a_flood_is_put_aside_at_once
                a_sender_has_half_of_what_the_others_leave_of_a_day
                bytes_of_a_day_are_shared_in_the_same_way
                what_is_taken_in_waits_no_more
                what_was_shown_once_is_not_new_again
                what_a_turn_has_shown_is_seen_when_it_ends_well
                items_are_found_by_their_words
                a_watermark_rises_with_what_is_taken_in
                a_letter_has_a_number_of_its_account_as_it_is
                a_poll_is_written_with_what_it_found
            }
            leases {
                one_holder_at_a_time
                a_stale_fence_writes_nothing
                a_released_lease_writes_nothing
                a_dead_holder_can_be_put_aside
            }
            turns {
                a_journal_has_no_gap
                the_result_of_a_call_is_found_in_its_conversation_only
                a_journal_keeps_past_the_end_what_is_read_afterwards
                the_journal_of_a_run_goes_with_its_end
                a_commit_is_all_or_nothing
                an_ended_turn_takes_nothing_more
                an_unfinished_turn_is_found
                a_turn_begins_with_its_first_writes_or_not_at_all
                a_message_that_steers_is_taken_during_the_turn
            }
            file_versions {
                a_change_of_a_file_is_kept_with_both_texts
                a_change_of_a_file_is_there_before_it_is_made
                a_file_is_known_by_the_conversation_that_made_it
                what_lies_below_a_folder_is_listed_newest_first
                what_a_running_program_may_write_over_is_kept
            }
            instructing {
                what_a_program_changed_waits_with_what_it_held_first
                what_the_owner_accepted_waits_no_more
                what_was_the_owners_is_known_by_its_place_and_its_content
                what_was_accepted_beside_a_program_is_known_and_anything_else_waits
            }
            goals {
                every_goal_event_comes_back
                a_goal_log_that_has_grown_is_not_written_over
                goals_and_messages_are_written_together
                strangers_goals_push_none_of_the_owners_out_of_a_list
            }
            heartbeats {
                the_end_of_a_run_is_one_and_comes_once
                an_end_that_cannot_be_told_is_none
                idle_looks_are_counted_and_not_logged
                transcripts_go_with_the_log
                runs_do_not_overlap
                a_switch_on_is_remembered
                reports_are_found_among_many_runs
                runs_of_strangers_texts_push_none_of_the_owners_out
            }
            request_log {
                a_request_comes_back_byte_for_byte
                a_long_ledger_is_listed_to_its_end
                when_requests_were_sent_is_listed
                every_trust_label_comes_back
                an_unknown_cost_stays_unknown
                a_request_knows_what_it_shares_with_the_one_before
                a_request_that_never_ended_is_shown_as_such
                requests_are_listed_by_what_is_asked
                costs_are_summed
                what_was_spent_is_told_by_path_and_turn
                what_strangers_began_is_told_apart
                what_an_agent_leads_to_is_of_whatever_began_it
                old_requests_go_and_messages_stay
                the_ledger_keeps_to_its_size
                half_of_the_ledger_is_kept_from_strangers
            }
            memories {
                nothing_of_a_strangers_is_stored_over_what_is_the_owners
                a_known_key_is_merged
                strangers_change_so_many_memories_in_a_day
                a_fact_stored_again_is_one_memory
                a_number_leads_to_no_memory_of_anothers
                only_the_very_same_fact_is_merged_and_has_the_label_of_who_said_it
                facts_of_one_moment_all_stay
                feedback_moves_hits_and_score
                every_change_can_be_undone
                a_strangers_key_is_adopted_only_by_the_owners_own_word
                a_memory_of_the_owners_that_comes_back_has_its_key_for_itself
                a_strangers_memory_comes_back_under_no_key_that_looks_like_the_owners
                counts_of_words_follow_every_change
                memories_are_listed_in_the_order_they_were_made
                forgotten_memories_are_not_found
                a_memory_knows_who_said_it_where_and_when
                prominent_memories_are_pinned_or_proven
                the_lowest_hundredth_goes_to_a_searchable_archive
                the_index_covers_every_memory_and_can_be_made_anew
            }
            promotions {
                a_promotion_moves_a_memory_into_the_soul_and_an_undo_brings_it_back
                a_proposal_changes_nothing_until_a_person_decides
                a_proposal_needs_five_hits_when_it_is_made_and_when_it_is_approved
                a_yes_to_a_proposal_is_one_to_what_was_shown
            }
            recall {
                words_find_memories
                any_query_gives_a_result_or_nothing
                in_a_large_store_common_words_order_what_rarer_ones_select
                the_owners_memories_are_chosen_as_if_no_strangers_were_there
                strangers_memories_are_counted_apart_after_every_change
            }
            settings {
                the_newest_setting_holds_and_none_is_lost
                a_setting_and_its_change_are_one
                what_others_read_is_found_by_what_is_set_in_it
            }
            vectors {
                every_text_waits_for_its_embedding_once
                only_what_was_said_in_a_chat_waits_for_its_embedding
                a_meaning_finds_what_is_near_it
                what_others_have_takes_no_room_near_a_meaning
                what_strangers_left_takes_no_room_near_a_meaning
                what_is_forgotten_leaves_no_embedding
                a_refused_text_is_not_asked_about_again
            }
            windows {
                the_newest_view_is_shown_and_every_attempt_is_listed
                a_stale_lease_changes_no_view
                the_newest_five_automatic_snapshots_stay
                strangers_moments_push_out_only_strangers
                messages_are_found_by_their_words
                strangers_messages_take_no_room_of_the_owners
                what_stands_around_a_match_is_found_up_to_a_long_pause
                no_view_touches_a_message
            }
            tasks {
                a_task_comes_back_as_it_was_made
                no_task_tells_strangers
                a_task_made_again_is_one_task
                a_changed_task_moves_its_timer
                a_slot_has_one_run_and_one_end
                a_task_changed_during_its_run_stays_as_it_was_set
                the_ten_newest_runs_are_kept
            }
            timers {
                each_thing_has_one_timer
                what_was_put_off_is_due_again
                what_is_due_is_claimed_by_one
                a_claim_ends_with_the_next_time
                what_failed_is_put_off
                the_oldest_are_claimed_first
                one_timer_is_claimed_alone
            }
            skills {
                every_event_stays_and_says_how_a_folder_stands
                a_conversation_keeps_its_skills_in_order
            }
        }
    };
}

/// One test for each case; see [`contract_suite!`](crate::contract_suite).
#[doc(hidden)]
#[macro_export]
macro_rules! contract_cases {
    ($bench:expr => $($module:ident { $($case:ident)* })*) => {$(
        mod $module {
            $(#[tokio::test]
            async fn $case() {
                $crate::contract::$module::$case(&($bench)().await).await;
            })*
        }
    )*};
}
