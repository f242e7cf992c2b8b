#!/usr/bin/env bash
# Lints the API with buf, and compares it with an earlier one if told which:
#   scripts/buf-lint.sh                 lint
#   scripts/buf-lint.sh v0.1.0          lint, then refuse what breaks clients of the tag, branch or commit v0.1.0
set -euo pipefail
cd "$(dirname "$0")/.."

BUF=@bufbuild/buf@1.75.0

if ! command -v npx >/dev/null; then
  echo "SKIPPED: buf lint: buf comes from npm, and there is no npx on the PATH" >&2
  exit 0
fi

buf() {
  npx --yes "$BUF" "$@"
}

buf lint
echo "buf lint: ok"

if [ $# -gt 0 ]; then
  buf breaking --against ".git#ref=$1"
  echo "buf breaking: ok, compatible with $1"
fi
