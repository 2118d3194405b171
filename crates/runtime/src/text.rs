//! Short texts, made without allocating.

/// A text of at most `N` bytes; what does not fit is cut off.
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> &mut Text<N> {
        for (room, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *room = *byte;
            self.length += 1;
        }
        self
    }

    /// In decimal.
    pub(crate) fn number(&mut self, mut number: u64) -> &mut Text<N> {
        let (mut digits, mut at) = ([0; 20], 20);
        while at == 20 || number > 0 {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.push(digits.get(at..).unwrap_or_default())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_long_texts_cut() {
        let mut text = Text::<12>::new();
        text.push(b"a").number(0).number(1_234_567_890).push(b"b");
        assert_eq!(text.bytes(), b"a01234567890");
        assert_eq!(Text::<24>::new().number(u64::MAX).bytes(), u64::MAX.to_string().as_bytes());
    }
}
