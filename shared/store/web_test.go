package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testWeb(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"who signs out ends the sessions that began before", testSignOut},
		{"a consent is taken once, by one of many, and not too late", testConsent},
		{"sign-ins are counted for each address and minute", testSignIns},
		{"the table has no secret of a browser's", testWebSecrets},
	})
}

func gone(t *testing.T, what string, err error) {
	t.Helper()
	expect.Fails(t, err, aggregate.ErrNotFound, "%s", what)
}

func testSignOut(t *testing.T, st *taskStore) {
	now := time.Now().UTC()
	of := func(user string, at time.Time) Session { return NewSession("01TENANT", "T1", user, "", at) }
	expect.NoError(t, st.SignOut(t.Context(), of("U1", now), now.Add(time.Hour)))
	for s, want := range map[Session]bool{of("U1", now): true, of("U1", now.Add(time.Minute)): true,
		of("U1", now.Add(2*time.Hour)): false, of("U2", now): false, NewSession("01OTHER", "T2", "U1", "", now): false} {
		expect.Is(t, expect.Value(st.SignedOut(t.Context(), s))(t), want, "%+v", s)
	}
}

func testConsent(t *testing.T, st *taskStore) {
	now := time.Now().UTC()
	x := Consent{Browser: aggregate.HashOf("b"), Nonce: "n", Next: "/console/tasks"}
	expect.NoError(t, st.BeginConsent(t.Context(), "s1", x, now))
	taken, lost := atOnce(t, 4, func(int) error {
		got, err := st.TakeConsent(t.Context(), "s1", now)
		expect.That(t, err != nil || got == x, "%+v", got)
		return err
	}, aggregate.ErrNotFound)
	expect.That(t, taken == 1 && lost == 3, "one state was taken %d times", taken)
	expect.NoError(t, st.BeginConsent(t.Context(), "s2", x, now))
	_, err := st.TakeConsent(t.Context(), "s2", now.Add(ConsentLasts+time.Second))
	gone(t, "after ten minutes", err)
	_, err = st.TakeConsent(t.Context(), "s3", now)
	gone(t, "a state of nobody", err)
}

func testSignIns(t *testing.T, st *taskStore) {
	now := time.Now().UTC().Truncate(time.Minute)
	within := func(address string, now time.Time) bool {
		t.Helper()
		return expect.Value(st.CountSignIn(t.Context(), address, now))(t)
	}
	for n := range SignInsPerMinute {
		expect.That(t, within(fmt.Sprintf("2001:db8:0:7::%x", n), now.Add(time.Duration(n)*time.Second)),
			"the %dth is too many", n+1)
	}
	for _, address := range []string{"2001:db8:0:7::1", "2001:db8:0:7:ffff::"} {
		expect.That(t, !within(address, now), "one more from %s is within the limit", address)
	}
	var is struct {
		N int `json:"n"`
	}
	pk, sk := "WEB#"+aggregate.HashOf("address "+Network("2001:db8:0:7::1")),
		"MINUTE#"+now.Format("2006-01-02T15:04")
	expect.NoError(t, st.t.Get(t.Context(), pk, sk, &is))
	expect.Is(t, is.N, SignInsPerMinute, "what is beyond the limit is counted")
	expect.That(t, within("2001:db8:0:8::1", now) && within("192.0.2.7", now) &&
		within("2001:db8:0:7::1", now.Add(time.Minute)), "another network's, or another minute's, are too many")
	tooMany := errors.New("too many")
	won, _ := atOnce(t, 2*SignInsPerMinute, func(int) error {
		if ok, err := st.CountSignIn(t.Context(), "192.0.2.9", now); err != nil || ok {
			return err
		}
		return tooMany
	}, tooMany)
	expect.Is(t, won, SignInsPerMinute, "at once are within the limit")
}

func testWebSecrets(t *testing.T, st *taskStore) {
	now := time.Now()
	expect.NoError(t, st.SignOut(t.Context(), NewSession("01TENANT", "T1", "U1", "", now), now))
	expect.NoError(t, st.BeginConsent(t.Context(), "state-in-the-open",
		Consent{Browser: aggregate.HashOf("browser-in-the-open")}, now))
	seen := 0
	for pages := dynamodb.NewScanPaginator(st.t.DB, &dynamodb.ScanInput{TableName: &st.t.Name}); pages.HasMorePages(); {
		for _, it := range expect.Value(pages.NextPage(t.Context()))(t).Items {
			if !strings.HasPrefix(table.TextOf(it, "PK"), "WEB#") {
				continue
			}
			seen++
			expect.That(t, table.IntOf(it, "delete_after") != 0, "%s stays for ever", table.TextOf(it, "type"))
			for name := range it {
				expect.That(t, !strings.Contains(table.TextOf(it, name), "in-the-open"), "%s of %s has a secret", name,
					table.TextOf(it, "type"))
			}
		}
	}
	expect.That(t, seen >= 2, "%d rows of browsers were looked at", seen)
}

func TestASession(t *testing.T) {
	began := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	s := NewSession("01T", "T1", "U1", "鈴木", began)
	cookie := expect.Value(s.Signed("secret"))(t)
	opens := func(cookie, secret string, after time.Duration) bool {
		is, err := OpenSession(cookie, secret, began.Add(after))
		return err == nil && is == s
	}
	connection := Consent{Browser: aggregate.HashOf("c"), Tenant: "t", User: "u"}
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
		"who began a sign-in":         {Consent{Browser: aggregate.HashOf("c")}.By("c", "", ""), true},
		"another browser":             {Consent{Browser: aggregate.HashOf("c")}.By("d", "", ""), false},
		"no cookie of a browser":      {Consent{Browser: aggregate.HashOf("")}.By("", "", ""), false},
		"who began a connection":      {connection.By("c", "t", "u"), true},
		"in another tenant":           {connection.By("c", "t2", "u"), false},
		"another person":              {connection.By("c", "t", "u2"), false},
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
