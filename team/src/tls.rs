//! TLS with certificates that are always verified, host name included.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Error;

/// Loads the authorities to trust: those of a file, or else those of the system.
pub(crate) async fn connector(file: Option<&Path>) -> Result<MakeRustlsConnect, Error> {
    let file = file.map(Path::to_owned);
    let loaded = tokio::task::spawn_blocking(move || load(file)).await;
    loaded.map_err(|_| failed("loading them was interrupted"))?
}

fn load(file: Option<PathBuf>) -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    match file.filter(|file| file.as_os_str() != "system") {
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
        Some(file) => {
            let unreadable = |error: &dyn std::error::Error| {
                failed(&format!("{}: {}", file.display(), crate::error::chain(error)))
            };
            let found = CertificateDer::pem_file_iter(&file).map_err(|error| unreadable(&error))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
        }
    }
    if roots.is_empty() {
        return Err(failed("there are none; install ca-certificates or name sslrootcert"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn failed(what: &str) -> Error {
    Error::Unreachable(format!("certificate authorities: {what}"))
}
