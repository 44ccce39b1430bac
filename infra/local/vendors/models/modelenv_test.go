package models_test

import (
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"strings"
	"testing"
)

func TestEachProviderSaysWhatItNeedsOfTheEnvironment(t *testing.T) {
	for _, provider := range aggregate.ModelProviders {
		name, variable := provider+":m", "_API_KEY"
		switch provider {
		case aggregate.Demo:
			if _, a, err := models.ModelOf(name, nothing); err != nil || a != (models.Access{}) {
				t.Errorf("the demo needs %+v, %v", a, err)
			}
			continue
		case aggregate.Compatible:
			name, variable = "compatible:my-box/m", "MY_BOX_BASE_URL"
		case aggregate.Bedrock:
			variable = "AWS_BEARER_TOKEN_BEDROCK"
		}
		_, _, err := models.ModelOf(name, nothing)
		if err == nil || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s without anything: %v, want %s named", name, err, variable)
		}
		given := func(name string) string {
			if strings.HasSuffix(name, "_BASE_URL") {
				return "https://example.com/v1/"
			}
			return "k"
		}
		if _, a, err := models.ModelOf(name, given); err != nil || a.Key != "k" || a.Address != "https://example.com/v1" ||
			a.Dial != "example.com:443" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func nothing(string) string { return "" }

func TestModelsOfXAINeedTheKeyOfEitherName(t *testing.T) {
	_, _, err := models.ModelOf("grok-responses:grok-4", nothing)
	if err == nil || !strings.Contains(err.Error(), "GROK_API_KEY or XAI_API_KEY") {
		t.Errorf("without anything: %v", err)
	}
	for _, variable := range []string{"GROK_API_KEY", "XAI_API_KEY"} {
		_, a, err := models.ModelOf("grok:grok-4", func(name string) string { return map[string]string{variable: "k"}[name] })
		if err != nil || a.Key != "k" || a.Address != "https://api.x.ai/v1" || a.Dial != "api.x.ai:443" {
			t.Errorf("%s: %+v, %v", variable, a, err)
		}
	}
}
