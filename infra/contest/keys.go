package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// open returns the models of these names, with keys from the environment. It returns a finding for each place that
// names a model whose key is missing.
func (p program) open(names []string, places []teamconfig.Named, instead string) (
	round.Models, []teamconfig.Finding, error) {
	config := provider.Config{Vendor: provider.VendorClient(), At: map[string]string{}}
	config.AWS.Region = "us-east-1" // Bedrock's client needs a region, but calls the address
	keys := map[string]any{}
	compatible := map[string]map[string]string{}
	var allow []string
	var missing []teamconfig.Finding
	for _, name := range names {
		n, a, err := models.ModelOf(name, p.env)
		switch {
		case err != nil:
			missing = append(missing, named(places, name, err)...)
		case n.Provider == aggregate.Compatible:
			compatible[n.Endpoint] = map[string]string{"url": a.Address, "key": a.Key}
			allow = append(allow, a.Dial)
		default:
			config.At[n.Provider], keys[n.Provider] = a.Address, a.Key
		}
	}
	keys[aggregate.Compatible] = compatible
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, nil, err
	}
	config.Secret = &secret.Models{Reader: given(text), ID: "the environment"}
	config.Outbound = outbound.Allowing(strings.Join(allow, ",")).Client()
	return provider.Wires{Config: config, Instead: instead, Unlimited: true}, missing, nil
}

// named returns a finding for each place that names a model.
func named(places []teamconfig.Named, model string, why error) (found []teamconfig.Finding) {
	for _, p := range places {
		if p.Model == model {
			found = append(found, teamconfig.Finding{File: p.File, Field: p.Field, Message: why.Error()})
		}
	}
	return found
}

type given string

func (g given) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput,
	...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(string(g))}, nil
}
