# make help lists the targets.
GOLANGCI_VERSION := v2.15.0
PKGS ?= ./...
export CGO_ENABLED ?= 1

.PHONY: help build test test-race fuzz lint bench eval generate wasm wasm-verify ci clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the binary, in bin/mneme
	CGO_ENABLED=0 go build -trimpath -o bin/mneme ./cmd/mneme

test: ## all tests (what the README names)
	go test -timeout 20m $(PKGS)

test-race: ## all tests under the race detector (needs a C compiler)
	go test -race -short -timeout 30m $(PKGS)

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

bench: ## the benchmarks, one run each
	go test -run '^$$' -bench . -benchtime 1x ./...

DATA ?= ../shared/data/eval
eval: build ## retrieval quality over the BEIR-like sets in DATA
	bin/mneme eval --data .cache/eval $(DATA)/*

generate: ## generated references and assembly
	go run ./cmd/mneme config reference > configs/reference/config.md
	go run ./cmd/mneme config reference --schema > configs/reference/schema.json
	cd core/simd && go generate

wasm: ## rebuild the model engine (needs clang and lld, see wasm/guest/c)
	sh wasm/models/build.sh

wasm-verify: ## the committed engine is what its source builds
	sh wasm/models/verify.sh

ci: ## everything that has to pass before a change lands
	bash .ci/run

clean: ## remove what can be made again
	rm -rf bin .cache
