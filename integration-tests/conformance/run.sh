#!/bin/sh
# Judges clients by the contract: docs/writing-a-client.md. CLIENT='command' judges that one; nothing, all of ours and the
# planted mistakes, or those of some LANGUAGES ("java python go node"; the reference client and the mistakes are in Python).
# ONLY=text plays only scenarios whose names contain it, and the mistakes that these must find; JOBS=n plays that many at once.
# `make conformance` builds what it needs.
set -eu
cd "$(dirname "$0")/../.."
kit=integration-tests/conformance
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
set -- --only "${ONLY:-}" --jobs "${JOBS:-4}"
if [ -n "${CLIENT:-}" ]; then
  set -- "$@" --client "$CLIENT"
else
  for language in ${LANGUAGES:-java python go node}; do
    case $language in
      java)
        # The kit itself runs with a class path of its own: this is that of the client for Java.
        CLASSPATH=$(ls $kit/java/target/*.jar):$(cat $kit/java/target/class-path.txt)
        export CLASSPATH
        # To load archived classes costs half as much, and the kit starts this client for each scenario.
        archive=$kit/java/target/driver.jsa
        { printf '%s\n' '{"do":"open","servers":["127.0.0.1:9"],"ttl_ms":60000}' '{"do":"acquire","id":"a","locks":["a"]}' && sleep 2; } |
          "$java" -XX:ArchiveClassesAtExit=$archive -Xlog:disable io.lockkeeper.conformance.java.Driver >/dev/null 2>&1 ||
          { echo "the client for Java does not start" >&2; exit 1; }
        set -- "$@" --client "$java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=$archive -Xlog:disable \
          io.lockkeeper.conformance.java.Driver"
        ;;
      *)
        LANGUAGES=$language clients/run.sh programs
        # A client that is built ends well when its input does.
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
fi
exec "$java" -Xmx256m -cp "$kit/kit/target/classes:$(cat $kit/kit/target/class-path.txt)" io.lockkeeper.conformance.Kit "$@"
