//! A store that cannot be opened again at once.

use std::fs;

use super::*;
use crate::project::Transition;
use crate::projects::{ProjectId, RegistryChange};
use crate::store::FileStores;

fn stored(id: ProjectId) -> WriteCommand<Registry> {
    let changes = vec![RegistryChange::MemoryStored { id }];
    Arc::new(move |_, _| Ok(Transition::silent(changes.clone())))
}

/// Lets the next call of `retry` try.
fn let_time_pass(store: &RegistryStore) {
    *store.opened.lock() = clock::start().checked_sub(limits::REOPEN_AFTER).unwrap();
    store.is_failed.store(true, Ordering::Relaxed);
}

#[tokio::test]
async fn the_registry_stays_readable_until_its_store_can_be_reopened() {
    let scratch = tempfile::tempdir().unwrap();
    let stores = FileStores::new(scratch.path().to_owned());
    let (directory, away) = (scratch.path().join("daemon"), scratch.path().join("away"));
    let (store, ..) = RegistryStore::open(Arc::new(stores)).await.unwrap();
    let (before, after) = (ProjectId(uuid::Uuid::from_u128(1)), ProjectId::PERSONAL);
    store.write(None, None, "stored", stored(before)).await.unwrap();

    let_time_pass(&store);
    store.writer.load_full().close().await;
    fs::rename(&directory, &away).unwrap();
    fs::write(&directory, "no directory").unwrap();
    assert!(store.retry().await.is_err());
    assert!(!store.is_closed(), "it waits");
    assert!(store.snapshot().is_stored(before), "reads go on");
    let refused = store.write(None, None, "stored", stored(after)).await.unwrap_err();
    assert!(matches!(refused, WriteError::NotSaved(_)), "{refused}");

    fs::remove_file(&directory).unwrap();
    fs::rename(&away, &directory).unwrap();
    let_time_pass(&store);
    store.retry().await.unwrap();
    store.write(None, None, "stored", stored(after)).await.unwrap();
    assert!(store.snapshot().is_stored(before) && store.snapshot().is_stored(after));
    store.close().await;
    assert!(store.is_closed());
}
