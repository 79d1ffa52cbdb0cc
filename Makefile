# `make` alone prints the targets. GNU make, a POSIX shell, git and Go are all they need; -race needs
# a C compiler as well. A nested module (test/oracle, bench, ...) is found by its go.mod.

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= go
# Each nested module stands alone, and -modfile does not work in a workspace.
export GOWORK := off

# VERSION=v1.2.3 sets what `webhookd version` says; without it the build info does.
VERSION ?=
# Flags for `make run`, such as RUNFLAGS='--listen :8443'.
RUNFLAGS ?=
# Flags for every `go test` of test and test-race, such as TESTFLAGS='-run TestDrain -v'.
TESTFLAGS ?=
# The fuzz targets that run, and for how long each: a time or a number of executions.
FUZZ ?= ^Fuzz
FUZZTIME ?=
# The benchmarks that run, and how often each.
BENCH ?= .
BENCHCOUNT ?= 1
IMAGE ?= webhookd:dev

# Without symbol tables for debuggers; stacks are whole all the same.
LDFLAGS := -ldflags '-s -w$(if $(VERSION), -X main.version=$(VERSION))'
TOOL := $(GO) tool -modfile='$(CURDIR)/tools/go.mod'

# Every module with code of its own; tools/ only pins the tools. Those with an API server take minutes to compile and have
# targets of their own: e2e and e2e-full.
ALL_MODULES := $(patsubst %/,%,$(sort $(dir $(shell \
	find . -name go.mod -not -path './tools/*' -not -path '*/testdata/*' -not -path '*/.*/*'))))
MODULES := $(filter-out ./test/e2e% ./test/controlplane%,$(ALL_MODULES))
# Those in which something runs at the same time as something else; the race detector compiles all of Helm again.
RACE_MODULES := $(filter-out ./test/chart,$(MODULES))

# All packages of a module but those whose tests only start processes.
race-packages = $$($(GO) list ./... | grep -vE '/(test/hostile|oracle/faults)$$')

# $(call in-modules,COMMANDS) runs them in the folder of every module that has packages, or of those of the second argument.
define in-modules
set -e; for module in $(or $(2),$(MODULES)); do \
	pkgs=$$(cd "$$module" && $(GO) list ./... 2>&1) || { echo "$$pkgs" >&2; exit 1; }; \
	case "$$pkgs" in *'matched no packages'*) continue;; esac; \
	echo "--- module $$module"; \
	(cd "$$module" && $(1)); \
done
endef

# $(call in-steps,TARGETS) makes them one after the other, each under a header and with its duration.
define in-steps
set -e; for step in $(1); do \
	echo; echo "==> make $$step"; start=$$(date +%s); \
	$(MAKE) $$step || { echo "==> make $$step FAILED" >&2; exit 1; }; \
	echo "==> make $$step: $$(($$(date +%s) - start)) s"; \
done
endef

# $(call unchanged-by,TARGET) makes it and fails if that changed a file. It compares the tree before
# with the tree after, not with a commit, so it tells the same on a tree with work in progress.
define unchanged-by
set -e; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
sums() { \
	git ls-files -z --cached --others --exclude-standard >"$$tmp/files"; \
	xargs -0 sh -c 'for f; do if [ -f "$$f" ]; then cksum "$$f"; fi; done' sh <"$$tmp/files" | sort >"$$1"; \
}; \
sums "$$tmp/before"; $(MAKE) $(1); sums "$$tmp/after"; \
if ! diff "$$tmp/before" "$$tmp/after" >"$$tmp/diff"; then \
	echo "make $(1) changed these files; look at them, then commit them:" >&2; \
	awk '/^[<>]/ {sub(/^. [0-9]+ [0-9]+ /, "  "); print}' "$$tmp/diff" | sort -u >&2; \
	exit 1; \
fi
endef

# Targets of some hundred executions a second, of which a short run does a tenth.
SLOW_FUZZ := FuzzAnswer|FuzzAnnotations|FuzzConvert|FuzzExpression|FuzzForged|FuzzForgedValues|FuzzLog|FuzzReads|FuzzReload|FuzzReview|FuzzRoundTrip|FuzzRules

