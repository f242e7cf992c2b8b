#!/bin/sh
# Generates gen/ from the proto files, with the plugins that go.mod pins. PROTOC names the compiler; without it, grpcio-tools is installed
# below build/.
set -eu
cd "$(dirname "$0")"
proto=${PROTO_DIR:-../../proto/src/main/proto}
mkdir -p build/bin
if [ -z "${PROTOC:-}" ]; then
  if [ ! -x build/python/bin/python ] || ! build/python/bin/python -c 'import grpc_tools' 2>/dev/null; then
    python3 -m venv build/python
    build/python/bin/python -m pip install -q --disable-pip-version-check --only-binary :all: grpcio-tools==1.85.1
  fi
  PROTOC="build/python/bin/python -m grpc_tools.protoc"
fi
(cd tools && go build -o ../build/bin/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc)
# shellcheck disable=SC2046,SC2086 # file names and the command have no spaces in their words
$PROTOC -I "$proto" --plugin=protoc-gen-go=build/bin/protoc-gen-go --plugin=protoc-gen-go-grpc=build/bin/protoc-gen-go-grpc \
  --go_out=. --go_opt=module=lockkeeper.io --go-grpc_out=. --go-grpc_opt=module=lockkeeper.io \
  $(cd "$proto" && ls lockkeeper/v1/*.proto)
