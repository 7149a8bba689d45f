//! Attacks on the running program, one module each: an obedient model, which does what any text tells it, the real program in
//! a home of its own, and real sockets. Each says what must not come about, and in `control` that a harmless turn still works.

mod any_calls;
#[cfg(target_os = "linux")]
mod carried_by_low_places;
mod changed_worker;
#[cfg(target_os = "linux")]
mod closed_folders;
mod confirmed_guess;
#[cfg(target_os = "linux")]
mod deep_links;
mod destroyed_files;
mod drawn_files;
#[cfg(target_os = "linux")]
mod endless_file;
mod equal_keys;
#[cfg(target_os = "linux")]
mod exchanged_folder;
mod exported_picture;
mod failed_turn;
mod fields_left_out;
mod fixed_fetches;
mod flood_of_calls;
#[cfg(target_os = "linux")]
mod folders_above;
#[cfg(target_os = "linux")]
mod foreign_tests;
mod forged_frames;
mod forged_lines;
mod forged_notices;
#[cfg(unix)]
mod found_names;
#[cfg(unix)]
mod framed_draft;
mod granted_home;
#[cfg(target_os = "linux")]
mod hidden_path;
mod hostile_formats;
mod hostile_research;
mod kept_apart;
#[cfg(target_os = "linux")]
mod left_report;
#[cfg(unix)]
mod linked_instructions;
#[cfg(target_os = "linux")]
mod linked_programs;
#[cfg(target_os = "linux")]
mod linked_rules;
#[cfg(target_os = "linux")]
mod linked_shelf;
#[cfg(target_os = "linux")]
mod linked_skills;
mod memory_keys;
mod mentioned_host;
mod moved_goals;
#[cfg(unix)]
mod named_agent;
mod named_by_number;
mod named_by_place;
#[cfg(target_os = "linux")]
mod nameless_files;
mod names_of_files;
mod notes_in_projects;
pub(crate) mod obedient;
mod open_chat;
mod other_destination;
mod others_read;
mod own_network;
mod owners_name;
#[cfg(target_os = "linux")]
pub(crate) mod package;
#[cfg(unix)]
mod pasted_yes;
#[cfg(target_os = "linux")]
mod planned_program;
mod planned_words;
#[cfg(target_os = "linux")]
mod planted_files;
#[cfg(target_os = "linux")]
mod programs_of_strangers;
mod put_aside_goal;
#[cfg(target_os = "linux")]
mod put_aside_skill;
#[cfg(target_os = "linux")]
mod rebound_name;
#[cfg(unix)]
mod recalled_letter;
mod repeated_words;
mod reserved_links;
mod rewritten_result;
mod rule_by_path;
mod same_name;
mod search_host;
mod senders_name;
mod several_questions;
mod shared_calendar;
#[cfg(target_os = "linux")]
mod shown_to_tools;
mod silenced_inbox;
mod spelled_by_links;
#[cfg(unix)]
mod steered_terminal;
mod told_by_answers;
#[cfg(target_os = "linux")]
mod told_by_locks;
#[cfg(target_os = "linux")]
mod told_sandbox;
mod told_worker;
mod travelled_words;
#[cfg(target_os = "linux")]
mod two_programs;
#[cfg(unix)]
mod two_readings;
mod typed_order;
mod typed_together;
mod unfinished_headers;
mod unsent_fetches;
mod words_for_later;
mod words_of_an_error;
#[cfg(target_os = "linux")]
mod written_over;
