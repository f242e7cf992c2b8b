# `make` lists the targets. `run` and `test` need only a JDK 17: ./mvnw brings Maven. CONTRIBUTING.md has the tiers of the tests.

.DEFAULT_GOAL := help
# No -q: it hides compiler warnings, and -Werror makes those the errors.
MVN := ./mvnw -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
# Checks the format and style of all modules.
STYLE := $(MVN) -N spotless:check checkstyle:check
RECORD := -Daether.artifactResolver.postProcessor.trustedChecksums.record=true
JAR := cli/target/lockkeeper.jar
# The modules that `make test` tests, and the number that makes its simulation run other seeds with each commit.
TESTED := server,client-java,testing,cli,integration-tests
COMMITS := $(shell git rev-list --count HEAD 2>/dev/null)
KIT := integration-tests/conformance/kit,integration-tests/conformance/java
# Shows which tests run, without the warnings of the shade plugin.
PROGRESS := -Dorg.slf4j.simpleLogger.log.org.apache.maven.plugin=info -Dorg.slf4j.simpleLogger.log.org.apache.maven.plugins.shade=error
SUMMARY := java scripts/TestSummary.java target/tests-started
# Modules whose Javadoc is published.
LIBRARIES := client-java,testing,integrations/spring-boot-starter,integrations/shedlock
comma := ,
SOURCES := pom.xml $(wildcard */pom.xml) $(shell find proto/src/main server/src/main client-java/src/main cli/src/main -type f)

.PHONY: help build run test check clients lint docs baseline dist supply-chain checksums format demo bench growth conformance failover outages chaos fuzz soak model screenshots clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: $(JAR) ## Build the runnable jar, without tests

$(JAR): $(SOURCES)
	$(MVN) -pl cli -am package -Dmaven.test.skip=true
	@touch $@

run: $(JAR) ## Run a coordinator with an embedded ZooKeeper, data under data/
	java -XX:+ExitOnOutOfMemoryError -jar $(JAR) dev --data-dir data

test: ## Run the Java tests that guard every promise (8 minutes; 12 from a fresh clone)
	@mkdir -p target && touch target/tests-started
	$(MVN) -T 2 $(PROGRESS) verify -pl $(TESTED) -am -Dunit.groups='!slow' -Dit.groups=smoke -Dtest.output.toFile=true \
	  -Dsimulation.runs=1000 -Dsimulation.seed=$(COMMITS)0001 & tests=$$!; \
	$(STYLE) >target/style.log 2>&1 || { kill $$tests; cat target/style.log; exit 1; }; \
	wait $$tests || { $(SUMMARY); exit 1; }
	@$(SUMMARY)
	@echo "Not run: unit tests tagged slow, integration tests not tagged smoke, integrations, conformance kit, benchmarks, programs, clients in other languages, packages, docs."
	@echo "\`make check\` runs everything; CONTRIBUTING.md has the tiers between."

check: ## Run every check and every test, then soak, chaos and fuzz (about 60 minutes and 25 more)
	.ci/run --all
	$(MAKE) soak
	$(MAKE) chaos
	$(MAKE) fuzz SECONDS=300

clients: $(JAR) ## Build, check, test and package the clients in Python, Go and Node.js; LANGUAGES="python go" for some
	clients/run.sh programs lint test versions package

lint: ## Check format, style, layering and the API, and compile everything, without tests
	$(STYLE)
	$(MVN) verify -DskipTests -DskipITs
	scripts/buf-lint.sh

