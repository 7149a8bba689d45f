use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const ALL: [SchemaRules; 4] = [
    SchemaRules { words: Words::All, plain_names: false },
    SchemaRules { words: Words::All, plain_names: true },
    SchemaRules { words: Words::Common, plain_names: false },
    SchemaRules { words: Words::Gemini, plain_names: true },
];

fn fit(rules: SchemaRules, schema: &Value) -> Option<Value> {
    let text = schema.to_string();
    rules.fit(&text).ok().map(|fitted| serde_json::from_str(fitted.schema.get()).unwrap())
}

// MOD-080
#[test]
fn a_schema_that_fits_keeps_its_bytes() {
    let text = "{ \"type\": \"object\",\n \"properties\": {\"b\": {\"type\": \"string\"}, \"a\": {\"enum\": [1, \"x\"]}}, \"required\": [\"b\"] }";
    for rules in ALL {
        let fitted = rules.fit(text).unwrap();
        assert_eq!(fitted.schema.get(), text, "{rules:?}");
        assert!(fitted.renamed.is_empty());
    }
}

// MOD-080
#[test]
fn references_of_references_do_not_grow_without_limit() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions
            .insert(format!("l{level}"), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}));
    }
    let bomb = json!({"$defs": definitions, "$ref": "#/$defs/l0"});
    for rules in ALL {
        let fitted = fit(rules, &bomb).unwrap().to_string();
        assert!(fitted.len() < 400_000 && !fitted.contains("$ref"), "{}", fitted.len());
    }
}

// MOD-080
#[test]
fn a_long_text_that_many_references_lead_to_is_not_written_for_each() {
    let fields = |reference: &str| {
        let field = |at| (format!("f{at}"), json!({ "$ref": reference }));
        json!({"type": "object", "properties": (0..62).map(field).collect::<Map<_, _>>()})
    };
    let long = "x".repeat(40_000);
    let many: Vec<String> = (0..5000).map(|at| format!("value {at}")).collect();
    let bombs = [
        json!({"type": "string", "description": long}),
        json!({"type": "string", "enum": many}),
        json!({"type": "string", "default": {"a": [long]}}),
        json!({"type": "object", "description": long, "properties": {"own": {"$ref": "#/$defs/text"}}}),
    ];
    for text in bombs {
        let mut bomb = fields("#/$defs/row");
        bomb["$defs"] = json!({"row": fields("#/$defs/text"), "text": text});
        for rules in ALL {
            let fitted = fit(rules, &bomb).unwrap();
            assert_eq!(fitted["properties"].as_object().unwrap().len(), 62, "its own fields are all there");
            assert!(fitted.to_string().len() < 400_000, "{rules:?}");
        }
    }
}

// MOD-080
#[test]
fn fields_that_lead_back_to_a_long_schema_do_not_repeat_what_it_says() {
    let field = |at| (format!("f{at}"), json!({"$ref": "#"}));
    let schema = json!({
        "type": "object", "description": "x".repeat(20_000), "properties": (0..1500).map(field).collect::<Map<_, _>>()
    });
    for rules in ALL {
        let fitted = fit(rules, &schema).unwrap();
        assert!(fitted.to_string().len() < 400_000, "{rules:?}");
    }
}

// MOD-080
#[test]
fn of_many_variants_with_one_field_few_are_told_apart() {
    let variant = |at| json!({"type": "object", "properties": {"kind": {"const": at}}, "required": ["kind"]});
    let schema = json!({"type": "object", "anyOf": (0..20_000).map(variant).collect::<Vec<_>>()});
    let fitted = fit(ALL[0], &schema).unwrap();
    let choices = fitted["properties"]["kind"]["anyOf"].as_array().map_or(0, Vec::len);
    assert!(choices <= 256, "{choices}");
    assert_eq!(fitted["required"], json!(["kind"]));
}

// MOD-080
#[test]
fn an_argument_with_too_many_choices_takes_anything() {
    let variant =
        |number: usize| json!({"type": "object", "properties": {"kind": {"const": number}}, "required": ["kind"]});
    let variants: Vec<Value> = (0..2000).map(variant).collect();
    let own: Vec<Value> = (0..300).map(|number| json!({"const": number})).collect();
    let more = json!({"type": "object", "properties": {"kind": {"anyOf": own}}});
    for schema in [json!({"anyOf": variants}), json!({"anyOf": [more, variant(1), variant(2)]})] {
        for rules in ALL {
            assert_eq!(fit(rules, &schema).unwrap()["properties"]["kind"], json!({}), "{rules:?}");
        }
    }
}

