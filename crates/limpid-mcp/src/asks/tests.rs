//! What of a server's question is asked, and of whom.

use limpid_core::TurnId;

use super::*;

fn wanted(params: Value) -> ElicitRequestParams {
    serde_json::from_value(params).unwrap()
}

fn form_of(properties: &Value) -> Option<Form> {
    let schema = json!({ "type": "object", "properties": properties, "required": ["a"] });
    form("desk", wanted(json!({ "mode": "form", "message": "Say\u{202e} it.", "requestedSchema": schema })))
}

/// An owner of a turn who says the same to every form.
fn owner(turn: &str, answer: FormAnswer) -> Option<Asking> {
    let owner = AskOwner::new(TurnId::new(turn), move |_| Box::pin(std::future::ready(answer.clone())));
    Some(Asking { server: "desk".to_owned(), owner })
}

fn yes() -> FormAnswer {
    FormAnswer::Given(vec![("a".to_owned(), Given::Whole(1))])
}

async fn asked(calls: &OpenCalls) -> ElicitationAction {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let wanted = wanted(json!({ "mode": "form", "message": "", "requestedSchema": schema }));
    calls.ask(wanted, std::future::pending()).await.action
}

// SUR-034
#[test]
fn fields_are_read_with_their_bounds_and_defaults() {
    let form = form_of(&json!({
        "a": { "type": "string", "minLength": 1, "format": "email", "default": "no mail address" },
        "b": { "type": "integer", "minimum": 1, "maximum": 9, "default": 5, "title": "B" },
        "c": { "type": "number", "default": 95.5 },
        "d": { "type": "boolean", "default": true },
        "e": { "type": "string", "enum": ["x", "y"], "default": "y" },
        "f": { "type": "string", "oneOf": [{ "const": "x", "title": "The X" }], "default": "z" },
        "g": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] }, "maxItems": 1, "default": ["x"] },
        "h": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "The X" }] } },
        "i": { "type": "string", "enum": ["x"], "enumNames": ["The X"] },
    }))
    .unwrap();
    assert_eq!((form.from.as_str(), form.text.as_str()), ("desk", "Say it."), "nothing unseen is shown");
    let Wanted::Fields(fields) = form.wants else { panic!() };
    let choice = |value: &str, title: &str| Choice { value: value.to_owned(), title: title.to_owned() };
    let text = |text: &str| Some(Given::Text(text.to_owned()));
    let plain = vec![choice("x", "x"), choice("y", "y")];
    let titled = vec![choice("x", "The X")];
    let read: Vec<_> = fields.iter().map(|field| (field.kind.clone(), field.default.clone(), field.required)).collect();
    let expected = [
        (FieldKind::Text(1, None, Some(TextForm::Email)), None, true),
        (FieldKind::Whole(Some(1), Some(9)), Some(Given::Whole(5)), false),
        (FieldKind::Number(None, None), Some(Given::Number(95.5)), false),
        (FieldKind::YesNo, Some(Given::YesNo(true)), false),
        (FieldKind::One(plain.clone()), text("y"), false),
        (FieldKind::One(titled.clone()), None, false),
        (FieldKind::Many(plain, 0, Some(1)), Some(Given::Many(vec!["x".to_owned()])), false),
        (FieldKind::Many(titled.clone(), 0, None), None, false),
        (FieldKind::One(titled), None, false),
    ];
    assert_eq!(read, expected);
    assert_eq!(fields[1].title.as_deref(), Some("B"));
}

// SUR-034 SEC-042
#[test]
fn what_is_too_large_or_no_address_of_the_web_is_not_asked() {
    let many: Map<String, Value> = (0..=FIELDS).map(|at| (format!("f{at}"), json!({ "type": "boolean" }))).collect();
    let values: Vec<String> = (0..=CHOICES).map(|at| at.to_string()).collect();
    let long = "x".repeat(TEXT + 1);
    for properties in [
        Value::Object(many),
        json!({ "a": { "type": "string", "enum": values } }),
        json!({ "a": { "type": "string", "description": &long } }),
        json!({ (long.as_str()): { "type": "string" } }),
    ] {
        assert_eq!(form_of(&properties), None);
    }
    let visit =
        |url: &str| form("desk", wanted(json!({ "mode": "url", "message": "Go.", "url": url, "elicitationId": "1" })));
    for url in ["file:///etc/passwd", "javascript:alert(1)", "no address", "https://", &format!("https://a/{long}")] {
        assert_eq!(visit(url), None, "{url}");
    }
    let wants = |host: &str, url: &str| Some(Wanted::Visit { host: host.to_owned(), url: url.to_owned() });
    let trick = visit("https://bank.example@xn--e1afmkfd.example/a").map(|form| form.wants);
    assert_eq!(trick, wants("xn--e1afmkfd.example", "https://bank.example@xn--e1afmkfd.example/a"));
    assert_eq!(
        visit("https://пример.example").map(|form| form.wants),
        wants("xn--e1afmkfd.example", "https://xn--e1afmkfd.example/")
    );
}

/// A question with fields of these names, in this order.
fn with_fields(names: impl Iterator<Item = String>) -> ElicitRequestParams {
    let fields: Vec<String> = names.map(|name| format!("\"{name}\":{{\"type\":\"boolean\"}}")).collect();
    let schema = format!("{{\"type\":\"object\",\"properties\":{{{}}}}}", fields.join(","));
    serde_json::from_str(&format!("{{\"mode\":\"form\",\"message\":\"\",\"requestedSchema\":{schema}}}")).unwrap()
}

