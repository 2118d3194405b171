//! The slots of a path in three registers of AVX-512, one for each sort of words, whose bytes are then moved together by an
//! instruction of AVX-512 VBMI2.

use core::arch::asm;
use core::arch::x86_64::{
    __cpuid, __cpuid_count, __m512i, _mm512_add_epi64, _mm512_cmpeq_epi64_mask, _mm512_cmple_epu64_mask,
    _mm512_loadu_si512, _mm512_mask_blend_epi64, _mm512_maskz_compress_epi8, _mm512_permutexvar_epi64,
    _mm512_set1_epi64, _mm512_setr_epi64, _mm512_storeu_si512, _mm512_sub_epi64, _mm512_ternarylogic_epi64,
    _xgetbv,
};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::{Followed, Path, Room, STEPS, TARGET, Taken, VALUE, WORD, follow_with, lane};

const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const MISSING: u8 = 2;

/// Asking the processor takes long on a virtual machine, so the answer is kept.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

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
    let [words, targets, values] = sorted(read(slots));
    let expected = load(&path.targets);
    let far = _mm512_sub_epi64(targets, expected);
    let same = _mm512_cmpeq_epi64_mask(words, load(&path.words));
    let near = _mm512_cmple_epu64_mask(far, load(&path.most));
    let next = _mm512_add_epi64(targets, load(&path.step));
    let (jumps, sizes) = (u64::from_le_bytes(path.jumps), u64::from_le_bytes(path.sizes));
    // Mostly all are as expected, and then nobody waits until that is known.
    if same & near == u8::MAX {
        store(&mut path.targets, next);
        return (STEPS, keep(room, (jumps, far), (sizes, values)));
    }
    let taken = AS_EXPECTED[usize::from(same & near.rotate_right(1))];
    let Taking { targets, jumps: of_jumps, sizes: of_sizes } = TAKING[taken as usize % STEPS];
    store(&mut path.targets, _mm512_mask_blend_epi64(targets, expected, next));
    (taken as usize, keep(room, (jumps & of_jumps, far), (sizes & of_sizes, values)))
}

/// Writes those bytes of distances and values of which there is a bit; how many.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
#[inline]
fn keep(room: &mut Room, (jumps, far): (u64, __m512i), (sizes, values): (u64, __m512i)) -> usize {
    let bytes = jumps.count_ones() as usize;
    put(room, 0, _mm512_maskz_compress_epi8(jumps, far));
    put(room, bytes, _mm512_maskz_compress_epi8(sizes, values));
    bytes + sizes.count_ones() as usize
}

/// First words, targets and values.
#[target_feature(enable = "avx512f")]
#[inline]
fn sorted([a, b, c]: [__m512i; 3]) -> [__m512i; 3] {
    let lanes = LANES.each_ref().map(|lanes| load(lanes));
    core::array::from_fn(|sort| {
        let [of_b, of_c] = [1, 2].map(|register| lanes[(sort + register) % 3]);
        choose(of_c, c, choose(of_b, b, a))
    })
}

/// Every third lane, from each of the first three on. A register that begins with another sort has the words of one in others.
static LANES: [[u64; STEPS]; 3] = {
    let (mut lanes, mut lane) = ([[0; STEPS]; 3], 0);
    while lane < STEPS {
        lanes[lane % 3][lane] = u64::MAX;
        lane += 1;
    }
    lanes
};

/// The bits of `one` where those of `which` are set, else those of `other`. Masks of lanes would do the same, but are in the way of
/// other instructions.
#[target_feature(enable = "avx512f")]
#[inline]
fn choose(which: __m512i, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1100_1010>(which, one, other)
}

/// How many slots from the first on are as expected, by which are: a bit each, in the lanes of first words.
static AS_EXPECTED: [u8; 256] = {
    let (mut counts, mut good) = ([0; 256], 0);
    while good < 256 {
        let mut count = 0;
        while count < STEPS && good >> lane(WORD, count) & 1 != 0 {
            count += 1;
        }
        counts[good] = count as u8;
        good += 1;
    }
    counts
};

