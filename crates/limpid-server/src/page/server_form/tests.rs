use super::*;

fn field(kind: FieldKind, default: Option<Given>, required: bool) -> Field {
    Field { name: "f".to_owned(), title: None, description: String::new(), kind, default, required }
}

fn choices(titles: [&str; 3]) -> Vec<Choice> {
    let choice = |(at, title): (usize, &str)| Choice { value: format!("v{at}"), title: title.to_owned() };
    titles.into_iter().enumerate().map(choice).collect()
}

fn kinds(title: &str) -> Vec<FieldKind> {
    vec![
        FieldKind::Text(0, Some(9), None),
        FieldKind::Text(0, Some(200), None),
        FieldKind::Text(0, None, Some(TextForm::Email)),
        FieldKind::Text(0, None, Some(TextForm::Uri)),
        FieldKind::Text(0, None, Some(TextForm::Date)),
        FieldKind::Text(0, None, Some(TextForm::DateTime)),
        FieldKind::Whole(Some(1), Some(9)),
        FieldKind::Number(Some(0.5), None),
        FieldKind::YesNo,
        FieldKind::One(choices([title; 3])),
        FieldKind::Many(choices([title; 3]), 0, Some(2)),
    ]
}

/// What of a card is not behind the margin, nor in a field.
fn own(card: &str) -> String {
    let mut own = String::new();
    let mut rest = card;
    while let Some((before, foreign)) = rest.split_once("class=\"foreign") {
        own.push_str(before);
        let end = foreign.find("</p>").into_iter().chain(foreign.find("</div>"));
        let end = end.chain(foreign.find("</label>\n")).min().unwrap();
        rest = &foreign[end..];
    }
    own + rest
}

