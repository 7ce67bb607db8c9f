.DEFAULT_GOAL := help

SHELL := /bin/bash -o pipefail

# A package at a time for each processor: with twice as many it takes as long, at a load of 10 instead of 4. No vet, which is one of the linters.
# -count=1: what a test says of a server is not worth keeping. TIMES=1 prints where the processor time went.
# GOGC=400: garbage is collected less often, which takes a sixth of what tests do in Go, and memory is there.
GO_TEST = GOGC=400 $(BRIEF) go test -json -p $$(getconf _NPROCESSORS_ONLN) -vet=off -ldflags='$(LINK)' -count=1 -timeout $(TIMEOUT)
# Without symbols and by gold, where there is one, each of 70 test binaries is linked in 2.2 seconds of processor time; with -w alone it takes 3.3.
LINK := -s $(if $(shell command -v ld.gold),-extldflags=-fuse-ld=gold)
TIMEOUT := 60m
GOLANGCI := v2.15.0
BRIEF = go run ./tests/kit/brief $(if $(TIMES),-times)

# First, so that nothing waits for them alone in the end.
LONGEST := ./tests/upgrade ./tests/live ./tests/views/oracle ./tests/messages/groups ./tests/views/coverage

# They run beside the rest of their package, which would be the last to end.
CONTRACT := ^(TestContract|TestContractFromSQL)$$

# All but what needs dbt, and the relay, which is a program of its own and brings the clients of brokers.
PACKAGES = $$(go list ./... | grep -v '/tests/tools/dbt$$' | grep -Ev '$(RELAY)')
RELAY := /relay(/|$$)
BROKERS := /relay/(mqtt|rabbitmq|redis)$$

# The tests of the room kafka once more, on Kafka itself. Elsewhere they have kfake, a broker in Go.
ON_KAFKA = go vet -tags kafka ./cmd/internal/relay/kafka && $(GO_TEST) -tags kafka -run '^TestKafka$$' ./cmd/internal/relay/kafka

# The chaos of brokers between an outbox and an inbox.
ON_BROKERS = go vet -tags brokers ./tests/messages/relay && $(GO_TEST) -tags brokers -run '^TestChaosOfBrokers$$' ./tests/messages/relay

MAJORS := 14 15 16 17 18
SERVER_TESTS := ./tests/kit/pgtest/... ./tests/live ./tests/views/{costs,coverage,planner,queries,sources} ./tests/messages/groups ./tests/sessions/... ./tests/rights/... ./tests/upgrade \
	./tests/command/{commands,pull} ./tests/examples

# What differs from version to version is the SQL that they take and how they lock. The ends of the range get all scripts, the named interleavings and
# the upgrades; those between get the scripts of SQL, and those of commands in test-matrix.
ENDS := 14 18
BETWEEN := 16 17
END_TESTS := ^(TestContract|TestCommands|TestChanges|TestReferenceIsTrue|TestSources|TestVirtualColumns|TestInbox|TestManyRowsAfterFew|TestTakenNames|TestGroups|TestDifferential|TestImmediate|TestSubtrees|TestUpgradedEqualsFresh|TestRoles|TestTraps)$$
BETWEEN_TESTS := ^(TestContract|TestSources|TestManyRowsAfterFew|TestVirtualColumns)$$

# What test-fast runs beside the tests that need no server.
FAST := ./tests/kit/pgtest/... ./tests/sessions/isolation ./tests/live ./tests/views/sources
FAST_TESTS := ^(TestContract|TestSources|TestInbox|TestGroups|TestDifferential|TestDatabase.*|TestTemplate.*)$$

.PHONY: help
help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what tests need (on Debian), or say what is missing
	@.ci/deps

.PHONY: build
build: ## build bin/sluice and bin/sluice-relay
	go build -o bin/ ./cmd/sluice ./cmd/sluice-relay

.PHONY: demo
demo: ## start a throw-away PostgreSQL and drive real traffic through inboxes, stream tables and an outbox
	go run ./cmd/sluice demo

.PHONY: test
test: deps ## run all tests, long rows, the relay and what needs other programs apart, in 15 minutes of two processors
	@$(MAKE) --no-print-directory -j2 test-packages test-contract

.PHONY: lint
lint: ## run golangci-lint, staticcheck among its linters; it compiles for a minute the first time
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI) run --timeout 20m

.PHONY: test-packages
test-packages:
	@$(GO_TEST) -skip '$(CONTRACT)' $(LONGEST) $(PACKAGES)

.PHONY: test-contract
test-contract: deps ## run the scripts of tests/live, and of other targets
	@$(GO_TEST) -run '$(CONTRACT)' ./tests/live ./tests/targets/cockroach ./tests/targets/citus

.PHONY: test-migrations
test-migrations: deps ## run the generated migrations under migration tools, whose tests are a module of their own
	@go vet -C tests/tools/migrations . && $(BRIEF) go test -C tests/tools/migrations -json -vet=off -count=1 -timeout $(TIMEOUT) .

.PHONY: test-relay
test-relay: deps ## run the tests of the relay that need no other program: files, HTTP, and Kafka and NATS in Go
	@$(GO_TEST) $$(go list ./... | grep -E '$(RELAY)' | grep -Ev '$(BROKERS)')

.PHONY: test-brokers
test-brokers: deps ## run the tests of the relay with Kafka, Redis, RabbitMQ and Mosquitto, which it installs (on Debian)
	@.ci/deps-relay
	@$(GO_TEST) $$(go list ./... | grep -E '$(BROKERS)')
	@$(ON_KAFKA)
	@$(ON_BROKERS)

