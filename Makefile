# `sam build` calls build-<LogicalId> for every function of template.yaml and says where the result goes:
# ReceiveEventFunction is built from functions/receive-event. The flags make the same bytes of the same source, so that
# a deploy replaces only what changed; the tags leave out what no function uses: net/rpc, and HTTP/2, which none of
# their services demands (0.35 MB).
# No debugger reads the stripped binaries: without its tables, compiling takes a tenth less.
# A function in a managed runtime has a handler beside its binary, and may have Python, which npm installs as
# package-lock.json has it. GOARCH comes from the environment when the binaries are to run on this machine:
# GOARCH=amd64 sam build.
GOARCH ?= arm64

folder = $(shell printf '%s' '$(patsubst %Function,%,$(1))' | sed -E 's/([a-z0-9])([A-Z])/\1-\2/g' | tr 'A-Z' 'a-z')

build-%:
	CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) go build -trimpath -buildvcs=false -tags lambda.norpc,nethttpomithttp2 \
		-gcflags=all=-dwarf=false -ldflags '-s -w -buildid=' -o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(call folder,$*)
	$(foreach handler,$(wildcard functions/$(call folder,$*)/index.mjs),cp '$(handler)' '$(ARTIFACTS_DIR)/')
	$(foreach python,$(wildcard functions/$(call folder,$*)/python),$(call install,$(python),$(ARTIFACTS_DIR)/python))

install = command -v npm >/dev/null || \
	{ echo 'npm is missing: it installs the Python of the sandbox' >&2; exit 1; } && \
	rm -rf '$(2)' && mkdir -p '$(2)' && cp -R '$(1)/.' '$(2)/' && cp '$(1)/python3' '$(2)/python' && cd '$(2)' && \
	npm ci --ignore-scripts --no-audit --no-fund --prefer-offline >/dev/null && rm -rf node_modules/@types \
		node_modules/.package-lock.json node_modules/pyodide/*.map node_modules/pyodide/*.html node_modules/pyodide/*.d.ts
