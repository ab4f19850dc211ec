#!/bin/sh
# Installs anchord for the user who runs it: its programs, man pages, completions and licences.
# Nothing runs as root, and nothing is started.
#
#   curl -fsSL RELEASES/latest/download/install.sh | sh
#   sh install.sh --version 0.2.0 --dir ~/bin
#   sh install.sh --uninstall

set -eu

# The address of the releases. The release workflow writes it here.
releases="${ANCHORD_RELEASES:-@RELEASES@}"

usage() {
  cat <<'END'
Install anchord: its programs, man pages, completions and licences, for you alone

Usage: install.sh [--version VERSION] [--dir DIR]
       install.sh --uninstall [--dir DIR]

  --version VERSION  the version, as 0.2.0 [default: the newest]
  --dir DIR          where the programs go [default: ~/.local/bin]
  --uninstall        take anchord out of your agents, stop it, and remove what this installed;
                     your memory stays

Environment: ANCHORD_RELEASES, the address of the releases

Exit codes: 0 done, 1 failed, 2 wrong usage
END
}

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

wrong() {
  printf 'error: %s\n  `install.sh --help` has the options\n' "$1" >&2
  exit 2
}

version=latest
bin=""
uninstall=""
while [ $# -gt 0 ]; do
  case "$1" in
    --version) [ $# -ge 2 ] || wrong "--version needs a version"; version="${2#v}"; shift ;;
    --version=*) version="${1#*=}"; version="${version#v}" ;;
    --dir) [ $# -ge 2 ] || wrong "--dir needs a directory"; bin="$2"; shift ;;
    --dir=*) bin="${1#*=}" ;;
    --uninstall) uninstall=yes ;;
    --help | -h) usage; exit 0 ;;
    *) wrong "unknown option $1" ;;
  esac
  shift
done

[ -n "${HOME:-}" ] || fail "HOME is not set"
bin="${bin:-$HOME/.local/bin}"
case "$bin" in /*) ;; *) bin="$PWD/$bin" ;; esac
data="${XDG_DATA_HOME:-$HOME/.local/share}"
docs="$data/doc/anchord"
# One line for each file that was installed, so that exactly these are removed.
list="$data/anchord-install/files"

remove_files() {
  [ -f "$list" ] || return 0
  while IFS= read -r file; do
    [ -z "$file" ] || rm -f "$file"
  done <"$list"
  rm -f "$list"
  rmdir "$(dirname "$list")" "$docs" 2>/dev/null || true
}

if [ -n "$uninstall" ]; then
  [ -f "$list" ] || fail "nothing that this script installed is here" "$list has the list of files"
  program="$(grep '/anchord$' "$list" | head -n 1)"
  if [ -x "$program" ]; then
    "$program" uninstall --yes </dev/null || fail "anchord could not be uninstalled" \
      "the programs stay, so that \`anchord doctor\` can say why"
  fi
  remove_files
  printf 'removed. Your memory stays; `anchord uninstall` said where\n'
  exit 0
fi

case "$(uname -s)" in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no build for $(uname -s)" "build it: cargo install --path cli" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no build for $(uname -m)" "build it: cargo install --path cli" ;;
esac
target="$machine-$system"

case "$releases" in
  @*) fail "the address of the releases is not known" "set ANCHORD_RELEASES to it" ;;
esac
case "$version" in
  latest) from="$releases/latest/download" ;;
  *) from="$releases/download/v$version" ;;
esac

scratch="$(mktemp -d "${TMPDIR:-/tmp}/anchord-install.XXXXXX")"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

get() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "neither sha256sum nor shasum is installed, so the download cannot be checked"
  fi
}

archive="anchord-$target.tar.gz"
printf 'anchord %s for %s\n' "$version" "$target"
get "$from/$archive" "$scratch/$archive" || fail "cannot download $from/$archive" \
  "check the version, and that the network is there"
get "$from/$archive.sha256" "$scratch/$archive.sha256" || fail "cannot download $archive.sha256"
wanted="$(cut -d ' ' -f 1 "$scratch/$archive.sha256")"
found="$(digest "$scratch/$archive")"
[ -n "$wanted" ] && [ "$wanted" = "$found" ] || fail "the download is not what was released" \
  "its SHA-256 is $found, the release says ${wanted:-nothing}; nothing was installed"
tar -xzf "$scratch/$archive" -C "$scratch" || fail "cannot unpack $archive"
parts="$scratch/anchord-$target"
"$parts/bin/anchord" --version >/dev/null || fail "the program does not run on this machine" \
  "nothing was installed"

config="${XDG_CONFIG_HOME:-$HOME/.config}"
mkdir -p "$(dirname "$list")"
[ -f "$list" ] || : >"$list"

# A program that runs cannot be written over, but its name can be given to another file.
place() {
  mkdir -p "$(dirname "$2")" || fail "cannot create $(dirname "$2")"
  cp "$1" "$2.new" && mv -f "$2.new" "$2" || fail "cannot write $2" "--dir names another directory"
  grep -qxF "$2" "$list" || printf '%s\n' "$2" >>"$list"
}

for program in "$parts"/bin/*; do
  place "$program" "$bin/$(basename "$program")"
done
for page in "$parts"/share/man/man1/*; do
  place "$page" "$data/man/man1/$(basename "$page")"
done
place "$parts/share/completions/anchord.bash" "$data/bash-completion/completions/anchord"
place "$parts/share/completions/_anchord" "$data/zsh/site-functions/_anchord"
place "$parts/share/completions/anchord.fish" "$config/fish/completions/anchord.fish"
for notice in "$parts"/LICENSE-* "$parts"/THIRD-PARTY*; do
  # An archive that was made by hand may have no notices of libraries.
  [ ! -f "$notice" ] || place "$notice" "$docs/$(basename "$notice")"
done

printf 'installed %s in %s\n' "$("$bin/anchord" --version)" "$bin"
case ":$PATH:" in
  *":$bin:"*) printf 'next: anchord setup\n' ;;
  *)
    printf 'next: add it to your PATH, and set up your agents\n'
    printf '  export PATH="%s:$PATH"    # also in your shell'"'"'s profile\n' "$bin"
    printf '  anchord setup\n'
    ;;
esac
