#!/bin/sh
# Judges clients by the contract, docs/writing-a-client.md: all of ours, and the planted mistakes. `make conformance` builds what it needs.
#   CLIENT='command'         only that client
#   LANGUAGES='java python'  only these; the reference client and the mistakes are in Python
#   ONLY=text                only scenarios whose names contain it, and the mistakes that these must find
#   JOBS=n                   n scenarios at once
set -eu
cd "$(dirname "$0")/../.."
kit=integration-tests/conformance
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
set -- --only "${ONLY:-}" --jobs "${JOBS:-4}"
if [ -n "${CLIENT:-}" ]; then
  set -- "$@" --client "$CLIENT"
else
  languages=${LANGUAGES:-java python go node}
  others=$(printf '%s\n' $languages | grep -vx java || true)
  [ -z "$others" ] || LANGUAGES=$others clients/run.sh programs
  for language in $languages; do
    case $language in
      java)
        # The kit itself runs with a class path of its own: this is that of the client for Java.
        CLASSPATH=$(ls -t $kit/java/target/*.jar | head -n 1):$(cat $kit/java/target/class-path.txt)
        export CLASSPATH
        # Loading archived classes costs half as much, and the kit starts this client for each scenario.
        archive=$kit/java/target/driver.jsa
        { printf '%s\n' '{"do":"open","servers":["127.0.0.1:9"],"ttl_ms":60000}' '{"do":"acquire","id":"a","locks":["a"]}' && sleep 2; } |
          "$java" -XX:ArchiveClassesAtExit=$archive -Xlog:disable io.lockkeeper.conformance.java.Driver >$kit/java/target/driver.log 2>&1 ||
          { echo "the client for Java does not start, see $kit/java/target/driver.log" >&2; exit 1; }
        set -- "$@" --client "$java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=$archive -Xlog:disable \
          io.lockkeeper.conformance.java.Driver"
        ;;
      *)
        # A client that is built exits with 0 at the end of its input.
        if : | "clients/$language/bin/driver" >/dev/null 2>&1; then
          set -- "$@" --client "clients/$language/bin/driver"
        else
          printf '\n%s\n\n' "SKIPPED: the client for $language is not built" >&2
        fi
        ;;
    esac
    [ $language = python ] || continue
    integration-tests/polyglot/install.sh python_stubs
    if [ -x integration-tests/polyglot/build/python/bin/python ]; then
      set -- "$@" --client "$kit/python/python.sh driver.py" --mistakes "$kit/python/python.sh mistakes.py"
    else
      printf '\n%s\n\n' "SKIPPED: the reference client and the planted mistakes: no Python with grpcio" >&2
    fi
  done
  case "$*" in
    *--client*) ;;
    *) printf '\n%s\n\n' "SKIPPED: conformance: no client is built" >&2; exit 0 ;;
  esac
fi
exec "$java" -Xmx256m -cp "$kit/kit/target/classes:$(cat $kit/kit/target/class-path.txt)" io.lockkeeper.conformance.Kit "$@"
