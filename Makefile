# nextid: the commands a developer needs. "make" alone builds.

GO            ?= go
FUZZTIME      ?= 30s
TEST_TIMEOUT  ?= 15m
GOLANGCI_LINT_VERSION = v2.15.0
GOVULNCHECK_VERSION   = v1.3.0

# The commit, for builds with GOFLAGS=-buildvcs=false.
COMMIT = $(shell c=$$(git rev-parse HEAD 2>/dev/null) && { git diff --quiet HEAD && echo $$c || echo $$c+changes; })

# Bytes that the binary may have: the promise. cmd/nextid/modules.txt says what each module has of them.
MAX_BYTES = 40000000

CROSS = linux/386 linux/arm linux/arm64 linux/s390x darwin/arm64 freebsd/amd64 windows/amd64

.DEFAULT_GOAL := build
.PHONY: build test test-quick test-clients test-kills test-qemu test-versions test-deps format-check vet cross lint vuln bench packages test-package fuzz simulate models mutants docs docs-clients clean help

## build: the static binary, in bin/nextid
build:
	@[ -e bin/nextid ] || echo "Building bin/nextid. The first time Go compiles all modules: about a minute on two cores, then seconds."
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w -X nextid/server.commit=$(COMMIT)" -o bin/nextid ./cmd/nextid
	@size=$$(wc -c <bin/nextid); [ $$size -le $(MAX_BYTES) ] || { \
		echo "bin/nextid has $$size bytes, of at most $(MAX_BYTES): find out why, or raise MAX_BYTES."; \
		echo "Two megabytes at once: something calls text/template or reflect's MethodByName, which keeps every method in."; exit 1; }
	@echo "bin/nextid is built: bin/nextid serve, or bin/nextid demo"

## test: everything; ends in go test's own summary
test: test-deps format-check vet build
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w" -o bin/test/ ./cmd/nextid ./cmd/nextid-bench
	@race=$$(.ci/race-flag); flags='$(TEST_FLAGS)'; export DBTEST_PROGRAMS=$(CURDIR)/bin/test GORACE="atexit_sleep_ms=0 $$GORACE"; \
	if dir=$$(.ci/memory-dir); then \
		trap "rm -rf $$dir" EXIT; trap 'exit 1' HUP INT TERM; export TMPDIR=$$dir; flags="$$flags -p 3"; \
	fi; set -x; \
	CGO_ENABLED=0 $(GO) test -trimpath $$flags $$($(GO) list ./cmd/nextid ./... | grep -E '$(WITHOUT_RACE)' | awk '!seen[$$0]++') && \
	$(GO) test $$race $$flags $$($(GO) list ./... | grep -vE '$(WITHOUT_RACE)') && { [ -z "$$race" ] || \
	CGO_ENABLED=0 $(GO) test -trimpath -vet=off -timeout $(TEST_TIMEOUT) -run "^($(FALSIFIED)|Test.*AllocatesNothing)$$" ./wire ./wire/pgwire ./wire/mysqlwire ./sqlfuncs; }

# vet has read the tests. A program with the race detector sleeps for a second before it ends, unless GORACE says otherwise. Tests
# keep their files in memory if there is enough: one disk does not serve three packages at once (a draw waited five seconds for it).
# cmd/nextid takes longest, so it begins. Six tests of a package run at a time, since most of them wait: for servers, feeders, faults.
TEST_FLAGS = -vet=off -shuffle=on -parallel 6 -timeout $(TEST_TIMEOUT)

# Packages in which the race detector would see nothing but tests: they start programs, or are arithmetic. Built as the binary
# is, so that little is compiled again.
WITHOUT_RACE = /(benchmarks|cmd)(/|$$)|/(migrations|appdb|simulation|dbtest|clienttest|shards|foreign|dsn|code|layout|idrun|datum|syntax|setting|pgfunc|pgcatalog|sqlfuncs/mysql)$$

# Tests that ask for less under the race detector, which falsifies time, memory and allocations: they run again without it.
FALSIFIED = $(shell awk -F "[ \050]" '/^func Test/ { name = $$2 } /raceEnabled/ && name { print name }' \
	$$(grep -rl --include=*_test.go raceEnabled wire sqlfuncs) | sort -u | paste -sd "|")

# Packages whose tests start databases, clients or browsers, or take minutes.
SLOW = /(migrations|benchmarks)(/|$$)|/(clienttest|dbtest|simulation|ticket)$$|/store/(sqlite|postgres|mysql|redis|etcd|zookeeper)$$|/cmd/

