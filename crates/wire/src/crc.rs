//! CRC-32C (Castagnoli), eight bytes at a step: by the processor's own instruction where it has one, else by tables.

const POLYNOMIAL: u32 = 0x82F6_3B78;

/// `TABLES[k][b]`: the checksum of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// A checksum under way.
#[derive(Clone, Copy, Debug)]
pub struct Crc(u32);

impl Default for Crc {
    fn default() -> Crc {
        Crc(!0)
    }
}

impl Crc {
    /// Adds `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        #[cfg(target_arch = "x86_64")]
        if x86::is_there() {
            self.0 = x86::add(self.0, bytes);
            return;
        }
        self.add_by_tables(bytes);
    }

    fn add_by_tables(&mut self, bytes: &[u8]) {
        let mut crc = self.0;
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            let low = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) ^ crc;
            let [a, b, c, d] = low.to_le_bytes();
            crc = TABLES[7][a as usize]
                ^ TABLES[6][b as usize]
                ^ TABLES[5][c as usize]
                ^ TABLES[4][d as usize]
                ^ TABLES[3][word[4] as usize]
                ^ TABLES[2][word[5] as usize]
                ^ TABLES[1][word[6] as usize]
                ^ TABLES[0][word[7] as usize];
        }
        for &byte in rest {
            crc = (crc >> 8) ^ TABLES[0][((crc as u8) ^ byte) as usize];
        }
        self.0 = crc;
    }

    /// The checksum of all bytes added.
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// The checksum of `bytes`.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::default();
    crc.add(bytes);
    crc.value()
}

/// The instruction of SSE 4.2.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{__cpuid, _mm_crc32_u8, _mm_crc32_u64};
    use core::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = 0;
    const THERE: u8 = 1;
    const MISSING: u8 = 2;

    /// Asking the processor takes long on a virtual machine, so the answer is kept.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

    pub(super) fn is_there() -> bool {
        match ANSWER.load(Ordering::Relaxed) {
            UNKNOWN => {
                let there = __cpuid(1).ecx & 1 << 20 != 0;
                ANSWER.store(if there { THERE } else { MISSING }, Ordering::Relaxed);
                there
            }
            answer => answer == THERE,
        }
    }

    /// Adds `bytes` to a checksum. Call this only where [`is_there`].
    #[expect(unsafe_code, reason = "an instruction that not every processor has")]
    pub(super) fn add(crc: u32, bytes: &[u8]) -> u32 {
        debug_assert!(is_there());
        // SAFETY: `is_there` said that the processor has SSE 4.2, the only requirement.
        unsafe { add_by_instruction(crc, bytes) }
    }

    #[target_feature(enable = "sse4.2")]
    fn add_by_instruction(crc: u32, bytes: &[u8]) -> u32 {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut long = u64::from(crc);
        for word in words {
            long = _mm_crc32_u64(long, u64::from_le_bytes(*word));
        }
        rest.iter().fold(long as u32, |crc, &byte| _mm_crc32_u8(crc, byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(bytes: &[u8]) -> u32 {
        let mut crc = !0u32;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc(b"123456789"), 0xE306_9283);
        assert_eq!(crc(&[0; 32]), 0x8A91_36AA);
    }

    #[test]
    fn every_length_and_every_split_agree_with_the_bitwise_definition() {
        let bytes: [u8; 67] = core::array::from_fn(|i| (i * 73 + 5) as u8);
        for length in 0..bytes.len() {
            let whole = naive(&bytes[..length]);
            for split in 0..=length {
                let mut parts = Crc::default();
                parts.add(&bytes[..split]);
                parts.add(&bytes[split..length]);
                assert_eq!(parts.value(), whole);
                let mut parts = Crc::default();
                parts.add_by_tables(&bytes[..split]);
                parts.add_by_tables(&bytes[split..length]);
                assert_eq!(parts.value(), whole);
            }
        }
    }
}
