package modelenv_test

import (
	"strings"
	"testing"

	"ringi/infra/local/modelenv"
	"ringi/shared/domain/modelname"
)

func TestEachProviderSaysWhatItNeedsOfTheEnvironment(t *testing.T) {
	for _, provider := range modelname.Providers {
		name, variable := provider+":m", "_API_KEY"
		switch provider {
		case modelname.Demo:
			if _, a, err := modelenv.Of(name, nothing); err != nil || a != (modelenv.Access{}) {
				t.Errorf("the demo needs %+v, %v", a, err)
			}
			continue
		case modelname.Compatible:
			name, variable = "compatible:my-box/m", "MY_BOX_BASE_URL"
		case modelname.Bedrock:
			variable = "AWS_BEARER_TOKEN_BEDROCK"
		}
		_, _, err := modelenv.Of(name, nothing)
		if err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s without anything: %v, want %s named", name, err, variable)
		}
		given := func(name string) string {
			if strings.HasSuffix(name, "_BASE_URL") {
				return "https://example.com/v1/"
			}
			return "k"
		}
		if _, a, err := modelenv.Of(name, given); err != nil || a.Key != "k" || a.Address != "https://example.com/v1" || a.Dial != "example.com:443" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func nothing(string) string { return "" }

func TestModelsOfXAINeedTheKeyOfEitherName(t *testing.T) {
	_, _, err := modelenv.Of("grok-responses:grok-4", nothing)
	if err == nil || !strings.Contains(err.Error(), "GROK_API_KEY or XAI_API_KEY") {
		t.Errorf("without anything: %v", err)
	}
	for _, variable := range []string{"GROK_API_KEY", "XAI_API_KEY"} {
		_, a, err := modelenv.Of("grok:grok-4", func(name string) string { return map[string]string{variable: "k"}[name] })
		if err != nil || a.Key != "k" || a.Address != "https://api.x.ai/v1" || a.Dial != "api.x.ai:443" {
			t.Errorf("%s: %+v, %v", variable, a, err)
		}
	}
}
