# `make help` lists the targets. Each is a line or two; longer ones are in scripts/.
SHELL         := /bin/bash
.DEFAULT_GOAL := help
export CGO_ENABLED := 0

# A release sets VERSION; otherwise the version in the source holds.
VERSION ?=
LDFLAGS := -s -w $(if $(VERSION),-X cutroom.Version=$(VERSION))

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install programs and models, build, pin the toolchain
	scripts/setup.sh
	@$(MAKE) --no-print-directory build
	bin/cutroom setup

.PHONY: build
build: ## write bin/cutroom
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/cutroom ./cmd/cutroom

.PHONY: demo
demo: setup ## watch the sample clip and show its timeline
	scripts/demo.sh

.PHONY: check
check: ## formatting, vet, staticcheck, architecture, generated files
	scripts/check.sh

.PHONY: test
test: ## install what tests need, run every test, fuzz each target for 1 s
	scripts/setup.sh --test
	@$(MAKE) --no-print-directory build
	go test -vet=off -timeout 30m ./...
	scripts/fuzz.sh 1s

.PHONY: soak
soak: ## the long versions of the tests, 30 s of fuzzing, the benches
	scripts/setup.sh --test
	@$(MAKE) --no-print-directory build
	CUTROOM_SOAK=1 go test -tags sdk -count=1 -timeout 6h ./...
	scripts/fuzz.sh 30s
	go run ./bench -long

.PHONY: bench
bench: ## measure side by side with the plain programs; writes bench/results
	scripts/setup.sh --test
	@$(MAKE) --no-print-directory build
	go run ./bench

.PHONY: attest
attest: ## drive the pinned hosts for real; writes docs/reference/hosts.md
	scripts/setup.sh --test
	go run ./attest

.PHONY: eval
eval: ## ask a model about the contract: ENDPOINT=http://…/v1 MODEL=name
	go run ./evals/contract -endpoint "$(ENDPOINT)" -model "$(MODEL)"

.PHONY: release-check
release-check: build ## pack, install into an empty prefix, try both copies; publishes nothing
	go test ./evals/...
	scripts/release-check.sh

.PHONY: generate
generate: ## renew what is made from the registry of tools
	go generate ./...

.PHONY: clean
clean: ## remove what build made; results in .cutroom stay
	rm -rf bin
