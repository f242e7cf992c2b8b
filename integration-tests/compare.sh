#!/bin/sh
# Locks a second, Lockkeeper beside Curator's InterProcessMutex on the same ZooKeeper. Arguments: rounds and milliseconds
# of each measurement.
set -eu
cd "$(dirname "$0")/.."
./mvnw -q -pl integration-tests -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath
cd integration-tests
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx128m -cp "target/test-classes:$(cat target/test.classpath)" \
  io.lockkeeper.integration.compare.Comparison "$@"
