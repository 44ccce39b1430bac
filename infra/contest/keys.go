package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/modelenv"
	"ringi/shared/domain/modelname"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// open returns the models, with keys from the environment. Its error names all missing keys.
func (p program) open(names []string, instead string) (round.Models, error) {
	config := provider.Config{Vendor: provider.VendorClient(), At: map[string]string{}}
	config.AWS.Region = "us-east-1" // Bedrock's client needs a region, but calls the address
	keys := map[string]any{}
	compatible := map[string]map[string]string{}
	var allow []string
	var missing []error
	for _, name := range names {
		n, a, err := modelenv.Of(name, p.env)
		switch {
		case err != nil:
			missing = append(missing, err)
		case n.Provider == modelname.Compatible:
			compatible[n.Endpoint] = map[string]string{"url": a.Address, "key": a.Key}
			allow = append(allow, a.Dial)
		default:
			config.At[n.Provider], keys[n.Provider] = a.Address, a.Key
		}
	}
	if missing != nil {
		return nil, errors.Join(missing...)
	}
	keys[modelname.Compatible] = compatible
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	config.Secret = &secret.Models{Reader: given(text), ID: "the environment"}
	config.Outbound = outbound.Allowing(strings.Join(allow, ",")).Client()
	return provider.Wires{Config: config, Instead: instead, Demo: round.Demo{}, Unlimited: true}, nil
}

type given string

func (g given) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput,
	...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(string(g))}, nil
}
