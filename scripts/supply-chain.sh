#!/usr/bin/env bash
# Checks what the jar is made of, and that whoever builds it again from the same sources gets the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

JAR=cli/target/lockkeeper.jar

java -cp "$JAR" scripts/SupplyChain.java cli/target/lockkeeper.cdx.json \
  config/supply-chain/licenses.txt config/supply-chain/advisories.txt

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# What git knows of and is still there; in another directory, in another time zone, and of nothing whose checksum is not recorded.
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  xargs -0 cp --parents -t "$copy"
(cd "$copy" && TZ=Pacific/Kiritimati ./mvnw -q -P build-only -pl cli -am package \
  -Daether.artifactResolver.postProcessor.trustedChecksums.failIfMissing=true)
if ! cmp "$JAR" "$copy/$JAR"; then
  echo "the jar is not reproducible: built twice from the same sources, it differs" >&2
  exit 1
fi
echo "reproducible: ok, built twice, $(sha256sum "$JAR" | cut -d' ' -f1)"
