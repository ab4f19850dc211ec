//! `anchord unpin`: undoes `anchord pin`.

use std::io::Write;

use super::pin::Records;
use crate::exit::Error;

/// Let the budget decide about records again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord unpin b12
  anchord unpin n3 n4 --project ~/src/parser")]
pub(crate) struct Args {
    #[command(flatten)]
    records: Records,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        self.records.unpin(out)
    }
}