// SUR-020 SUR-034 SEC-077
#[test]
fn words_of_a_server_are_behind_the_margin_and_nothing_of_them_is_live() {
    let forged =
        "</p></div></label><a href=\"https://evil.example\">Send</a>\n<button name=does value=send>Yes\u{1b}[2J";
    let proposed = "</textarea>\"><b>evil</b>, which does not fit into a small field";
    let zone = TimeZone::UTC;
    let asked = |kind: FieldKind| Field {
        name: forged.to_owned(),
        title: Some(forged.to_owned()),
        description: forged.to_owned(),
        default: matches!(kind, FieldKind::Text(_, _, None)).then(|| Given::Text(proposed.to_owned())),
        kind,
        required: false,
    };
    let fields = kinds(forged).into_iter().map(asked).collect();
    let form = Form { from: "desk".to_owned(), text: forged.to_owned(), wants: Wanted::Fields(fields) };
    let url = "https://pay.example/evil?<b>".to_owned();
    let visit = Wanted::Visit { url, host: "pay.example".to_owned() };
    for form in [form.clone(), Form { wants: visit, ..form }] {
        let card = card(&form, 7, &zone);
        for live in ["<a ", "href=\"", "<b>", "\u{1b}", "<button name=does"] {
            assert!(!card.contains(live), "{live}: {card}");
        }
        assert_eq!(card.matches("<button").count(), 2, "{card}");
        let own = own(&card);
        // What is proposed stands in its field, too, as a value.
        let proposed = escaped(proposed);
        let own = own.replace(&format!("value=\"{proposed}\""), "").replace(&format!("{proposed}</textarea>"), "");
        assert!(!own.contains("evil"), "{own}");
        assert!(own.contains("The MCP server <code>desk</code> asks you something"), "{own}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('<', "&#60;").replace('>', "&#62;").replace('"', "&#34;")
}

// SUR-034
#[test]
fn a_form_has_the_browsers_own_elements_with_their_limits_and_what_was_proposed() {
    let zone = limpid_core::zone::named("Europe/Berlin").unwrap();
    let text = |text: &str| Some(Given::Text(text.to_owned()));
    let long = "a long text that does not fit into a small field";
    let defaults = [
        text("ab"),
        text(long),
        text("a@b.example"),
        None,
        text("2026-07-28"),
        text("2026-07-28T12:00:00.5Z"),
        Some(Given::Whole(3)),
        Some(Given::Number(1.5)),
        Some(Given::YesNo(false)),
        text("v1"),
        Some(Given::Many(vec!["v0".to_owned(), "v2".to_owned()])),
    ];
    let fields = kinds("Title").into_iter().zip(defaults).map(|(kind, default)| field(kind, default, true)).collect();
    let form = Form { from: "desk".to_owned(), text: String::new(), wants: Wanted::Fields(fields) };
    let card = card(&form, 7, &zone);
    for part in [
        "type=\"text\" name=\"f0\" value=\"ab\"",
        "<textarea id=\"f7-1\" name=\"f1\"",
        "<p class=\"foreign\">a long text that does not fit into a small field</p>",
        "type=\"email\" name=\"f2\" value=\"a@b.example\"",
        "type=\"url\" name=\"f3\" value=\"\" required",
        "type=\"date\" name=\"f4\" value=\"2026-07-28\"",
        "type=\"datetime-local\" name=\"f5\" value=\"2026-07-28T14:00:00\"",
        "type=\"number\" name=\"f6\" value=\"3\" min=\"1\" max=\"9\" step=\"any\"",
        "type=\"number\" name=\"f7\" value=\"1.5\" min=\"0.5\" step=\"any\"",
        "name=\"f8\" value=\"no\" checked",
        "type=\"radio\" name=\"f9\" value=\"1\" checked>Title",
        "type=\"checkbox\" name=\"f10\" value=\"2\" checked>Title",
        "Text, at most 9 characters.",
        "A day and a time (Europe/Berlin).",
        "A whole number, 1 to 9.",
        "Any of 3, at most 2.",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(!card.contains("Leave out") && !card.contains("May be left out"), "{card}");
}

// SUR-034
#[test]
fn what_a_browser_sends_is_a_value_of_the_kind_of_the_field_or_is_not_accepted() {
    let zone = limpid_core::zone::named("Europe/Berlin").unwrap();
    let text = |text: &str| Ok(Some(Given::Text(text.to_owned())));
    let many = |values: &[&str]| Ok(Some(Given::Many(values.iter().map(|value| (*value).to_owned()).collect())));
    let whole = FieldKind::Whole(Some(1), Some(9));
    let moment = FieldKind::Text(0, None, Some(TextForm::DateTime));
    let date = FieldKind::Text(0, None, Some(TextForm::Date));
    let one = FieldKind::One(choices(["a"; 3]));
    let some = FieldKind::Many(choices(["a"; 3]), 1, Some(2));
    let fit = "This does not fit. A whole number, 1 to 9.";
    let missing = "This has to be filled in.";
    let table = [
        (whole.clone(), &[" 9 "][..], Ok(Some(Given::Whole(9)))),
        (whole.clone(), &["10"], Err(fit)),
        (whole.clone(), &["?"], Err(fit)),
        (whole.clone(), &["1", "2"], Err(fit)),
        (whole, &[""], Err(missing)),
        (FieldKind::Number(None, None), &["1.5"], Ok(Some(Given::Number(1.5)))),
        (FieldKind::Number(None, None), &["inf"], Err("This does not fit. A number.")),
        (FieldKind::Text(3, None, None), &["a\r\nb"], text("a\nb")),
        (FieldKind::Text(3, None, None), &["ab"], Err("This does not fit. Text, at least 3 characters.")),
        (date.clone(), &["2026-02-28"], text("2026-02-28")),
        (date, &["2026-02-29"], Err("This does not fit. A day such as 2026-07-28.")),
        (moment.clone(), &["2026-07-28T12:00"], text("2026-07-28T10:00:00Z")),
        (moment, &["12:00"], Err("This does not fit. A day and a time (Europe/Berlin).")),
        (FieldKind::YesNo, &["yes"], Ok(Some(Given::YesNo(true)))),
        (FieldKind::YesNo, &["on"], Err("This does not fit. Yes or no.")),
        (one.clone(), &["2"], text("v2")),
        (one.clone(), &["3"], Err("This does not fit. One of 3.")),
        (one, &["v2"], Err("This does not fit. One of 3.")),
        (some.clone(), &["0", "2", "0"], many(&["v0", "v2"])),
        (some.clone(), &["0", "1", "2"], Err("This does not fit. Any of 3, 1 to 2.")),
        (some, &[], Err(missing)),
        (FieldKind::Many(choices(["a"; 3]), 0, None), &[], many(&[])),
    ];
    for (kind, sent, expected) in table {
        let read = read(&field(kind.clone(), None, true), sent, &zone);
        assert_eq!(read, expected.map_err(str::to_owned), "{kind:?} {sent:?}");
        if sent.concat().is_empty() {
            assert_eq!(values::read(&field(kind, Some(Given::Whole(3)), false), sent, &zone), Ok(None), "{sent:?}");
        }
    }
}

// SUR-034
#[test]
fn a_proposed_moment_that_nobody_changed_goes_back_as_it_came() {
    let zone = limpid_core::zone::named("Europe/Berlin").unwrap();
    let kind = FieldKind::Text(0, None, Some(TextForm::DateTime));
    let proposed = Given::Text("2026-10-25T03:30:00.25+02:00".to_owned());
    let field = field(kind, Some(proposed.clone()), true);
    assert_eq!(read(&field, &["2026-10-25T02:30"], &zone), Ok(Some(proposed)));
    assert_eq!(read(&field, &["2026-10-25T04:30"], &zone), Ok(Some(Given::Text("2026-10-25T03:30:00Z".to_owned()))));
}
