# What CI runs, all of it.
check:
    .ci/run

# Unit and integration tests; the harness builds the binaries that it drives.
test *args:
    cargo test --workspace {{args}}

# Two agents, a killed one, a killed daemon, and what was lost (nothing).
demo:
    cargo run --bin anchord -- demo

# Many shims write while they and the daemon are killed; counts what was acknowledged and what is there.
torture *args:
    cargo run --release -p anchord-tests --bin torture -- {{args}}

# The numbers in docs/figures.md, each beside its floor. Without an argument, all of them.
bench *args:
    cargo run --release -p anchord-benches -- {{args}}
