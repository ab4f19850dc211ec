//! The program `anchord`.

use std::process::ExitCode;

fn main() -> ExitCode {
    anchord::main()
}
