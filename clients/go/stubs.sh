#!/bin/sh
# Generates gen/ from the proto files, with the plugins that go.mod pins and the compiler of grpcio-tools, which `make deps` installs below build/.
set -eu
cd "$(dirname "$0")"
proto=../../proto/src/main/proto
mkdir -p build/bin
(cd tools && go build -o ../build/bin/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc)
# shellcheck disable=SC2046 # file names have no spaces
build/python/bin/python -m grpc_tools.protoc -I "$proto" \
  --plugin=protoc-gen-go=build/bin/protoc-gen-go --plugin=protoc-gen-go-grpc=build/bin/protoc-gen-go-grpc \
  --go_out=. --go_opt=module=lockkeeper.io --go-grpc_out=. --go-grpc_opt=module=lockkeeper.io \
  $(cd "$proto" && ls lockkeeper/v1/*.proto)
