package vault_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/moto"
	"ringi/shared/secret/vault"
	"ringi/shared/task"
)

// envelope seals under a fresh key of the AWS stand-ins.
func envelope(t *testing.T) vault.Envelope {
	t.Helper()
	client := kms.New(kms.Options{
		BaseEndpoint: aws.String(moto.StartForTest(t)), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	key, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	return vault.Envelope{KMS: client, KeyID: *key.KeyMetadata.KeyId}
}

type integrations map[string]task.Integration

func (i integrations) Integration(_ context.Context, tenant, provider string) (task.Integration, error) {
	x, ok := i[tenant+"/"+provider]
	if !ok {
		return x, task.ErrNotFound
	}
	return x, nil
}

func TestVault(t *testing.T) {
	e := envelope(t)
	sealed, err := e.SealCredential(t.Context(), "T1", "freee", vault.Credential{AccessToken: "himitsu"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(sealed, "himitsu") || !strings.HasPrefix(sealed, "v1.") {
		t.Errorf("sealed: %s", sealed)
	}
	again, err := e.SealCredential(t.Context(), "T1", "freee", vault.Credential{AccessToken: "himitsu"})
	if err != nil || again == sealed {
		t.Errorf("the same text twice, %v", err)
	}

	t.Run("opens for its own tenant and provider only", func(t *testing.T) {
		for owner, text := range map[[2]string]string{
			{"T2", "freee"}: sealed, {"T1", "google"}: sealed, {"", ""}: sealed,
		} {
			if b, err := e.Open(t.Context(), owner[0], owner[1], text); !errors.Is(err, vault.ErrSealed) {
				t.Errorf("%v: %s, %v", owner, b, err)
			}
		}
		b, err := e.Open(t.Context(), "T1", "freee", sealed)
		if err != nil || string(b) != `{"access_token":"himitsu"}` {
			t.Errorf("%s, %v", b, err)
		}
	})

	t.Run("refuses what is damaged", func(t *testing.T) {
		parts := strings.Split(sealed, ".")
		other := strings.Split(again, ".")
		for name, text := range map[string]string{
			"empty": "", "in clear": `{"access_token":"himitsu"}`, "one part": "v1", "another version": "v2." + parts[1] + "." + parts[2],
			"not base64": "v1.!." + parts[2], "no key": "v1.." + parts[2], "no text": "v1." + parts[1] + ".",
			"another's key": "v1." + other[1] + "." + parts[2], "a character changed": sealed[:len(sealed)-4] + flip(sealed[len(sealed)-4:]),
			"cut": sealed[:len(sealed)-8],
		} {
			if b, err := e.Open(t.Context(), "T1", "freee", text); !errors.Is(err, vault.ErrSealed) || strings.Contains(fmt.Sprint(err), "himitsu") {
				t.Errorf("%s: %s, %v", name, b, err)
			}
		}
	})

	t.Run("a token is found while the provider is connected", func(t *testing.T) {
		rows := integrations{
			"T1/freee":  {Provider: "freee", Status: task.Connected, Credentials: sealed},
			"T1/google": {Provider: "google", Status: task.Disconnected},
			"T2/freee":  {Provider: "freee", Status: task.Connected, Credentials: sealed}, // a row copied to another tenant
		}
		v := vault.Vault{Integrations: rows, Envelope: e}
		if token, err := v.Token(t.Context(), "T1", "freee"); token != "himitsu" || err != nil {
			t.Errorf("%q, %v", token, err)
		}
		for _, missing := range [][2]string{{"T1", "google"}, {"T1", "slack"}, {"T3", "freee"}} {
			if token, err := v.Token(t.Context(), missing[0], missing[1]); !errors.Is(err, task.ErrNotFound) {
				t.Errorf("%v: %q, %v", missing, token, err)
			}
		}
		if token, err := v.Token(t.Context(), "T2", "freee"); !errors.Is(err, vault.ErrSealed) {
			t.Errorf("copied: %q, %v", token, err)
		}
	})

	t.Run("printing shows nothing", func(t *testing.T) {
		c := vault.Credential{AccessToken: "himitsu"}
		if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(s, "himitsu") {
			t.Error(s)
		}
	})
}

// flip changes every character to another of base64url.
func flip(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, s)
}
