package store

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func TestASession(t *testing.T) {
	began := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	s := NewSession("01T", "T1", "U1", "鈴木", began)
	cookie := expect.Value(s.Signed("secret"))(t)
	opens := func(cookie, secret string, after time.Duration) bool {
		is, err := OpenSession(cookie, secret, began.Add(after))
		return err == nil && is == s
	}
	for name, tt := range map[string]struct {
		got, want bool
	}{
		"its own cookie":              {opens(cookie, "secret", 0), true},
		"valid to the last second":    {opens(cookie, "secret", SessionLasts-time.Second), true},
		"over after eight hours":      {opens(cookie, "secret", SessionLasts), false},
		"of another secret":           {opens(cookie, "another", 0), false},
		"without a secret":            {opens(expect.Value(s.Signed(""))(t), "", 0), false},
		"an empty one":                {opens("", "secret", 0), false},
		"without its signature":       {opens(strings.Split(cookie, ".")[0], "secret", 0), false},
		"changed":                     {opens("A"+cookie, "secret", 0), false},
		"signed by the very secret":   {opens(cookie, cookie, 0), false},
		"Slack need not be asked yet": {s.MustAsk(began.Add(askEvery - time.Second)), false},
		"Slack is asked":              {s.MustAsk(began.Add(askEvery)), true},
		"a silent Slack is believed":  {s.Believed(began.Add(believed - time.Second)), true},
		"not for ever":                {s.Believed(began.Add(believed)), false},
		"who began a sign-in":         {Consent{Browser: HashOf("c")}.By("c", "", ""), true},
		"another browser":             {Consent{Browser: HashOf("c")}.By("d", "", ""), false},
		"no cookie of a browser":      {Consent{Browser: HashOf("")}.By("", "", ""), false},
	} {
		expect.Is(t, tt.got, tt.want, "%s", name)
	}
}

func TestAnAddressCountsAsItsNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::": "2001:db8:1:2::/64",
		"fe80::1%eth0":   "fe80::/64", "": "", "nobody": "nobody",
	} {
		expect.Is(t, Network(address), want, "%q counts as", address)
	}
}
