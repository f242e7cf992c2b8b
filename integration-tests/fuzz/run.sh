#!/bin/sh
# Hostile requests against two coordinators of their own, round after round. Ends with 1 at the first round that found something.
# Settings, in the environment: FUZZ_SECONDS (default: no end), FUZZ_SEED (default: a fresh one for each round), FUZZ_MINUTES (that
# long against the same coordinators, which are flooded too and must not grow).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/.." && pwd)
[ -f "$tests/../cli/target/lockkeeper.jar" ] || { echo "no jar: run make build first" >&2; exit 2; }
(cd "$tests/.." && ./mvnw -q -pl integration-tests -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath)

cd "$tests"
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx384m -XX:+UseSerialGC -cp "target/test-classes:$(cat target/test.classpath)" \
  io.lockkeeper.integration.fuzz.Fuzz "${FUZZ_SECONDS:-}" "${FUZZ_SEED:-}" "${FUZZ_MINUTES:-}"
