#!/usr/bin/env bash
# Checks what the jar is made of, and that whoever builds it again from the same sources gets the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

JAR=cli/target/lockkeeper.jar

java -cp "$JAR" scripts/SupplyChain.java cli/target/lockkeeper.cdx.json \
  config/supply-chain/licenses.txt config/supply-chain/advisories.txt

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null || true
(cd "$copy" && ./mvnw -q -pl cli -am package -Dmaven.test.skip=true)
if ! cmp "$JAR" "$copy/$JAR"; then
  echo "the jar is not reproducible: built twice from the same sources, it differs" >&2
  exit 1
fi
echo "reproducible: ok, built twice, $(sha256sum "$JAR" | cut -d' ' -f1)"
