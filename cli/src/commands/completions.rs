//! `anchord completions`: for the shell.

use std::io::Write;

use clap::CommandFactory;

use crate::exit::Error;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord completions bash > ~/.local/share/bash-completion/completions/anchord
  anchord completions zsh > ~/.zfunc/_anchord
  anchord completions fish > ~/.config/fish/completions/anchord.fish")]
pub(crate) struct Args {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        // Through a buffer: the generator panics where it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "anchord", &mut script);
        Ok(out.write_all(&script)?)
    }
}
