#!/usr/bin/env bash
# Builds the npm packages from the archives of a release: one with the launcher, and one with the
# programs for each platform.
#
#   scripts/npm.sh VERSION OUT ARCHIVE...
set -euo pipefail

version="${1:?usage: scripts/npm.sh VERSION OUT ARCHIVE...}"
out="${2:?usage: scripts/npm.sh VERSION OUT ARCHIVE...}"
shift 2
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$out"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

optional=""
for archive in "$@"; do
  target="$(basename "$archive" .tar.gz)"
  target="${target#anchord-}"
  case "$target" in
    x86_64-*-linux-*) os=linux cpu=x64 ;;
    aarch64-*-linux-*) os=linux cpu=arm64 ;;
    x86_64-apple-darwin) os=darwin cpu=x64 ;;
    aarch64-apple-darwin) os=darwin cpu=arm64 ;;
    *) echo "error: $archive is of no platform that npm has a name for" >&2; exit 1 ;;
  esac
  package="$scratch/$os-$cpu"
  mkdir -p "$package"
  tar -xzf "$archive" -C "$package" --strip-components 1
  rm -rf "$package/share"
  cat >"$package/package.json" <<END
{
  "name": "@anchord/$os-$cpu",
  "version": "$version",
  "description": "The programs of anchord for $os on $cpu",
  "license": "MIT OR Apache-2.0",
  "os": ["$os"],
  "cpu": ["$cpu"],
  "files": ["bin", "LICENSE-*", "THIRD-PARTY.html"]
}
END
  optional="$optional${optional:+,}
    \"@anchord/$os-$cpu\": \"$version\""
  (cd "$package" && npm pack --silent --pack-destination "$(cd "$OLDPWD" && cd "$out" && pwd)")
done

package="$scratch/anchord"
mkdir -p "$package"
cp "$root/packaging/npm/anchord.js" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/README.md" "$package/"
cat >"$package/package.json" <<END
{
  "name": "anchord",
  "version": "$version",
  "description": "Shared memory for coding agents",
  "license": "MIT OR Apache-2.0",
  "bin": { "anchord": "anchord.js" },
  "engines": { "node": ">=18" },
  "files": ["anchord.js", "LICENSE-*"],
  "optionalDependencies": {$optional
  }
}
END
(cd "$package" && npm pack --silent --pack-destination "$(cd "$OLDPWD" && cd "$out" && pwd)")
