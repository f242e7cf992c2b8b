#!/bin/sh
# Installs the toolchains' pinned packages, generates the stubs from proto/ and builds the clients, all of it under
# ignored folders. A toolchain that cannot be had is said so loudly ("SKIPPED: ...") and the tests of its client are skipped.
# Run it again at any time: what is there already is not done twice. Arguments name the parts that are wanted; none: all that tests need.
set -u

here=$(cd "$(dirname "$0")" && pwd)
proto=${PROTO_DIR:-$here/../../proto/src/main/proto}
build=$here/build
grpcurl_version=v1.9.4
mermaid=mermaid@11.17.2
skipped=0
mkdir -p "$build/bin" "$build/log"

say() { printf '%s\n' "polyglot: $*"; }

skip() {
  skipped=$((skipped + 1))
  printf '\n%s\n\n' "SKIPPED: $*"
}

# Runs a step quietly; shows the end of what it said if it fails.
step() {
  log=$build/log/$1.log
  shift
  if "$@" >"$log" 2>&1; then return 0; fi
  tail -n 15 "$log" >&2
  return 1
}

apt_updated=no
# Installs Debian packages when a command is missing and we may.
want() {
  command=$1
  shift
  if command -v "$command" >/dev/null 2>&1; then return 0; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 1; fi
  say "installing $*"
  if [ "$apt_updated" = no ]; then
    step apt-update apt-get update -q && apt_updated=yes
  fi
  step "apt-$command" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
  command -v "$command" >/dev/null 2>&1
}

# True when everything that a part is made of is older than its stamp.
fresh() {
  stamp=$build/$1.stamp
  shift
  [ -f "$stamp" ] && [ -z "$(find "$@" -type f -newer "$stamp" 2>/dev/null | head -n 1)" ]
}

protos() { (cd "$proto" && find lockkeeper -name '*.proto' | sort); }

# The protoc that comes with grpcio-tools, or else the one that the Maven build has fetched.
protoc() {
  if [ -x "$build/python/bin/python" ]; then
    "$build/python/bin/python" -m grpc_tools.protoc "$@"
    return
  fi
  repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}/com/google/protobuf
  program=$(find "$repository/protoc" -name "protoc-*-linux-$(uname -m).exe" 2>/dev/null | sort | tail -n 1)
  types=$(find "$repository/protobuf-java" -name 'protobuf-java-*.jar' 2>/dev/null | sort | tail -n 1)
  if [ -z "$program" ] || [ -z "$types" ]; then
    echo "no protoc: neither grpcio-tools nor Maven's" >&2
    return 1
  fi
  mkdir -p "$build/include" && cp "$program" "$build/bin/protoc" && chmod +x "$build/bin/protoc" || return 1
  (cd "$build/include" && jar xf "$types" google/protobuf) || return 1
  "$build/bin/protoc" -I "$build/include" "$@"
}

# Installs the pinned packages of Python that a file names into an environment of their own, $build/NAME.
python_packages() {
  if ! python3 -c 'import ensurepip' >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    step apt-update apt-get update -q
    step apt-venv env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-venv
  fi
  step "$1-venv" python3 -m venv "$build/$1" &&
    step "$1-packages" "$build/$1/bin/python" -m pip install --disable-pip-version-check --only-binary :all: -r "$2" || {
    rm -rf "$build/$1"
    return 1
  }
}

python_client() {
  want python3 python3 python3-venv || { skip "Python client: no python3"; return; }
  if fresh python "$proto" "$here/python/requirements.txt" && [ -x "$build/python/bin/python" ]; then return; fi
  python_packages python "$here/python/requirements.txt" || {
    skip "Python client: its packages cannot be installed"
    return
  }
  mkdir -p "$build/python-stubs"
  # shellcheck disable=SC2046 # the file names have no spaces
  step python-stubs "$build/python/bin/python" -m grpc_tools.protoc -I "$proto" \
    --python_out="$build/python-stubs" --grpc_python_out="$build/python-stubs" $(protos) ||
    { skip "Python client: its stubs cannot be generated"; return; }
  touch "$build/python.stamp"
  say "Python client ready"
}

go_programs() {
  want go golang-go || { skip "Go client and grpcurl: no Go"; return; }
  if ! go version 2>/dev/null | grep -Eq 'go(1\.(2[1-9]|[3-9][0-9])|[2-9])'; then
    skip "Go client and grpcurl: $(go version) is too old, 1.21 is needed"
    return
  fi
  if ! { fresh go "$proto" "$here/go/go.mod" "$here/go/main.go" && [ -x "$build/bin/go-client" ]; }; then
    if go_client; then
      touch "$build/go.stamp"
      say "Go client ready"
    else
      skip "Go client: it cannot be built"
    fi
  fi
  chaos_checker
  if [ -f "$build/grpcurl-$grpcurl_version.stamp" ]; then return; fi
  if step grpcurl env GOBIN="$build/bin" go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version"; then
    touch "$build/grpcurl-$grpcurl_version.stamp"
    say "grpcurl ready"
  else
    skip "grpcurl: it cannot be built"
  fi
}

