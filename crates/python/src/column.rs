//! A column of a trace as a buffer that NumPy can look at without a copy.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use reweave_format::Loaded;
use reweave_trace::{Kind, SiteId, ThreadRows};

/// Which column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Kinds,
    Threads,
    Targets,
    Sites,
}

/// One number an event; as long as it lives, so does the trace.
#[pyclass(frozen, module = "reweave")]
pub(crate) struct Column {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) which: Which,
}

/// Where a column lies: its first byte, how many items, the size of one, and its format as Python writes it.
struct Memory {
    start: *const c_void,
    items: usize,
    size: usize,
    format: &'static CStr,
}

// NumPy sees these as numbers of that size.
const _: () = assert!(size_of::<Kind>() == 1 && size_of::<SiteId>() == 4);

impl Column {
    fn memory(&self) -> Memory {
        fn of<T>(items: &[T], format: &'static CStr) -> Memory {
            Memory { start: items.as_ptr().cast(), items: items.len(), size: size_of::<T>(), format }
        }
        let rows = self.loaded.trace.rows();
        match self.which {
            Which::Kinds => of(rows.kinds, c"B"),
            Which::Targets => of(rows.targets, c"I"),
            Which::Sites => of(rows.sites, c"I"),
            Which::Threads => match rows.threads {
                ThreadRows::Narrow(threads) => of(threads, c"B"),
                ThreadRows::Wide(threads) => of(threads, c"I"),
            },
        }
    }
}

#[pymethods]
impl Column {
    /// The format of an item, as the module `struct` writes it.
    #[getter]
    fn format(&self) -> &'static str {
        self.memory().format.to_str().unwrap_or_default()
    }

    fn __len__(&self) -> usize {
        self.memory().items
    }

    /// # Safety
    /// `view` is Python's, as the buffer protocol says.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill in"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("a trace never changes: its columns can only be read"));
        }
        let memory = slf.get().memory();
        let wants = |flag: c_int| flags & flag == flag;
        // Shape and strides have to live as long as the view: they are freed when it is released.
        let sizes = Box::new([memory.items as isize, memory.size as isize]);
        let sizes = Box::into_raw(sizes).cast::<isize>();
        // SAFETY: `view` is not null and ours to fill in. The memory belongs to a trace that never changes and lives as
        // long as this object, which the view keeps alive; `sizes` points to two numbers.
        unsafe {
            (*view).buf = memory.start.cast_mut();
            (*view).len = (memory.items * memory.size) as isize;
            (*view).readonly = 1;
            (*view).itemsize = memory.size as isize;
            (*view).format =
                if wants(ffi::PyBUF_FORMAT) { memory.format.as_ptr().cast_mut() } else { ptr::null_mut() };
            (*view).ndim = 1;
            (*view).shape = if wants(ffi::PyBUF_ND) { sizes } else { ptr::null_mut() };
            (*view).strides = if wants(ffi::PyBUF_STRIDES) { sizes.add(1) } else { ptr::null_mut() };
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = sizes.cast();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    /// # Safety
    /// `view` was filled in above.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box of two numbers that was made for this view, which is released once.
        unsafe { drop(Box::from_raw((*view).internal.cast::<[isize; 2]>())) }
    }
}
