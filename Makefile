# tfgen: one Makefile, not recursive. `make`, `make demo`, `make test`, `make help`.
#
#   V=1                     shows every command
#   SAN=address,undefined   builds everything with these sanitizers (a build folder of its own)
#   TFGEN_GOLDEN_UPDATE=1   (make golden) rewrites golden files

.DEFAULT_GOAL := all
SHELL := /bin/bash

CC ?= gcc
SAN ?=
Q := $(if $(V),,@)
comma := ,

B := build/$(if $(SAN),san-$(subst $(comma),-,$(SAN)),default)

# The version is only written in the header.
VERSION := $(shell awk '$$2 ~ /^TFGEN_VERSION_(MAJOR|MINOR|PATCH)$$/ {printf "%s%s", dot, $$3; dot = "."}' runtime/api/tfgen.h)
SOVERSION := 0

WARN := -Wall -Wextra -Wclobbered -Wshadow=local -Wstrict-prototypes
ifneq (,$(findstring clang,$(CC)))
WARN := -Wall -Wextra -Wstrict-prototypes
endif
CFLAGS ?= -O2 -g
# Built files have no paths of this machine: two builds of one commit are equal, byte by byte, wherever they are made.
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS) '-ffile-prefix-map=$(CURDIR)=.' -fPIC -fvisibility=hidden -pthread -I. -I$(B) -MMD -MP \
  -DTFGEN_VERSION='"$(VERSION)"' \
  $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
# JIT-compiled kernels resolve the engine's functions from the process, hence -rdynamic.
ALL_LDFLAGS := $(LDFLAGS) -rdynamic -pthread $(if $(SAN),-fsanitize=$(SAN))
# Tests' own files are compiled as often as they run: not optimised, but for those that compute much themselves, and without debug
# information, as 80 programs would each have that of the whole library (TEST_DEBUG=1 keeps both, for a debugger).
TEST_DEBUG ?= $(SAN)
TEST_FLAGS ?= -O0 $(if $(TEST_DEBUG),,-g0)
LIBS := -lyaml -ljansson -lxxhash -ldl -lm
# The command alone keeps trials of tunings.
CLI_LIBS := -lsqlite3 $(LIBS)
CHECK_LIBS := -lcheck -lsubunit -lrt -lpthread -lsqlite3

