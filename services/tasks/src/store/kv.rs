//! The little that the layout needs of a disk: ordered keys, atomic batches, one sync.

use super::Broken;

/// A sorted map on a disk. Calls may block on I/O.
pub trait Kv: Send + Sync + 'static {
    /// True when reads may block and belong on a blocking thread.
    const BLOCKS: bool;

    /// For [`super::Store::backend`].
    const NAME: &'static str;

    /// The value of a key.
    ///
    /// # Errors
    /// As all calls here: when the disk fails.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Broken>;

    /// Visits the entries of `from..to` in order until `visit` answers false.
    ///
    /// # Errors
    /// When the disk or `visit` fails.
    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), Broken>;

    /// The last key in `from..=to`.
    ///
    /// # Errors
    /// When the disk fails.
    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<u8>>, Broken>;

    /// Makes a batch visible, whole; it is safe only after the next [`Kv::sync`].
    ///
    /// # Errors
    /// When the disk fails.
    fn apply(&self, batch: Batch) -> Result<(), Broken>;

    /// Returns when all that was applied is on disk.
    ///
    /// # Errors
    /// When the disk fails; then nothing is known of what was applied.
    fn sync(&self) -> Result<(), Broken>;

    /// Bytes on disk, roughly.
    fn bytes(&self) -> u64;
}

/// Called with key and value; true: go on.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<bool, Broken> + 'a;

/// Writes that happen together; of two on one key the later holds.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// `None` removes the key.
    pub writes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Batch {
    /// Writes a key.
    pub fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.writes.push((key, Some(value)));
    }

    /// Removes a key.
    pub fn remove(&mut self, key: Vec<u8>) {
        self.writes.push((key, None));
    }
}
