#!/bin/sh
# Compiles this module and runs one of its programs. Arguments: the class, relative to io.lockkeeper.integration, then the
# arguments of the program. Example: run.sh outages.Outages paused killed
set -eu
cd "$(dirname "$0")/../.."
[ -f cli/target/lockkeeper.jar ] || { echo "no cli/target/lockkeeper.jar: run make build first" >&2; exit 2; }
./mvnw -q -pl integration-tests/programs -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath

# The programs find the other directories of integration-tests relative to it.
cd integration-tests
program=io.lockkeeper.integration.$1
shift
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx512m -XX:+UseSerialGC \
  -Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener \
  -cp "programs/target/test-classes:$(cat programs/target/test.classpath)" "$program" "$@"
