#!/bin/sh
# What failover costs with the settings of production (some five minutes); fails if a floor is missed. Argument: how often to kill one
# of three coordinators.
set -eu
cd "$(dirname "$0")/../.."
./mvnw -q -pl integration-tests -am -Dmdep.outputFile=target/test.classpath -DincludeScope=test \
  test-compile dependency:build-classpath
cd integration-tests
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx512m -Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener \
  -cp "target/test-classes:$(cat target/test.classpath)" io.lockkeeper.integration.failover.Floors "$@"
