//! `anchord completions`: prints completions for a shell.

use std::io::Write;

use crate::exit::Error;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord completions bash > ~/.local/share/bash-completion/completions/anchord
  anchord completions zsh > ~/.zfunc/_anchord
  anchord completions fish > ~/.config/fish/completions/anchord.fish")]
pub(crate) struct Args {
    /// Shell to print them for
    shell: clap_complete::Shell,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        // The output goes through a buffer, since the generator panics if it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::help::command(), "anchord", &mut script);
        Ok(out.write_all(&script)?)
    }
}
