#!/bin/sh
# Runs the README's start and its test in a module of its own, on the server in memory. The module gets the client from build/proxy and everything
# else from the cache of modules, so that no proxy is needed.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
version=${VERSION:-v0.1.0-dev}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
block() { awk -v wanted="$1" '/^```go$/ { n++; inside = n == wanted; next } /^```$/ { inside = 0 } inside' README.md; }
block 1 | sed 's/"localhost:7420"/address/' >"$work/main.go"
{ echo 'package main'; block 2; } >"$work/main_test.go"
cat >"$work/start_test.go" <<'END'
package main

import (
	"testing"

	"lockkeeper.io/lockkeeper/lockkeepertest"
)

var address string

func TestStart(t *testing.T) {
	address = lockkeepertest.NewServer(t).Address()
	main()
}
END
cat >"$work/go.mod" <<END
module example.com/start

go $(sed -n 's/^go //p' go.mod)

require lockkeeper.io $version
END
cp go.sum "$work"
cd "$work"
cache=$(go env GOMODCACHE)
export GOFLAGS=-mod=mod GOSUMDB=off GOWORK=off GOPROXY="file://$here/build/proxy,file://$cache/cache/download"
# A version that is packaged again is another one: it is not taken from the cache, nor is the list of its files.
chmod -R u+w "$cache/lockkeeper.io@$version" 2>/dev/null || true
rm -rf "$cache/lockkeeper.io@$version" "$cache/cache/download/lockkeeper.io/@v/$version."*
export GODEBUG=goindex=0
go test .