## test-quick: for the edit loop: nothing is installed or started, and no race detector; seconds, the first time three minutes
test-quick: format-check vet
	CGO_ENABLED=0 $(GO) test -trimpath -short -timeout 3m $$(CGO_ENABLED=0 $(GO) list ./... | grep -vE '$(SLOW)')
	CGO_ENABLED=0 $(GO) test -trimpath -short -run 'Imports|Linked|TestCode|Command' ./cmd/...

## test-clients: install and drive every client, see docs/clients.md; report what they enter of sqlfuncs
test-clients:
	@rm -rf bin/clients && mkdir -p bin/clients
	GOCOVERDIR=$(CURDIR)/bin/clients TEST_CLIENTS=all $(GO) test -v -count=1 -timeout $(TEST_TIMEOUT) -run "^(TestClients|TestExamples)$$" ./wire/clienttest
	@.ci/client-coverage bin/clients

## test-kills: kill migrate shards up, reshard and down 20 times on each engine
test-kills:
	TEST_KILLS=20 $(GO) test $$(.ci/race-flag) -v -count=1 -timeout $(TEST_TIMEOUT) -run "^Test(MariaDB|PostgreSQL)$$/killed" ./migrations/shards

## test-qemu: switch off and set back virtual machines in which nextid runs; three minutes
test-qemu:
	TEST_QEMU=1 $(GO) test -v -count=1 -timeout $(TEST_TIMEOUT) -run "^TestMachineIs" ./cmd/nextid

## test-versions: feed, foreign, shards, store and takeover on PostgreSQL 13 to 18, whose servers npm brings
test-versions:
	@GO="$(GO)" .ci/test-versions

## test-deps: install the Debian packages that the tests use (root), or name them
test-deps:
	@.ci/test-deps

format-check:
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi

# With the flags of build and test-quick, so that packages are compiled once for all.
vet:
	CGO_ENABLED=0 $(GO) vet -trimpath ./...

## cross: does it compile for other systems and processors?
cross:
	GOARCH=386 $(GO) vet ./...
	$(GO) vet -tags goroutines ./wire/...
	@set -ex; for target in $(CROSS); do \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -o /dev/null ./cmd/...; \
	done

## lint: golangci-lint with .golangci.yml; fetched into bin/ when missing
lint:
	@GO="$(GO)" .ci/lint $(GOLANGCI_LINT_VERSION)

## vuln: known vulnerabilities in the code that the programs call; asks vuln.go.dev
vuln:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./cmd/...

## bench: nextid-bench beside the server, in bin; then bin/nextid-bench compare, see benchmarks/results/README.md
bench: build
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w" -o bin/nextid-bench ./cmd/nextid-bench
	CGO_ENABLED=0 $(GO) build -trimpath -tags goroutines -ldflags="-s -w -X nextid/server.commit=$(COMMIT)+goroutines" -o bin/nextid-goroutines ./cmd/nextid

## packages: tarballs, .deb, .rpm and SBOMs of a VERSION, in dist
packages:
	@GO="$(GO)" .ci/package $(VERSION)

## test-package: install, upgrade and remove the Debian package on this machine (root)
test-package:
	@GO="$(GO)" .ci/test-package

## fuzz: every fuzz target for FUZZTIME each
fuzz:
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

## simulate: a million schedules of faults that nobody has tried before
simulate:
	$(GO) test ./generator/simulation -run "^TestSchedules$$" -first 0 -schedules 1000000 -timeout 2h -v

## models: check the Spin models of the protocols; four minutes and 6 GB
models: test-deps
	$(GO) test ./migrations/feed -run "^TestModelOfTheFeed$$" -models -v -count=1
	$(GO) test ./generator/store/shared -run "^TestModelOfTheEpoch$$" -models -v -count=1 -timeout 30m

## mutants: bring deliberate mistakes into the code, one after the other: the tests must find each; ten minutes
mutants:
	$(GO) test ./cmd/nextid -run "^TestMutants$$" -mutants -v -count=1 -timeout 30m

## docs: write the generated pages again
docs:
	$(GO) test ./server ./cmd/nextid -run "^(TestConfigPage|TestEveryMetricIsDocumented|TestFaultsPage)" -update
	$(GO) test ./benchmarks/results -update

## docs-clients: write the table of docs/clients.md again
docs-clients:
	TEST_CLIENTS=all $(GO) test -count=1 -timeout $(TEST_TIMEOUT) ./wire/clienttest -run "^TestClients" -update

clean:
	rm -rf bin dist

help:
	@sed -n 's/^## /  /p' $(MAKEFILE_LIST)
