//! The functions of libc that only read and write the program's memory, and which.
//!
//! A line is what functions do with the memory behind their arguments, and the functions of which that is true; a number is an
//! argument, counted from 1. Those whose reads and writes depend on what they did are in the second table: they are called, so that
//! it is known. Copies and comparisons of bytes are in [`crate::libc::range`].

use reweave_wire::outside::State;

use crate::libc::outside::memory::What::*;
use crate::libc::outside::memory::{memory, memory_words};
use crate::libc::outside::{How, use_of};

/// Reads a text.
pub(crate) const fn text(a: u32) -> u32 {
    memory(Text, a, 0, 0)
}

/// Reads a text, no more than argument `b` says.
pub(crate) const fn text_to(a: u32, b: u32) -> u32 {
    memory(TextTo, a, b, 0)
}

/// Reads as many bytes as argument `b` says.
pub(crate) const fn bytes(a: u32, b: u32) -> u32 {
    memory(Bytes, a, b, 0)
}

/// Reads as many things as argument `b` says, each of as many bytes as argument `c` says.
pub(crate) const fn items(a: u32, b: u32, c: u32) -> u32 {
    memory(Items, a, b, c)
}

/// Reads so many words of four bytes.
pub(crate) const fn words(a: u32, count: u32) -> u32 {
    memory_words(Words, a, count)
}

/// Reads what a format says of the arguments after it.
pub(crate) const fn format(a: u32) -> u32 {
    memory(Format, a, 0, 0)
}

/// Reads what a format says of the list of arguments `b`.
pub(crate) const fn format_list(a: u32, b: u32) -> u32 {
    memory(FormatList, a, b, 0)
}

/// Writes a text of as many bytes as the result says, no more than argument `b` says.
pub(crate) const fn prints(a: u32, b: u32) -> u32 {
    memory(Prints, a, b, 0)
}

pub(crate) const fn prints_new(a: u32) -> u32 {
    memory(PrintsNew, a, 0, 0)
}

/// Writes what a format says of the list of arguments `b`.
pub(crate) const fn scans(a: u32, b: u32) -> u32 {
    memory(Scans, a, b, 0)
}

const fn writes_words(a: u32, count: u32) -> u32 {
    memory_words(WritesWords, a, count)
}

/// Reads a text of wide characters, no more than argument `b` says where there is one.
pub(crate) const fn wide(a: u32, b: u32) -> u32 {
    memory(Wide, a, b, 0)
}

/// The same for a format of wide characters.
pub(crate) const fn wide_format(a: u32) -> u32 {
    memory(WideFormat, a, 0, 0)
}

/// The same for a format of wide characters.
pub(crate) const fn wide_format_list(a: u32, b: u32) -> u32 {
    memory(WideFormatList, a, b, 0)
}

/// Reads the text that an address at argument `a` leads to.
pub(crate) const fn text_at(a: u32) -> u32 {
    memory(TextAt, a, 0, 0)
}

/// Reads as many bytes as argument `b` leads to the number of, where an address at argument `a`
/// leads to.
pub(crate) const fn bytes_at(a: u32, b: u32) -> u32 {
    memory(BytesAt, a, b, 0)
}

/// Reads a list of `b` ranges, and those.
pub(crate) const fn pieces(a: u32, b: u32) -> u32 {
    memory(Pieces, a, b, 0)
}

/// Gives a whole block away: reads and writes whatever there is.
pub(crate) const fn given(a: u32) -> u32 {
    memory(Given, a, 0, 0)
}

/// Gives a number of words of four bytes away.
pub(crate) const fn given_words(a: u32, count: u32) -> u32 {
    memory_words(GivenWords, a, count)
}

/// Gives as many bytes away as argument `b` says.
pub(crate) const fn given_bytes(a: u32, b: u32) -> u32 {
    memory(GivenBytes, a, b, 0)
}

/// Gives as many things of `size` bytes away as argument `b` says.
pub(crate) const fn given_sized(a: u32, b: u32, size: u32) -> u32 {
    memory(GivenSized, a, b, size)
}

/// Gives a text away.
pub(crate) const fn given_text(a: u32) -> u32 {
    memory(GivenText, a, 0, 0)
}

/// Gives as many bytes away as argument `b` leads to the number of, where an address at argument
/// `a` leads to.
pub(crate) const fn given_at(a: u32, b: u32) -> u32 {
    memory(GivenAt, a, b, 0)
}

/// Gives `b` ranges away, which are listed at argument `a`.
pub(crate) const fn given_pieces(a: u32, b: u32) -> u32 {
    memory(GivenPieces, a, b, 0)
}

const NUMBER: u32 = memory(Number, 1, 0, 0);
const MAKES: u32 = memory(Makes, 0, 0, 0);
pub(crate) const MAPPINGS: u32 = use_of(How::Changes, State::Mappings, 0);
const DESCRIPTORS: u32 = use_of(How::Changes, State::Descriptors, 0);
const NAMES: u32 = use_of(How::Changes, State::Names, 0);
const OPENS: u32 = memory(Opens, 0, 0, 0);
const ZONE: u32 = use_of(How::Looks, State::TimeZone, 0);
const LOCALE: u32 = use_of(How::Looks, State::Locale, 0);

pub(crate) mod computing {
    use super::*;

