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
# Flags of `webhookd serve` for `make run`.
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

# Without symbol tables for debuggers; stacks are still complete.
LDFLAGS := -ldflags '-s -w$(if $(VERSION), -X main.version=$(VERSION))'
TOOL := $(GO) tool -modfile='$(CURDIR)/tools/go.mod'

# Every module with code; tools/ only pins the tools. Modules with an API server have separate targets: e2e and e2e-full.
ALL_MODULES := $(patsubst %/,%,$(sort $(dir $(shell \
	find . -name go.mod -not -path './tools/*' -not -path '*/testdata/*' -not -path '*/.*/*'))))
MODULES := $(filter-out ./test/e2e% ./test/controlplane% ./release/tools,$(ALL_MODULES))

# $(call in-modules,COMMANDS) runs commands in the folder of every module with packages, or of the modules in the second argument.
define in-modules
set -e; for module in $(or $(2),$(MODULES)); do \
	pkgs=$$(cd "$$module" && $(GO) list ./... 2>&1) || { echo "$$pkgs" >&2; exit 1; }; \
	case "$$pkgs" in *'matched no packages'*) continue;; esac; \
	echo "--- module $$module"; \
	(cd "$$module" && $(1)); \
done
endef

# $(call update,FLAGS) runs the tests with -update in all folders whose tests have that flag. Tests named
# TestReference... write a page of docs/reference/, others write golden files.
update = set -e; for dir in $$(git grep --untracked -l 'flag\.Bool.*"update"' -- '*_test.go' | xargs -n1 dirname | sort -u); do \
	(cd "$$dir" && $(GO) test -count=1 $(1) . -update); done

##@ Use

.PHONY: help
help: ## Print the targets.
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z][a-z0-9-]*:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build bin/webhookd, static. VERSION=v1.2.3 names the version.
	@echo 'building bin/webhookd: about a minute the first time, then seconds'
	@CGO_ENABLED=0 $(GO) build -trimpath $(LDFLAGS) -o bin/webhookd ./cmd/webhookd

# Ctrl-C reaches the server too, which then ends with success.
.PHONY: run
run: build ## Serve examples/quickstart on loopback, and print a curl line to try (RUNFLAGS).
	@trap : INT; bin/webhookd serve --self-signed --rules examples/quickstart --crds examples/quickstart $(RUNFLAGS) || { \
		echo "make run: flags go into RUNFLAGS: make run RUNFLAGS='--listen=127.0.0.1:9444 --admin-listen=127.0.0.1:8081'" >&2; exit 1; }

# Kubernetes' packages link TLS and all built-in types, which the engine never runs: they are built small, without inlining.
WASM_FLAGS = -trimpath -ldflags '-s -w' $(foreach p,k8s.io/api/... crypto/... net/...,-gcflags='$(p)=-l')

WASM_MOST := 10000000

