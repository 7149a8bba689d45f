//! What must not compile.

// SEC-050 KOSHI-001 PRO-003 PRO-071 OLLM-001 OLLM-016
#[test]
fn message_text_cannot_be_made_outside_rendering() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
