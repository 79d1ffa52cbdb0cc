# `make` alone prints the targets. They need only GNU make, bash, git and Go, unless their line says what else. Nested modules
# (test/oracle, bench, ...) are found by their go.mod.

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
# Nested modules are independent, and -modfile does not work in a workspace.
export GOWORK := off
# As in a release, and what tests build is not compiled twice.
export CGO_ENABLED := 0

# VERSION=v1.2.3 sets the output of `webhookd version`; the default is the build info.
VERSION ?=
RUNFLAGS ?=
# Flags for every `go test` of the targets that run tests, such as TESTFLAGS='-run TestDrain -v'.
export TESTFLAGS ?=
# The fuzz targets to run, and for how long each: a time or a number of executions.
export FUZZ ?= ^Fuzz
FUZZTIME ?=
# The benchmarks to run, and how often each.
BENCH ?= .
BENCHCOUNT ?= 1
IMAGE ?= webhookd:dev
# Minors of Kubernetes 1 for make e2e. The first build of one takes minutes.
MINORS ?= 30 37

# Without symbol tables for debuggers; stacks are still complete.
LDFLAGS := -ldflags '-s -w$(if $(VERSION), -X main.version=$(VERSION))'
TOOL := $(GO) tool -modfile='$(CURDIR)/tools/go.mod'

# Every module with code; tools/ only pins the tools. Modules with an API server have separate targets: e2e and e2e-full.
ALL_MODULES := $(patsubst %/,%,$(sort $(dir $(shell \
	find . -name go.mod -not -path './tools/*' -not -path '*/testdata/*' -not -path '*/.*/*'))))
MODULES := $(filter-out ./test/e2e% ./test/controlplane% ./release/tools,$(ALL_MODULES))

# Targets have a description behind two hashes; none is a file.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*\#\# .*/\1/p' Makefile)

##@ Use

help: ## Print the targets.
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z][a-z0-9-]*:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

build: ## Build bin/webhookd, static. VERSION=v1.2.3 names the version.
	@echo 'building bin/webhookd: about a minute the first time, then seconds'
	@CGO_ENABLED=0 $(GO) build -trimpath $(LDFLAGS) -o bin/webhookd ./cmd/webhookd

# Ctrl-C reaches the server too, which then ends with success.
run: build ## Serve examples/quickstart on loopback, and print a curl line to try (RUNFLAGS).
	@trap : INT; bin/webhookd serve --self-signed --rules examples/quickstart --crds examples/quickstart $(RUNFLAGS) || { \
		echo "make run: flags go into RUNFLAGS: make run RUNFLAGS='--listen=127.0.0.1:9444 --admin-listen=127.0.0.1:8081'" >&2; exit 1; }

playground: ## Build the page of `webhookd playground` as static files with the engine as WASM: dist/playground.
	@tools/playground dist/playground

image: ## Build the container image (IMAGE=webhookd:dev). Needs a docker engine.
	@docker info >/dev/null 2>&1 || { echo 'image: no docker engine answers here: nothing built'; exit 0; }; \
		docker build --build-arg VERSION='$(VERSION)' --tag '$(IMAGE)' .

image-check: ## Assemble the image's last stage and run it read-only. Needs Linux, root and buildah, and no registry.
	@test/image/check

clean: ## Remove build outputs.
	rm -rf bin dist

##@ Test

test: ## Run what a change usually breaks: the tests of the root module and contrib/controllerruntime.
	@echo 'make test: the root module and contrib/controllerruntime, in about 3 minutes on two cores, 6 the first time'
	@tools/test test all . ./contrib/controllerruntime

test-all: ## Run the tests of every module, except e2e and controlplane. Needs Chromium.
	@echo 'make test-all: every module without an API server, in about 8 minutes on two cores, 12 the first time'
	@tools/test test-all all $(MODULES)

test-race: ## Run the packages that start goroutines with the race detector and in random order. Needs a C compiler.
	@CGO_ENABLED=1 tools/test test-race race $(MODULES)

test-rest: ## Run what test-all runs and test-race does not, in random order. Needs Chromium.
	@tools/test test-rest rest $(MODULES)

e2e: ## Run scenarios on the API server of CRDs of the oldest and the newest minor of Kubernetes (MINORS='30 32 34 36 37').
	@for minor in $(MINORS); do \
		TESTFLAGS="$$TESTFLAGS -minor=$$minor" GOTESTSUM_FORMAT=testname tools/test "e2e MINORS=$$minor" all ./test/e2e || exit 1; \
	done

e2e-full: ## Run more on a whole control plane, with kubectl and Helm, which it builds the first time.
	@cd test/controlplane && $(GO) run ./cmd/build-binaries
	@GOTESTSUM_FORMAT=testname tools/test e2e-full all ./test/controlplane

faults-full: ## Run the fault tests with full numbers and time limits. Takes about an hour on an idle machine.
	@cd test/oracle && $(GO) test -count=1 -timeout=120m $(TESTFLAGS) ./faults -v -full

upstream: ## Hold rules for kinds of other projects to the laws on 2000 objects a version (OBJECTS), and to recorded results.
	@cd test/upstream && $(GO) test -count=1 -timeout=60m $(TESTFLAGS) . -objects=$(or $(OBJECTS),2000)

