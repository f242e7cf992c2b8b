#!/bin/sh
# Installs what the integration tests need besides Java, in pinned versions and below ignored directories:
#   polyglot/install.sh [python_stubs | go_programs | page_browser | wall_clock | monitoring | neighbours | guides | model_checker | site]...
# Without arguments it installs every part except the site. Parts that are up to date are not installed again.
# SKIPPED: a tool or a registry is missing; the tests that need it are skipped too. FAILED: our own code does not build; the exit
# status is 1. System packages are installed only in CI: as root, with CI=true in the environment.
set -u

here=$(cd "$(dirname "$0")" && pwd)
proto=$here/../../proto/src/main/proto
build=$here/build
grpcurl=github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4
mermaid=mermaid@11.17.2
skipped=0
failed=0
log=
mkdir -p "$build/bin" "$build/log"

say() { printf '%s\n' "polyglot: $*"; }

# skip WHAT PROBLEM REMEDY
skip() {
  skipped=$((skipped + 1))
  printf '\n%s\n\n' "SKIPPED: $1: $2; to get it: $3"
}

# fail WHAT: reports that our own code does not build, with the end of the log of the last step.
fail() {
  failed=$((failed + 1))
  tail -n 20 "$log" >&2
  printf '\n%s\n\n' "FAILED: $1: it does not build; see $log"
}

# step NAME COMMAND...: runs a command whose output goes to a log.
step() {
  log=$build/log/$1.log
  shift
  "$@" >"$log" 2>&1
}

