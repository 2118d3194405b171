//! Numbers as bytes: LEB128, seven bits a byte, low bits first.

use crate::Error;

/// Bytes being written.
#[derive(Default)]
pub(crate) struct Output(pub(crate) Vec<u8>);

impl Output {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number > 0x7F {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn id(&mut self, id: u32) {
        self.number(u64::from(id));
    }

    /// An id that may be none: none is 0, and others are one more.
    pub(crate) fn maybe(&mut self, id: u32) {
        self.number(u64::from(id.wrapping_add(1)));
    }

    /// A signed number: small where the distance to 0 is.
    pub(crate) fn step(&mut self, step: i64) {
        self.number(((step << 1) ^ (step >> 63)) as u64);
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }
}

/// Bytes being read from the front.
pub(crate) struct Input<'b>(pub(crate) &'b [u8]);

impl<'b> Input<'b> {
    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        let (&byte, rest) = self.0.split_first().ok_or(Error::CutOff)?;
        self.0 = rest;
        Ok(byte)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::wrong("a number is too long"))
    }

    pub(crate) fn id(&mut self) -> Result<u32, Error> {
        u32::try_from(self.number()?).map_err(|_| Error::wrong("an id is too large"))
    }

    pub(crate) fn maybe(&mut self) -> Result<u32, Error> {
        self.id().map(|id| id.wrapping_sub(1))
    }

    pub(crate) fn step(&mut self) -> Result<i64, Error> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// How many things follow, each of which takes at least a byte: so no claim is larger than the input.
    pub(crate) fn count(&mut self) -> Result<usize, Error> {
        let count = self.number()?;
        usize::try_from(count).ok().filter(|&count| count <= self.0.len()).ok_or(Error::CutOff)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Error::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A list of what `each` reads.
    pub(crate) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Input<'b>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.count()?;
        // What is read may take more memory than its bytes: the list grows as it is read.
        let mut list = Vec::with_capacity(count.min(1 << 12));
        for _ in 0..count {
            list.push(each(self)?);
        }
        list.shrink_to_fit();
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 63, u64::MAX] {
            let mut out = Output::default();
            out.number(number);
            out.step(number as i64);
            let mut input = Input(&out.0);
            assert_eq!(input.number(), Ok(number));
            assert_eq!(input.step(), Ok(number as i64));
            assert!(input.0.is_empty());
        }
        assert!(Input(&[0xFF; 10]).number().is_err());
        assert!(Input(&[0x80; 3]).number().is_err());
        assert!(Input(&[200, 1, 0]).count().is_err());
    }
}
