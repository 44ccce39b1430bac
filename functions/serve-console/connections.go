package main

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/functions/serve-console/integrations"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/bots"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
)

// connections connects the vendors whose addresses the environment has.
func connections(cfg aws.Config, env environment, rows *store.TaskStore, bot *bots.Keys) integrations.Connections {
	held := vault.New(rows, vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: env.CredentialsKeyID},
		vault.FreeeOAuth("", cmp.Or(env.FreeeTokenURL, vault.FreeeTokenURL)), vault.GoogleOAuth("",
			cmp.Or(env.GoogleTokenURL, vault.GoogleTokenURL)))
	out := outbound.Allowing(env.OutboundAllow).Client()
	held.Outbound = out.Transport
	return integrations.Connections{Vault: held, Outbound: out, Bot: bot.Token}
}