# Installs Debian packages, in CI only.
system_packages() {
  [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  say "installing $*"
  [ -n "${apt_updated:-}" ] || { step apt-update apt-get update -q && apt_updated=yes; }
  step "apt-$1" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# want WHAT COMMAND PACKAGE...: succeeds if the command exists; WHAT needs it.
want() {
  what=$1
  command=$2
  shift 2
  command -v "$command" >/dev/null 2>&1 && return 0
  system_packages "$@" && command -v "$command" >/dev/null 2>&1 && return 0
  skip "$what" "no $command" "apt-get install $*"
  return 1
}

# fresh STAMP SOURCE...: succeeds if no source is newer than the stamp.
fresh() {
  stamp=$build/$1.stamp
  shift
  [ -f "$stamp" ] && [ -z "$(find "$@" -type f -newer "$stamp" 2>/dev/null | head -n 1)" ]
}

# python_packages WHAT NAME REQUIREMENTS: installs packages into the virtual environment build/NAME.
python_packages() {
  want "$1" python3 python3 python3-venv || return 1
  if ! python3 -c 'import ensurepip' >/dev/null 2>&1 && ! system_packages python3-venv; then
    skip "$1" "no venv module for python3" "apt-get install python3-venv"
    return 1
  fi
  step "$2-packages" sh -c "python3 -m venv '$build/$2' &&
    '$build/$2/bin/python' -m pip install --disable-pip-version-check --only-binary :all: -r '$3'" && return 0
  rm -rf "${build:?}/$2"
  skip "$1" "no packages from PyPI for $(python3 --version)" "see $log"
  return 1
}

# npm_packages WHAT NAME DIRECTORY: installs what the lock file of a directory names.
npm_packages() {
  want "$1" node nodejs && want "$1" npm npm || return 1
  if fresh "$2" "$3/package-lock.json" && [ -d "$3/node_modules" ]; then return 0; fi
  step "$2-packages" npm ci --prefix "$3" --no-audit --no-fund --ignore-scripts && touch "$build/$2.stamp" && return 0
  skip "$1" "no packages from the npm registry" "see $log"
  return 1
}

# The interpreter and the stubs of ../conformance/python.
python_stubs() {
  requirements=$here/../conformance/python/requirements.txt
  if fresh python "$proto" "$requirements" && [ -x "$build/python/bin/python" ]; then return; fi
  python_packages "Python stubs" python "$requirements" || return
  mkdir -p "$build/python-stubs"
  if step python-stubs sh -c "cd '$proto' && '$build/python/bin/python' -m grpc_tools.protoc -I . \
    --python_out='$build/python-stubs' --grpc_python_out='$build/python-stubs' \$(find lockkeeper -name '*.proto' | sort)"; then
    touch "$build/python.stamp"
    say "Python stubs ready"
  else
    fail "Python stubs"
  fi
}

go_programs() {
  want "chaos checker and grpcurl" go golang-go || return
  if ! go version | grep -Eq 'go(1\.(2[1-9]|[3-9][0-9])|[2-9])'; then
    skip "chaos checker and grpcurl" "$(go version | cut -d ' ' -f 3) is older than 1.21" "https://go.dev/dl"
    return
  fi
  chaos_checker
  [ -f "$build/${grpcurl##*/}.stamp" ] && return
  if step grpcurl env GOBIN="$build/bin" go install "$grpcurl"; then
    touch "$build/${grpcurl##*/}.stamp"
    say "grpcurl ready"
  else
    skip "grpcurl" "go install $grpcurl fails" "see $log"
  fi
}

# Checks the histories of a chaos run.
chaos_checker() {
  checker=$here/../programs/chaos/checker
  if fresh chaos-checker "$checker" && [ -x "$build/bin/chaos-checker" ]; then return; fi
  if ! step chaos-checker-modules sh -c "cd '$checker' && go mod download"; then
    skip "chaos checker" "no modules from the Go proxy" "see $log"
  elif step chaos-checker sh -c "cd '$checker' && go build -o '$build/bin/chaos-checker' ."; then
    touch "$build/chaos-checker.stamp"
    say "chaos checker ready"
  else
    fail "chaos checker"
  fi
}

# A browser for the tests of the web page, and the packages that drive it.
page_browser() {
  npm_packages "tests of the web page" page "$here/../page" || return
  want "tests of the web page" chromium chromium fonts-dejavu-core || return
  ln -sf "$(command -v chromium)" "$build/bin/chromium"
  say "browser for the web page ready"
}

# The generator of the documentation site, which no test needs. The site loads nothing from other hosts, so it includes the program
# that draws its diagrams; without it they are shown as text.
site() {
  requirements=$here/../../docs/requirements.txt
  if ! { fresh site "$requirements" && [ -x "$build/site/bin/mkdocs" ]; }; then
    python_packages "documentation site" site "$requirements" || return
    touch "$build/site.stamp"
    say "documentation site ready"
  fi
  [ -f "$build/$mermaid/package/dist/mermaid.min.js" ] && return
  want "diagrams of the documentation site" npm npm || return
  mkdir -p "$build/$mermaid"
  step mermaid sh -c "cd '$build/$mermaid' && npm pack --silent '$mermaid' && tar -xzf *.tgz package/dist/mermaid.min.js && rm *.tgz" ||
    skip "diagrams of the documentation site" "no $mermaid from the npm registry" "see $log"
}

# Changes the wall clock that a server under test reads.
wall_clock() {
  if fresh wall-clock "$here/clock" && [ -f "$build/bin/wall-clock.so" ]; then return; fi
  want "tests of wall clock jumps" cc gcc libc6-dev || return
  if ! echo '#include <time.h>' | step c-headers cc -E -x c - && ! system_packages libc6-dev; then
    skip "tests of wall clock jumps" "no C headers" "apt-get install libc6-dev"
  elif step wall-clock cc -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -o "$build/bin/wall-clock.so" \
    "$here/clock/wall-clock.c"; then
    touch "$build/wall-clock.stamp"
    say "wall clock ready"
  else
    fail "tests of wall clock jumps"
  fi
}

# Scrapes a coordinator in a test, and checks the metrics, the rules and their tests.
monitoring() {
  for program in promtool prometheus; do
    want "tests with Prometheus" "$program" prometheus || return
    ln -sf "$(command -v "$program")" "$build/bin/$program"
  done
  say "Prometheus ready"
}

# The servers that the migration pages start from.
neighbours() {
  want "test of the migration from Redisson" redis-server redis-server
  want "test of the migration from etcd" etcd etcd-server
}

# Commands that the documentation shows and GuidesIT runs.
guides() {
  want "tests of the documentation" curl curl ca-certificates
  want "tests of the documentation" openssl openssl
}

model_checker() {
  want "the model" spin spin gcc libc6-dev
}

[ $# -gt 0 ] || set -- python_stubs go_programs page_browser wall_clock monitoring neighbours guides model_checker
for part; do
  case $part in
    python_stubs | go_programs | page_browser | wall_clock | monitoring | neighbours | guides | model_checker | site) "$part" ;;
    *) sed -n 's/^#   /usage: /p' "$0" >&2; exit 2 ;;
  esac
done
[ "$skipped" = 0 ] || say "$skipped skipped, see above; the tests that need them are skipped too"
[ "$failed" = 0 ]
