//! The slots of a path in three registers of AVX-512, whose bytes are then moved together by an instruction of AVX-512 VBMI2.

use core::arch::asm;
use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m512i, _mm512_add_epi64, _mm512_cmple_epu64_mask, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_mask_add_epi64, _mm512_mask_storeu_epi8, _mm512_mask_storeu_epi64,
    _mm512_maskz_compress_epi8, _mm512_store_si512, _mm512_storeu_si512, _mm512_sub_epi64, _xgetbv,
};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::{Followed, Path, Room, STEPS, Taken, WORDS, follow_with};

const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const MISSING: u8 = 2;

/// Asking the processor takes long on a virtual machine, so the answer is kept.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The words of a register.
const LANES: usize = 8;
const REGISTERS: usize = WORDS / LANES;

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

/// See [`super::follow`]. Call this only where [`is_there`].
#[expect(unsafe_code, reason = "instructions that not every processor has")]
#[inline(always)]
pub(super) fn follow(paths: &mut [Path], site: u16, slots: &[[AtomicU64; 3]], room: &mut [u8]) -> Followed {
    debug_assert!(is_there());
    // SAFETY: `is_there` said that the processor has what is asked for.
    unsafe { follow_wide(paths, site, slots, room) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
fn follow_wide(paths: &mut [Path], site: u16, slots: &[[AtomicU64; 3]], room: &mut [u8]) -> Followed {
    follow_with(paths, site, slots, room, |path, slots, room| match slots.first_chunk() {
        Some(slots) => take(path, slots, room),
        None => path.take_one_by_one(slots, room),
    })
}

/// See [`Path::take_one_by_one`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
#[inline]
pub(super) fn take(path: &mut Path, slots: &[[AtomicU64; 3]; STEPS], room: &mut Room) -> Taken {
    let words = read(slots);
    let base = all(&path.base);
    let left: [__m512i; REGISTERS] = core::array::from_fn(|part| _mm512_sub_epi64(words[part], base[part]));
    let mut good = 0u32;
    for (part, left) in left.into_iter().enumerate() {
        good |= u32::from(_mm512_cmple_epu64_mask(left, load(&path.most, part))) << (LANES * part);
    }
    // Mostly all are as expected, and then nobody waits until that is known.
    if good != (1 << WORDS) - 1 {
        return take_some(path, good, words, left, room);
    }
    let mut bytes = 0;
    for part in 0..REGISTERS {
        store(&mut path.base, part, _mm512_add_epi64(words[part], load(&path.step, part)));
        let kept = u64::from_le_bytes(path.kept.as_chunks::<LANES>().0[part]);
        put(room, bytes, _mm512_maskz_compress_epi8(kept, left[part]));
        bytes += kept.count_ones() as usize;
    }
    (STEPS, bytes)
}

/// The same where not all words are as expected, but so many, a bit each.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
#[inline]
fn take_some(
    path: &mut Path,
    good: u32,
    words: [__m512i; REGISTERS],
    left: [__m512i; REGISTERS],
    room: &mut Room,
) -> Taken {
    let slots = (good.trailing_ones() as usize / 3).min(STEPS - 1);
    let taken = (1u32 << (3 * slots)) - 1;
    let mut bytes = 0;
    for part in 0..REGISTERS {
        let moved = (taken >> (LANES * part)) as u8;
        let base = load(&path.base, part);
        let next = _mm512_mask_add_epi64(base, moved, words[part], load(&path.step, part));
        store(&mut path.base, part, next);
        let kept = u64::from_le_bytes(path.kept.as_chunks::<LANES>().0[part]) & PREFIX[slots][part];
        put(room, bytes, _mm512_maskz_compress_epi8(kept, left[part]));
        bytes += kept.count_ones() as usize;
    }
    (slots, bytes)
}

/// See [`Path::go_on`]. Call this only where [`is_there`].
#[expect(unsafe_code, reason = "instructions that not every processor has")]
pub(super) fn go_on(path: &mut Path, place: usize, other: Option<&Path>) {
    debug_assert!(is_there());
    // SAFETY: as above.
    unsafe { go_on_wide(path, place, other) }
}

/// All words are moved, and those not written that have no room: to copy as many as there is room for takes longer.
#[target_feature(enable = "avx512f,avx512bw")]
fn go_on_wide(path: &mut Path, place: usize, other: Option<&Path>) {
    let at = (3 * place).min(WORDS);
    let from = other.unwrap_or(path);
    let (base, most, step, kept) =
        (all(&from.base), all(&from.most), all(&from.step), load_bytes(&from.kept));
    put_words(&mut path.base, at, base);
    put_words(&mut path.most, at, most);
    put_words(&mut path.step, at, step);
    put_bytes(&mut path.kept, at, kept);
}

/// The bytes of the words of so many slots, a bit each.
static PREFIX: [[u64; REGISTERS]; STEPS] = {
    let mut prefix = [[0; REGISTERS]; STEPS];
    let mut slots = 0;
    while slots < STEPS {
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
fn read(slots: &[[AtomicU64; 3]; STEPS]) -> [__m512i; REGISTERS] {
    let (a, b, c): (__m512i, __m512i, __m512i);
    // SAFETY: as many bytes are read as there are.
    unsafe {
        asm!("vmovdqu64 {a}, [{at}]", "vmovdqu64 {b}, [{at} + 64]", "vmovdqu64 {c}, [{at} + 128]",
             at = in(reg) slots.as_ptr(), a = out(zmm_reg) a, b = out(zmm_reg) b, c = out(zmm_reg) c,
             options(nostack, readonly, preserves_flags));
    }
    [a, b, c]
}

/// A register's part of the words of a path.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; WORDS], part: usize) -> __m512i {
    // SAFETY: each array of a path is of three registers, the first at a multiple of their size, and as many bytes are read.
    unsafe { _mm512_load_si512(words.as_chunks::<LANES>().0[part].as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn all(words: &[u64; WORDS]) -> [__m512i; REGISTERS] {
    core::array::from_fn(|part| load(words, part))
}

#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; WORDS], part: usize, value: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_store_si512(words.as_chunks_mut::<LANES>().0[part].as_mut_ptr().cast(), value) }
}

#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: as many bytes are read as there are.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Writes as many words from `at` on as there are.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn put_words(words: &mut [u64; WORDS], at: usize, values: [__m512i; REGISTERS]) {
    for (part, value) in values.into_iter().enumerate() {
        let at = at + LANES * part;
        let mask = (1u32 << WORDS.saturating_sub(at).min(LANES)) - 1;
        // SAFETY: words of the mask alone are written, and all of them are there.
        unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().wrapping_add(at).cast(), mask as u8, value) }
    }
}

/// The same for bytes, one for each word.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f,avx512bw")]
fn put_bytes(bytes: &mut [u8; 64], at: usize, value: __m512i) {
    let mask = (1u64 << WORDS.saturating_sub(at)) - 1;
    // SAFETY: as above.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().wrapping_add(at).cast(), mask, value) }
}

/// Writes 64 bytes.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn put(room: &mut Room, at: usize, value: __m512i) {
    // Of two registers all bytes can be kept.
    let at = at.min(size_of::<Room>() - 64);
    // SAFETY: the 64 bytes from there on are within the room.
    unsafe { _mm512_storeu_si512(room[at..].as_mut_ptr().cast(), value) }
}
