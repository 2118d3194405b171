//! The functions of libc behind ours.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use crate::sys;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

static FOUND: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Keeps where `dlsym` and `dlvsym` are: the program's calls of them are led elsewhere later
/// ([`crate::libc::linkage`]), and so would be ours, which use the same table of addresses.
pub(crate) fn keep() -> [usize; 2] {
    let [plain, versioned] = &FOUND;
    if plain.load(Relaxed) == 0 {
        versioned.store(dlvsym as *const () as usize, Relaxed);
        plain.store(dlsym as *const () as usize, Relaxed);
    }
    [plain.load(Relaxed), versioned.load(Relaxed)]
}

/// What a name stands for, from a handle of the loader's on.
pub(crate) fn look_up(handle: usize, name: &CStr) -> usize {
    let [plain, _] = keep();
    // SAFETY: it is `dlsym`, and the name ends in a zero.
    unsafe {
        let look_up: extern "C" fn(usize, *const c_char) -> usize = core::mem::transmute(plain);
        look_up(handle, name.as_ptr())
    }
}

/// The next definition of a symbol after ours, which is the first.
fn next(name: &'static CStr, version: Option<&'static CStr>) -> usize {
    let after_ours = usize::MAX;
    let found = match version {
        // SAFETY: it is `dlvsym`, and both names end in a zero.
        Some(version) => unsafe {
            let [_, versioned] = keep();
            let look_up: extern "C" fn(usize, *const c_char, *const c_char) -> usize =
                core::mem::transmute(versioned);
            look_up(after_ours, name.as_ptr(), version.as_ptr())
        },
        None => look_up(after_ours, name),
    };
    if found == 0 && version.is_some() {
        return next(name, None);
    }
    found
}

/// Where the module of an address of code begins.
fn module(code: usize) -> usize {
    unsafe extern "C" {
        fn dladdr(code: usize, about: *mut [usize; 4]) -> i32;
    }
    let mut about = [0; 4];
    // SAFETY: the second word of what is told is where the module begins.
    if unsafe { dladdr(code, &raw mut about) } == 0 { 0 } else { about[1] }
}

/// The room that a block of the allocator with this function has, if the next function that tells is the same allocator's:
/// one that is loaded before libc may stand before this function and not before the other.
pub(crate) fn usable_size(at: usize, allocator: usize) -> Option<usize> {
    const UNKNOWN: usize = 1;
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut found = FOUND.load(Relaxed);
    if found == 0 {
        found = find(c"malloc_usable_size", None);
        found = if module(found) == module(allocator) { found } else { UNKNOWN };
        FOUND.store(found, Relaxed);
    }
    if found == UNKNOWN {
        return None;
    }
    // SAFETY: the program says that it is a block, and this function knows it.
    unsafe {
        let function: extern "C" fn(usize) -> usize = core::mem::transmute(found);
        Some(function(at))
    }
}

/// A function of the C library that is missing: nothing sensible can be done for its caller.
fn missing(name: &'static CStr) -> ! {
    let _ = sys::write(2, b"reweave: libc has no ");
    let _ = sys::write(2, name.to_bytes());
    let _ = sys::write(2, b"\n");
    sys::exit(70)
}

/// Declares functions that call the next definition of their name, found at the first call.
macro_rules! real {
    ($($name:ident $(@ $version:literal)? ($($argument:ident),*);)*) => { $(
        #[doc = concat!("`", stringify!($name), "` of libc. All arguments and results are one register each.")]
        #[inline]
        pub(crate) fn $name($($argument: usize),*) -> usize {
            static FOUND: AtomicUsize = AtomicUsize::new(0);
            let mut found = FOUND.load(Relaxed);
            if found == 0 {
                found = find(real!(@name $name), real!(@version $($version)?));
                FOUND.store(found, Relaxed);
            }
            // SAFETY: libc's function of this name takes such arguments, and they are the program's own.
            unsafe {
                let function: extern "C" fn($(real!(@word $argument)),*) -> usize = core::mem::transmute(found);
                function($($argument),*)
            }
        }
    )* };
    (@name $name:ident) => {
        match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        }
    };
    (@word $argument:ident) => { usize };
    (@version) => { None };
    (@version $version:literal) => { Some($version) };
}

#[cold]
pub(crate) fn find(name: &'static CStr, version: Option<&'static CStr>) -> usize {
    match next(name, version) {
        0 => missing(name),
        found => found,
    }
}

/// Declares functions that tell where those are that are only ever jumped to.
macro_rules! found {
    ($($name:ident)*) => {
        /// Where functions of libc are that are jumped to.
        pub(crate) mod found {
            use super::*;
            $(
                pub(crate) extern "C" fn $name() -> usize {
                    find(real!(@name $name), None)
                }
            )*
        }
    };
}

