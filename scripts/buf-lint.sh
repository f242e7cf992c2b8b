#!/usr/bin/env bash
# Lints the API with buf, and refuses what breaks clients of the baseline:
#   scripts/buf-lint.sh                 lint, and compare with proto/baseline.binpb
#   scripts/buf-lint.sh --renew         lint, and make the API as it is now the baseline: at a release, and before the first
#                                       release also where something was changed on purpose
set -euo pipefail
cd "$(dirname "$0")/.."

BUF=@bufbuild/buf@1.75.0
BASELINE=proto/baseline.binpb

if ! command -v npx >/dev/null; then
  echo "SKIPPED: buf lint: buf comes from npm, and there is no npx on the PATH" >&2
  exit 0
fi

buf() {
  npx --yes "$BUF" "$@"
}

if ! buf --version >/dev/null 2>&1; then
  echo "SKIPPED: buf lint: npm cannot download $BUF" >&2
  exit 0
fi
buf lint
echo "buf lint: ok"

if [ "${1:-}" = --renew ]; then
  buf build --exclude-source-info -o "$BASELINE"
  echo "buf build: $BASELINE is the API as it is now"
else
  buf breaking --against "$BASELINE"
  echo "buf breaking: ok, compatible with $BASELINE"
fi
