//! The store of the registry: the daemon's own records. It is open for as long as the daemon runs.
//!
//! A fault that may pass, such as a full disk, makes it read-only. It is then opened again from
//! time to time, as projects are.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anchord_memory::SessionId;
use arc_swap::ArcSwap;

use crate::project::{Decide, Marks, Owner, WriteError, Written, open_owner};
use crate::projects::Registry;
use crate::store::{Call, Health, OpenReport, Store, StoreError};
use crate::{clock, limits};

/// The registry and its writer.
#[derive(Debug)]
pub(crate) struct RegistryStore {
    directory: PathBuf,
    writer: ArcSwap<Owner<Registry>>,
    opened: Mutex<Instant>,
    /// Held exclusively while the store is opened again, shared by everyone who uses it.
    in_use: tokio::sync::RwLock<()>,
}

impl RegistryStore {
    /// Opens the store, or begins one. Also returns what opening found, and the soft marks.
    pub(crate) async fn open(directory: PathBuf) -> Result<(Self, OpenReport, Marks), StoreError> {
        let (writer, report, marks) = open_owner::<Registry>(directory.clone()).await?;
        let store = Self {
            directory,
            writer: ArcSwap::from_pointee(writer),
            opened: Mutex::new(clock::start()),
            in_use: tokio::sync::RwLock::default(),
        };
        Ok((store, report, marks))
    }

    /// Opens the store again if what makes it read-only may have passed.
    pub(crate) async fn retry(&self) -> Result<(), StoreError> {
        let opened = *self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.health().passes || opened.elapsed() < limits::REOPEN_AFTER {
            return Ok(());
        }
        let _nobody_writes = self.in_use.write().await;
        self.writer.load().close().await;
        let (writer, report, _) = open_owner::<Registry>(self.directory.clone()).await?;
        self.writer.store(Arc::new(writer));
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = clock::start();
        report.log("the daemon's own records");
        Ok(())
    }

    /// The newest state that is on disk.
    pub(crate) fn snapshot(&self) -> Arc<Registry> {
        self.writer.load().snapshot()
    }

    /// The store's faults, as of the last write.
    pub(crate) fn health(&self) -> Arc<Health> {
        self.writer.load().health()
    }

    /// Queues a write and waits until it is on disk.
    pub(crate) async fn write(
        &self,
        session: Option<SessionId>,
        call: Option<Call>,
        operation: &'static str,
        decide: Decide<Registry>,
    ) -> Result<Written, WriteError> {
        let _open = self.in_use.read().await;
        self.writer.load_full().write(session, call, operation, decide).await
    }

    /// Runs something on the store itself, between writes.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Store<Registry>, &Registry) -> T + Send + 'static,
    ) -> Result<T, WriteError> {
        let _open = self.in_use.read().await;
        self.writer.load_full().ask(question).await
    }

    /// Whether nothing is taken any more: it was closed, or its thread has died.
    pub(crate) fn is_closed(&self) -> bool {
        self.writer.load().is_closed()
    }

    /// Serves what is queued, closes the store, and returns when that is done.
    pub(crate) async fn close(&self) {
        self.writer.load_full().close().await;
    }
}