.PHONY: playground
playground: ## Build the page of `webhookd playground` as static files with the engine as WASM: dist/playground.
	@mkdir -p dist/playground
	GOOS=js GOARCH=wasm $(GO) build $(WASM_FLAGS) -o dist/playground/engine.wasm ./internal/editor/playground/wasm
	@cp internal/editor/playground/web/*.html internal/editor/playground/web/*.css internal/editor/playground/web/*.js dist/playground/
	@cp internal/editor/playground/wasm/page/*.js dist/playground/
	@cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" dist/playground/ && chmod u+w dist/playground/wasm_exec.js
	@size=$$(gzip -9c dist/playground/engine.wasm | wc -c); echo "engine.wasm: $$size bytes with gzip, at most $(WASM_MOST)"; \
	if [ $$size -gt $(WASM_MOST) ]; then echo 'engine.wasm is too large: look for a new dependency with go list -deps' >&2; exit 1; fi

.PHONY: image
image: ## Build the container image (IMAGE=webhookd:dev). Needs a docker engine.
	@if docker info >/dev/null 2>&1; then \
		docker build --build-arg VERSION='$(VERSION)' --tag '$(IMAGE)' .; \
	else \
		echo 'image: no docker engine answers here: nothing built'; \
	fi

.PHONY: image-check
image-check: ## Assemble the image's last stage and run it read-only. Needs Linux, root and buildah, and no registry.
	@test/image/check

.PHONY: clean
clean: ## Remove build outputs.
	rm -rf bin dist

##@ Test

.PHONY: test
test: ## Run what a change usually breaks: the tests of the root module and contrib/controllerruntime.
	@echo 'make test: the root module and contrib/controllerruntime, in about 3 minutes on two cores, 6 the first time'
	@tools/test test all . ./contrib/controllerruntime

.PHONY: test-all
test-all: ## Run the tests of every module, except e2e and controlplane. Needs Chromium.
	@echo 'make test-all: every module without an API server, in about 8 minutes on two cores, 12 the first time'
	@tools/test test-all all $(MODULES)

.PHONY: test-race
test-race: ## Run the packages that start goroutines with the race detector and in random order. Needs a C compiler.
	@CGO_ENABLED=1 tools/test test-race race $(MODULES)

.PHONY: test-rest
test-rest: ## Run what test-all runs and test-race does not, in random order. Needs Chromium.
	@tools/test test-rest rest $(MODULES)

.PHONY: e2e
e2e: ## Run scenarios on a real API server in process: etcd and the API server of CRDs. The first build takes minutes.
	@GOTESTSUM_FORMAT=testname tools/test e2e all ./test/e2e

.PHONY: e2e-full
e2e-full: ## Run more on a whole control plane, with kubectl and Helm, which it builds the first time.
	@cd test/controlplane && $(GO) run ./cmd/build-binaries
	@GOTESTSUM_FORMAT=testname tools/test e2e-full all ./test/controlplane

.PHONY: faults-full
faults-full: ## Run the fault tests with full numbers and time limits. Takes about an hour on an idle machine.
	@cd test/oracle && $(GO) test -count=1 -timeout=120m $(TESTFLAGS) ./faults -v -full

# make test-all does the same with fewer objects.
.PHONY: upstream
upstream: ## Hold rules for kinds of other projects to the laws on 2000 objects a version (OBJECTS), and to recorded results.
	@cd test/upstream && $(GO) test -count=1 -timeout=60m $(TESTFLAGS) . -objects=$(or $(OBJECTS),2000)

.PHONY: soak
soak: ## Run under load for half an hour (SOAK): heap, goroutines, descriptors and latency must not grow.
	@cd test/oracle && $(GO) test -count=1 -timeout=600m ./faults -v -run TestS1 -soak $(or $(SOAK),30m)

.PHONY: cover
cover: ## Write the coverage of the product's packages by all tests to bin/cover.html.
	@mkdir -p bin
	$(GO) test -coverpkg=./... -coverprofile=bin/cover.out ./...
	@$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

.PHONY: fuzz-smoke
fuzz-smoke: ## Run every fuzz target briefly: 20000 executions each, 2000 of the slow ones (FUZZTIME, FUZZ).
	@tools/fuzz $(or $(FUZZTIME),20000x 2000x)

.PHONY: fuzz
fuzz: ## Run every fuzz target for 10 minutes (FUZZTIME, FUZZ), and the laws on 20000 objects of each example.
	@tools/fuzz $(or $(FUZZTIME),10m)
	@$(if $(filter ^Fuzz,$(FUZZ)),$(GO) test ./internal/converters/rules/laws -count=1 -example-objects=20000 -timeout=60m)

.PHONY: laws
laws: ## Hold random objects and random rules to the laws for minutes.
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules -objects=400 -combinations=120
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/check -seeds=300
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/transform -edits=400
	@$(GO) test -count=1 -timeout=60m $(TESTFLAGS) ./internal/converters/rules/laws -example-objects=300

##@ Measure

.PHONY: bench
bench: ## Run the benchmarks (BENCH=regexp, BENCHCOUNT=10 for benchstat).
	@$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(BENCHCOUNT) -timeout=60m ./...

.PHONY: bench-smoke
bench-smoke: ## Run each benchmark once, to check that it works.
	@$(call in-modules,$(GO) test -short -run='^$$' -bench=. -benchtime=1x ./...)

.PHONY: bench-compare
bench-compare: ## Compare two outputs of make bench: OLD=old.txt NEW=new.txt.
	@$(TOOL) benchstat '$(OLD)' '$(NEW)'

.PHONY: bench-serve
bench-serve: ## Compare webhookd with other servers under load over TLS, in one run (BENCHFLAGS).
	@if [ -f bench/go.mod ]; then \
		cd bench && $(GO) run ./serve $(BENCHFLAGS); \
	else \
		echo 'bench-serve: there is no bench/go.mod: nothing to run'; \
	fi

.PHONY: bench-kinds
bench-kinds: ## Compare rules for kinds of Cluster API with its own Go conversion, over TLS (BENCHFLAGS='-rounds 5').
	@cd bench && $(GO) run ./kinds $(BENCHFLAGS)

##@ Change

.PHONY: fmt
fmt: ## Format the code (gofumpt; imports grouped).
	@$(call in-modules,$(TOOL) golangci-lint fmt ./...,$(ALL_MODULES))

.PHONY: lint
lint: ## Run the linters of .golangci.yml.
	@$(call in-modules,$(TOOL) golangci-lint run ./...,$(ALL_MODULES))

.PHONY: lint-prose
lint-prose: ## Find refused words (tools/refused-words.txt) and wide comments.
	@tools/prose

.PHONY: tidy
tidy: ## go mod tidy in every module.
	@set -e; for module in $(ALL_MODULES) ./tools; do echo "--- module $$module"; (cd "$$module" && $(GO) mod tidy); done

.PHONY: generate
generate: ## Write the pages of docs/reference/ that are made of the code. Tests fail if they are not up to date.
	@$(call update,-run=^TestReference)

.PHONY: golden-update
golden-update: ## Rewrite the golden files from the code's current answers. Read the diff.
	@$(call update)

##@ Verify

VERIFY := verify-tidy lint lint-prose lint-workflows test-rest test-race fuzz-smoke bench-smoke vulncheck

.PHONY: verify
verify: ## Run what CI runs, except the API servers. Needs Chromium and a C compiler.
	@.ci/run $(VERIFY)

.PHONY: verify-tidy
verify-tidy: ## Check that go.mod and go.sum of every module are tidy.
	@set -e; for module in $(ALL_MODULES) ./tools; do echo "--- module $$module"; (cd "$$module" && $(GO) mod tidy -diff); done

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in reachable code (govulncheck).
	@$(call in-modules,\
		code=0; out=$$($(TOOL) govulncheck ./... 2>&1) || code=$$?; \
		case "$$code:$$out" in \
		(0:*) echo "$$out";; \
		([!3]*'fetching vulnerabilities'*) echo 'vulncheck: the vulnerability database cannot be reached: not checked';; \
		(*) echo "$$out"; exit 1;; \
		esac)

##@ Release

# The tools of a release are pinned separately, so that updating them does not change the linters.
RELEASE_TOOL := $(GO) tool -modfile='$(CURDIR)/release/tools/go.mod'

.PHONY: reproducible
reproducible: ## Build a release three times, in different places and ways: the programs must be equal.
	@release/reproducible

.PHONY: sbom
sbom: build ## List the components of bin/webhookd with licences: dist/webhookd.cdx.json (CycloneDX).
	@release/sbom bin/webhookd dist/webhookd.cdx.json

.PHONY: lint-workflows
lint-workflows: ## Check .github/workflows (actionlint), and that each action is pinned to a commit.
	@$(RELEASE_TOOL) actionlint
	@release/pinned

.PHONY: release-files
release-files: ## Build the files of a release from the current tree, in dist. Needs goreleaser.
	@goreleaser release --snapshot --clean
