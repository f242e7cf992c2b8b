#!/bin/sh
# Runs targets of the Makefiles of the clients in other languages:
#   clients/run.sh programs               what the integration tests, chaos and the benchmarks start
#   clients/run.sh lint test versions package docs
# LANGUAGES="python go" names some only. All languages run at the same time; the output of each is printed when it is done.
# SKIPPED: a toolchain is missing or too old, or a registry cannot be reached. The exit status stays 0.
# FAILED: our own code is broken. The exit status is not 0.
# No toolchain is installed. `make deps` of each language downloads packages into ignored directories and the caches of go and npm.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# What pip, go and npm print if their registry does not answer.
UNREACHABLE='ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|NewConnectionError|ConnectTimeout|Temporary failure in name resolution|dial tcp|proxyconnect|i/o timeout|TLS handshake timeout'

skip() { printf '\n%s\n\n' "SKIPPED: the client for $1: $2"; }

# run.sh one LANGUAGE TARGET...: what this script starts for each language.
if [ "${1:-}" = one ]; then
  language=$2
  shift 2
  log=$(mktemp)
  trap 'cat "$log"; rm -f "$log"' EXIT
  run() { env -u MAKEFLAGS make --no-print-directory -C "$here/$language" "$1" >>"$log" 2>&1; }
  if ! run deps; then
    if grep -qiE "$UNREACHABLE" "$log"; then
      skip "$language" "its packages cannot be downloaded; see above, and run make -C clients/$language deps where their registry can be reached" >>"$log"
      exit 0
    fi
    printf '\n%s\n\n' "FAILED: make -C clients/$language deps" >>"$log"
    exit 1
  fi
  for target; do
    if ! run "$target" || { [ "$target" = programs ] && ! : | "$here/$language/bin/driver" >>"$log" 2>&1; }; then
      printf '\n%s\n\n' "FAILED: make -C clients/$language $target" >>"$log"
      exit 1
    fi
  done
  exit 0
fi

# too_old TOOL VERSION NEEDED WHERE: prints what is wrong with a tool; nothing: it can be used. Without VERSION there is no such tool.
too_old() {
  if [ -z "$2" ]; then
    echo "there is no $1, $3 or later is needed; get it from $4"
  elif ! printf '%s\n' "$3" "$2" | sort -C -V; then
    echo "$1 $2 is too old, $3 or later is needed; get it from $4"
  fi
}

# Prints why a language cannot be built here; nothing: it can.
lacks() {
  python=${PYTHON:-python3}
  needed=$(sed -n 's/^requires-python = ">=\(.*\)"/\1/p' "$here/python/pyproject.toml")
  case $1 in
    python | go) # Python generates the stubs of Go, too.
      problem=$(too_old "$python" "$("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null)" "$needed" https://www.python.org/downloads)
      [ -n "$problem" ] || "$python" -c 'import ensurepip' 2>/dev/null || problem="$python has no venv; get it as the package python3-venv"
      [ -z "$problem" ] || { echo "$problem"; return; }
      ;;
  esac
  case $1 in
    go)
      found=$(GOTOOLCHAIN=local go version 2>/dev/null | sed -n 's/.* go\([0-9][0-9.]*\).*/\1/p')
      too_old go "$found" "$(sed -n 's/^go //p' "$here/go/go.mod")" https://go.dev/dl
      ;;
    node)
      problem=$(too_old node "$(node --version 2>/dev/null | sed 's/^v//')" "$(sed -n 's/.*"node": ">=\(.*\)".*/\1/p' "$here/node/package.json")" https://nodejs.org/en/download)
      [ -n "$problem" ] || command -v npm >/dev/null 2>&1 || problem="there is no npm; get it from https://nodejs.org/en/download"
      [ -z "$problem" ] || echo "$problem"
      ;;
  esac
}

able=
for language in ${LANGUAGES:-python go node}; do
  [ -f "$here/$language/Makefile" ] || { echo "no such client: $language" >&2; exit 2; }
  problem=$(lacks "$language")
  if [ -n "$problem" ]; then
    skip "$language" "$problem"
  else
    able="$able $language"
  fi
done
[ -z "$able" ] || printf '.PHONY: all%s\nall:%s\n%s:\n\t@"%s" one $@ %s\n' "$able" "$able" "${able# }" "$here/run.sh" "$*" |
  make --no-print-directory -k -j -f -