    table! { "reweave_outside";
        // Numbers in texts.
        [NUMBER] atoi atol atoll atof;

        // Texts that are compared, or looked through to their end.
        [memory(Alike, 1, 2, 0)] strcasecmp strcasecmp_l;
        [memory(Alike, 1, 2, 3)] strncasecmp strncasecmp_l;
        [text(1), text(2)] strverscmp fnmatch;
        [text(1)] strrchr rindex inet_addr inet_network;
        [text(1), given_words(2, 1)] inet_aton;
        [text(2), given_words(3, 4)] inet_pton;
        [LOCALE, text(2), given_sized(1, 3, 4)] mbstowcs;
        [LOCALE, given_words(1, 1), text_to(2, 3), given_words(4, 2)] mbrtowc;
        [LOCALE, text_to(1, 2), given_words(3, 2)] mbrlen;
        [LOCALE, given(1), given_words(3, 2)] wcrtomb;
        [LOCALE, given_sized(1, 3, 4), text_at(2), given_words(2, 2), given_words(4, 2)] mbsrtowcs;
        [LOCALE, given_bytes(1, 3), given(2), given_words(4, 2)] wcsrtombs;
        [LOCALE, text(1)] rpmatch;
        [words(2, 1), given_bytes(3, 4)] inet_ntop;
        [text(1), given_words(2, 2)] ether_aton_r;
        [words(1, 2), given_words(2, 5)] ether_ntoa_r;
        [bytes(1, 3), given_bytes(2, 3)] swab;
        [text_to(1, 2)] strnlen;
        [bytes(1, 3)] memrchr;
        [bytes(1, 2), bytes(3, 4)] memmem;

        // Texts of wide characters.
        [wide(1, 0)] wcslen wcsdup wcschr wcsrchr wcschrnul wcswidth;
        [wide(1, 0), given_words(2, 2)] wcstol wcstoll wcstoul wcstoull wcstod wcstof wcstold;
        [wide(1, 2)] wcsnlen;
        [wide(2, 0), given(1)] wcscat;
        [LOCALE, wide(2, 0), given_bytes(1, 3)] wcstombs;
        [wide(2, 3), given_sized(1, 3, 4)] wcsncpy wcpncpy;
        [wide(2, 3), given(1)] wcsncat;
        [wide(1, 0), wide(2, 0)] wcscmp wcscasecmp wcsstr wcsspn wcscspn wcspbrk;
        [wide(1, 3), wide(2, 3)] wcsncmp wcsncasecmp;
    }
}

pub(crate) mod called {
    use super::*;

    table! { "reweave_through";
        [NUMBER, writes_words(2, 2)] strtol strtoll strtoul strtoull strtoimax strtoumax strtoq strtouq strtod strtof strtold
            strtol_l strtoll_l strtoul_l strtoull_l strtod_l strtof_l strtold_l;

        // Texts that are looked through until something is found.
        [memory(Found, 1, 0, 0)] index strchrnul rawmemchr;
        [memory(Found, 1, 0, 0), text(2)] strpbrk;
        [memory(FoundText, 1, 2, 0)] strstr strcasestr;
        [memory(Span, 1, 0, 0), text(2)] strspn strcspn;

        // Texts that are made.
        [wide(2, 0), memory(WritesWide, 1, 0, 0)] wcscpy wcpcpy;
        [text(1), MAKES] strdup __strdup;
        [text_to(1, 2), MAKES] strndup __strndup;
        [memory(CopiesTo, 1, 2, 4)] memccpy;

        [words(1, 1), writes_words(1, 1)] rand_r;

        // What a descriptor leads to.
        [DESCRIPTORS, text(1), OPENS] memfd_create;
        [DESCRIPTORS, OPENS] timerfd_create inotify_init inotify_init1 fanotify_init getpt posix_openpt;
        [DESCRIPTORS, words(2, 32), OPENS] signalfd;
        [DESCRIPTORS, NAMES, given_text(1), OPENS] mkstemp mkostemp mkstemps mkostemps mkstemp64 mkostemp64 mkstemps64 mkostemps64;
        [DESCRIPTORS, NAMES, text(1), OPENS] shm_open;

        // What is mapped.
        [MAPPINGS, memory(Maps, 2, 5, 6)] mmap mmap64;

        // What is sorted.
        [items(1, 2, 3), memory(WritesItems, 1, 2, 3)] qsort qsort_r;

        // Times that are broken down.
        [ZONE, words(1, 2), writes_words(2, 14)] localtime_r gmtime_r;
        [words(1, 14), memory(WritesText, 2, 0, 0)] asctime_r;
        [ZONE, words(1, 2), memory(WritesText, 2, 0, 0)] ctime_r;
        [LOCALE, ZONE, text(3), words(4, 14), memory(WritesSpan, 1, 0, 0)] strftime;

        // Formats with lists of arguments.
        [format_list(3, 4), prints(1, 2)] vsnprintf;
        [format_list(5, 6), prints(1, 2)] __vsnprintf_chk;
        [format_list(2, 3), prints(1, 0)] vsprintf;
        [format_list(4, 5), prints(1, 0)] __vsprintf_chk;
        [format_list(2, 3), prints_new(1)] vasprintf;
        [format_list(3, 4), prints_new(1)] __vasprintf_chk;
        [text(1), text(2), scans(2, 3)] vsscanf __isoc99_vsscanf;
    }
}