// MOD-080
#[test]
fn a_schema_inside_itself_is_cut_where_it_begins_again() {
    let tree = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "description": "A node.", "properties": {
            "next": {"$ref": "#/$defs/node", "title": "Next"}
        }}}
    });
    assert_eq!(
        fit(ALL[0], &tree).unwrap(),
        json!({"type": "object", "properties": {"root": {
            "type": "object", "description": "A node.", "properties": {
                "next": {"type": "object", "description": "A node.", "title": "Next"}
            }
        }}})
    );
}

// MOD-080
#[test]
fn what_describes_no_object_cannot_be_made_to_fit() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["array", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!(true),
        json!([]),
        json!(null),
    ] {
        assert!(ALL.iter().all(|rules| fit(*rules, &schema).is_none()), "{schema}");
    }
    assert_eq!(ALL[0].fit("{broken").unwrap_err(), NotAnObject);
    assert_eq!(fit(ALL[0], &json!({})).unwrap(), json!({"type": "object", "properties": {}}));
}

// MOD-080
#[test]
fn names_of_arguments_fit_and_keep_their_pairs() {
    let schema = json!({
        "type": "object",
        "properties": {"$filter": {"type": "string"}, "filter[id]": {"type": "object", "properties": {"ok": {}, "1st": {}}}, "x".repeat(70): {}},
        "required": ["$filter"]
    });
    let text = schema.to_string();
    let fitted = ALL[1].fit(&text).unwrap();
    let names: Vec<&String> = fitted.renamed.keys().collect();
    assert_eq!(names, ["$filter", "1st", "filter[id]", &"x".repeat(70)]);
    let made: Value = serde_json::from_str(fitted.schema.get()).unwrap();
    assert_eq!(made["required"], json!([fitted.renamed["$filter"]]));
    assert!(fitted.renamed.values().all(|name| name.len() <= 64 && !name.contains(['$', '[', ']'])), "{fitted:?}");
    assert!(fitted.renamed["1st"].starts_with("_1st_"), "{fitted:?}");
    assert_eq!(ALL[0].fit(&text).unwrap().schema.get(), text, "others take any name");
}

// MOD-081
#[test]
fn a_strict_schema_requires_everything_and_null_stands_for_what_is_absent() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "default": "Bonn"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "days": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}, "why": {"type": "string"}}, "required": ["n"]}},
        },
        "required": ["city", "days"]
    });
    let item = json!({
        "type": "object", "properties": {"n": {"type": "integer"}, "why": {"type": ["string", "null"]}},
        "required": ["n", "why"], "additionalProperties": false
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": ["string", "null"], "enum": ["c", "f", null]},
            "days": {"type": "array", "items": item},
        },
        "required": ["city", "unit", "days"],
        "additionalProperties": false
    });
    assert_eq!(strict(&schema), Some(expected));
    let mut arguments = json!({"city": "Ulm", "unit": null, "days": [{"n": 1, "why": null}, {"n": 2, "why": "rain"}]});
    without_nulls(&mut arguments, &schema);
    assert_eq!(arguments, json!({"city": "Ulm", "days": [{"n": 1}, {"n": 2, "why": "rain"}]}));
}

// MOD-081
#[test]
fn what_has_no_strict_form_stays_as_it_is() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    for schema in [
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        object(json!({"any": {}})),
        object(json!({"map": {"type": "object", "additionalProperties": {"type": "string"}}})),
        object(json!({"free": {"type": "object"}})),
        object(json!({"list": {"type": "array", "items": {}}})),
        object(json!({"short": {"type": "string", "maxLength": 3}})),
        object(json!({"null": {"type": ["string", "null"]}})),
        object(json!({"one": {"oneOf": [{"type": "string"}]}})),
        object(json!({"odd": {"type": "string", "format": "uri"}})),
        object(json!({"choice": {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]}})),
    ] {
        assert_eq!(strict(&schema), None, "{schema}");
    }
    assert!(strict(&object(json!({}))).is_some());
}

