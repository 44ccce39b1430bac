# `sam build` calls build-<LogicalId> for every function of template.yaml and says where the result goes: ReceiveEventFunction
# is built from functions/receive-event. The flags make the same bytes of the same source, so that a deploy replaces only
# what changed. A function in a managed runtime has a handler beside its binary. GOARCH comes from the environment when the binaries are to run on this machine: GOARCH=amd64 sam build.
GOARCH ?= arm64

folder = $(shell printf '%s' '$(patsubst %Function,%,$(1))' | sed -E 's/([a-z0-9])([A-Z])/\1-\2/g' | tr 'A-Z' 'a-z')

build-%:
	CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags '-s -w -buildid=' \
		-o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(call folder,$*)
	$(foreach handler,$(wildcard functions/$(call folder,$*)/index.mjs),cp '$(handler)' '$(ARTIFACTS_DIR)/')
