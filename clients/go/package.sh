#!/bin/sh
# Writes the module, with its generated code, as the file tree of a module proxy: build/proxy. VERSION names the version.
set -eu
cd "$(dirname "$0")"
version=${VERSION:-v0.1.0-dev}
(cd tools && go build -o ../build/bin/ ./modproxy)
rm -rf build/module build/proxy
mkdir -p build/module/gen
cp -r go.mod go.sum README.md ../../LICENSE lockkeeper build/module/
cp -r gen/lockkeeper build/module/gen/
build/bin/modproxy build/module lockkeeper.io "$version" build/proxy
echo "go: build/proxy/lockkeeper.io/@v/$version.zip"