# Reads the histories of a run of chaos. It needs no stubs.
chaos_checker() {
  if fresh chaos-checker "$here/../chaos/checker" && [ -x "$build/bin/chaos-checker" ]; then return; fi
  if step chaos-checker sh -c "cd '$here/../chaos/checker' && go build -o '$build/bin/chaos-checker' ."; then
    touch "$build/chaos-checker.stamp"
    say "checker of chaos ready"
  else
    skip "checker of chaos: it cannot be built"
  fi
}

# The protoc plugins are the tools that go.mod pins.
go_client() {
  step go-plugins sh -c "cd '$here/go' && go build -o '$build/bin/' google.golang.org/protobuf/cmd/protoc-gen-go \
    google.golang.org/grpc/cmd/protoc-gen-go-grpc" || return 1
  # shellcheck disable=SC2046 # the file names have no spaces
  step go-stubs protoc -I "$proto" \
    "--plugin=protoc-gen-go=$build/bin/protoc-gen-go" "--plugin=protoc-gen-go-grpc=$build/bin/protoc-gen-go-grpc" \
    "--go_out=$here/go" --go_opt=module=lockkeeper.io "--go-grpc_out=$here/go" --go-grpc_opt=module=lockkeeper.io \
    $(protos) || return 1
  step go-client sh -c "cd '$here/go' && go build -o '$build/bin/go-client' ."
}

node_client() {
  want node nodejs || { skip "Node client: no Node.js"; return; }
  want npm npm || { skip "Node client: no npm"; return; }
  if fresh node "$here/node/package-lock.json" && [ -d "$here/node/node_modules" ]; then return; fi
  step node-packages npm ci --prefix "$here/node" --no-audit --no-fund --ignore-scripts ||
    { skip "Node client: its packages cannot be installed"; return; }
  touch "$build/node.stamp"
  say "Node client ready"
}

# A browser for the tests of the web page, and what drives it.
page_browser() {
  want node nodejs || { skip "tests of the web page: no Node.js"; return; }
  want npm npm || { skip "tests of the web page: no npm"; return; }
  want chromium chromium fonts-dejavu-core || { skip "tests of the web page: no Chromium"; return; }
  ln -sf "$(command -v chromium)" "$build/bin/chromium"
  page=$here/../page
  if fresh page "$page/package-lock.json" && [ -d "$page/node_modules" ]; then return; fi
  step page-packages npm ci --prefix "$page" --no-audit --no-fund --ignore-scripts ||
    { skip "tests of the web page: their packages cannot be installed"; return; }
  touch "$build/page.stamp"
  say "browser for the web page ready"
}

# What writes the documentation site; not needed by any test. The site asks no other host for anything, so it has to
# bring the program that draws its diagrams; where that cannot be had they are shown as they are written.
site() {
  want python3 python3 python3-venv || { skip "the documentation site: no python3"; return; }
  requirements=$here/../../docs/requirements.txt
  if ! { fresh site "$requirements" && [ -x "$build/site/bin/mkdocs" ]; }; then
    python_packages site "$requirements" || { skip "the documentation site: its packages cannot be installed"; return; }
    touch "$build/site.stamp"
    say "the site's packages ready"
  fi
  [ -f "$build/$mermaid/package/dist/mermaid.min.js" ] && return
  want npm npm || { skip "diagrams in the documentation site: no npm"; return; }
  mkdir -p "$build/$mermaid"
  step mermaid sh -c "cd '$build/$mermaid' && npm pack --silent '$mermaid' && tar -xzf *.tgz package/dist/mermaid.min.js && rm *.tgz" ||
    skip "diagrams in the documentation site: mermaid cannot be had"
}

# Moves the wall clock of a server under test; not needed by anything else.
wall_clock() {
  if fresh wall-clock "$here/clock" && [ -f "$build/bin/wall-clock.so" ]; then return; fi
  want cc gcc libc6-dev || { skip "test of wall clock jumps: no C compiler"; return; }
  if step wall-clock cc -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -o "$build/bin/wall-clock.so" \
    "$here/clock/wall-clock.c"; then
    touch "$build/wall-clock.stamp"
    say "wall clock ready"
  else
    skip "test of wall clock jumps: its library cannot be built"
  fi
}

# Scrapes a coordinator in a test, and checks the metrics, the rules and their tests.
monitoring() {
  want promtool prometheus || { skip "tests with Prometheus: it cannot be had"; return; }
  want prometheus prometheus || { skip "tests with Prometheus: it cannot be had"; return; }
  ln -sf "$(command -v prometheus)" "$build/bin/prometheus" && ln -sf "$(command -v promtool)" "$build/bin/promtool" ||
    { skip "tests with Prometheus: it cannot be linked"; return; }
  say "Prometheus ready"
}

# The servers that somebody moves away from, in tests of the migration pages.
neighbours() {
  want redis-server redis-server || skip "test of the move from Redisson: no redis-server"
  want etcd etcd-server || skip "test of the move from etcd: no etcd"
}

[ $# -gt 0 ] || set -- python_client go_programs node_client page_browser wall_clock monitoring neighbours
for part; do
  case $part in
    python_client | go_programs | node_client | page_browser | wall_clock | monitoring | neighbours | site) "$part" ;;
    *) echo "usage: $0 [python_client | go_programs | node_client | page_browser | wall_clock | monitoring | neighbours | site]..." >&2; exit 2 ;;
  esac
done
if [ "$skipped" -gt 0 ]; then
  say "$skipped part(s) skipped, see above; the tests that need them will be skipped, too"
else
  say "all ready"
fi