/// Schemas with the words that matter, and with values of any type for them.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!(null)),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"], "enum": [1, null]})),
        Just(json!({"const": "a"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/x"})),
        Just(json!({"$ref": "https://example.com/x.json"})),
        Just(json!({"type": "string", "nullable": true, "x-order": 3})),
        Just(json!(["a"])),
    ];
    let word = proptest::sample::select(vec![
        "items",
        "not",
        "if",
        "then",
        "additionalProperties",
        "propertyNames",
        "contains",
        "prefixItems",
    ]);
    let lists = proptest::sample::select(vec!["anyOf", "oneOf", "allOf", "items", "prefixItems"]);
    let maps = proptest::sample::select(vec!["properties", "$defs", "patternProperties", "definitions"]);
    let names = proptest::sample::select(vec!["x", "a b", "$top", "required", "type"]);
    let types = proptest::sample::select(vec![
        json!("object"),
        json!("array"),
        json!(["object", "null"]),
        json!("any"),
        json!(3),
    ]);
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let fields = prop_oneof![
            (word.clone(), inner.clone()).prop_map(|(word, schema)| (word.to_owned(), schema)),
            (lists.clone(), proptest::collection::vec(inner.clone(), 0..3))
                .prop_map(|(word, list)| (word.to_owned(), list.into())),
            (maps.clone(), proptest::collection::vec((names.clone(), inner), 0..3)).prop_map(|(word, map)| {
                (word.to_owned(), Value::Object(map.into_iter().map(|(name, one)| (name.to_owned(), one)).collect()))
            }),
            types.clone().prop_map(|one| ("type".to_owned(), one)),
            proptest::collection::vec(names.clone(), 0..3).prop_map(|all| ("required".to_owned(), json!(all))),
        ];
        proptest::collection::vec(fields, 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

/// Schemas of objects that have a strict form, and arguments for them.
fn strict_pair() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|n| (json!({"type": "integer"}), json!(n))),
        "[a-z]{0,4}".prop_map(|text| (json!({"type": "string"}), json!(text))),
        any::<bool>().prop_map(|flag| (json!({"type": "boolean"}), json!(flag))),
    ];
    let inner = leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(("[a-c]", inner.clone(), any::<bool>(), any::<bool>()), 0..4).prop_map(object_of),
            inner.prop_map(|(schema, value)| (json!({"type": "array", "items": schema}), json!([value]))),
        ]
    });
    proptest::collection::vec(("[a-d]", inner, any::<bool>(), any::<bool>()), 0..5).prop_map(object_of)
}

fn object_of(fields: Vec<(String, (Value, Value), bool, bool)>) -> (Value, Value) {
    let (mut properties, mut required, mut given) = (Map::new(), Vec::new(), Map::new());
    for (name, (schema, value), must, is_there) in fields {
        if properties.contains_key(&name) {
            continue;
        }
        if must {
            required.push(name.clone());
        }
        if must || is_there {
            given.insert(name.clone(), value);
        }
        properties.insert(name, schema);
    }
    (json!({"type": "object", "properties": properties, "required": required}), Value::Object(given))
}

/// What a model that is held to a strict schema writes for these arguments.
fn written_strictly(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Object(given) => {
            let properties = schema["properties"].as_object().unwrap();
            let all = properties.iter().map(|(name, schema)| {
                (name.clone(), given.get(name).map_or(Value::Null, |value| written_strictly(value, schema)))
            });
            Value::Object(all.collect())
        }
        Value::Array(items) => items.iter().map(|item| written_strictly(item, &schema["items"])).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // MOD-080
    #[test]
    fn what_was_made_to_fit_fits_and_is_always_the_same(schema in any_schema()) {
        for rules in ALL {
            let Some(fitted) = fit(rules, &schema) else { continue };
            prop_assert_eq!(fit(rules, &schema), Some(fitted.clone()));
            prop_assert_eq!(fit(rules, &fitted), Some(fitted.clone()), "{}", schema);
            prop_assert_eq!(&fitted["type"], "object");
            prop_assert!(fitted["properties"].is_object());
            for word in ["anyOf", "oneOf", "allOf", "not", "enum"] {
                prop_assert!(fitted.get(word).is_none(), "{}", fitted);
            }
            let text = fitted.to_string();
            prop_assert!(!text.contains("$ref") && !text.contains("$defs\":{"), "{}", text);
        }
    }

    // MOD-081
    #[test]
    fn strict_arguments_are_the_same_as_others((schema, arguments) in strict_pair()) {
        prop_assert!(strict(&schema).is_some(), "{}", schema);
        let mut written = written_strictly(&arguments, &schema);
        without_nulls(&mut written, &schema);
        // Fields come in the order of the schema then, which means nothing.
        prop_assert_eq!(written, arguments);
    }
}
