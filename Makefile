# The two commands of the README are `make demo` and `make test`. Both need only
# Go, git and make; `make race` needs a C compiler too.

GO       ?= go
PREFIX   ?= $(HOME)/.local
BINDIR   ?= $(PREFIX)/bin
MANDIR   ?= $(PREFIX)/share/man
TOOLS    := internal/tools/bin
# lint builds git-lfs with the other tools; the script lfs_real runs it, and is skipped without one.
export PATH := $(PATH):$(CURDIR)/$(TOOLS)
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
BINARY   := cmd/git-jp/git-jp
DIST     := cmd/git-jp/dist
FUZZTIME ?= 20s

# The platforms of a release.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 \
	freebsd/amd64

# Sources, version and Go decide each byte of a program: not where it is built, nor what the
# repository or the environment says. The compiler need not write what the linker leaves out, and
# collects no garbage before it has a gigabyte, which few packages need: a quarter of its processor
# time.
COMPILE = GOGC=off GOMEMLIMIT=1GiB $(GO)
PROGRAM = env CGO_ENABLED=0 GOFLAGS= GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 \
	$(COMPILE) build -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags '-s -w -buildid= -X main.version=$(VERSION)'

.PHONY: build install demo test test-newer test-lazy test-agents test-browser pictures race race-packages race-scripts cover lint metrics bench fuzz soak release reproducible

build:
	$(PROGRAM) -o $(BINARY) ./cmd/git-jp

# git turns `git jp --help` into `man git-jp`, so the man page is installed too.
install: build
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(BINARY) $(DESTDIR)$(BINDIR)/git-jp
	$(BINARY) man > $(DESTDIR)$(MANDIR)/man1/git-jp.1

demo: build
	sh testdata/demo.sh $(abspath $(BINARY))