# $(call fuzz,TIME,TIME OF SLOW TARGETS) fuzzes every target there is, one after the other. A worker minimises what it finds
# in few steps, so that a run bounded by executions is bounded in time too.
define fuzz
tmp=$$(mktemp); trap 'rm -f "$$tmp"' EXIT; \
$(GO) test -list "$(FUZZ)" ./... >"$$tmp" || { cat "$$tmp"; exit 1; }; \
awk '/^Fuzz/ {name[++n] = $$1} /^(ok|\?)/ {for (i = 1; i <= n; i++) print $$2, name[i]; n = 0}' "$$tmp" | \
while read -r pkg name; do \
	echo "$$name $$pkg"; \
	case "$$name" in $(SLOW_FUZZ)) time=$(2);; *) time=$(1);; esac; \
	$(GO) test -run='^$$' -fuzz="^$$name\$$" -fuzztime="$$time" -fuzzminimizetime=20x "$$pkg" </dev/null || exit 1; \
done
endef

# $(call update,FLAGS) runs, with -update, the tests of those packages whose tests have that flag. A
# test TestReference... writes a page of docs/reference/, any other one its golden files.
define update
$(GO) list -f '{{$$p := .}}{{range .TestGoFiles}}{{$$p.ImportPath}} {{$$p.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$p.ImportPath}} {{$$p.Dir}}/{{.}}{{"\n"}}{{end}}' ./... | \
while read -r pkg file; do if grep -q 'flag\.Bool.*"update"' "$$file"; then echo "$$pkg"; fi; done | sort -u | \
while read -r pkg; do $(GO) test -count=1 $(1) "$$pkg" -update </dev/null || exit 1; done
endef

##@ Use

.PHONY: help
help: ## Print the targets.
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z][a-z-]*:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build bin/webhookd, static. VERSION=v1.2.3 names the version.
	CGO_ENABLED=0 $(GO) build -trimpath $(LDFLAGS) -o bin/webhookd ./cmd/webhookd

.PHONY: run
run: build ## Serve https://localhost:9443/crdconvert with a self-signed pair, and print a curl line.
	@exec bin/webhookd serve --self-signed --rules examples/widget --crds examples/widget $(RUNFLAGS)

.PHONY: image
image: ## Build the container image (IMAGE=webhookd:dev), where a docker engine runs.
	@if docker info >/dev/null 2>&1; then \
		docker build --build-arg VERSION='$(VERSION)' --tag '$(IMAGE)' .; \
	else \
		echo 'image: no docker engine answers here: nothing built'; \
	fi

.PHONY: image-check
image-check: ## Assemble the image's last stage and run it read-only. Needs Linux, root and buildah, and no registry.
	@test/image/check

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin dist

##@ Test

# Go remembers a result as long as no file of the module has changed; those of nested modules read the others' files, too.
fresh = $$(test "$$module" = . || echo -count=1)

.PHONY: test
test: ## Everything that must pass: the tests of every module.
	@$(call in-modules,$(GO) test $(fresh) -timeout=20m $(TESTFLAGS) ./...)

.PHONY: test-race
test-race: ## The same with the race detector and in random order. Needs a C compiler.
	@command -v "$$($(GO) env CC)" >/dev/null || { \
		echo "test-race: the race detector needs a C compiler, and '$$($(GO) env CC)' is not there: install gcc" >&2; exit 1; }
	@$(call in-modules,CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout=30m $(TESTFLAGS) $(race-packages),$(RACE_MODULES))

# Without a list of packages go test shows what it prints at once: a line when a scenario begins and ends.
.PHONY: e2e
e2e: ## Scenarios on a real API server in process: etcd and the API server of CRDs. Compiles for minutes the first time.
	@cd test/e2e && $(GO) test -count=1 ./webhook/... && $(GO) test -count=1 -timeout=30m $(TESTFLAGS)

.PHONY: e2e-full
e2e-full: ## The same and more on a whole control plane, with kubectl and Helm, which it builds the first time.
	@cd test/controlplane && $(GO) test -count=1 -timeout=60m $(TESTFLAGS)

.PHONY: faults-full
faults-full: ## What goes wrong around webhookd, with the numbers of a night and limits of time. About an hour on an idle machine.
	@cd test/oracle && $(GO) test -count=1 -timeout=120m $(TESTFLAGS) ./faults -v -full

.PHONY: soak
soak: ## Load for half an hour (SOAK): heap, goroutines, descriptors and latency stay.
	@cd test/oracle && $(GO) test -count=1 -timeout=600m ./faults -v -run TestS1 -soak $(or $(SOAK),30m)

.PHONY: cover
cover: ## Coverage of the product's packages by all its tests, in bin/cover.html.
	@mkdir -p bin
	$(GO) test -coverpkg=./... -coverprofile=bin/cover.out ./...
	@$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

.PHONY: fuzz-smoke
fuzz-smoke: ## A short run of every fuzz target: 100000 executions each, 10000 of the slow ones (FUZZTIME, FUZZ).
	@$(call in-modules,$(call fuzz,$(or $(FUZZTIME),100000x),$(or $(FUZZTIME),10000x)))

