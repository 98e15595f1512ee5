# The two commands of the README are `make demo` and `make test`. Both need only
# Go, git and make; `make race` needs a C compiler too.

GO       ?= go
PREFIX   ?= $(HOME)/.local
BINDIR   ?= $(PREFIX)/bin
MANDIR   ?= $(PREFIX)/share/man
TOOLS    := internal/tools/bin
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)
BINARY   := cmd/git-jp/git-jp
FUZZTIME ?= 20s

.PHONY: build install demo test race lint bench fuzz soak

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/git-jp

# git turns `git jp --help` into `man git-jp`, so the man page is installed too.
install: build
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(BINARY) $(DESTDIR)$(BINDIR)/git-jp
	$(BINARY) man > $(DESTDIR)$(MANDIR)/man1/git-jp.1

demo: build
	sh testdata/demo.sh $(abspath $(BINARY))

test:
	GIT_JP_MODEL=1500 $(GO) test -timeout 20m ./...

# Under the race detector, all packages with a statement that starts a goroutine, without the
# tests that only start other processes, hundreds of times. Of the scripts those of commands that
# start goroutines themselves.
CONCURRENT = $$(grep -rlE '^\s*go (func|[a-z][A-Za-z.]*)\(|\.Go\(func' --include='*.go' . \
	| xargs -n 1 dirname | sort -u | grep -v internal/bench)

PROCESSES = ^Test(SoleHolders|Seeded.*|MarkWithoutEachRoot|Pairs|EverySystemCallMayFail|RootMatrix|Teams|EveryFileMayStayUnreadable|NoPackageIsSlowToInitialize|Script)$$
SCRIPTS   = ^TestScript$$/^(attachment|gc|ls|models|query)

race:
	GIT_JP_MODEL=300 $(GO) test -race -timeout 20m -skip '$(PROCESSES)' $(CONCURRENT)
	$(GO) test -race -timeout 20m -run '$(SCRIPTS)' ./cmd/git-jp

lint: $(TOOLS)/golangci-lint
	$(GO) vet ./...
	$(TOOLS)/golangci-lint run ./...

$(TOOLS)/%: internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && $(GO) build -o bin/ tool

bench: build
	$(GO) run ./internal/bench -binary $(BINARY) -data "$${GIT_JP_DATA:-../shared/data}" $(BENCH)

# Each fuzz target for FUZZTIME; go test runs one target a call.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; \
	done

soak:
	GIT_JP_SOAK=1 $(GO) test -race -timeout 4h ./...
	$(MAKE) fuzz FUZZTIME=10m
