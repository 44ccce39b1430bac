package records

import (
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func TestASessionsTimes(t *testing.T) {
	began := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	s := NewSession("01T", "T1", "U1", "鈴木", false, began)
	replaced := s
	replaced.Replaced = &began
	unseen := replaced
	unseen.Awaits = &began
	for name, tt := range map[string]struct {
		got, want bool
	}{
		"valid at once":                   {s.Valid(began), true},
		"valid to the last second":        {s.Valid(began.Add(SessionLasts - time.Second)), true},
		"over after eight hours":          {s.Valid(began.Add(SessionLasts)), false},
		"rotating doesn't make it last":   {s.Rotated("", began.Add(7*time.Hour)).Valid(began.Add(SessionLasts)), false},
		"no new cookie yet":               {s.MustRotate(began.Add(rotateAfter - time.Second)), false},
		"a new cookie":                    {s.MustRotate(began.Add(rotateAfter)), true},
		"no second one":                   {replaced.MustRotate(began.Add(rotateAfter)), false},
		"replaced, for what is under way": {replaced.Valid(began.Add(Grace - time.Second)), true},
		"replaced, and over":              {replaced.Valid(began.Add(Grace)), false},
		"its next one did not come":       {unseen.Valid(began.Add(Unseen - time.Second)), true},
		"nor for an hour":                 {unseen.Valid(began.Add(Unseen)), false},
		"it may be under way":             {unseen.MustRotate(began.Add(Grace - time.Second)), false},
		"another next one":                {unseen.MustRotate(began.Add(Grace)), true},
		"of the next one nothing is said": {unseen.Rotated("b", began).MustRotate(began.Add(Grace)), false},
		"Slack need not be asked yet":     {s.MustAsk(began.Add(askEvery - time.Second)), false},
		"Slack is asked":                  {s.MustAsk(began.Add(askEvery)), true},
		"a silent Slack is believed":      {s.Believed(began.Add(believed - time.Second)), true},
		"not for ever":                    {s.Believed(began.Add(believed)), false},
		"its own form":                    {s.FormIs(s.Form), true},
		"no form":                         {Session{}.FormIs(""), false},
		"another's form":                  {s.FormIs(NewSession("01T", "T1", "U2", "", false, began).Form), false},
		"who began it":                    {SignIn{Browser: HashOf("c")}.By("c"), true},
		"another browser":                 {SignIn{Browser: HashOf("c")}.By("d"), false},
		"no cookie":                       {SignIn{Browser: HashOf("")}.By(""), false},
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
