//! The page "Use Reweave as a library": its program is the example, and prints what the page says.

#[expect(dead_code, reason = "the example's own entry point")]
#[path = "../examples/library.rs"]
mod example;

use std::path::Path;

#[test]
fn page_shows_the_example_and_what_it_prints() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("../../docs/guide/library.md")).expect("a page");
    let source = std::fs::read_to_string(here.join("examples/library.rs")).expect("the example");
    let source = source.split_once("\n\n").expect("a line of documentation").1;
    let block = |start: &str| {
        let rest = page.split_once(start).unwrap_or_else(|| panic!("the page has no {start:?}")).1;
        rest.split_once("```").expect("an end").0
    };
    assert_eq!(block("```rust\n"), source, "docs/guide/library.md does not show examples/library.rs");
    let printed = example::look_into(&here.join("../../examples/bank.std")).expect("it runs");
    assert_eq!(block("```text\n"), printed, "docs/guide/library.md does not show what it prints");
}
