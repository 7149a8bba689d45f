use super::*;

const ON: i64 = 1_000 * HOUR_MS;

fn state() -> State {
    State { switched_on_ms: Some(ON), ..State::default() }
}

/// A moment so many minutes after the switch-on, at noon, with an owner who has just been there.
fn minute(minute: i64) -> Moment {
    let now_ms = ON + minute * MINUTE_MS;
    let next_hour_ms = now_ms + HOUR_MS;
    Moment { now_ms, hour: 12, next_hour_ms, acted_ms: Some(now_ms), runs_a_day: 48, ..Moment::default() }
}

fn usual(state: &State, moment: &Moment) -> Gate {
    gate(&Settings::default(), state, moment)
}

fn wait(why: Why, minute: i64) -> Gate {
    Gate::Wait(why, Some(ON + minute * MINUTE_MS))
}

// KAI-056 KAI-057 KAI-058 KAI-059 LES-031 LES-039 PICO-073 PICO-074
#[test]
fn when_a_run_is_due() {
    let at = |hour| Moment { hour, ..minute(30) };
    assert_eq!(usual(&state(), &minute(0)), wait(Why::Interval, 30));
    assert_eq!(usual(&state(), &minute(29)), wait(Why::Interval, 30));
    assert_eq!(usual(&state(), &minute(30)), Gate::Run);
    assert_eq!(usual(&state(), &at(7)), wait(Why::Hours, 90));
    assert_eq!(usual(&state(), &at(8)), Gate::Run);
    assert_eq!(usual(&state(), &at(21)), Gate::Run);
    assert_eq!(usual(&state(), &at(22)), wait(Why::Hours, 90));
    let night = Settings { start_hour: 22, end_hour: 6, ..Settings::default() };
    let runs = [23, 5, 6].map(|hour| gate(&night, &state(), &at(hour)) == Gate::Run);
    assert_eq!(runs, [true, true, false]);
    let never = Settings { start_hour: 9, end_hour: 9, ..Settings::default() };
    assert_eq!(gate(&never, &state(), &minute(30)), Gate::Wait(Why::NoHours, None));
    let off = Settings { enabled: false, ..Settings::default() };
    assert_eq!(gate(&off, &state(), &minute(10_000)), Gate::Wait(Why::Off, None));
    let unscheduled = Moment { scheduling_off: true, ..minute(10_000) };
    assert_eq!(usual(&state(), &unscheduled), Gate::Wait(Why::NoScheduling, None));
    assert_eq!(usual(&state(), &Moment { busy: true, ..minute(30) }), wait(Why::Busy, 31));
    let used = |runs_today, news_runs_today| Moment { runs_today, news_runs_today, ..minute(30) };
    assert_eq!(usual(&state(), &used(48, 48)), wait(Why::DayIsFull, 90));
    assert_eq!([(48, 47), (47, 48)].map(|(own, news)| usual(&state(), &used(own, news))), [Gate::Run; 2]);
    // What never saw a switch-on begins its interval here, so a start causes no run.
    assert_eq!(usual(&State::default(), &minute(0)), wait(Why::Interval, 30));
    // However long it was kept from running, one run follows, and then the interval again.
    let after = state().succeeded(ON + 600 * MINUTE_MS);
    assert_eq!(usual(&state(), &minute(600)), Gate::Run);
    assert_eq!(usual(&after, &minute(601)), wait(Why::Interval, 630));
    // Switched on again, it counts from there and still knows when a run went well.
    let again = State { switched_on_ms: Some(minute(700).now_ms), ..after };
    assert_eq!(usual(&again, &minute(700)), wait(Why::Interval, 730));
    assert_eq!(again.succeeded_ms, Some(minute(600).now_ms));
}

// SEC-042
#[test]
fn a_clock_that_was_set_back_silences_nothing() {
    let after = state().succeeded(ON + 600 * MINUTE_MS);
    assert_eq!(usual(&after, &minute(-840)), Gate::Run);
    let once_more = after.clone().succeeded(minute(-840).now_ms);
    assert_eq!(usual(&once_more, &minute(-839)), wait(Why::Interval, -810));
    let failed = after.failed(FailureClass::Server, minute(601).now_ms);
    assert_eq!(usual(&failed, &minute(-840)), Gate::Run);
}

// KAI-059 KAI-123
#[test]
fn a_dead_provider_is_asked_less_and_less() {
    let begun = ON - 30 * MINUTE_MS;
    let mut state = State { succeeded_ms: Some(begun), switched_on_ms: Some(begun), ..state() };
    let mut runs = Vec::new();
    for at in 0..=300 {
        if usual(&state, &minute(at)) == Gate::Run {
            state = state.failed(FailureClass::Server, minute(at).now_ms);
            runs.push(at);
        }
    }
    assert_eq!(runs, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
}

// LES-038
#[test]
fn three_refusals_pause_it_until_the_owner_does_something() {
    let mut state = state();
    for (class, at) in [(FailureClass::Key, 30), (FailureClass::Quota, 31), (FailureClass::UnknownModel, 33)] {
        assert_eq!(usual(&state, &minute(at)), Gate::Run, "{class}");
        state = state.failed(class, minute(at).now_ms);
    }
    assert_eq!(usual(&state, &minute(600)), wait(Why::Paused(Pause::Provider), 601));
    let earlier = state.clone().resumed(Some(minute(33).now_ms));
    assert_eq!(earlier, state);
    let state = state.resumed(Some(minute(34).now_ms));
    assert_eq!(usual(&state, &minute(600)), Gate::Run);
    let mixed = [FailureClass::Key, FailureClass::Key, FailureClass::Server, FailureClass::Key];
    let mixed = mixed.into_iter().fold(State::default(), |state, class| state.failed(class, ON));
    assert_eq!((mixed.refusals, mixed.paused), (1, None));
}

// LES-038
#[test]
fn seven_days_of_silence_pause_it() {
    let week = 7 * 24 * 60;
    let silent = |at: i64| Moment { acted_ms: Some(ON), ..minute(at) };
    assert_eq!(usual(&state(), &silent(week - 1)), Gate::Run);
    assert_eq!(usual(&state(), &silent(week)), wait(Why::Paused(Pause::Silence), week + 1));
    assert_eq!(usual(&state(), &minute(week)), Gate::Run, "a message ends it");
    let nothing_ever = Moment { acted_ms: None, ..minute(week) };
    assert_eq!(usual(&state(), &nothing_ever), wait(Why::Paused(Pause::Silence), week + 1));
}
