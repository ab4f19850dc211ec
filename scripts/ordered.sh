#!/usr/bin/env bash
# Builds anchord with the functions that sessions use side by side in the program.
#
#   scripts/ordered.sh [TARGET]
#
# The kernel maps 16 pages of a program around each one that runs. With the linker's own order, all
# sessions together need half of the program in memory; so ordered, they need a fifth. The program
# is built twice: once to see which functions run, then in their order. It needs valgrind and lld,
# and the shims of the same target. Prints the program's path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${1:-$(rustc -vV | sed -n 's/^host: //p')}"
out="${CARGO_TARGET_DIR:-$PWD/target}/$target"
# Both builds keep their symbols: with other settings, functions would have other names.
build=(rustc --locked --release --target "$target" -p anchord --bin anchord
  --config 'profile.release.strip="debuginfo"')
cargo "${build[@]}" >&2

parts="$(mktemp -d)"
trap 'rm -rf "$parts"' EXIT
cp "$out/release/anchord" "$out/shim/anchord-mcp" "$out/shim/anchord-hook" "$parts"
scripts/measure/functions.py "$parts" >"$parts/functions"

link=(-C "link-arg=-Wl,--symbol-ordering-file=$parts/functions" -C link-arg=-Wl,--no-warn-symbol-ordering)
# On this target, rustc brings its own lld and uses it unasked.
[ "$target" = x86_64-unknown-linux-gnu ] || link+=(-C link-arg=-fuse-ld=lld)
cargo "${build[@]}" -- "${link[@]}" >&2
strip "$out/release/anchord"
echo "$out/release/anchord"