LIB_SOURCES := $(filter-out ir/reference/%,$(wildcard ir/*/*.c)) $(wildcard gen/*.c gen/*/*.c) \
  $(filter-out runtime/cli/% runtime/compile/worker_main.c,$(wildcard runtime/*/*.c))
# The float64 reference judges results; it is part of the command, never of the library.
CLI_SOURCES := $(wildcard runtime/cli/*.c runtime/cli/*/*.c ir/reference/*.c)
TEST_SOURCES := $(wildcard tests/*/test_*.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
TEMPLATES := $(wildcard templates/*/*.h runtime/host/*.h)

LIB_OBJECTS := $(LIB_SOURCES:%.c=$(B)/%.o)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(B)/%.o)
# Tests of the command's own parts link all of it but its main.
CLI_PARTS := $(filter-out $(B)/runtime/cli/main.o,$(CLI_OBJECTS))
SUPPORT := $(B)/tests/support.o
# What a test program links besides its own file.
TESTED := $(B)/tests/tested.o
# Test programs are in one folder; each has the name of its suite.
TESTS := $(addprefix $(B)/tests/,$(notdir $(TEST_SOURCES:.c=)))
COUNTED := $(patsubst %.c,$(B)/counted/%.o,$(filter ir/% gen/%,$(LIB_SOURCES)))
# Doubles of vendors' libraries: tests/doubles/libcuda_double.c is the shared object libcuda_double.so.
DOUBLES := $(patsubst %.c,$(B)/%.so,$(wildcard tests/doubles/lib*_double.c))
# tests/doubles: HIP's runtime (as ROCm 6 and as ROCm 5 have it) and HIPRTC, over the host engine.
HIP_DOUBLE := $(wildcard tests/doubles/hip_*.c)
HIP_DOUBLES := $(addprefix $(B)/tests/doubles/,libamdhip64_double.so libamdhip64_rocm5_double.so libhiprtc_double.so)
DOUBLE_CC = $(CC) $(ALL_CFLAGS) -shared -Wl,--exclude-libs,ALL -Wl,-Bsymbolic $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
FUZZERS := $(FUZZ_SOURCES:tests/fuzz/%.c=$(B)/tests/%)
VERIFY_CODE := $(B)/tests/verify_code

ifeq ($(SAN),)
PRODUCTS := tfgen tfgen-worker libtfgen.a libtfgen.so
else
PRODUCTS := $(B)/tfgen $(B)/tfgen-worker
endif

.PHONY: all help demo check test test-torch test-transformers test-elsewhere verify-all verify-code test-amd test-bare mutants golden \
  lint schema man wheel clean install deb uninstall deps
all: $(PRODUCTS)

help:
	@sed -n 's/^# *\(make [a-z-]*.*\)/\1/p' Makefile

# make               the command ./tfgen and libtfgen (static and shared)
# make demo          installs what is missing (apt), builds, runs the Llama block on this machine and checks it
# make check         a first look, under two minutes on two cores: builds, then a suite for each stage from the reader to a run
# make test          the same for all tests: a seeded sample, five to six minutes on two cores
# make test-elsewhere   suites that could depend on where the tree lies, from a path with a space below the folder of temporary files
# make verify-all    the full matrix of specs, levels, dtypes, targets and odd sizes, then all tests, those tagged long too (hours)
# make verify-code   every kernel of every spec, preset, level and dtype compiled for every GPU target; goes on where it was stopped
# make test-amd TINYGRAD_DIR=...   real AMD code objects run in an instruction emulator and examined (installs what it needs)
# make mutants       SEED=1 COUNT=150: which small faults, planted one by one in copies of the tree, the suites notice (tests/mutants)
# make test-transformers PYTHON=...   imported layers and generated tokens beside transformers, where that Python has it
# make test-torch PYTHON=...   the package for Python beside PyTorch and transformers, on the host engine, where that Python has them
# make test-bare     proves demo and test in a minimal Debian 12 folder (debootstrap, root)
# make fuzz          fuzzers with libFuzzer and sanitizers, FUZZ_SECONDS=60 each (needs clang-22 and libclang-rt-22-dev)
# make golden        rewrites golden files; the diff is the review
# make man           docs/tfgen.1 and, by make schema, docs/tfgen-spec.schema.json: what the command prints of itself
# make lint          file and function lengths, directions of includes and calls, circles, width of lines, clang-tidy when present
# make install       PREFIX=/usr/local LIBDIR=lib DESTDIR=; a multiarch system has LIBDIR=lib/x86_64-linux-gnu
# make wheel         python/dist/tfgen-*.whl (docs/python.md): PYTHON= with setuptools, WHEEL_CC="zig cc -target ..." for an older glibc
# make uninstall     removes what install made; the same variables

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $<")
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Files that embed text by .incbin depend on that text.
$(B)/gen/source/template_text.o $(B)/runtime/host/cc.o $(B)/runtime/host/embed.o: $(TEMPLATES)
$(B)/ir/devices/device_models.o $(B)/counted/ir/devices/device_models.o: $(wildcard specs/devices/*.yaml)
$(B)/runtime/wisdom/shipped.o: $(wildcard specs/wisdom/*)
$(B)/runtime/cli/table/shipped.o: $(wildcard specs/*.yaml specs/tables/*.yaml)
$(B)/runtime/compile/libclang_work.o: runtime/compile/libclang_cuda.h
$(B)/runtime/cli/explain/explain_page.o: $(wildcard runtime/cli/explain/*.html runtime/cli/explain/*.js)
$(B)/runtime/cli/page/page.o: runtime/cli/page/page.css
# Tables are X-macros.
$(LIB_OBJECTS): ir/op.def

$(B)/libtfgen.a: $(LIB_OBJECTS)
	@rm -f $@
	$(Q)ar rcs $@ $^
# What programs link: one object in which every name that tfgen.h does not declare is local, so that a program may have an arena_alloc()
# of its own. The command and the tests link libtfgen's inner functions, so they take the archive above.
$(B)/public/libtfgen.a: $(LIB_OBJECTS)
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(CC) -nostdlib -r -o $(@D)/tfgen.o $^
	$(Q)objcopy --localize-hidden $(@D)/tfgen.o
	$(Q)ar rcs $@ $(@D)/tfgen.o && rm $(@D)/tfgen.o
$(B)/libtfgen.so.$(VERSION): $(LIB_OBJECTS)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) -shared -Wl,-soname,libtfgen.so.$(SOVERSION) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(B)/tfgen: $(CLI_OBJECTS) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(CLI_OBJECTS) -Wl,--whole-archive $(B)/libtfgen.a -Wl,--no-whole-archive $(CLI_LIBS)
$(B)/tfgen-worker: $(B)/runtime/compile/worker_main.o $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(B)/libtfgen.a $(LIBS)

tfgen tfgen-worker: %: $(B)/%
	@cp -f $< $@
libtfgen.a: $(B)/public/libtfgen.a
	@cp -f $< $@
libtfgen.so: $(B)/libtfgen.so.$(VERSION)
	@cp -f $< libtfgen.so.$(VERSION)
	@ln -sf libtfgen.so.$(VERSION) libtfgen.so.$(SOVERSION)
	@ln -sf libtfgen.so.$(SOVERSION) $@

$(DOUBLES): $(B)/%.so: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_CFLAGS) -fvisibility=default -shared $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN)) -o $@ $< -ldl
$(B)/tests/doubles/libamdhip64_double.so: $(HIP_DOUBLE:%.c=$(B)/%.o) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(DOUBLE_CC) -o $@ $^ $(LIBS)
$(B)/tests/doubles/rocm5/%.o: tests/doubles/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DHIP_DOUBLE_ROCM5 -c -o $@ $<
$(B)/tests/doubles/libamdhip64_rocm5_double.so: $(HIP_DOUBLE:tests/doubles/%.c=$(B)/tests/doubles/rocm5/%.o) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(DOUBLE_CC) -o $@ $^ $(LIBS)
$(B)/tests/doubles/libamd_comgr.so.3: $(B)/tests/doubles/comgr.o
	$(Q)$(DOUBLE_CC) -Wl,-soname,$(@F) -o $@ $<
$(B)/tests/doubles/libhiprtc_double.so: $(B)/tests/doubles/hiprtc.o $(B)/libtfgen.a $(B)/tests/doubles/libamd_comgr.so.3
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(DOUBLE_CC) -Wl,--no-as-needed '-Wl,-rpath,$$ORIGIN' -o $@ $^ $(LIBS)
vpath %.c $(sort $(dir $(TEST_SOURCES) $(FUZZ_SOURCES)))
$(TESTS:=.o) $(FUZZERS:=.o) $(VERIFY_CODE).o: $(B)/tests/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_FLAGS) -MF $@.d -c -o $@ $<
$(addprefix $(B)/tests/,test_ref_bounds.o test_scale.o test_sums.o test_templates.o test_search.o): TEST_FLAGS :=
$(FUZZERS:=.o) $(VERIFY_CODE).o: TEST_FLAGS :=
$(TESTS): | $(DOUBLES)
$(B)/tests/test_ablate $(B)/tests/test_calibrate $(B)/tests/test_doctor $(B)/tests/test_hip $(B)/tests/test_hip_failures \
  $(B)/tests/test_random $(B)/tests/test_ranks $(B)/tests/test_table $(B)/tests/test_trace_command $(B)/tests/test_tune: | $(HIP_DOUBLES)
$(filter-out %/test_scale,$(TESTS)): $(B)/tests/%: $(B)/tests/%.o $(TESTED) $(B)/tfgen $(B)/tfgen-worker
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(TESTED) -Wl,--wrap=_mark_point $(CHECK_LIBS) $(LIBS)
# Joined once, as one object is read sooner than 250.
$(TESTED): $(SUPPORT) $(CLI_PARTS) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) -nostdlib -r $(if $(TEST_DEBUG),,-Wl,-S) -o $@ $(SUPPORT) $(CLI_PARTS) -Wl,--whole-archive $(B)/libtfgen.a
# Compiled so that each basic block calls a function, for tests/ir/test_scale.c to count.
$(B)/counted/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $< (counted)")
	$(Q)$(CC) $(ALL_CFLAGS) -O1 -g0 -fsanitize-coverage=trace-pc -c -o $@ $<
$(B)/tests/test_scale: $(B)/tests/%: $(B)/tests/%.o $(COUNTED) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(COUNTED) $(B)/libtfgen.a $(CHECK_LIBS) $(LIBS)
$(VERIFY_CODE): $(B)/tests/%: $(B)/tests/%.o $(CLI_PARTS) $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(CLI_PARTS) -Wl,--whole-archive $(B)/libtfgen.a -Wl,--no-whole-archive $(CLI_LIBS)
$(FUZZERS): $(B)/tests/%: $(B)/tests/%.o $(B)/tests/fuzz/fuzzing.o $(B)/libtfgen.a
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(B)/libtfgen.a $(LIBS)

# The environment says what to install; it never installs when nothing is missing.
deps:
	@sh tests/deps.sh

demo: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@sh examples/demo.sh

check: deps
	@$(MAKE) --no-print-directory -j$$(nproc) run-check

test: deps
	@$(MAKE) --no-print-directory -j$$(nproc) run-tests

test-elsewhere: deps
	@$(MAKE) --no-print-directory -j$$(nproc) run-elsewhere

PYTHON ?= python3
test-transformers: all
	@for script in layers generate others drawn; do \
	  $(PYTHON) tests/transformers/$$script.py ./tfgen || [ $$? = 77 ] || exit 1; done

test-torch: all
	@for script in tests/python/torch_test.py tests/python/transformers_test.py examples/torch_block.py \
	  "examples/fuse_layer.py $(B)"; do \
	  TFGEN_LIBRARY="$(CURDIR)/libtfgen.so" TFGEN="$(CURDIR)/tfgen" $(PYTHON) $$script || [ $$? = 77 ] || exit 1; done

# The same fuzzers with coverage to guide them: build/fuzz/fuzz_NAME, FUZZ_SECONDS each; corpora stay in build/fuzz/NAME.corpus.
FUZZ_CC ?= clang-22
FUZZ_SAN := address,undefined
FUZZ_FLAGS := -std=c11 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined -fsanitize=$(FUZZ_SAN) \
  -pthread -I. -DTFGEN_LIBFUZZER -DTFGEN_VERSION='"$(VERSION)"' -MMD -MP
FUZZ_OBJECTS := $(LIB_SOURCES:%.c=build/fuzz/%.o)
FUZZ_PROGRAMS := $(FUZZ_SOURCES:tests/fuzz/%.c=build/fuzz/%)
build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC   $< (fuzz)")
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<
$(FUZZ_PROGRAMS): build/fuzz/%: build/fuzz/tests/fuzz/%.o build/fuzz/tests/fuzz/fuzzing.o $(FUZZ_OBJECTS)
	$(if $(V),,@echo "  LINK $@")
	$(Q)$(FUZZ_CC) -fsanitize=$(FUZZ_SAN),fuzzer -rdynamic -pthread -o $@ $^ $(LIBS)

.PHONY: fuzz fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS)
fuzz: fuzz-programs
	sh tests/fuzz/fuzz.sh $(FUZZ_PROGRAMS)

# For each stage the suites that test most in little time: reader, lowering, fusion, planning, emission, the reference, packing, kernels of
# rows, attention and decode on the host engine, caching, the library's calls and the command.
CHECK_TESTS := $(addprefix $(B)/tests/test_,api arena attention cache check cli data decode extent facts fuse golden_models host_check \
  host_engine host_waves ir members packing predict reader ref ref_golden rows run runtime spec_language stages tiles weights wisdom work)
# Suites that run commands by path, install, compile against the tree, or look for their own files.
ELSEWHERE := $(addprefix test_,bundle cli compilers doctor examples harness help misuse ranges stages trust)

.PHONY: run-check run-elsewhere run-tests
run-check: $(PRODUCTS) $(CHECK_TESTS)
	@TFGEN=$(B)/tfgen TFGEN_WORKER="$(CURDIR)/$(B)/tfgen-worker" sh tests/run.sh $(B) $(CHECK_TESTS)
run-elsewhere: $(PRODUCTS) $(ELSEWHERE:%=$(B)/tests/%)
	@sh tests/elsewhere.sh $(B) $(ELSEWHERE)
run-tests: $(PRODUCTS) $(TESTS) $(FUZZERS) $(VERIFY_CODE)
	@TFGEN=$(B)/tfgen TFGEN_WORKER="$(CURDIR)/$(B)/tfgen-worker" sh tests/run.sh $(B) $(TESTS) $(FUZZERS)

verify-all: all $(TESTS)
	./tfgen verify specs/*.yaml tests/specs/*.yaml tests/specs/views/*.yaml tests/specs/language/*.yaml tests/specs/reuse/*.yaml \
	  --fusion=all --dtype=all --target=all --sizes=all --summary=$(B)/verification.md
	CK_EXCLUDE_TAGS= TFGEN_HOST_OPTIMISE=3 TFGEN=$(B)/tfgen TFGEN_WORKER="$(CURDIR)/$(B)/tfgen-worker" sh tests/run.sh $(B) $(TESTS)

verify-code: all $(VERIFY_CODE)
	VERIFY_CODE=$(VERIFY_CODE) SUMMARY=docs/verification.md sh tests/cli/verify_code.sh $(B)/verify-code $$(nproc)

# tinygrad and the emulator call clang without a number: here it is clang-22.
AMD_TOOLS := $(B)/amd-tools
test-amd:
	@test -n "$(TINYGRAD_DIR)" || { echo "usage: make test-amd TINYGRAD_DIR=<a tinygrad checkout>"; exit 2; }
	@sh tests/deps.sh amd
	@$(MAKE) --no-print-directory -j$$(nproc) all $(HIP_DOUBLES)
	@mkdir -p $(AMD_TOOLS) && ln -sf "$$(command -v clang-22)" $(AMD_TOOLS)/clang
	@$(MAKE) --no-print-directory run-amd

.PHONY: run-amd
run-amd: export TINYGRAD_DIR := $(TINYGRAD_DIR)
run-amd: export PATH := $(CURDIR)/$(AMD_TOOLS):$(PATH)
run-amd:
	/usr/bin/python3 tests/judging_test.py
	/usr/bin/python3 tests/amd/emulator_test.py
	/usr/bin/python3 tests/amd/code.py
	/usr/bin/python3 tests/amd/attention_code.py
	/usr/bin/python3 tests/amd/rows_code.py
	/usr/bin/python3 tests/amd/decode_code.py
	/usr/bin/python3 tests/amd/chiplets.py
	/usr/bin/python3 tests/amd/product_mfma.py
	/usr/bin/python3 tests/amd/trace.py
	/usr/bin/python3 tests/amd/run.py
	/usr/bin/python3 tests/amd/run.py tests/specs/kinds/window.yaml --fusion=stack --then=tests/specs/kinds/full.yaml
	sh tests/doubles/run_amd.sh "$(CURDIR)/$(B)"

# LIST=holes: a list in tests/mutants; AREAS=ir,gen: some areas; FILES=ir/check: some files; SUITES=test_ir: some suites; RETRY=1: survivors
# again; BUDGET=60: most seconds of suites a mutant; JOBS=8: so many at a time; LENIENT=1: suites that fail are left out; UNMEASURED=1:
# no coverage first; REPORT=1: what is known.
SEED ?= $(if $(LIST),,1)
COUNT ?= 150
mutants:
	@python3 tests/mutants/test_operators.py
	@python3 tests/mutants/test_draws.py
	@python3 tests/mutants/test_mutants.py
	@nice python3 tests/mutants/mutants.py --cc="$(CC)" --seed="$(SEED)" --count=$(COUNT) $(if $(LIST),--list=$(LIST)) \
	  $(if $(AREAS),--areas=$(AREAS)) $(if $(FILES),--files='$(FILES)') $(if $(SUITES),--suites='$(SUITES)') \
	  $(if $(BUDGET),--budget=$(BUDGET)) $(if $(JOBS),--jobs=$(JOBS)) \
	  $(if $(RETRY),--retry) $(if $(LENIENT),--lenient) $(if $(UNMEASURED),--unmeasured) $(if $(REPORT),--report)

test-bare:
	sh tests/bare.sh

golden: all $(TESTS)
	TFGEN_GOLDEN_UPDATE=1 sh tests/run.sh $(B) $(TESTS)

lint: all
	@sh tests/lint.sh

# The package for Python, with what it needs inside.
wheel:
	@sh python/wheel.sh "$(PYTHON)" "$(WHEEL_CC)"

schema: all
	./tfgen schema > docs/tfgen-spec.schema.json
man: all
	./tfgen --man > docs/tfgen.1

PREFIX ?= /usr/local
# Of the libraries and of what pkg-config and CMake read: below PREFIX, or absolute.
LIBDIR ?= lib
D := $(DESTDIR)$(PREFIX)
L := $(DESTDIR)$(if $(filter /%,$(LIBDIR)),,$(PREFIX)/)$(LIBDIR)
FILLED = prefix=$$(printf %s "$(PREFIX)" | sed 's/[|&\\]/\\&/g') && sed "s|@PREFIX@|$$prefix|; s|@VERSION@|$(VERSION)|; \
  s|@LIBDIR@|$(if $(filter /%,$(LIBDIR)),,\$${prefix}/)$(LIBDIR)|; s|@INCLUDE@|$$(realpath -ms --relative-to="$(L)" "$(D)/include")|"
SPECS := $(wildcard specs/*.yaml specs/devices/*.yaml specs/tables/*.yaml specs/wisdom/*.wisdom)
# These files refer to each other by their paths in this tree.
DOCUMENTS := README.md LICENSE $(wildcard docs/*.md docs/*/*.* examples/*.c examples/*.cpp examples/*.py)
# Completions, where bash, zsh and fish look for them.
COMPLETIONS := bash-completion/completions/tfgen zsh/site-functions/_tfgen fish/vendor_completions.d/tfgen.fish
install: all
	install -d "$(D)/bin" "$(D)/include" "$(D)/libexec/tfgen" "$(D)/share/man/man1" "$(L)/pkgconfig" "$(L)/cmake/tfgen"
	install -m 755 tfgen "$(D)/bin/"
	install -m 755 tfgen-worker "$(D)/libexec/tfgen/"
	install -m 644 runtime/api/tfgen.h runtime/api/tfgen.hpp "$(D)/include/"
	install -m 644 libtfgen.a libtfgen.so.$(VERSION) "$(L)/"
	ln -sf libtfgen.so.$(VERSION) "$(L)/libtfgen.so.$(SOVERSION)"
	ln -sf libtfgen.so.$(SOVERSION) "$(L)/libtfgen.so"
	$(FILLED) runtime/install/tfgen.pc.in > "$(L)/pkgconfig/tfgen.pc"
	$(FILLED) runtime/install/tfgenConfigVersion.cmake.in > "$(L)/cmake/tfgen/tfgenConfigVersion.cmake"
	$(FILLED) runtime/install/tfgenConfig.cmake.in > "$(L)/cmake/tfgen/tfgenConfig.cmake"
	for f in $(SPECS); do install -D -m 644 "$$f" "$(D)/share/tfgen/$$f" || exit; done
	for f in $(DOCUMENTS); do install -D -m 644 "$$f" "$(D)/share/doc/tfgen/$$f" || exit; done
	install -D -m 644 docs/tfgen-spec.schema.json "$(D)/share/tfgen/docs/tfgen-spec.schema.json"
	ln -sf docs/tfgen-spec.schema.json "$(D)/share/tfgen/tfgen-spec.schema.json"
	install -m 644 docs/tfgen.1 "$(D)/share/man/man1/"
	for f in $(COMPLETIONS); do install -D -m 644 "runtime/install/completion/$${f##*/}" "$(D)/share/$$f" || exit; done

# A package for Debian in the folder DEB.
DEB ?= build
deb: all
	@sh runtime/install/deb.sh $(VERSION) "$(DEB)"

uninstall:
	rm -f "$(D)/bin/tfgen" "$(D)/include/tfgen.h" "$(D)/include/tfgen.hpp"
	rm -f "$(D)/share/man/man1/tfgen.1" "$(L)"/libtfgen.a "$(L)"/libtfgen.so* "$(L)/pkgconfig/tfgen.pc"
	rm -f $(COMPLETIONS:%="$(D)/share/%")
	rm -rf "$(D)/libexec/tfgen" "$(D)/share/tfgen" "$(D)/share/doc/tfgen" "$(L)/cmake/tfgen"

clean:
	rm -rf build tfgen tfgen-worker libtfgen.a libtfgen.so*

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(TESTS:=.o.d) $(DOUBLES:.so=.d) $(FUZZERS:=.o.d) $(B)/tests/fuzz/fuzzing.d \
  $(FUZZ_OBJECTS:.o=.d) $(wildcard build/fuzz/tests/fuzz/*.d) $(VERIFY_CODE).o.d $(COUNTED:.o=.d) $(SUPPORT:.o=.d) \
  $(wildcard $(B)/tests/doubles/*.d $(B)/tests/doubles/rocm5/*.d)
