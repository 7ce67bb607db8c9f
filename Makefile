.DEFAULT_GOAL := help

# -p 2: two packages at a time, as each has a server of its own.
# -count=1: what a test says of a server is not worth keeping.
GOTEST := go test -p 2 -count=1 -timeout 30m

# First, so that nothing waits for them alone in the end.
LONGEST := ./tests/upgrade ./tests/live

MAJORS := 14 15 16 17 18
SERVER_TESTS := ./tests/pgtest/... ./tests/isolation/... ./tests/live/... ./tests/upgrade ./tests/crash ./tests/examples

# What differs from version to version is the SQL that they take and how they lock. The ends of the range get all scripts, the named interleavings and
# the upgrades; those between get the scripts.
ENDS := 14 18
BETWEEN := 16 17
END_TESTS := ^(TestContract|TestCommands|TestChanges|TestReferenceIsTrue|TestSources|TestVirtualColumns|TestInbox|TestGroups|TestDifferential|TestImmediate|TestUpgradedEqualsFresh)$$
BETWEEN_TESTS := ^(TestContract|TestCommands|TestSources|TestVirtualColumns)$$

.PHONY: help
help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what tests need (on Debian), or say what is missing
	@.ci/deps

.PHONY: build
build: ## build bin/sluice
	go build -o bin/sluice ./cmd/sluice

.PHONY: demo
demo: ## start a throw-away PostgreSQL and drive real traffic through inboxes, stream tables and an outbox
	go run ./cmd/sluice demo

.PHONY: test
test: deps ## vet, and run all tests
	go vet ./...
	$(GOTEST) $(LONGEST) ./...

.PHONY: test-matrix
test-matrix: deps ## run the tests that need a server on PostgreSQL 14 to 18
	SLUICE_TEST_MATRIX=1 $(GOTEST) ./cmd/sandbox
	@for major in $(MAJORS); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GOTEST) $(SERVER_TESTS) || exit 1; \
	done

.PHONY: test-versions
test-versions: deps ## run what shows most on the versions beside 15, in minutes
	@for major in $(ENDS); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GOTEST) -run '$(END_TESTS)' $(LONGEST) ./tests/isolation ./tests/live/commands ./tests/live/sources || exit 1; \
	done
	@for major in $(BETWEEN); do \
		echo "PostgreSQL $$major"; \
		SLUICE_TEST_PG=$$major $(GOTEST) -run '$(BETWEEN_TESTS)' ./tests/live ./tests/live/commands ./tests/live/sources || exit 1; \
	done

.PHONY: test-cron
test-cron: deps ## prove the jobs with a pg_cron that knows seconds, which is built from its repository
	bin=$$(.ci/pg-cron) && SLUICE_PG_BIN=$$bin $(GOTEST) ./tests/cron

.PHONY: test-dbt
test-dbt: deps ## run the generated dbt packages with dbt, which comes from PyPI into the user's cache directory
	@.ci/dbt >/dev/null
	$(GOTEST) ./tests/dbt

SOAK := 2h

.PHONY: soak
soak: deps ## try random views that nobody has tried, for SOAK=2h
	SLUICE_TEST_SOAK=$(SOAK) go test -tags soak -count=1 -timeout 0 -run TestSoak -v ./tests/oracle

.PHONY: generate
generate: ## write out/ from specs/
	go run ./cmd/sluice generate

.PHONY: verify-generate
verify-generate: ## fail if out/ is not what specs/ generate
	go run ./cmd/sluice generate --check

.PHONY: bench
bench: deps ## measure claim, mark, insert and the views against plain tables
	go run ./tests/bench -write docs/benchmarks.md

.PHONY: fmt
fmt: ## format the Go code
	go fmt ./...
