//! Kilo: `~/.local/share/kilo/kilo.db`, in the form of opencode's database.

use crate::clients::opencode::transcript as opencode;
use crate::transcripts::{Kept, Transcripts};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    folder: ".local/share/kilo",
    files: |folder| opencode::database(folder, "kilo.db"),
    reader: |_| Box::new(opencode::Transcript::default()),
    kept: Kept::Rows(opencode::DATABASE),
};
