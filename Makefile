.PHONY: build test check lint help

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 20
build: ## build bin/paritycheck
	CGO_ENABLED=0 go build -o bin/paritycheck ./cmd/paritycheck
test: ## run the tests
	CGO_ENABLED=0 go test -shuffle=on ./...
check: ## gofmt, vet, tidiness, import table and tests
	@test -z "$$(gofmt -l cmd internal kernels)" || { gofmt -l cmd internal kernels; echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go mod tidy -diff
	CGO_ENABLED=0 go test ./cmd/paritycheck -run TestImports
	$(MAKE) test
lint: ## run golangci-lint, where it is installed
	golangci-lint run

.PHONY: kernels kernels-hip kernels-cuda kernels-check

# Device code. The objects are committed; building them needs clang-19 with
# lld, rocm-device-libs and HIP's headers, and for PTX the NVRTC that
# PARITYCHECK_NVRTC names.
kernels:       ; go run ./kernels/build
kernels-hip:   ; go run ./kernels/build hip faults
kernels-cuda:  ; go run ./kernels/build cuda
kernels-check: ; go run ./kernels/build -check

.PHONY: truth-accuracy truth-tables

# A million points for each function against MPFR (libmpfr.so.6; an hour or
# so), with the worst accuracy in bits; and no fused multiply-add but where
# the source says so.
truth-accuracy:
	PARITYCHECK_REQUIRE=mpfr go test ./internal/truth -v -timeout 6h -points $(or $(POINTS),1000000) -fusion \
		-run 'TestFunctions|TestDDArguments|TestPow|TestLgamma|TestTables|TestFusion'
truth-tables:
	go test ./internal/truth -run TestTables -write-tables
	go test ./internal/truth -run TestGolden -write-golden

.PHONY: arith-exhaustive

# Every f32 operand of every transcendental against MPFR; hours. STEP=101
# takes every 101st.
arith-exhaustive:
	PARITYCHECK_REQUIRE=mpfr PARITYCHECK_EXHAUSTIVE=$(or $(STEP),1) go test ./internal/amdgpu/arith -v -timeout 48h -fusion \
		-run 'TestTranscendental|TestFusion'

.PHONY: test-isa-long

# The decoder against libLLVM 19: ten million random words for each
# architecture and every immediate; WORDS=n changes the number. Then the
# tables, which must be what the generator writes.
test-isa-long:
	PARITYCHECK_REQUIRE=llvm,clang PARITYCHECK_LONG=$(or $(WORDS),10000000) go test ./internal/amdgpu/isa ./internal/amdgpu/isa/gen -v -timeout 3h

.PHONY: twins seeds cases

# Honest variants of every kernel, none of which may be rejected; every op
# with other inputs, none of which may fail: SEEDS=3..5 takes three; and the
# truth itself as the output of every case of CASES seeds, of which none may be
# one that zeros or an input would pass too.
twins: ; go run ./cmd/paritycheck mutate --twins
seeds:
	@range="$(or $(SEEDS),1..20)"; for s in $$(seq $${range%%..*} $${range##*..}); do \
		echo "seed $$s"; go run ./cmd/paritycheck run --seed $$s || exit 1; done
cases: ; go test ./internal/ops -run TestCasesCanTell -timeout 2h -tell-seeds $(or $(CASES),20) $(if $(THOROUGH),-tell-thorough)

.PHONY: test-kill

# SIGKILL for the run and for the child that drives the GPU, KILLS times at
# moments that SEED draws: --resume must end with the same report.
test-kill: ; go test ./cmd/paritycheck -run TestKill -v -timeout 30m -kills $(or $(KILLS),50) -kill-seed $(or $(SEED),1)

.PHONY: bench-sim

# Whole kernels in the interpreter, one worker, with and without checks. Under
# GODEBUG=cpu.avx512f=off as on a processor that has AVX2 alone, under
# GODEBUG=cpu.avx512f=off,cpu.avx2=off in Go alone.
bench-sim: ; go test ./internal/amdgpu/sim -run '^$$' -bench Kernel -benchtime 1x -timeout 30m

.PHONY: mutate

# Every named fault and 80 instruction mutants of each op and wave size
# (SAMPLES=n changes that), the baseline that tests hold later runs to and its
# table in docs/mutation.md: read its survivors before committing it.
mutate:
	go run ./cmd/paritycheck mutate --samples $(or $(SAMPLES),80) --save-baseline testdata/mutation.json
	go test ./cmd/paritycheck -run TestMutationDocument -write-docs

.PHONY: fuzz

# Arbitrary bytes as a code object, as its notes, as instructions, and as
# what a child answers and a journal holds, for FUZZTIME (a duration) each:
# none may bring the program down.
fuzz:
	go test ./internal/amdgpu/codeobject -run '^$$' -fuzz FuzzParse -fuzztime $(or $(FUZZTIME),1m)
	go test ./internal/amdgpu/codeobject -run '^$$' -fuzz FuzzMsgpack -fuzztime $(or $(FUZZTIME),1m)
	go test ./internal/amdgpu/isa -run '^$$' -fuzz FuzzDecode -fuzztime $(or $(FUZZTIME),1m)
	go test ./internal/gpu/isolate -run '^$$' -fuzz FuzzFrame -fuzztime $(or $(FUZZTIME),1m)
	go test ./internal/journal -run '^$$' -fuzz FuzzRead -fuzztime $(or $(FUZZTIME),1m)
	go test ./internal/gpu/cuda -run '^$$' -fuzz FuzzSymbols -fuzztime $(or $(FUZZTIME),1m)
