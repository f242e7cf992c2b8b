#!/bin/sh
# What outages cost with the settings of production; fails if a floor is missed. Arguments: names of rows; none for all.
set -eu
cd "$(dirname "$0")/../.."
./mvnw -q -pl integration-tests -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath
cd integration-tests
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx512m -Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener \
  -cp "target/test-classes:$(cat target/test.classpath)" io.lockkeeper.integration.outages.Outages "$@"
