#!/bin/sh
# Runs the README's start, and its test, in a module of its own that gets the client from build/proxy, on a coordinator of its own. Prints what the start printed.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
version=${VERSION:-v0.1.0-dev}
jar=${LOCKKEEPER_JAR:-$here/../../cli/target/lockkeeper.jar}
if [ ! -f "$jar" ] || ! command -v java >/dev/null 2>&1; then
  printf '\n%s\n\n' "SKIPPED: the README's start, which needs java and $jar"
  exit 0
fi
work=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap cleanup EXIT
java -Xmx256m -jar "$jar" dev --listen=127.0.0.1:0 --http=127.0.0.1:0 --zookeeper-port=0 --data-dir="$work/data" >"$work/server.log" 2>&1 &
server=$!
block() { awk -v wanted="$1" '/^```go$/ { n++; inside = n == wanted; next } /^```$/ { inside = 0 } inside' README.md; }
block 1 >"$work/main.go"
{ echo 'package main'; block 2; } >"$work/main_test.go"
cd "$work"
# A cache of its own: a version that is packaged again is another one.
export GOFLAGS=-mod=mod GONOSUMDB=lockkeeper.io GOPROXY="file://$here/build/proxy,$(go env GOPROXY)" GOWORK=off
# Go remembers which files a version has, and would not see one that is new.
export GODEBUG=goindex=0
cat >go.mod <<END
module example.com/start

go 1.26.0

require lockkeeper.io $version
END
cp "$here/go.sum" go.sum
cache=$(go env GOMODCACHE)
chmod -R u+w "$cache/lockkeeper.io@$version" 2>/dev/null || true
rm -rf "$cache/lockkeeper.io@$version" "$cache/cache/download/lockkeeper.io/@v/$version."*
for _ in $(seq 60); do
  address=$(sed -n 's/.*gRPC  *\(localhost:[0-9]*\).*/\1/p' server.log)
  [ -n "$address" ] && break
  kill -0 "$server" 2>/dev/null || { cat server.log; exit 1; }
  sleep 0.5
done
sed -i "s/localhost:7420/$address/" main.go
{ go build -o start . && go test .; } >build.log 2>&1 || { cat build.log; exit 1; }
./start
