#!/bin/sh
# Locks beside other systems' locks: see docs/benchmarks/README.md. The environment says what to run, for instance
# ROWS=own-256,hot-64 SYSTEMS=curator,lockkeeper ROUNDS=3 BENCH_SECONDS=2.
set -eu
cd "$(dirname "$0")/../.."
./mvnw -q -pl integration-tests/benchmarks/runner -am package -Dmaven.test.skip=true
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m \
  -cp "integration-tests/benchmarks/runner/target/classes:$(cat integration-tests/benchmarks/runner/target/class-path.txt)" \
  io.lockkeeper.bench.runner.Bench integration-tests/benchmarks
