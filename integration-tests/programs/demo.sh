#!/bin/sh
# Replays the oversold stock: two shop processes, 100 buyers, 30 items; first without a lock, then with one. Starts its own
# coordinator on free ports with data in a temporary directory, and leaves nothing behind. Needs JDK 17 and the jar (make build).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
jar=$here/../../cli/target/lockkeeper.jar
sources=$here/src/test/java/io/lockkeeper/integration/demo
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
[ -f "$jar" ] || { echo "no $jar: run make build first" >&2; exit 2; }

work=$(mktemp -d "${TMPDIR:-/tmp}/lockkeeper-demo.XXXXXX")
server=
# shellcheck disable=SC2329 # the trap calls it
finish() {
  code=$?
  trap - EXIT INT TERM
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$javac" -nowarn -d "$work/classes" -cp "$jar" "$sources"/*.java

# Prints free ports. Another process can still take one before the coordinator does.
cat >"$work/Ports.java" <<'JAVA'
public class Ports {
  public static void main(String[] count) throws Exception {
    var sockets = new java.util.ArrayList<java.net.ServerSocket>();
    for (int i = 0; i < Integer.parseInt(count[0]); i++) {
      sockets.add(new java.net.ServerSocket(0));
      System.out.println(sockets.get(i).getLocalPort());
    }
  }
}
JAVA
# shellcheck disable=SC2046 # one word a port
set -- $("$java" "$work/Ports.java" 3)
"$java" -jar "$jar" dev --listen "127.0.0.1:$1" --http "127.0.0.1:$2" --zookeeper-port "$3" --data-dir "$work/data" \
  >"$work/server.log" 2>&1 &
server=$!
output=file
[ ! -t 1 ] || output=terminal
"$java" -cp "$work/classes:$jar" io.lockkeeper.integration.demo.Demo "127.0.0.1:$1" "$work" "$output" || {
  code=$?
  echo "--- the coordinator said:" >&2
  tail -n 20 "$work/server.log" >&2
  exit "$code"
}