.PHONY: fuzz
fuzz: ## A long run of every fuzz target: 10 minutes each (FUZZTIME, FUZZ), and the laws on 20000 objects of each example.
	@$(call in-modules,$(call fuzz,$(or $(FUZZTIME),10m),$(or $(FUZZTIME),10m)))
	@$(if $(filter ^Fuzz,$(FUZZ)),$(GO) test ./internal/converters/rules/laws -count=1 -example-objects=20000 -timeout=60m)

##@ Measure

.PHONY: bench
bench: ## The benchmarks (BENCH=regexp, BENCHCOUNT=10 for benchstat).
	@$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(BENCHCOUNT) -timeout=60m ./...

.PHONY: bench-smoke
bench-smoke: ## Each benchmark once, to see that it runs.
	@$(call in-modules,$(GO) test -run='^$$' -bench=. -benchtime=1x ./...)

.PHONY: bench-compare
bench-compare: ## Compare two outputs of make bench: OLD=old.txt NEW=new.txt.
	@$(TOOL) benchstat '$(OLD)' '$(NEW)'

.PHONY: bench-serve
bench-serve: ## Load over TLS: webhookd against its peers, in one run (BENCHFLAGS).
	@if [ -f bench/go.mod ]; then \
		cd bench && $(GO) run ./serve $(BENCHFLAGS); \
	else \
		echo 'bench-serve: there is no bench/go.mod: nothing to run'; \
	fi

##@ Change

.PHONY: fmt
fmt: ## Format the code (gofumpt; imports grouped).
	@$(call in-modules,$(TOOL) golangci-lint fmt ./...,$(ALL_MODULES))

.PHONY: lint
lint: ## Run the linters of .golangci.yml.
	@$(call in-modules,$(TOOL) golangci-lint run ./...,$(ALL_MODULES))

.PHONY: tidy
tidy: ## go mod tidy in every module.
	@set -e; for module in $(ALL_MODULES) ./tools; do echo "--- module $$module"; (cd "$$module" && $(GO) mod tidy); done

.PHONY: generate
generate: ## Write again what is generated: go generate, and docs/reference/.
	@$(call in-modules,$(GO) generate ./...; $(call update,-run=^TestReference))

.PHONY: golden-update
golden-update: ## Write the golden files again, from what the code answers now. Read the diff.
	@$(call in-modules,$(call update))

##@ Verify

.PHONY: verify
verify: ## What CI runs.
	+@$(call in-steps,verify-tidy lint lint-workflows verify-docs verify-golden test-race fuzz-smoke bench-smoke vulncheck)

.PHONY: verify-tidy
verify-tidy: ## go.mod and go.sum of every module are tidy.
	@set -e; for module in $(ALL_MODULES) ./tools; do echo "--- module $$module"; (cd "$$module" && $(GO) mod tidy -diff); done

.PHONY: verify-docs
verify-docs: ## make generate changes nothing.
	+@$(call unchanged-by,generate)

.PHONY: verify-golden
verify-golden: ## make golden-update changes nothing.
	+@$(call unchanged-by,golden-update)

# govulncheck exits with 3 when it found something. That its database cannot be reached says nothing
# about the code; any other failure is one. (The patterns open with "(" as make counts brackets.)
.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in the code that is reached (govulncheck).
	@$(call in-modules,\
		code=0; out=$$($(TOOL) govulncheck ./... 2>&1) || code=$$?; \
		case "$$code:$$out" in \
		(0:*) echo "$$out";; \
		([!3]*'fetching vulnerabilities'*) echo 'vulncheck: the vulnerability database cannot be reached: not checked';; \
		(*) echo "$$out"; exit 1;; \
		esac)

##@ Release

# The tools of a release have pins of their own, so that those of the linters do not move with them.
RELEASE_TOOL := $(GO) tool -modfile='$(CURDIR)/release/tools/go.mod'

.PHONY: reproducible
reproducible: ## Build a release three times, in different places and ways: it must be one program.
	@release/reproducible

.PHONY: sbom
sbom: build ## Write what bin/webhookd is made of, with licences: dist/webhookd.cdx.json (CycloneDX).
	@release/sbom bin/webhookd dist/webhookd.cdx.json

.PHONY: lint-workflows
lint-workflows: ## Check .github/workflows (actionlint), and that each action is pinned by a commit.
	@$(RELEASE_TOOL) actionlint
	@release/pinned

.PHONY: release-files
release-files: ## Make the files of a release from the tree as it is, in dist. Needs goreleaser.
	@goreleaser release --snapshot --clean
