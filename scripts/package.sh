#!/usr/bin/env bash
# Builds the archive of a release for one target, from programs that are built already.
#
#   scripts/package.sh TARGET [PROGRAMS] [OUT]
#
# PROGRAMS is the directory that has anchord, anchord-mcp and anchord-hook [default:
# target/TARGET/release]; OUT is where the archive goes [default: target/package]. The programs must
# run on this machine, or `ANCHORD` must name an anchord that does: it writes man pages and
# completions.
set -euo pipefail

target="${1:?usage: scripts/package.sh TARGET [PROGRAMS] [OUT]}"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
programs="${2:-$root/target/$target/release}"
out="${3:-$root/target/package}"
anchord="${ANCHORD:-$programs/anchord}"
name="anchord-$target"

parts="$out/$name"
rm -rf "$parts" "$out/share"
mkdir -p "$parts/bin" "$parts/share/completions"
for program in anchord anchord-mcp anchord-hook; do
  install -m 755 "$programs/$program" "$parts/bin/$program"
done
"$anchord" man "$parts/share/man/man1"
"$anchord" completions bash >"$parts/share/completions/anchord.bash"
"$anchord" completions zsh >"$parts/share/completions/_anchord"
"$anchord" completions fish >"$parts/share/completions/anchord.fish"
# The packages of Linux distributions take them from there, whatever the target.
cp -R "$parts/share" "$out/share"
install -m 644 "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$parts/"
# The release workflow writes the notices of all dependencies before it packs.
if [ -f "$root/target/THIRD-PARTY.html" ]; then
  install -m 644 "$root/target/THIRD-PARTY.html" "$parts/"
fi

# The same programs give the same archive. Only GNU tar can do that; macOS has it as gtar.
tar=tar
if command -v gtar >/dev/null; then tar=gtar; fi
"$tar" --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner \
  -cf - -C "$out" "$name" | gzip -n >"$out/$name.tar.gz"
digest=(sha256sum)
command -v sha256sum >/dev/null || digest=(shasum -a 256)
(cd "$out" && "${digest[@]}" "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
