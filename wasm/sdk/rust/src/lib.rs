//! What a model in Rust imports: it speaks the Mneme model ABI 1.3
//! (wasm/abi/ABI.md), the model computes. Implement [`Model`] and name the type:
//!
//! ```ignore
//! mneme_model::export!(Acme);
//! ```
//!
//! Build a cdylib for `wasm32-unknown-unknown`. The crate needs `alloc` and no
//! `std`. Built for another system, the same code runs in ordinary tests:
//! [`serve`] answers a request frame there.
#![no_std]
extern crate alloc;

use alloc::{string::String, vec::Vec};

/// What a module offers. The functions that have a body here need only be
/// written for what the model does. Calls come one at a time.
pub trait Model: Sized + 'static {
    /// The model's description as JSON: name, version, licence, tasks.
    fn describe() -> &'static str;
    /// Called once, before anything else, with `config` of model.json and, as further
    /// members, the settings that it declares and that have a value (JSON; `{}` when
    /// there is neither). An error keeps the model from starting.
    fn open(config: &str) -> Result<Self, String>;
    /// A vector of unit length for each text. `query`: they are queries, not passages.
    fn embed(&mut self, _texts: &[&str], _query: bool) -> Result<Dense, Error> {
        Err(Error::unsupported())
    }
    /// Weighted terms for each text.
    fn sparse(&mut self, _texts: &[&str], _query: bool) -> Result<Sparse, Error> {
        Err(Error::unsupported())
    }
    /// The probability that each text answers the query.
    fn rerank(&mut self, _query: &str, _texts: &[&str]) -> Result<Scores, Error> {
        Err(Error::unsupported())
    }
    /// The tokens of each text, beyond the window as well. Without it the host estimates.
    fn tokens(&mut self, _texts: &[&str]) -> Result<Vec<u32>, Error> {
        Err(Error::unsupported())
    }
}

/// Vectors, row behind row, and the tokens read of each text.
pub struct Dense {
    pub dim: usize,
    pub values: Vec<f32>,
    pub tokens: Vec<u32>,
}

/// Vectors of terms: they rise within a row, weights are above 0.
pub struct Sparse {
    pub rows: Vec<Vec<(u32, f32)>>,
    pub tokens: Vec<u32>,
}

/// The answers of a reranker, the tokens read for each text (those of the query
/// included), and which texts did not fit the window.
pub struct Scores {
    pub probabilities: Vec<f32>,
    pub tokens: Vec<u32>,
    pub cut: Vec<bool>,
}

/// Why there is no answer.
pub struct Error {
    pub code: Code,
    pub message: String,
}

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The caller's, who gets the message with status 400.
    Invalid = 1,
    /// Likewise.
    TooLong = 2,
    Unsupported = 3,
    NoMemory = 4,
    Internal = 5,
    /// [`stop`] said so.
    Stopped = 6,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error { code, message: message.into() }
    }
    fn unsupported() -> Self {
        Error::new(Code::Unsupported, "the model does not do this")
    }
}

/// The operations that take a request frame.
#[derive(Clone, Copy)]
pub enum Operation {
    Embed,
    Sparse,
    Rerank,
    Tokens,
}

/// Answers a request frame with a result frame.
pub fn serve<M: Model>(model: &mut M, operation: Operation, frame: &[u8]) -> Vec<u8> {
    answer(model, operation, frame).unwrap_or_else(failed)
}

