package secret_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/moto"
	"ringi/shared/secret"
)

func TestSlack(t *testing.T) {
	client := secretsmanager.New(secretsmanager.Options{
		BaseEndpoint: aws.String(moto.StartForTest(t)), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	for name, test := range map[string]struct {
		value, want string
	}{
		"good":              {`{"signing_secret":"sign-himitsu","bot_token":"xoxb-himitsu","app_id":"A0RINGI","more":1}`, ""},
		"not JSON":          {`himitsu`, "not JSON with signing_secret and bot_token"},
		"no signing secret": {`{"bot_token":"xoxb-himitsu"}`, "signing_secret is empty"},
		"no bot token":      {`{"signing_secret":"sign-himitsu"}`, "bot_token is empty"},
		"of another type":   {`{"signing_secret":1,"bot_token":"xoxb-himitsu"}`, "not JSON with"},
	} {
		t.Run(name, func(t *testing.T) {
			id := strings.ReplaceAll(name, " ", "-")
			if _, err := client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &id, SecretString: &test.value}); err != nil {
				t.Fatal(err)
			}
			s, err := secret.Slack(t.Context(), client, id)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "himitsu") {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			if err != nil || s.SigningSecret != "sign-himitsu" || s.BotToken != "xoxb-himitsu" || s.AppID != "A0RINGI" {
				t.Fatal(err)
			}
			b, _ := json.Marshal(s)
			if printed := fmt.Sprintf("%v %+v %#v %s %s", s, s, s, s, b); strings.Contains(printed, "himitsu") {
				t.Errorf("printed: %s", printed)
			}
		})
	}
	for _, id := range []string{"", "nobody"} {
		if _, err := secret.Slack(t.Context(), client, id); err == nil {
			t.Errorf("%q was read", id)
		}
	}
	binary := "binary"
	if _, err := client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &binary, SecretBinary: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Slack(t.Context(), client, binary); err == nil || !strings.Contains(err.Error(), "binary") {
		t.Error(err)
	}
}
