package tenancy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestWhatBecomesOfAnIntegrationIsRecorded(t *testing.T) {
	before := now.Add(-time.Hour)
	connected := Integration{Meta: aggregate.Meta{Rev: 1}, ID: "I1", TenantID: "T1", Provider: "freee", Status: Connected, Credentials: "one", Metadata: "{}", ConnectedAt: &before}
	broken := connected.Ended(Broken, CredentialRefused)
	for name, test := range map[string]struct {
		was, x Integration
		wrong  string
		audit  []string
		since  *time.Time
	}{
		"connected first":      {Integration{}, Integration{TenantID: "T1", Provider: "freee", Status: Connected}, "", []string{`integration.connected {"provider":"freee"}`}, &now},
		"saved as it is":       {connected, connected, "", nil, &before},
		"other credentials":    {connected, connected.Fresh("two", "{}"), "", []string{`integration.connected {"provider":"freee"}`}, &now},
		"connected again":      {broken, broken.Fresh("one", "{}"), "", []string{`integration.connected {"provider":"freee"}`}, &now},
		"failed":               {connected, func() Integration { x := connected; x.Status, x.StatusReason = Broken, CredentialRefused; return x }(), "", []string{`integration.failed {"provider":"freee","reason":"refused"}`}, nil},
		"failed again":         {broken, broken, "", nil, nil},
		"disconnected":         {connected, connected.Ended(Disconnected, ByPerson), "", []string{`integration.disconnected {"provider":"freee"}`}, nil},
		"given up":             {broken, broken.Ended(Disconnected, ByPerson), "", []string{`integration.disconnected {"provider":"freee"}`}, nil},
		"of nobody":            {Integration{}, Integration{TenantID: "T1", Status: Connected}, "provider", nil, &now},
		"neither one nor else": {Integration{}, Integration{TenantID: "T1", Provider: "freee", Status: "maybe"}, "status", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			saved, c, err := test.x.Save(test.was, "I1", person, now)
			diff := cmp.Diff(test.audit, details(c)) + cmp.Diff(test.since, saved.ConnectedAt)
			expect.That(t, diff == "" && fieldOf(err) == test.wrong, "%v, want %q %s", err, test.wrong, diff)
			if err == nil && (saved.ID != "I1" || saved.Rev != test.x.Rev+1 || saved.Metadata != "{}" || !saved.UpdatedAt.Equal(now) || c.Writes[0].Over != test.x.Rev) {
				t.Errorf("%+v", saved)
			}
			expect.That(t, saved.Status == Connected || saved.Credentials == "", "what is not connected keeps credentials")
		})
	}
	connected.Credentials = "two"
	if renewed, c, err := connected.Renew("I2", now); err != nil || len(c.Audit) != 0 || !renewed.ConnectedAt.Equal(before) || renewed.Rev != 2 {
		t.Errorf("%+v, %v", renewed, err)
	}
}

func TestSlackEndsWhatWasConnectedBefore(t *testing.T) {
	at, later := now.Add(-time.Hour), now.Add(-time.Minute)
	row := func(provider string, since time.Time) Integration {
		return Integration{TenantID: "T1", Provider: provider, Status: Connected, Credentials: "sealed", ConnectedAt: &since}
	}
	over := row(SlackProvider, at).Ended(Disconnected, TokensRevoked)
	for name, test := range map[string]struct {
		rows []Integration
		why  IntegrationReason
		want []string
	}{
		"uninstalled":              {[]Integration{row("freee", at), row("slack", at)}, AppUninstalled, []string{"freee", "slack"}},
		"revoked":                  {[]Integration{row("freee", at), row("slack", at)}, TokensRevoked, []string{"slack"}},
		"connected since":          {[]Integration{row("freee", later), row("slack", at)}, AppUninstalled, []string{"slack"}},
		"known already":            {[]Integration{over}, TokensRevoked, nil},
		"without a row for Slack":  {[]Integration{row("freee", at)}, AppUninstalled, []string{"freee", "slack"}},
		"without any row, revoked": {nil, TokensRevoked, []string{"slack"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := EndBySlack("T1", test.rows, test.why, at, "I1", now)
			var got, want []string
			for _, w := range c.Writes {
				x := w.Row.(Integration)
				got = append(got, x.Provider)
				if x.Status != Disconnected || x.StatusReason != test.why || x.Credentials != "" || x.ID == "" {
					t.Errorf("%+v", x)
				}
			}
			for _, provider := range test.want {
				want = append(want, `integration.disconnected {"provider":"`+provider+`","reason":"`+string(test.why)+`"}`)
			}
			if diff := cmp.Diff(test.want, got) + cmp.Diff(want, details(c)); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// Only if a person disconnected an integration must an administrator connect it again, not if Slack or a vendor ended
// it.
func TestWhatAPersonDisconnectedIsPutAway(t *testing.T) {
	for why, want := range map[IntegrationReason]bool{ByPerson: true, "": true, AppUninstalled: false, TokensRevoked: false, CredentialRefused: false, CredentialLost: false} {
		if (Integration{}).Ended(Disconnected, why).PutAway() != want || (Integration{}).Ended(Broken, why).PutAway() || (Integration{}).Fresh("", "{}").PutAway() {
			t.Errorf("%q", why)
		}
	}
}