// SEC-093
#[test]
fn fields_are_counted_before_they_are_put_in_order() {
    let Some(Form { wants: Wanted::Fields(fields), .. }) =
        form("desk", with_fields(["b", "c", "a"].map(str::to_owned).into_iter()))
    else {
        panic!()
    };
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["b", "c", "a"], "as the server has them");
    let many = with_fields((0..20_000).rev().map(|at| format!("f{at:06}")));
    let began = std::time::Instant::now();
    assert_eq!(form("desk", many), None);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

// SEC-093
#[tokio::test]
async fn a_question_that_is_too_large_counts_as_one() {
    let calls = OpenCalls::default();
    let _call = calls.enter(owner("t", yes()));
    for _ in 0..QUESTIONS {
        let large = with_fields((0..=FIELDS).map(|at| format!("f{at}")));
        assert_eq!(calls.ask(large, std::future::pending()).await.action, ElicitationAction::Decline);
    }
    assert_eq!(asked(&calls).await, ElicitationAction::Decline, "nothing more of this call is read");
}

// SUR-034
#[tokio::test]
async fn a_question_goes_to_the_one_turn_whose_call_is_open_and_else_to_nobody() {
    let calls = OpenCalls::default();
    assert_eq!(asked(&calls).await, ElicitationAction::Decline, "no call is open");
    let first = calls.enter(owner("t", yes()));
    assert_eq!(asked(&calls).await, ElicitationAction::Accept);
    let second = calls.enter(owner("t", FormAnswer::No));
    assert_eq!(asked(&calls).await, ElicitationAction::Accept, "two calls of one turn");
    let background = calls.enter(None);
    assert_eq!(asked(&calls).await, ElicitationAction::Decline, "one is of nobody who could be asked");
    drop(background);
    let other = calls.enter(owner("u", yes()));
    assert_eq!(asked(&calls).await, ElicitationAction::Decline, "one is of another turn");
    drop(other);
    drop(first);
    assert_eq!(asked(&calls).await, ElicitationAction::Decline, "the owner said no");
    drop(second);
    let _left = calls.enter(owner("t", FormAnswer::Left));
    assert_eq!(asked(&calls).await, ElicitationAction::Cancel);
}

// SUR-034 SEC-042
#[tokio::test]
async fn one_call_puts_only_so_many_questions() {
    let calls = OpenCalls::default();
    let _call = calls.enter(owner("t", yes()));
    for _ in 0..QUESTIONS {
        assert_eq!(asked(&calls).await, ElicitationAction::Accept);
    }
    assert_eq!(asked(&calls).await, ElicitationAction::Decline);
}

// SUR-034
#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_stands_still_while_the_owner_thinks() {
    let thinks = |time| {
        let owner = AskOwner::new(TurnId::new("t"), move |_| {
            Box::pin(async move {
                sleep(time).await;
                yes()
            })
        });
        Some(Asking { server: "desk".to_owned(), owner })
    };
    let minute = Duration::from_secs(60);
    let calls = OpenCalls::default();
    let call = calls.enter(thinks(minute * 10));
    assert_eq!(call.within(minute, asked(&calls)).await, Some(ElicitationAction::Accept));
    let before_and_after = async {
        sleep(minute / 2).await;
        asked(&calls).await;
        sleep(minute).await;
    };
    assert_eq!(call.within(minute, before_and_after).await, None, "what the server takes counts");
    drop(call);
    let call = calls.enter(thinks(PATIENCE * 2));
    let (began, action) = (Instant::now(), call.within(minute, asked(&calls)).await);
    assert_eq!((began.elapsed(), action), (PATIENCE, Some(ElicitationAction::Cancel)), "the owner has gone away");
}

// SUR-034
#[tokio::test(start_paused = true)]
async fn a_question_is_taken_away_when_its_call_has_ended() {
    let calls = OpenCalls::default();
    let nobody = AskOwner::new(TurnId::new("t"), |_| Box::pin(std::future::pending()));
    let call = calls.enter(Some(Asking { server: "desk".to_owned(), owner: nobody }));
    let began = Instant::now();
    let (action, ()) = tokio::join!(asked(&calls), async {
        tokio::task::yield_now().await;
        drop(call);
    });
    assert_eq!((action, began.elapsed()), (ElicitationAction::Cancel, Duration::ZERO));
}

// SUR-034 SEC-042
#[test]
fn a_value_that_the_owner_cannot_see_whole_is_no_default() {
    let default = |text: &str| {
        let form = form_of(&json!({ "a": { "type": "string", "default": text } })).unwrap();
        let Wanted::Fields(fields) = form.wants else { panic!() };
        fields[0].default.clone()
    };
    assert_eq!(default("tea"), Some(Given::Text("tea".to_owned())));
    for hidden in ["tea\u{202e}", "\u{200b}", "a\nb", "a\u{1b}[2J", &"x".repeat(DEFAULT + 1)] {
        assert_eq!(default(hidden), None, "{hidden:?}");
    }
    let titles: Vec<Value> =
        (0..CHOICES).map(|at| json!({ "const": at.to_string(), "title": "x".repeat(NAME) })).collect();
    let many: Map<String, Value> =
        (0..FIELDS).map(|at| (format!("f{at}"), json!({ "type": "string", "oneOf": titles }))).collect();
    assert_eq!(form_of(&Value::Object(many)), None, "all of it is too much to read");
}