/// What is taken of a path's slots.
#[derive(Clone, Copy)]
struct Taking {
    /// The lanes of targets, a bit each.
    targets: u8,
    /// The bytes of targets and of values, a bit each.
    jumps: u64,
    sizes: u64,
}

/// That, by how many.
static TAKING: [Taking; STEPS] = {
    let mut taking = [Taking { targets: 0, jumps: 0, sizes: 0 }; STEPS];
    let mut slots = 1;
    while slots < STEPS {
        let (target, value) = (lane(TARGET, slots - 1), lane(VALUE, slots - 1));
        let Taking { targets, jumps, sizes } = taking[slots - 1];
        taking[slots] = Taking {
            targets: targets | 1 << target,
            jumps: jumps | 0xFF << (8 * target),
            sizes: sizes | 0xFF << (8 * value),
        };
        slots += 1;
    }
    taking
};

/// See [`Path::go_on`]. Call this only where [`is_there`].
#[expect(unsafe_code, reason = "instructions that not every processor has")]
pub(super) fn go_on(path: &mut Path, place: usize, other: Option<&Path>) {
    debug_assert!(is_there());
    // SAFETY: as above.
    unsafe { go_on_wide(path, place, other) }
}

/// Everything goes round by as many lanes, and what comes from beyond the last place is not written.
#[target_feature(enable = "avx512f,avx512bw")]
fn go_on_wide(path: &mut Path, place: usize, other: Option<&Path>) {
    let Some(Taking { targets: before, jumps, sizes }) = TAKING.get(place).copied() else { return };
    let from = other.unwrap_or(path);
    let by = _mm512_set1_epi64(lane(WORD, place) as i64);
    let turned = |words| {
        _mm512_permutexvar_epi64(_mm512_sub_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), by), load(words))
    };
    let [words, targets, most, step] = [&from.words, &from.targets, &from.most, &from.step].map(turned);
    let turned = |bytes: [u8; STEPS]| u64::from_le_bytes(bytes).rotate_left(8 * lane(WORD, place) as u32);
    let (new_jumps, new_sizes) = (turned(from.jumps), turned(from.sizes));
    let has = |words: &mut [u64; STEPS], stays, others| {
        let blended = _mm512_mask_blend_epi64(stays, others, load(words));
        store(words, blended);
    };
    has(&mut path.words, before.rotate_right(1), words);
    has(&mut path.targets, before, targets);
    has(&mut path.most, before, most);
    has(&mut path.step, before, step);
    path.jumps = (u64::from_le_bytes(path.jumps) & jumps | new_jumps & !jumps).to_le_bytes();
    path.sizes = (u64::from_le_bytes(path.sizes) & sizes | new_sizes & !sizes).to_le_bytes();
}

/// The words of slots. Another process may write them, if it does what it should not: so each is read once.
#[expect(unsafe_code, reason = "memory that another process has, too")]
#[target_feature(enable = "avx512f")]
fn read(slots: &[[AtomicU64; 3]; STEPS]) -> [__m512i; 3] {
    let (a, b, c): (__m512i, __m512i, __m512i);
    // SAFETY: as many bytes are read as there are.
    unsafe {
        asm!("vmovdqu64 {a}, [{at}]", "vmovdqu64 {b}, [{at} + 64]", "vmovdqu64 {c}, [{at} + 128]",
             at = in(reg) slots.as_ptr(), a = out(zmm_reg) a, b = out(zmm_reg) b, c = out(zmm_reg) c,
             options(nostack, readonly, preserves_flags));
    }
    [a, b, c]
}

/// The words of a sort that a path has.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64; STEPS]) -> __m512i {
    // SAFETY: as many bytes are read as there are.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; STEPS], values: __m512i) {
    // SAFETY: as many bytes are written as there are.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), values) }
}

/// Writes 64 bytes.
#[expect(unsafe_code, reason = "registers of 64 bytes")]
#[target_feature(enable = "avx512f")]
fn put(room: &mut Room, at: usize, value: __m512i) {
    // Of a register all bytes can be kept.
    let at = at.min(size_of::<Room>() - 64);
    // SAFETY: the 64 bytes from there on are within the room.
    unsafe { _mm512_storeu_si512(room[at..].as_mut_ptr().cast(), value) }
}
