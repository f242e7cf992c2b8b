#!/bin/sh
# One run: a cluster, its clients and a nemesis, and then the checker. Ends with the checker's code: 0 if all promises were
# kept. Settings, all of them in the environment: see README.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/.." && pwd)
[ -f "$tests/../cli/target/lockkeeper.jar" ] || { echo "no jar: run make build first" >&2; exit 2; }
"$tests/polyglot/install.sh" go_programs
[ -x "$tests/polyglot/build/bin/chaos-checker" ] || { echo "chaos: the checker is missing, see above" >&2; exit 2; }
"$tests/../clients/run.sh" programs

(cd "$tests/.." && ./mvnw -q -pl integration-tests -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath)

mkdir -p "$tests/target/scratch"
out=$(mktemp -d "$tests/target/scratch/chaos.XXXXXX")
cd "$tests"
: >"$out/run.log"
code=0
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx128m -XX:+UseSerialGC -cp "target/test-classes:$(cat target/test.classpath)" \
  io.lockkeeper.integration.chaos.Chaos "$out" >"$out/run.log" 2>&1 &
runner=$!
trap 'kill "$runner" 2>/dev/null || true' EXIT INT TERM
tail -n +1 -f --pid="$runner" "$out/run.log" | grep --line-buffered '^chaos:' || true
wait "$runner" || code=$?
trap - EXIT INT TERM
[ "$code" = 0 ] || { tail -n 20 "$out/run.log" >&2; echo "chaos: the run broke off; its logs are in $out" >&2; }

"$tests/polyglot/build/bin/chaos-checker" "$out" || code=1
if [ "$code" = 0 ] && [ -z "${CHAOS_KEEP:-}" ]; then
  rm -rf "$out"
else
  echo "chaos: histories and logs are in $out"
fi
exit "$code"
