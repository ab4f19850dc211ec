//! The store of the registry: the daemon's own records. It is open for as long as the daemon runs.
//!
//! A fault that may pass, such as a full disk, makes it read-only. It is then opened again from
//! time to time, as projects are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anchord_memory::SessionId;
use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::project::{Marks, Outcome, WriteCommand, WriteError, WriterHandle, Written, open_owner};
use crate::projects::Registry;
use crate::store::{Call, Health, OpenReport, Store, StoreError, Stores};
use crate::{clock, limits};

/// The name of the registry's store.
const NAME: &str = "daemon";

/// The soft mark of a daemon that stopped in an orderly way.
pub(crate) const STOPPED_WELL: &str = "stopped-well";

/// The registry and its writer.
#[derive(Debug)]
pub(crate) struct RegistryStore {
    stores: Arc<dyn Stores<Registry>>,
    writer: ArcSwap<WriterHandle<Registry>>,
    opened: Mutex<Instant>,
    /// Whether the last reopening failed. Nothing can be written then, but what was read stays.
    is_failed: AtomicBool,
    /// A lock that is exclusive while the store is opened again, and shared by everyone who uses
    /// it.
    in_use: tokio::sync::RwLock<()>,
}

impl RegistryStore {
    /// Opens the store, or creates it. Also returns the report of opening and the soft marks.
    pub(crate) async fn open(
        stores: Arc<dyn Stores<Registry>>,
    ) -> Result<(Self, OpenReport, Marks), StoreError> {
        let (writer, report, marks) = open_owner(Arc::clone(&stores), NAME.to_owned()).await?;
        let store = Self {
            stores,
            writer: ArcSwap::from_pointee(writer),
            opened: Mutex::new(clock::start()),
            is_failed: AtomicBool::new(false),
            in_use: tokio::sync::RwLock::default(),
        };
        Ok((store, report, marks))
    }

    /// Opens the store again if the reason that it is read-only may have passed. After an error,
    /// the state that was read stays readable, and the next call tries again.
    pub(crate) async fn retry(&self) -> Result<(), StoreError> {
        let is_due = self.is_failed.load(Ordering::Relaxed) || self.health().passes;
        let opened = *self.opened.lock();
        if !is_due || opened.elapsed() < limits::REOPEN_AFTER {
            return Ok(());
        }
        let _nobody_writes = self.in_use.write().await;
        self.writer.load().close().await;
        self.is_failed.store(true, Ordering::Relaxed);
        *self.opened.lock() = clock::start();
        let (writer, report, marks) = open_owner(Arc::clone(&self.stores), NAME.to_owned()).await?;
        if marks.contains_key(STOPPED_WELL) {
            // The store could not be read when this daemon started.
            let cleared = writer.ask(|store, _| {
                store.mark(STOPPED_WELL, None);
                store.flush();
            });
            if let Err(error) = cleared.await {
                tracing::warn!(%error, "a kill of this daemon may not be noticed by the next");
            }
        }
        self.writer.store(Arc::new(writer));
        self.is_failed.store(false, Ordering::Relaxed);
        report.log("the daemon's own records");
        Ok(())
    }

    /// Returns the newest state that is on disk.
    pub(crate) fn snapshot(&self) -> Arc<Registry> {
        self.writer.load().snapshot()
    }

    /// Returns the store's faults, as of the last write.
    pub(crate) fn health(&self) -> Arc<Health> {
        self.writer.load().health()
    }

    /// Queues a write and waits until it is on disk.
    pub(crate) async fn write<O: Outcome>(
        &self,
        session: Option<SessionId>,
        call: Option<Call>,
        operation: &'static str,
        decide: WriteCommand<Registry, O>,
    ) -> Result<Written<Registry, O>, WriteError> {
        let _open = self.in_use.read().await;
        if self.is_failed.load(Ordering::Relaxed) {
            let why = self.health().read_only.clone().unwrap_or_default();
            return Err(WriteError::NotSaved(Arc::new(StoreError::ReadOnly { why })));
        }
        self.writer.load_full().write(session, call, operation, decide).await
    }

    /// Runs `question` on the store itself, between writes.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Store<Registry>, &Registry) -> T + Send + 'static,
    ) -> Result<T, WriteError> {
        let _open = self.in_use.read().await;
        self.writer.load_full().ask(question).await
    }

    /// Returns whether no more jobs are accepted: the writer was closed, or its thread has died.
    /// False while the store waits to be opened again.
    pub(crate) fn is_closed(&self) -> bool {
        self.writer.load().is_closed() && !self.is_failed.load(Ordering::Relaxed)
    }

    /// Serves what is queued, closes the store, and returns when that is done.
    pub(crate) async fn close(&self) {
        self.writer.load_full().close().await;
    }
}

#[cfg(test)]
mod tests;