fn answer<M: Model>(model: &mut M, operation: Operation, frame: &[u8]) -> Result<Vec<u8>, Error> {
    if frame.len() >= 16 && (word(frame, 0) != Some(1) || word(frame, 8) > Some(1)) {
        return Err(Error::new(Code::Unsupported, "the request has a version or a flag that the model does not know"));
    }
    let (texts, query) = request(frame).ok_or_else(|| Error::new(Code::Invalid, "the request is malformed"))?;
    let rows = texts.len();
    let fits = |n: usize| if n == rows { Ok(()) } else { Err(Error::new(Code::Internal, "another number of rows than texts")) };
    match operation {
        Operation::Embed => {
            let d = model.embed(&texts, query)?;
            fits(d.tokens.len())?;
            if d.values.len() != rows * d.dim {
                return Err(Error::new(Code::Internal, "another number of values than rows of dim"));
            }
            let mut f = Frame::new(1, rows, d.dim, 0);
            f.floats(&d.values);
            f.tokens(&d.tokens);
            Ok(f.finish())
        }
        Operation::Sparse => {
            let s = model.sparse(&texts, query)?;
            fits(s.rows.len())?;
            fits(s.tokens.len())?;
            let mut f = Frame::new(3, rows, 0, s.rows.iter().map(Vec::len).sum());
            let mut end = 0;
            f.word(0);
            for row in &s.rows {
                end += row.len();
                f.word(end as u32);
            }
            s.rows.iter().flatten().for_each(|t| f.word(t.0));
            s.rows.iter().flatten().for_each(|t| f.word(t.1.to_bits()));
            f.tokens(&s.tokens);
            Ok(f.finish())
        }
        Operation::Rerank => {
            let Some((query, texts)) = texts.split_first() else {
                return Err(Error::new(Code::Invalid, "there is no query"));
            };
            let s = model.rerank(query, texts)?;
            let n = s.probabilities.len();
            fits(n + 1)?;
            fits(s.tokens.len() + 1)?;
            fits(s.cut.len() + 1)?;
            let mut f = Frame::new(2, n, 0, HEADER + 4 * n); // where the table of cut texts lies
            f.floats(&s.probabilities);
            s.cut.iter().for_each(|&c| f.word(c as u32));
            f.tokens(&s.tokens);
            Ok(f.finish())
        }
        Operation::Tokens => {
            let counts = model.tokens(&texts)?;
            fits(counts.len())?;
            let mut f = Frame::new(5, rows, 0, 0);
            counts.iter().for_each(|&n| f.word(n));
            Ok(f.finish())
        }
    }
}

