package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/aggregate"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tenancy"
)

const token = "freee-himitsu"

func TestConnect(t *testing.T) {
	server := storetest.Start(t)
	rows, table := server.Store(t)
	keys := kms.NewFromConfig(server.Config)
	made, err := keys.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	key := *made.KeyMetadata.Arn
	connect := func(in string, args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), server.Config, args, strings.NewReader(in), &out)
		return out.String(), err
	}

	t.Run("a token is kept sealed, and found by the tools", func(t *testing.T) {
		for _, sent := range []string{"an older one", token + "\n"} {
			said, err := connect(sent, "-table", table, "-key", key, "-team", "T0RINGI", "-by", "U0ADMIN", "-token", "freee")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(said, strings.TrimSpace(sent)) || !strings.Contains(said, "freee is connected") {
				t.Errorf("said %q", said)
			}
		}
		tenant := aggregate.TenantID("T0RINGI")
		row, err := rows.Integration(t.Context(), tenant, "freee")
		if err != nil || row.Status != tenancy.Connected || strings.Contains(row.Credentials, token) {
			t.Errorf("%+v, %v", row, err)
		}
		v := vault.New(rows, vault.Envelope{KMS: keys, KeyID: key})
		if got, err := v.Token(t.Context(), tenant, "freee"); err != nil || got != token {
			t.Errorf("the tools find %q, %v", got, err)
		}
		if _, err := v.Token(t.Context(), aggregate.TenantID("T0OTHER"), "freee"); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("another tenant: %v", err)
		}
		log, err := rows.Audit(t.Context(), tenant, store.AuditFilter{Action: tenancy.AuditIntegrationConnected}, "", 10)
		if err != nil || len(log.Items) != 2 || log.Items[0].ActorID != "U0ADMIN" {
			t.Errorf("recorded %+v, %v", log, err)
		}
	})

	good := []string{"-table", table, "-key", key, "-team", "T0RINGI", "-by", "U0ADMIN", "-token", "google"}
	for _, tt := range []struct {
		name, in string
		args     []string
		want     string // named in the error
	}{
		{"no table", token, good[2:], "-table"},
		{"a token of Slack's", token, append(append([]string{}, good[:9]...), "slack"), "the Slack secret"},
		{"no key", token, append([]string{"-table", table}, good[4:]...), "-key"},
		{"no team", token, append(append([]string{}, good[:4]...), "google"), "-team"},
		{"a team of another form", token, append(append([]string{}, good[:4]...), "-team", "C0RINGI", "google"), "-team"},
		{"nobody who does it", token, append(append([]string{}, good[:6]...), "google"), "-by"},
		{"the system", token, append(append([]string{}, good[:6]...), "-by", "system", "google"), "-by"},
		{"no provider", token, good[:8], "freee, google, slack"},
		{"an unknown provider", token, append(append([]string{}, good[:8]...), "github"), "freee, google, slack"},
		{"two providers", token, append(append([]string{}, good...), "freee"), "freee, google, slack"},
		{"no token", " \n", good, "1 to 16384 bytes"},
		{"a token that is none", strings.Repeat("x", maxToken+1), good, "1 to 16384 bytes"},
		{"a key that is not there", token, append([]string{"-table", table, "-key", "nobody's"}, good[4:]...), "google"},
		{"a table that is not there", token, append([]string{"-table", "nobodys"}, good[2:]...), "google"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := connect(tt.in, tt.args...)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), token) {
				t.Errorf("%v, want one that names %s", err, tt.want)
			}
		})
	}
	t.Run("nothing was kept by any of these", func(t *testing.T) {
		if _, err := rows.Integration(t.Context(), aggregate.TenantID("T0RINGI"), "google"); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
	t.Run("Slack is said to be there again", func(t *testing.T) {
		tenant := aggregate.TenantID("T0RINGI")
		if _, err := rows.EndIntegrations(t.Context(), tenant, tenancy.AppUninstalled, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := connect("", "-table", table, "-key", key, "-team", "T0RINGI", "-by", "U0ADMIN", "slack"); err != nil {
			t.Fatal(err)
		}
		v := vault.New(rows, vault.Envelope{KMS: keys, KeyID: key})
		if got, err := v.SlackToken(t.Context(), tenant, "xoxb", func(context.Context, string) (bool, error) { return true, nil }); got != "xoxb" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := v.Token(t.Context(), tenant, "freee"); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("freee came back with it: %v", err)
		}
	})
	t.Run("what is disconnected is forgotten", func(t *testing.T) {
		if _, err := connect(token, "-table", table, "-key", key, "-team", "T0RINGI", "-by", "U0ADMIN", "-token", "google"); err != nil {
			t.Fatal(err)
		}
		said, err := connect("", "-table", table, "-key", key, "-team", "T0RINGI", "-by", "U0ADMIN", "-disconnect", "google")
		if err != nil || !strings.Contains(said, "google is disconnected") {
			t.Errorf("%q, %v", said, err)
		}
		if row, err := rows.Integration(t.Context(), aggregate.TenantID("T0RINGI"), "google"); err != nil || row.Status != tenancy.Disconnected || row.Credentials != "" {
			t.Errorf("%+v, %v", row, err)
		}
	})
	t.Run("consent", func(t *testing.T) { testConsent(t, rows, server.Config, table, key) })
	t.Run("help is no failure", func(t *testing.T) {
		if _, err := connect("", "-h"); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%v", err)
		}
	})
}