reference: ## Edit objects by webhookd and by an independent reference, and compare what users see: 60000 steps (STEPS, SEED).
	@$(GO) test -count=1 -timeout=600m $(TESTFLAGS) ./test/reference -steps=$(or $(STEPS),60000) -seed=$(or $(SEED),1)

simulation: ## Run clusters in memory, each made of a seed: 10000 (SEEDS), from SEED on.
	@$(GO) test -count=1 -timeout=600m $(TESTFLAGS) ./test/simulation -seeds=$(or $(SEEDS),10000) -seed=$(or $(SEED),1)

mutants: ## Change code in small ways, and print the changes that no test notices (GROUP='review server', MUTATEFLAGS=-every=5).
	@$(GO) build -C tools -o ../bin/mutate ./mutate && bin/mutate $(MUTATEFLAGS) $(or $(GROUP),tlsreload review server engine)

soak: ## Run under load for half an hour (SOAK): heap, goroutines, descriptors and latency must not grow.
	@cd test/oracle && $(GO) test -count=1 -timeout=600m ./faults -v -run TestS1 -soak $(or $(SOAK),30m)

cover: ## Write the coverage of the product's packages by all tests to bin/cover.html.
	@mkdir -p bin
	$(GO) test -coverpkg=./... -coverprofile=bin/cover.out ./...
	@$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

fuzz-smoke: ## Run every fuzz target briefly: 20000 executions each, 2000 of the slow ones (FUZZTIME, FUZZ).
	@tools/fuzz $(or $(FUZZTIME),20000x 2000x)

fuzz: ## Run every fuzz target for 10 minutes (FUZZTIME, FUZZ), and the laws on 20000 objects of each example.
	@tools/fuzz $(or $(FUZZTIME),10m)
	@$(if $(filter ^Fuzz,$(FUZZ)),$(GO) test ./internal/converters/rules/laws -count=1 -example-objects=20000 -timeout=60m)

laws: ## Hold random objects and random rules to the laws for minutes.
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules -objects=400 -combinations=120
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/check -seeds=300
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/transform -edits=400
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/laws -example-objects=300 -mutations=20

##@ Measure

bench: ## Run the benchmarks (BENCH=regexp, BENCHCOUNT=10 for benchstat).
	@$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(BENCHCOUNT) -timeout=60m ./...

bench-smoke: ## Run each benchmark once, to check that it works.
	@tools/in-modules "$(GO) test -short -run='^$$' -bench=. -benchtime=1x ./..." $(MODULES)

bench-compare: ## Compare two outputs of make bench: OLD=old.txt NEW=new.txt.
	@$(TOOL) benchstat '$(OLD)' '$(NEW)'

bench-serve: ## Compare webhookd with other servers under load over TLS, in one run (BENCHFLAGS).
	@cd bench && $(GO) run ./serve $(BENCHFLAGS)

bench-kinds: ## Compare rules for kinds of Cluster API with its own Go conversion, over TLS (BENCHFLAGS='-rounds 5').
	@cd bench && $(GO) run ./kinds $(BENCHFLAGS)

##@ Change

fmt: ## Format the code (gofumpt; imports grouped).
	@tools/in-modules "$(TOOL) golangci-lint fmt ./..." $(ALL_MODULES)

lint: ## Run the linters of .golangci.yml.
	@tools/in-modules "$(TOOL) golangci-lint run ./..." $(ALL_MODULES)

lint-prose: ## Find refused words (tools/refused-words.txt) and wide comments.
	@tools/prose

tidy: ## go mod tidy in every module.
	@tools/in-modules "$(GO) mod tidy $(TIDYFLAGS)" $(ALL_MODULES) ./tools
	@cd test/e2e/apiserver; for file in 1.*.mod; do $(GO) mod tidy -modfile=$$file $(TIDYFLAGS) || exit 1; done

generate: ## Write the pages of docs/reference/ that are made of the code. Tests fail if they are not up to date.
	@tools/update -run=^TestReference

golden-update: ## Rewrite the golden files from the code's current answers. Read the diff.
	@tools/update

##@ Verify

VERIFY := verify-tidy lint lint-prose lint-workflows test-rest test-race reference simulation fuzz-smoke bench-smoke vulncheck

verify: ## Run what CI runs, except the API servers. Needs Chromium and a C compiler.
	@.ci/run $(VERIFY)

verify-tidy: ## Check that go.mod and go.sum of every module are tidy.
	@$(MAKE) tidy TIDYFLAGS=-diff

vulncheck: ## Look for known vulnerabilities in reachable code (govulncheck).
	@tools/in-modules "'$(CURDIR)/tools/vulncheck'" $(MODULES)

##@ Release

# The tools of a release are pinned separately, so that updating them does not change the linters.
RELEASE_TOOL := $(GO) tool -modfile='$(CURDIR)/release/tools/go.mod'

reproducible: ## Build a release three times, in different places and ways: the programs must be equal.
	@release/reproducible

sbom: build ## List the components of bin/webhookd with licences: dist/webhookd.cdx.json (CycloneDX).
	@release/sbom bin/webhookd dist/webhookd.cdx.json

lint-workflows: ## Check .github/workflows (actionlint), and that each action is pinned to a commit.
	@$(RELEASE_TOOL) actionlint
	@release/pinned

release-files: ## Build the files of a release from the current tree, in dist. Needs goreleaser.
	@goreleaser release --snapshot --clean
