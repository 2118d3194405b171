//! Eight slots in three registers of AVX-512, whose bytes are then moved together by an instruction of AVX-512 VBMI2.

use core::arch::asm;
use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m512i, _mm512_cmple_epu64_mask, _mm512_load_si512, _mm512_mask_add_epi64,
    _mm512_maskz_compress_epi8, _mm512_store_si512, _mm512_storeu_si512, _mm512_sub_epi64, _xgetbv,
};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::{Expected, OCTET, OCTET_ROOM, Octet, WORDS};

const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const MISSING: u8 = 2;

/// Asking the processor takes long on a virtual machine, so the answer is kept.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The words of a register.
const LANES: usize = 8;
const REGISTERS: usize = WORDS / LANES;
/// The words that are targets, a bit each.
const TARGETS: u32 = 0b010_010_010_010_010_010_010_010;

/// Whether the processor has the instructions, and the system keeps the registers.
#[inline(always)]
pub(super) fn is_there() -> bool {
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let there = ask();
            ANSWER.store(if there { THERE } else { MISSING }, Ordering::Relaxed);
            there
        }
        answer => answer == THERE,
    }
}

#[cold]
fn ask() -> bool {
    /// SSE, AVX, and the three parts of AVX-512.
    const KEPT: u64 = 0b1110_0110;
    let (first, leaves) = (__cpuid(1), __cpuid(0).eax);
    if leaves < 7 || first.ecx & 1 << 27 == 0 || first.ecx & 1 << 23 == 0 || kept() & KEPT != KEPT {
        return false;
    }
    let more = __cpuid_count(7, 0);
    let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register & 1 << bit != 0);
    // AVX-512 F and BW, BMI 1; VBMI2.
    has(more.ebx, &[16, 30, 3]) && has(more.ecx, &[6])
}

/// The registers that the system keeps.
#[expect(unsafe_code, reason = "an instruction that not every processor has")]
fn kept() -> u64 {
    // SAFETY: only asked where the processor said that the system uses it.
    unsafe { read_kept() }
}

#[target_feature(enable = "xsave")]
fn read_kept() -> u64 {
    #[expect(unsafe_code, reason = "an instruction of the processor")]
    // SAFETY: register 0 is there wherever the instruction is.
    unsafe {
        _xgetbv(0)
    }
}

/// See [`Octet::take`]. Call this only where [`is_there`].
#[expect(unsafe_code, reason = "instructions that not every processor has")]
#[inline(always)]
pub(super) fn take(
    octet: &mut Octet,
    slots: &[[AtomicU64; 3]; OCTET],
    room: &mut [u8; OCTET_ROOM],
) -> Expected {
    debug_assert!(is_there());
    // SAFETY: `is_there` said that the processor has what is asked for.
    unsafe { take_wide(octet, slots, room) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
fn take_wide(octet: &mut Octet, slots: &[[AtomicU64; 3]; OCTET], room: &mut [u8; OCTET_ROOM]) -> Expected {
    let words = read(slots);
    let base: [__m512i; REGISTERS] = core::array::from_fn(|part| load(&octet.base, part));
    let mut left = words;
    let mut good = 0u32;
    for part in 0..REGISTERS {
        left[part] = _mm512_sub_epi64(words[part], base[part]);
        good |= u32::from(_mm512_cmple_epu64_mask(left[part], load(&octet.most, part))) << (LANES * part);
    }
    // Mostly all are as expected: then nobody waits until that is known.
    let slots = if good == (1 << WORDS) - 1 { OCTET } else { good.trailing_ones() as usize / 3 };
    let taken = if slots == OCTET { (1 << WORDS) - 1 } else { (1u32 << (3 * slots)) - 1 };
    let mut bytes = 0;
    for part in 0..REGISTERS {
        let moved = (taken & TARGETS) >> (LANES * part);
        let next = _mm512_mask_add_epi64(base[part], moved as u8, words[part], load(&octet.step, part));
        store(&mut octet.base, part, next);
        let kept = octet.kept.as_chunks::<LANES>().0[part];
        let kept = u64::from_le_bytes(kept) & if slots == OCTET { u64::MAX } else { PREFIX[slots][part] };
        put(room, bytes, _mm512_maskz_compress_epi8(kept, left[part]));
        bytes += kept.count_ones() as usize;
    }
    Expected { slots, bytes }
}

/// The bytes of the words of so many slots, a bit each.
static PREFIX: [[u64; REGISTERS]; OCTET] = {
    let mut prefix = [[0; REGISTERS]; OCTET];
    let mut slots = 0;
    while slots < OCTET {
        let mut byte = 0;
        while byte < slots * 24 {
            prefix[slots][byte / 64] |= 1 << (byte % 64);
            byte += 1;
        }
        slots += 1;
    }
    prefix
};

/// The words of slots. Another process may write them, if it does what it should not: so each is read once.
#[expect(unsafe_code, reason = "memory that another process has, too")]
#[target_feature(enable = "avx512f")]
fn read(slots: &[[AtomicU64; 3]; OCTET]) -> [__m512i; REGISTERS] {
    let (a, b, c): (__m512i, __m512i, __m512i);
    // SAFETY: as many bytes are read as there are.
    unsafe {
        asm!("vmovdqu64 {a}, [{at}]", "vmovdqu64 {b}, [{at} + 64]", "vmovdqu64 {c}, [{at} + 128]",
             at = in(reg) slots.as_ptr(), a = out(zmm_reg) a, b = out(zmm_reg) b, c = out(zmm_reg) c,
             options(nostack, readonly, preserves_flags));
    }
    [a, b, c]
}

/// A register's part of the words of an octet.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; WORDS], part: usize) -> __m512i {
    // SAFETY: each array of an octet is of three registers, the first at a multiple of their size, and as many bytes are read.
    unsafe { _mm512_load_si512(words.as_chunks::<LANES>().0[part].as_ptr().cast()) }
}

#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; WORDS], part: usize, value: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_store_si512(words.as_chunks_mut::<LANES>().0[part].as_mut_ptr().cast(), value) }
}

/// Writes 64 bytes.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn put(room: &mut [u8; OCTET_ROOM], at: usize, value: __m512i) {
    // Of two registers all bytes can be kept.
    let at = at.min(OCTET_ROOM - 64);
    // SAFETY: the 64 bytes from there on are within the room.
    unsafe { _mm512_storeu_si512(room[at..].as_mut_ptr().cast(), value) }
}
