#!/bin/sh
# Runs targets of the Makefiles of the clients in other languages:
#   clients/run.sh programs               what the integration tests, chaos and the benchmarks start
#   clients/run.sh lint test package docs
# LANGUAGES="python go" names some only. All at the same time, and what one prints comes when it is done. A language whose toolchain cannot be had is left
# out with a line that says SKIPPED.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# run.sh one LANGUAGE TARGET...: what this script starts for each language.
if [ "${1:-}" = one ]; then
  language=$2
  shift 2
  log=$(mktemp)
  trap 'cat "$log"; rm -f "$log"' EXIT
  for target; do
    if ! env -u MAKEFLAGS make --no-print-directory -C "$here/$language" "$target" >>"$log" 2>&1; then
      printf '\n%s\n\n' "FAILED: make -C clients/$language $target" >>"$log"
      exit 1
    fi
  done
  exit 0
fi

# Installs Debian packages when a command is missing and we may; says whether it is there.
want() {
  command=$1
  shift
  command -v "$command" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"; } >/dev/null 2>&1
  fi
  command -v "$command" >/dev/null 2>&1
}

# Prints why a language cannot be built here; nothing: it can.
lacks() {
  case $1 in
    python)
      want python3 python3 python3-venv || { echo "no python3"; return; }
      python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || echo "$(python3 --version) is older than 3.10"
      ;;
    go) want go golang-go || echo "no go" ;;
    node) { want node nodejs && want npm npm; } || echo "no Node.js with npm" ;;
    *) echo "no such client" ;;
  esac
}

able=
for language in ${LANGUAGES:-python go node}; do
  why=$(lacks "$language")
  if [ -n "$why" ]; then
    printf '\n%s\n\n' "SKIPPED: the client for $language: $why"
  else
    able="$able $language"
  fi
done
[ -z "$able" ] || printf '.PHONY: all%s\nall:%s\n%s:\n\t@"%s" one $@ %s\n' "$able" "$able" "${able# }" "$here/run.sh" "$*" |
  make --no-print-directory -k -j -f -