.PHONY: test-clouds
test-clouds: ## run the tests of the relay with queues of clouds, whose clients compile for minutes
	@$(GO_TEST) -tags clouds ./cmd/internal/relay/cloud

.PHONY: test-ui
test-ui: deps ## show the page of sluice ui in a headless Chromium, which it installs (on Debian)
	@.ci/deps-ui
	@go vet -tags browser ./tests/command/ui
	@$(GO_TEST) -tags browser ./tests/command/ui

.PHONY: images
images: deps ## take the pictures of docs/images of the page of sluice ui
	@.ci/deps-ui
	@go test -tags browser -count=1 -run '^TestImages$$' ./tests/command/ui -images "$$PWD/docs/images"

.PHONY: test-ops
test-ops: deps ## hold dashboards, alerts, exporters and manifests against Grafana, Prometheus, Compose and Kubernetes, in a module of their own
	@go vet -C tests/tools/ops . && $(BRIEF) go test -C tests/tools/ops -json -vet=off -count=1 -timeout $(TIMEOUT) .

.PHONY: test-cockroach
test-cockroach: ## have CockroachDB's parser read what is generated for it, in a module of its own
	@go vet -C tests/tools/cockroach . && $(BRIEF) go test -C tests/tools/cockroach -json -vet=off -count=1 -timeout $(TIMEOUT) .

.PHONY: test-fast
test-fast: export SLUICE_TEST_FAST = 1
test-fast: ## run what needs Go and one PostgreSQL alone, in 2 minutes; installs nothing
	@.ci/fast
	@$(GO_TEST) $$(go list ./... | grep -Ev '/tests/|/internal/sandbox$$|$(RELAY)') ./tests/house ./tests/command/script ./tests/kit/brief
	@$(GO_TEST) -run '$(FAST_TESTS)' $(FAST)
	@echo "not run: what needs pg_cron, pgbouncer, dbt, Sqitch, Java, Kafka, Redis, RabbitMQ or Mosquitto, plpgsql_check where it is missing, and what takes long (make test)"

.PHONY: test-all
test-all: ## run all tests, with long rows (all pairs of versions, many kills, 100,000 events, whole matrices), on 14 to 18, with pg_cron and dbt, in hours
	SLUICE_TEST_LONG=1 $(MAKE) --no-print-directory TIMEOUT=6h test test-relay
	@$(MAKE) --no-print-directory test-migrations test-matrix test-cron test-dbt
	@if [ -n "$$CITUS_SRC" ]; then $(MAKE) --no-print-directory test-citus; else echo "not run: target citus on a cluster (CITUS_SRC=repository make test-citus)"; fi

.PHONY: test-matrix
test-matrix: deps ## run the tests that need a server on PostgreSQL 14 to 18
	@SLUICE_TEST_MATRIX=1 $(GO_TEST) ./cmd/internal/sandbox
	@for major in $(MAJORS); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GO_TEST) $(SERVER_TESTS) || exit 1; \
	done

.PHONY: test-versions
test-versions: deps ## run what shows most on the versions beside 15, in minutes
	@for major in $(ENDS); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GO_TEST) -run '$(END_TESTS)' ./tests/upgrade ./tests/live ./tests/sessions/isolation ./tests/command/commands ./tests/views/sources ./tests/rights/roles ./tests/rights/traps || exit 1; \
	done
	@for major in $(BETWEEN); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GO_TEST) -run '$(BETWEEN_TESTS)' ./tests/live ./tests/views/sources || exit 1; \
	done

.PHONY: test-cron
test-cron: deps ## prove the jobs with a pg_cron that knows seconds, which is built from its repository
	@bin=$$(.ci/pg-cron) && SLUICE_PG_BIN=$$bin $(GO_TEST) ./tests/tools/cron

.PHONY: test-citus
test-citus: deps ## prove target citus on a coordinator and two workers of a Citus that is built from its repository, or from CITUS_SRC
	@bin=$$(.ci/citus) && go vet -tags citus ./tests/targets/citus && SLUICE_PG_BIN=$$bin $(GO_TEST) -tags citus ./tests/targets/citus

.PHONY: bench-citus
bench-citus: deps ## measure target citus with 1, 2 and 4 workers on this machine
	@bin=$$(.ci/citus) && SLUICE_PG_BIN=$$bin go test -tags citus -run '^$$' -bench . -benchtime 3000x ./tests/targets/citus

.PHONY: test-dbt
test-dbt: deps ## run the generated dbt packages with dbt, which comes from PyPI into the user's cache directory
	@.ci/dbt >/dev/null
	@$(GO_TEST) ./tests/tools/dbt

SOAK := 2h

.PHONY: soak
soak: deps ## try random views that nobody has tried, for SOAK=2h
	SLUICE_TEST_SOAK=$(SOAK) go test -tags soak -count=1 -timeout 0 -run TestSoak -v ./tests/views/oracle

.PHONY: site
site: ## build the documentation as a site in bin/site, with MkDocs Material from PyPI
	@.ci/site

.PHONY: generate
generate: ## write out/ from specs/
	go run ./cmd/sluice generate

.PHONY: verify-generate
verify-generate: ## fail if out/ is not what specs/ generate
	go run ./cmd/sluice generate --check

.PHONY: bench
bench: deps ## measure claim, mark, insert and the views against plain tables
	go run ./tests/bench -write docs/benchmarks.md

.PHONY: bench-tpch
bench-tpch: deps ## measure the queries of TPC-H as stream tables, SF=0.1 is their scale factor
	go run ./tests/bench -run '^tpch/' -tpch $(or $(SF),0.1)

.PHONY: fmt
fmt: ## format the Go code
	go fmt ./...