fn word(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

// request reads a request frame: version, rows, flags, 0, then offset and length of each row.
fn request(b: &[u8]) -> Option<(Vec<&str>, bool)> {
    let (rows, flags) = (word(b, 4)? as usize, word(b, 8)?);
    if b.len() < 16 || rows > (b.len() - 16) / 8 {
        return None;
    }
    let mut texts = Vec::with_capacity(rows);
    for i in 0..rows {
        let (offset, length) = (word(b, 16 + 8 * i)? as usize, word(b, 20 + 8 * i)? as usize);
        texts.push(core::str::from_utf8(b.get(offset..offset.checked_add(length)?)?).ok()?);
    }
    Some((texts, flags == 1))
}

const HEADER: usize = 32;

// Frame is a result frame under construction.
struct Frame(Vec<u8>);

impl Frame {
    fn new(kind: u32, rows: usize, dim: usize, nnz: usize) -> Self {
        let mut f = Frame(Vec::new());
        for v in [kind, rows as u32, dim as u32, nnz as u32, HEADER as u32, 0, 0, 0] {
            f.word(v);
        }
        f
    }
    fn word(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn set(&mut self, at: usize, v: usize) {
        self.0[at..at + 4].copy_from_slice(&(v as u32).to_le_bytes());
    }
    fn floats(&mut self, values: &[f32]) {
        values.iter().for_each(|v| self.word(v.to_bits()));
    }
    fn tokens(&mut self, tokens: &[u32]) {
        self.set(20, self.0.len());
        tokens.iter().for_each(|&n| self.word(n));
    }
    fn finish(mut self) -> Vec<u8> {
        self.set(28, self.0.len());
        self.0
    }
}

fn failed(e: Error) -> Vec<u8> {
    let mut f = Frame::new(0, 0, 0, 0);
    f.set(24, e.code as usize);
    f.0.extend_from_slice(e.message.as_bytes());
    f.finish()
}

/// How urgent a line of the log is.
#[derive(Clone, Copy)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "mneme")]
    extern "C" {
        pub fn asset_size(name: *const u8, n: usize) -> u64;
        pub fn asset_read(name: *const u8, n: usize, offset: u64, to: *mut u8, m: usize) -> u32;
        pub fn tokenizer_open(name: *const u8, n: usize) -> u32;
        pub fn tokenize(handle: u32, text: *const u8, n: usize, ids: *mut u32, room: u32) -> u32;
        pub fn token_id(handle: u32, token: *const u8, n: usize) -> u32;
        pub fn log(level: u32, text: *const u8, n: usize);
        pub fn poll() -> u32;
    }
}

/// Reads a file that model.json lists; outside of WebAssembly there is none.
pub fn asset(name: &str) -> Option<Vec<u8>> {
    #[cfg(target_arch = "wasm32")]
    unsafe {
        let size = host::asset_size(name.as_ptr(), name.len());
        if size > i32::MAX as u64 {
            return None;
        }
        let mut b = alloc::vec![0; size as usize];
        (host::asset_read(name.as_ptr(), name.len(), 0, b.as_mut_ptr(), b.len()) == 0).then_some(b)
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        let _ = name;
        None
    }
}

/// A tokenizer.json among the model's files, which the host reads; model.json names the
/// capability "tokenizers". Outside of WebAssembly there is none.
pub struct Tokenizer(u32);

/// What the host answers in place of a number of tokens, and greater values.
const TOKENIZE_FAILED: u32 = u32::MAX - 3;

impl Tokenizer {
    /// Opens the asset of that name; where the host does not take it, its log says why.
    pub fn open(name: &str) -> Option<Tokenizer> {
        #[cfg(target_arch = "wasm32")]
        let handle = unsafe { host::tokenizer_open(name.as_ptr(), name.len()) };
        #[cfg(not(target_arch = "wasm32"))]
        let handle = {
            let _ = name;
            0
        };
        (handle != 0).then_some(Tokenizer(handle))
    }

    /// The id of a token, such as `[CLS]`.
    pub fn id(&self, token: &str) -> Option<u32> {
        #[cfg(target_arch = "wasm32")]
        let id = unsafe { host::token_id(self.0, token.as_ptr(), token.len()) };
        #[cfg(not(target_arch = "wasm32"))]
        let id = {
            let _ = (self.0, token);
            u32::MAX
        };
        (id < TOKENIZE_FAILED).then_some(id)
    }

    /// The ids of a text, `most` at most, without special tokens around it. An error is
    /// the operation's: [`Code::Stopped`] where the call may end.
    pub fn ids(&self, text: &str, most: usize) -> Result<Vec<u32>, Error> {
        let mut ids = alloc::vec![0; most];
        let n = self.tokenize(text, ids.as_mut_ptr(), most as u32)?;
        ids.truncate(n as usize);
        Ok(ids)
    }

    /// How many ids a text has.
    pub fn count(&self, text: &str) -> Result<u32, Error> {
        self.tokenize(text, core::ptr::null_mut(), 1 << 31)
    }

    fn tokenize(&self, text: &str, ids: *mut u32, room: u32) -> Result<u32, Error> {
        #[cfg(target_arch = "wasm32")]
        let n = unsafe { host::tokenize(self.0, text.as_ptr(), text.len(), ids, room) };
        #[cfg(not(target_arch = "wasm32"))]
        let n = {
            let _ = (text, ids, room);
            TOKENIZE_FAILED
        };
        match n {
            n if n < TOKENIZE_FAILED => Ok(n),
            n if n == TOKENIZE_FAILED + 1 => Err(Error::new(Code::Stopped, "stopped")),
            _ => Err(Error::new(Code::Internal, "tokenizing failed")),
        }
    }
}

/// Writes a line to the host's log, which keeps 1 KiB of it and some lines a second.
pub fn log(level: Level, text: &str) {
    #[cfg(target_arch = "wasm32")]
    unsafe {
        host::log(level as u32, text.as_ptr(), text.len())
    }
    #[cfg(not(target_arch = "wasm32"))]
    let _ = (level, text);
}

/// Whether the call may end: its caller is gone or its time is up. A model that
/// works long asks every millisecond and returns [`Code::Stopped`].
pub fn stop() -> bool {
    #[cfg(target_arch = "wasm32")]
    unsafe {
        host::poll() != 0
    }
    #[cfg(not(target_arch = "wasm32"))]
    false
}

/// What [`export!`] is made of.
#[doc(hidden)]
pub mod export {
    use super::*;
    use alloc::alloc::{alloc, dealloc, Layout};

    fn layout(n: usize) -> Option<Layout> {
        Layout::from_size_align(n.max(1), 16).ok()
    }

    pub fn allocate(n: usize) -> *mut u8 {
        layout(n).map_or(core::ptr::null_mut(), |l| unsafe { alloc(l) })
    }

    /// # Safety
    /// `p` comes from [`allocate`] with the same `n`.
    pub unsafe fn free(p: *mut u8, n: usize) {
        if let (false, Some(l)) = (p.is_null(), layout(n)) {
            dealloc(p, l)
        }
    }

    /// Hands bytes to the host, which frees them.
    pub fn give(b: &[u8]) -> u64 {
        let p = allocate(b.len());
        if p.is_null() {
            return 0;
        }
        unsafe { p.copy_from_nonoverlapping(b.as_ptr(), b.len()) };
        (p as usize as u64) << 32 | b.len() as u64
    }

    /// # Safety
    /// `p` and `n` are a frame that the host wrote.
    pub unsafe fn open<M: Model>(slot: &mut Option<M>, p: *const u8, n: usize) -> u64 {
        let config = core::str::from_utf8(core::slice::from_raw_parts(p, n)).unwrap_or("");
        match M::open(config) {
            Ok(m) => {
                *slot = Some(m);
                give(&Frame::new(4, 0, 0, 0).finish())
            }
            Err(why) => give(&failed(Error::new(Code::Unsupported, why))),
        }
    }

    /// # Safety
    /// `p` and `n` are a frame that the host wrote.
    pub unsafe fn call<M: Model>(slot: &mut Option<M>, operation: Operation, p: *const u8, n: usize) -> u64 {
        match slot {
            Some(m) => give(&serve(m, operation, core::slice::from_raw_parts(p, n))),
            None => give(&failed(Error::new(Code::Internal, "the model is not open"))),
        }
    }
}

/// Exports the functions that the host calls, for one type that implements [`Model`].
#[macro_export]
macro_rules! export {
    ($model:ty) => {
        const _: () = {
            use $crate::{export, Operation};
            // A module is one model; the host calls from one thread, one call at a time.
            static mut MODEL: Option<$model> = None;
            fn slot() -> &'static mut Option<$model> {
                unsafe { &mut *core::ptr::addr_of_mut!(MODEL) }
            }
            #[no_mangle]
            extern "C" fn mneme_abi() -> u32 {
                1 << 16 | 2
            }
            #[no_mangle]
            extern "C" fn mneme_alloc(n: usize) -> *mut u8 {
                export::allocate(n)
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_free(p: *mut u8, n: usize) {
                export::free(p, n)
            }
            #[no_mangle]
            extern "C" fn mneme_describe() -> u64 {
                export::give(<$model as $crate::Model>::describe().as_bytes())
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_open(p: *const u8, n: usize) -> u64 {
                export::open(slot(), p, n)
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_embed(p: *const u8, n: usize) -> u64 {
                export::call(slot(), Operation::Embed, p, n)
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_sparse(p: *const u8, n: usize) -> u64 {
                export::call(slot(), Operation::Sparse, p, n)
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_rerank(p: *const u8, n: usize) -> u64 {
                export::call(slot(), Operation::Rerank, p, n)
            }
            #[no_mangle]
            unsafe extern "C" fn mneme_tokens(p: *const u8, n: usize) -> u64 {
                export::call(slot(), Operation::Tokens, p, n)
            }
        };
    };
}