# Tests make files by the thousand and keep none: in memory, where 8 GB are free for programs and
# files, unless TMPDIR says another place.
TMPDIR ?= $(shell grep -q '^tmpfs /dev/shm tmpfs rw,\([^ ]*,\)\?noexec' /proc/mounts 2>/dev/null || \
	df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8e6 { print $$6 }')
SCRATCH = $(if $(TMPDIR),TMPDIR="$(TMPDIR)" )

# Programs that end soon need not save memory: they collect garbage later, which saves tests a sixth of
# their processor time.
RUN = GOGC=400 $(GO)

# `make lint` runs all analyzers of go vet: go test would run some of them once more, with an empty
# cache on all dependencies too, and again for the race detector. Random tests draw anew each time; to
# remember a result, go would look up each file that a test has opened, a tenth of the processor time.
# Writing no symbols saves a fifth of the linker's.
GO_TEST = $(RUN) test -vet=off -count=1 -ldflags=-s

# GIT=/path/to/git runs that git in place of the one that PATH has: its directory is first in PATH,
# also for hooks and scripts.
test:
	$(if $(filter-out git,$(notdir $(GIT))),$(error GIT=$(GIT) has to be called git))$(if \
	  $(GIT),PATH="$(abspath $(dir $(GIT))):$$PATH" )$(SCRATCH)GIT_JP_MODEL=300 $(GO_TEST) -timeout 20m ./...

# A second run with a newer git, where there is one, of what its version matters for: less than 90 s
# of processor time.
NEWER_GIT ?= /usr/local/git-new/bin/git
NEWER_SCRIPTS = ^TestScript$$/^(check_replay|doctor_findings|gc_ext|hook|init|install|merge_dir|merge_dri|merge_el|merge_place|owner$$|reftable|repair_dup|resolve_sta|stage_index|update)
NEWER_TESTS   = ^Test(ReadShapes|Roots.*|Reflog.*|DamagedTables|Extension.*|Tables.*|Worktree.*|Stage.*|RootMatrixOfTables|Refusals|Referred.*|Uncarried|NoFileIsOpened)$$

test-newer:
	@set -e; if ! test -x "$(NEWER_GIT)"; then \
	  echo "not run with a newer git: $(NEWER_GIT) is not there, NEWER_GIT=/path/to/git says where"; exit 0; \
	fi; "$(NEWER_GIT)" version; \
	export PATH="$(abspath $(dir $(NEWER_GIT))):$$PATH"; \
	$(SCRATCH)$(GO_TEST) -timeout 10m ./hooks/... ./internal/gittest; \
	$(SCRATCH)$(GO_TEST) -timeout 10m -run '$(NEWER_TESTS)' ./gitint/... ./gc ./internal/recheck \
	  ./internal/scripts/trust; \
	$(SCRATCH)$(GO_TEST) -timeout 10m -run '$(NEWER_SCRIPTS)' ./internal/scripts/...

# The scripts once more, with every repository a lazy clone: those of which internal/scripts says why
# are left out.
test-lazy:
	$(SCRATCH)GIT_JP_TEST_LAZY=1 $(GO_TEST) -timeout 20m -run '^TestScript' ./internal/scripts/...

# The real agents whose sessions are imported, from npm, against a provider on loopback; where npm
# reaches no registry, they are skipped by name. RECORD=1 keeps what they write as test data.
test-agents:
	GIT_JP_RECORD=$(RECORD) $(GO) test -tags agents -count 1 -timeout 1h ./internal/agents

# Pages in a real Chromium, and the rules of axe-core, from npm. Without them the tests are skipped
# by name.
test-browser: build
	cd internal/view/browser && GIT_JP=$(CURDIR)/$(BINARY) $(RUN) test -v -count 1 .

# The screenshots of the documentation, of the demo's conversations.
pictures: build
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	GIT_JP_KEEP=$$dir/site sh testdata/demo.sh $(abspath $(BINARY)) > /dev/null; \
	cd internal/view/browser; GIT_JP_SITE=$$dir/site GIT_JP_PICTURES=$(CURDIR)/docs/pictures \
	  $(GO) test -v -count 1 -run Pictures .

# Under the race detector, all packages with a statement that starts a goroutine, without the
# tests that only start other processes, hundreds of times, unpack a bomb or read one large file:
# random histories are made anew, and shorter, known ones are not repeated. Without those either
# that take seconds of it and start no goroutine but those of a server of the test and that in which
# a replaced file is closed. Of the scripts, and of other tests of the whole program, those of
# commands that start goroutines themselves, and of questions and collections those in which something
# else happens meanwhile.
CONCURRENT = $$(grep -rlE '^\s*go (func|[a-z][A-Za-z.]*)\(|\.Go\(func' --include='*.go' . \
	| xargs -n 1 dirname | sort -u | grep -v -e internal/bench -e internal/scripts)

PROCESSES  = ^Test(SoleHolders|ManyProcesses|RandomCommits|SettledPlans|Seeded.*|MarkWithoutEachRoot|Pairs|EverySystemCallMayFail|RootMatrix|Teams|EveryFileMayStayUnreadable|TreesInTreesAreRefused|EveryHostileFile|BombsAreNotUnpacked|LargeStream.*|Limits|CrashAtEveryStep|ReadShapes|PropertyStagedPaths|TornIndex|LargeIndexIsLeftToGit|KnownHistories|Script)$$
SEQUENTIAL = ^Test(Golden.*|PowerFailuresLeaveOnlyWhatIsComplete|OnlyWhatIsDurableIsToldOf|CopiesOnTwo.*|CopyInPlaceOfADamagedOne|CopyIsRedacted|EveryStepMayFail|DamagedPacks|RangeReadsOnlyWhatChanges|HintsNameCommandsThatExist|ImportsOfOneSessionMerge|CompactionThatKeepsTheEnd|RandomPrefixesMerge|WhatAPersonRemovesStaysRemoved|GrowthIsOneImport|NoDamageBringsRedactedBack|HostileServers|AnswersOfAnAddressComeToAnEnd|RandomSessions.*|AnImportThatWentBack|EditsOfAnImportMerge|OlderCopyImportedAgain|WhichDirectoryStays|TurnsAddedHereStay|CodexCutAnywhere|EveryConversationIsResumed|TenThousandRefs|Generations|BatchesAreFound|TruncatedAnywhere|FlippedBits|DeletedAndForeignFiles|StreamerIsLinear|HostileMarkdown|HostileCode|CommittedSettingsOnlyTighten|TooManyKeysOfTOML|SizeOfPackedDelta|BasesAreReadTogether)$$
SCRIPTS    = ^Test(Script|Web.*|Agents.*)$$/^(gc_(auto|com|cop|inter|kill|quar|remotes)|ls_p|models|query_(attach|ctrl|dedup|fail|inter|json|live|lock|mcp|serv|stale|stdin|tim|tit))

race: race-packages race-scripts
race-packages race-scripts: export CGO_ENABLED = 1

race-packages:
	$(COMPILE) list -race -export -test -deps $(CONCURRENT) > /dev/null
	$(SCRATCH)GIT_JP_MODEL=100 $(GO_TEST) -race -timeout 20m -skip '$(PROCESSES)|$(SEQUENTIAL)' $(CONCURRENT)

race-scripts:
	$(SCRATCH)$(GO_TEST) -race -timeout 20m -run '$(SCRIPTS)' \
	  ./internal/scripts/deletions ./internal/scripts/questions ./internal/scripts/readings

# How much of the packages about merging their tests run, and the scripts about it with a program
# that counts; fails below COVER per cent.
COVER   ?= 85
MERGING  = ^TestScript$$/^(archive|check|hook|install|merge|picture|rename|repair|resolve|update)|^TestMergeTook

cover:
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; mkdir "$$dir/data"; \
	all=$$($(GO) list ./internal/merge ./internal/audit ./hooks/... | paste -sd, -); main=$$($(GO) list ./cmd/git-jp); \
	$(GO) test -coverpkg="$$all" ./internal/merge ./hooks/... ./internal/repair \
	  -args -test.gocoverdir="$$dir/data"; \
	for group in checks commits deletions merges teams; do \
	  $(GO) test -c -o "$$dir/scripts" ./internal/scripts/$$group; \
	  (cd internal/scripts/$$group; GOCOVERDIR="$$dir/data" \
	    GOFLAGS="$$GOFLAGS -cover -coverpkg=$$all,$$main" "$$dir/scripts" -test.run '$(MERGING)'); \
	done; \
	$(GO) tool covdata textfmt -i "$$dir/data" -o "$$dir/profile"; \
	awk -v least=$(COVER) -v main="$$main" ' \
	  $$1 != "mode:" { of[$$1] = $$2; if ($$3 > 0) ran[$$1] = 1 } \
	  END { \
	    for (b in of) { p = b; sub("/[^/]*$$", "", p); n[p] += of[b]; if (b in ran) k[p] += of[b] } \
	    for (p in n) if (p != main) { \
	      printf "%s: %.1f %% of %d statements\n", p, 100 * k[p] / n[p], n[p]; \
	      if (100 * k[p] < least * n[p]) low = 1 } \
	    exit low }' "$$dir/profile"

# golangci-lint runs all analyzers of go vet, also on tests. Where nobody runs them, tests have to
# compile too, and these analyzers to find nothing: from sources, for go vet would make code of all
# dependencies for each system.
lint: $(TOOLS)/golangci-lint
	cd internal/tools && $(RUN) test ./platforms && $(RUN) run ./platforms ../.. \
	  $(filter-out $(shell $(GO) env GOOS),linux darwin windows freebsd)
	$(COMPILE) list -export -test -deps ./... > /dev/null
	GOGC=off GOMEMLIMIT=3GiB $(TOOLS)/golangci-lint run ./...

# The figures of the code beside their limits.
metrics:
	@$(GO) run ./internal/house/metrics

$(TOOLS)/%: internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && $(COMPILE) build -o bin/ tool

bench: build
	$(GO) run ./internal/bench -binary $(BINARY) -data "$${GIT_JP_DATA:-../shared/data}" $(BENCH)

# Each fuzz target for FUZZTIME; go test runs one target a call. Before Go 1.27 the end of that time,
# a "context deadline exceeded", may count as a failure (golang/go#75804): it has no failing input.
fuzz:
	@set -e; log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg > "$$log" 2>&1 || \
	      { grep -q '^    context deadline exceeded' "$$log" && ! grep -q 'Failing input' "$$log"; } || \
	      { cat "$$log"; exit 1; }; \
	    grep '^fuzz: elapsed' "$$log" | tail -1; \
	  done; \
	done

soak:
	GIT_JP_SOAK=1 $(GO) test -race -timeout 4h -skip '$(PROCESSES)' ./...
	GIT_JP_SOAK=1 $(GO) test -timeout 12h -run '$(PROCESSES)' ./...
	$(MAKE) test-lazy
	$(MAKE) fuzz FUZZTIME=10m

# A program for each platform, the man page, a bill of materials and the checksums of all.
release: build
	rm -rf $(DIST)
	mkdir $(DIST)
	$(BINARY) man > $(DIST)/git-jp.1
	@set -e; for p in $(PLATFORMS); do \
	  os=$${p%/*} arch=$${p#*/} exe=; \
	  if [ $$os = windows ]; then exe=.exe; fi; \
	  echo "git-jp-$(VERSION)-$$os-$$arch$$exe"; \
	  GOOS=$$os GOARCH=$$arch $(PROGRAM) -o "$(DIST)/git-jp-$(VERSION)-$$os-$$arch$$exe" ./cmd/git-jp; \
	done
	cd internal/tools && $(COMPILE) run ./release -version '$(VERSION)' '$(CURDIR)/$(DIST)'

# Two builds of the same sources, in directories of other names and in repositories of other
# commits, give the same bytes, and so do the files that accompany them.
reproducible:
	cd internal/tools && $(COMPILE) test ./release
	@set -e; top=$$(mktemp -d); trap 'rm -rf "$$top"' EXIT; \
	for dir in one "other/and longer"; do \
	  mkdir -p "$$top/$$dir"; \
	  git ls-files -z | xargs -0 tar cf - | tar xf - -C "$$top/$$dir"; \
	  git init -q "$$top/$$dir"; \
	  git -C "$$top/$$dir" -c user.name=u -c user.email=e commit -q --allow-empty -m "$$dir"; \
	  $(MAKE) -s -C "$$top/$$dir" release VERSION=v0 PLATFORMS="$$($(GO) env GOOS)/$$($(GO) env GOARCH)"; \
	done; \
	diff -r "$$top/one/$(DIST)" "$$top/other/and longer/$(DIST)"
