//! Numbers for people.

/// `1 event`, `2,000 events`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let digits = grouped(number);
    if number == 1 { format!("{digits} {thing}") } else { format!("{digits} {thing}s") }
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_agree_with_their_noun() {
        for (number, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1,000 bytes"),
            (1234567, "1,234,567 bytes"),
        ] {
            assert_eq!(count(number, "byte"), text);
        }
    }
}
