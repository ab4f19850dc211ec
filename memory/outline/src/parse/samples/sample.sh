#!/usr/bin/env bash
. ./lib.sh
source "$HOME/other.sh"

LIMIT=10
readonly NAME="x"

# Prints how to use it. Then ends.
usage() {
  local inner=1
  echo usage
}

function main {
  usage
}
main "$@"
