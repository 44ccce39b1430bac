# `sam build` calls build-<LogicalId> for every function of template.yaml and says where the result goes: ReceiveEventFunction
# is built from functions/receive-event. The flags make the same bytes of the same source, so that a deploy replaces only
# what changed; the tags leave out what no function uses: net/rpc, and HTTP/2, which none of their services demands (0.35 MB).
# No debugger reads the stripped binaries: without its tables, compiling takes a tenth less.
# A function in a managed runtime has a handler beside its binary, and may have Python, which npm installs as
# package-lock.json has it. GOARCH comes from the environment when the binaries are to run on this machine: GOARCH=amd64 sam build.
GOARCH ?= arm64

folder = $(shell printf '%s' '$(patsubst %Function,%,$(1))' | sed -E 's/([a-z0-9])([A-Z])/\1-\2/g' | tr 'A-Z' 'a-z')

go = CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) go
flags = -trimpath -buildvcs=false -tags lambda.norpc,nethttpomithttp2 -gcflags=all=-dwarf=false

build-%: compile
	$(go) build $(flags) -ldflags '-s -w -buildid=' -o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(call folder,$*)
	$(foreach handler,$(wildcard functions/$(call folder,$*)/index.mjs),cp '$(handler)' '$(ARTIFACTS_DIR)/')
	$(foreach python,$(wildcard functions/$(call folder,$*)/python),$(call install,$(python),$(ARTIFACTS_DIR)/python))

# RINGI_WITHOUT_NODE leaves Python out: for tests on machines without npm.
install = rm -rf '$(2)' && mkdir -p '$(2)' && cp -R '$(1)/.' '$(2)/' && cp '$(1)/python3' '$(2)/python' && \
	if command -v npm >/dev/null; then \
		cd '$(2)' && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline >/dev/null && rm -rf node_modules/@types \
			node_modules/.package-lock.json node_modules/pyodide/*.map node_modules/pyodide/*.html node_modules/pyodide/*.d.ts; \
	elif [ -z "$$RINGI_WITHOUT_NODE" ]; then \
		echo 'npm is missing: it installs the Python of the sandbox' >&2; exit 1; \
	fi

# `sam build` makes several functions at once, each of which would compile what they share. Whoever holds the lock, a link that names
# its process, compiles the packages of all into Go's cache; the others wait, and then only link. The stamp spares those who come
# later the look: where it is wrong, as after `go clean -cache`, the build is right and takes longer.
.PHONY: compile
compile: lock = .ringi-local/build/compiling
compile:
	@mkdir -p .ringi-local/build && \
	stamp=.ringi-local/build/compiled-$(GOARCH)-$$(go env GOCACHE GOVERSION GOFLAGS | cksum | cut -d' ' -f1) && \
	until ln -s $$$$ $(lock) 2>/dev/null; do kill -0 "$$(readlink $(lock))" 2>/dev/null || rm -f $(lock); sleep 0.2; done && \
	trap 'rm -f $(lock)' EXIT && \
	if [ ! -e $$stamp ] || [ -n "$$(find functions shared go.mod go.sum Makefile -newer $$stamp -print -quit)" ]; then \
		touch $$stamp.new && $(go) list $(flags) -export ./functions/... >/dev/null && mv $$stamp.new $$stamp; \
	fi