/// C++ has names of its own for these.
pub(crate) mod operator_new {
    use super::find;

    pub(crate) extern "C" fn plain() -> usize {
        find(c"_Znwm", None)
    }

    pub(crate) extern "C" fn array() -> usize {
        find(c"_Znam", None)
    }

    pub(crate) extern "C" fn aligned() -> usize {
        find(c"_ZnwmSt11align_val_t", None)
    }

    pub(crate) extern "C" fn aligned_array() -> usize {
        find(c"_ZnamSt11align_val_t", None)
    }
}

real! {
    pthread_create(thread, attributes, function, argument);
    pthread_join(thread, result);
    pthread_tryjoin_np(thread, result);
    pthread_timedjoin_np(thread, result, time);
    pthread_clockjoin_np(thread, result, clock, time);
    pthread_detach(thread);
    pthread_cancel(thread);
    pthread_testcancel();
    pthread_setcanceltype(kind, before);
    pthread_setcancelstate(state, before);
    pthread_key_create(key, function);
    pthread_setspecific(key, value);
    pthread_getattr_np(thread, attributes);
    pthread_attr_getstack(attributes, at, size);
    pthread_attr_destroy(attributes);
    pthread_mutex_lock(mutex);
    pthread_mutex_trylock(mutex);
    pthread_mutex_timedlock(mutex, time);
    pthread_mutex_clocklock(mutex, clock, time);
    pthread_mutex_unlock(mutex);
    pthread_mutex_init(mutex, attributes);
    pthread_mutex_destroy(mutex);
    pthread_rwlock_rdlock(lock);
    pthread_rwlock_wrlock(lock);
    pthread_rwlock_tryrdlock(lock);
    pthread_rwlock_trywrlock(lock);
    pthread_rwlock_timedrdlock(lock, time);
    pthread_rwlock_timedwrlock(lock, time);
    pthread_rwlock_clockrdlock(lock, clock, time);
    pthread_rwlock_clockwrlock(lock, clock, time);
    pthread_rwlock_unlock(lock);
    pthread_rwlock_init(lock, attributes);
    pthread_rwlock_destroy(lock);
    pthread_spin_lock(lock);
    pthread_spin_trylock(lock);
    pthread_spin_unlock(lock);
    pthread_spin_init(lock, shared);
    pthread_spin_destroy(lock);
    pthread_cond_wait @ c"GLIBC_2.3.2" (condition, mutex);
    pthread_cond_timedwait @ c"GLIBC_2.3.2" (condition, mutex, time);
    pthread_cond_clockwait(condition, mutex, clock, time);
    pthread_cond_signal @ c"GLIBC_2.3.2" (condition);
    pthread_cond_broadcast @ c"GLIBC_2.3.2" (condition);
    pthread_cond_init @ c"GLIBC_2.3.2" (condition, attributes);
    pthread_cond_destroy @ c"GLIBC_2.3.2" (condition);
    pthread_condattr_getclock(attributes, clock);
    pthread_condattr_init(attributes);
    pthread_condattr_setpshared(attributes, shared);
    pthread_condattr_destroy(attributes);
    pthread_barrierattr_getpshared(attributes, shared);
    pthread_barrier_init(barrier, attributes, count);
    pthread_barrier_wait(barrier);
    pthread_barrier_destroy(barrier);
    pthread_once(once, function);
    pthread_mutex_consistent(mutex);
    sem_init(semaphore, shared, value);
    sem_wait(semaphore);
    sem_trywait(semaphore);
    sem_timedwait(semaphore, time);
    sem_clockwait(semaphore, clock, time);
    sem_post(semaphore);
    sem_getvalue(semaphore, value);
    sem_destroy(semaphore);
    memmove(to, from, length);
    __memcpy_chk(to, from, length, room);
    __memmove_chk(to, from, length, room);
    __memset_chk(at, byte, length, room);
    __strcpy_chk(to, from, room);
    __stpcpy_chk(to, from, room);
    __strcat_chk(to, from, room);
    __strncpy_chk(to, from, length, room);
    vsnprintf(to, room, format, list);
    __vsnprintf_chk(to, room, flag, size, format, list);
    vsprintf(to, format, list);
    __vsprintf_chk(to, flag, size, format, list);
    vasprintf(at, format, list);
    __vasprintf_chk(at, flag, format, list);
    vsscanf(at, format, list);
    __isoc99_vsscanf(at, format, list);
    __chk_fail();
    munmap(start, length);
    shmat(segment, at, flags);
    shmdt(start);
    shmctl(segment, command, about);
    fork();
    sigaction(signal, action, before);
    dlopen(name, flags);
    flockfile(file);
    ftrylockfile(file);
    funlockfile(file);
    read(file, at, length);
    write(file, at, length);
    readv(file, pieces, count);
    writev(file, pieces, count);
    preadv2(file, pieces, count, offset, flags);
    preadv64v2(file, pieces, count, offset, flags);
    recv(file, at, length, flags);
    recvmsg(file, message, flags);
    send(file, at, length, flags);
    recvfrom(file, at, length, flags, from, from_length);
    sendto(file, at, length, flags, to, to_length);
    pselect(count, read, write, except, timeout, mask);
    sendmsg(file, message, flags);
    accept(file, address, length);
    accept4(file, address, length, flags);
    connect(file, address, length);
    poll(files, count, timeout);
    ppoll(files, count, timeout, mask);
    epoll_wait(file, events, count, timeout);
    epoll_pwait(file, events, count, timeout, mask);
    sigwait(set, signal);
    sigwaitinfo(set, info);
    sigtimedwait(set, info, time);
    sigsuspend(set);
    pause();
    waitid(kind, process, info, options);
    wait4(process, status, options, usage);
    system(command);
    fgets(at, length, file);
    fread(at, size, count, file);
    fileno(stream);
    fgetc(stream);
    getc(stream);
    fgetc_unlocked(stream);
    getc_unlocked(stream);
    __uflow(stream);
    getchar();
    getchar_unlocked();
    getline(line, length, stream);
    getdelim(line, length, end, stream);
    __getdelim(line, length, end, stream);
    __underflow(stream);
    getw(stream);
    fgetwc(stream);
    getwc(stream);
    fgetwc_unlocked(stream);
    getwc_unlocked(stream);
    __wuflow(stream);
    __wunderflow(stream);
    getwchar();
    getwchar_unlocked();
    gets(at);
    fgets_unlocked(at, length, stream);
    __fgets_unlocked_chk(at, room, length, stream);
    fgetws(at, length, stream);
    fgetws_unlocked(at, length, stream);
    __fgetws_chk(at, room, length, stream);
    __fgetws_unlocked_chk(at, room, length, stream);
    fread_unlocked(at, size, count, stream);
    __fread_unlocked_chk(at, room, size, count, stream);
    vfscanf(stream, format, list);
    __isoc99_vfscanf(stream, format, list);
    __isoc23_vfscanf(stream, format, list);
    vfwscanf(stream, format, list);
    __isoc99_vfwscanf(stream, format, list);
    __isoc23_vfwscanf(stream, format, list);
    fgetpwent(stream);
    fgetgrent(stream);
    fgetspent(stream);
    getmntent(stream);
    fgetpwent_r(stream, entry, at, length, result);
    fgetgrent_r(stream, entry, at, length, result);
    fgetspent_r(stream, entry, at, length, result);
    getmntent_r(stream, entry, at, length);
    splice(from, from_offset, to, to_offset, length, flags);
    tee(from, to, length, flags);
    vmsplice(file, pieces, count, flags);
    sendfile(to, from, offset, count);
    copy_file_range(from, from_offset, to, to_offset, length, flags);
    recvmmsg(file, messages, count, flags, time);
    sendmmsg(file, messages, count, flags);
    aio_read(block);
    aio_write(block);
    aio_fsync(operation, block);
    aio_error(block);
    aio_return(block);
    aio_suspend(blocks, count, time);
    aio_cancel(file, block);
    lio_listio(mode, blocks, count, event);
    timer_create(clock, event, timer);
    mq_notify(queue, event);
    fsync(file);
    socket(domain, kind, protocol);
    open(name, flags, mode);
    open64(name, flags, mode);
    openat(folder, name, flags, mode);
    openat64(folder, name, flags, mode);
    creat(name, mode);
    creat64(name, mode);
    fcntl(file, command, argument);
    flock(file, operation);
    lockf(file, command, length);
    msgrcv(queue, message, size, kind, flags);
    msgsnd(queue, message, size, flags);
    semop(set, operations, count);
    semtimedop(set, operations, count, time);
    mq_receive(queue, at, length, priority);
    mq_send(queue, at, length, priority);
    mq_timedreceive(queue, at, length, priority, time);
    mq_timedsend(queue, at, length, priority, time);
    dup(file);
    dup2(file, other);
    dup3(file, other, flags);
    eventfd(value, flags);
    eventfd_write(file, value);
    eventfd_read(file, value);
    epoll_create(size);
    epoll_create1(flags);
    epoll_ctl(set, operation, file, event);
    pipe(at);
    pipe2(at, flags);
    socketpair(domain, kind, protocol, at);
    close(file);
    clock_gettime(clock, at);
    gettimeofday(at, zone);
    time(at);
    timespec_get(at, base);
    getrandom(at, length, flags);
    getentropy(at, length);
    sched_yield();
    __cxa_atexit(function, argument, library);
    pthread_self();
}

found! { __longjmp_chk _exit _longjmp abort execve kill longjmp mprotect mremap pthread_exit pthread_kill raise siglongjmp
sysconf }