docs: $(JAR) ## Write the site to target/docs, with the references of the API, the clients and testing; a warning or a dead link fails
	rm -rf target/docs
	$(MVN) -q -P release -pl $(LIBRARIES) -am package -Dmaven.test.skip=true
	java -cp $(JAR) scripts/ApiReference.java proto/target/classes/lockkeeper/v1/lockkeeper.binpb target/docs/api.html
	for module in $(subst $(comma), ,$(LIBRARIES)); do \
	  cp -r $$module/target/reports/apidocs target/docs/$${module##*/} || exit 1; done
	clients/run.sh docs
	scripts/site.sh
	@echo "target/docs: index.html, which leads to all the rest"

baseline: ## Record the current API as the baseline for compatibility checks (at a release)
	scripts/buf-lint.sh --renew

dist: ## Build the tarball, the zip and the Debian package: target/dist
	scripts/dist.sh

supply-chain: $(JAR) ## Check the licences and known vulnerabilities of what is shipped, and that the jar is reproducible
	scripts/supply-chain.sh

checksums: ## Record the checksums of what the build downloads, after a change of versions
	$(STYLE) $(RECORD)
	$(MVN) $(RECORD) -DskipITs -Dtest=TextTest verify
	$(MVN) $(RECORD) -q -P release -pl $(LIBRARIES) -am package -Dmaven.test.skip=true

format: ## Format the Java sources
	$(MVN) -N spotless:apply

demo: $(JAR) ## Show locks changing hands on a small cluster
	integration-tests/programs/demo.sh

bench: $(JAR) ## Measure locks beside ZooKeeper, Curator, etcd and Redisson (more than an hour; some 40 minutes with ROUNDS=3 SECONDS=2)
	BENCH_SECONDS='$(SECONDS)' integration-tests/benchmarks/run.sh

growth: $(JAR) ## Measure large deployments: NAMES=1000000 held at once, 100,000 leases, 100,000 waiters (some 15 minutes, 16 GB)
	ROWS=held-1m,waiters-100k,leases-100k NAMES='$(NAMES)' CONNECTIONS=8 ROUNDS=1 integration-tests/benchmarks/run.sh

conformance: ## Run the conformance kit against our clients, or against CLIENT='command' (docs/writing-a-client.md); ONLY=text for some scenarios
	$(MVN) -pl $(KIT) -am package -Dmaven.test.skip=true
	CLIENT='$(CLIENT)' ONLY='$(ONLY)' integration-tests/conformance/run.sh

failover: $(JAR) ## Measure what the death of coordinators costs, against its floors (some five minutes)
	integration-tests/programs/run.sh failover.Floors

outages: $(JAR) ## Measure what outages of ZooKeeper servers cost, against its floors (some 25 minutes); ROWS="paused killed" for some, TIMES=10, SEED=N
	OUTAGES_SEED='$(SEED)' OUTAGES_TIMES='$(TIMES)' integration-tests/programs/run.sh outages.Outages $(ROWS)

chaos: $(JAR) ## Kill, freeze and cut off everything for ten minutes, and check what was promised
	integration-tests/programs/chaos/run.sh

fuzz: $(JAR) ## Send hostile requests to every rpc until something breaks, or for SECONDS=N; SEED=N repeats a round; MINUTES=30 stays with the same coordinators, floods them and watches what they take
	integration-tests/programs/run.sh fuzz.Fuzz '$(SECONDS)' '$(SEED)' '$(MINUTES)'

soak: ## Run fresh seeds of the simulation for MINUTES=10, or those of SEEDS=FIRST-LAST
	$(MVN) -pl server -am test-compile
	java -cp server/target/test-classes:server/target/classes \
	  io.lockkeeper.server.core.simulation.Soak $(or $(SEEDS),$(or $(MINUTES),10))

model: ## Check the takeover model exhaustively (three minutes; needs SPIN)
	scripts/check-model.sh

screenshots: $(JAR) ## Retake the screenshots of the web page in docs/images (two minutes; needs Chromium)
	integration-tests/polyglot/install.sh page_browser
	mkdir -p docs/images
	node integration-tests/page/screenshots.mjs integration-tests/polyglot/build/bin/chromium $(JAR) docs/images

clean: ## Delete what the build made; data/ stays
	$(MVN) clean
