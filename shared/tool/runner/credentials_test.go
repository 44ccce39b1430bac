package runner_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

// TestWithTheVault calls tools with tokens that expire, are revoked or are lost.
func TestWithTheVault(t *testing.T) {
	server := storetest.Start(t)
	key := expect.Value(kms.NewFromConfig(server.Config).CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	for name, test := range map[string]func(*testing.T, *office){
		"refused in the middle":             testRefusedInTheMiddle,
		"refused for ever":                  testRefusedForEver,
		"what people read when it ended":    testEndings,
		"the tokens' server is away":        testTokensAway,
		"only what steps need is asked for": testOnlyWhatIsNeeded,
		"the company that was chosen":       testChosenCompany,
	} {
		t.Run(name, func(t *testing.T) {
			rows, _ := server.Store(t)
			o := &office{world: newWorld(t), rows: rows}
			o.vault = vault.New(rows, vault.EnvelopeAt(server.Config, *key.KeyMetadata.KeyId),
				vault.FreeeOAuth(o.url+"/freee/token"), vault.GoogleOAuth(o.url+"/google/token"))
			o.equip(t, o.vault)
			for _, provider := range []string{"freee", "google"} {
				o.connect(t, provider, time.Hour)
			}
			test(t, o)
			for _, secret := range o.vendors.Secrets() {
				expect.That(t, !strings.Contains(o.log.String(), secret), "a secret is in the log: %s", o.log)
			}
		})
	}
}

// office is a world with real credentials.
type office struct {
	*world
	vault vault.Vault
	rows  *store.TaskStore
}

func (o *office) connect(t *testing.T, provider string, lifetime time.Duration) {
	t.Helper()
	got := o.vendors.Grant(provider)
	got.ExpiresAt = time.Now().Add(lifetime)
	expect.NoError(t, o.vault.Connect(t.Context(), "T1", provider, vault.CredentialOf(got, o.vendors.Client(provider)),
		"{}", aggregate.System()))
}

// Many requests of one call need a new token, which is requested only once.
func testRefusedInTheMiddle(t *testing.T, o *office) {
	o.vendors.Expire("freee") // before its time
	expect.Is(t, o.attendance(t).Count, 42, "records")
	expect.Is(t, o.vendors.Calls("freee_token"), 1, "renewed (times)")
}

func testRefusedForEver(t *testing.T, o *office) {
	o.vendors.Fail("list_employees", 401, true) // though the tokens are good
	e := o.refuse(t, "list_employees", listArgs)
	expect.That(t, e.Problem == explain.ProblemUnauthorized && e.Outcome == explain.CallFailed, "%v", e)
	row, err := o.rows.Integration(t.Context(), "T1", "freee")
	expect.That(t, err == nil && row.Status == tenancy.Broken && row.StatusReason == tenancy.CredentialRefused,
		"%+v, %v", row, err)
	if e := o.refuse(t, "list_employees", listArgs); e.Problem != explain.ProblemUnauthorized { // without another call
		t.Error(e)
	}
	expect.That(t, o.vendors.Calls("list_employees") == 2 && o.vendors.Calls("freee_token") == 1,
		"%d calls, renewed %d times", o.vendors.Calls("list_employees"), o.vendors.Calls("freee_token"))
}

func testEndings(t *testing.T, o *office) {
	now := time.Now().Add(time.Second)
	slackEnds := func(why tenancy.IntegrationReason) func() {
		return func() { expect.Value(o.rows.EndIntegrations(t.Context(), "T1", why, now, now))(t) }
	}
	for _, test := range []struct {
		name       string
		fault      func()
		tool, args string
		problem    explain.Problem
		says       string
	}{
		{"the person revoked it", func() { o.vendors.Revoke("freee") }, "list_employees", listArgs,
			explain.ProblemUnauthorized, "no longer accepts Ringi's credentials. Ask an administrator"},
		{"the renewed one was lost", func() { o.vendors.Expire("freee"); o.vendors.Drop("freee_token") }, "list_employees",
			listArgs, explain.ProblemTokenLost, "was lost while renewing its credentials. Ask an administrator"},
		{"the bot's token was revoked", slackEnds(tenancy.TokensRevoked), "send_slack_dm", dmArgs, explain.ProblemRevoked,
			"The token for Slack was revoked"},
		{"the app was uninstalled", slackEnds(tenancy.AppUninstalled), sheetTool, sheetArgs, explain.ProblemUninstalled,
			"The app was removed from Slack, so Google Sheets is disconnected"},
		{"somebody disconnected it", func() {
			expect.NoError(t, o.vault.Disconnect(t.Context(), "T1", "freee", aggregate.System()))
		}, "list_employees", listArgs, explain.ProblemNotConnected, "freee HR isn't connected. Ask an administrator"},
	} {
		if row, err := o.rows.Integration(t.Context(), "T1", "freee"); err != nil || row.Status != tenancy.Connected {
			o.connect(t, "freee", time.Hour)
		}
		test.fault()
		for range 2 { // the second call does not ask the vendor
			before := o.vendors.Calls("freee_token")
			e := o.refuse(t, test.tool, test.args)
			expect.That(t, e.Outcome == explain.CallFailed && e.Problem == test.problem && strings.Contains(e.Detail, test.says),
				"%s: %v %s", test.name, e, e.Detail)
			expect.That(t, o.vendors.Calls("freee_token") <= before+1,
				"%s: asked %d times for tokens", test.name, o.vendors.Calls("freee_token")-before)
		}
	}
}

// A call asks only once for a token, and the next call works again.
func testTokensAway(t *testing.T, o *office) {
	o.connect(t, "freee", -time.Minute)
	o.vendors.Fail("freee_token", 503, true)
	e := o.refuse(t, "list_employees", listArgs)
	expect.That(t, e.Problem == explain.ProblemDown && e.Outcome == explain.CallFailed &&
		o.vendors.Calls("freee_token") == 1, "%v after %d tries", e, o.vendors.Calls("freee_token"))
	expect.Is(t, o.vendors.Calls("list_employees"), 0, "it called without a token")
	o.vendors.Fail("freee_token", 0, false)
	var out struct{ Count int }
	if o.run(t, "list_employees", listArgs, &out); out.Count != 42 {
		t.Errorf("afterwards: %d", out.Count)
	}
}

// No address of freee's with pay or bank data is called, and no result contains such data.
func testOnlyWhatIsNeeded(t *testing.T, o *office) {
	for name, args := range map[string]string{
		"list_employees":  listArgs,
		"list_attendance": `{"year":2026,"month":3,"employees":[{"id":3510001,"paid_next_month":true}]}`,
	} {
		result := expect.Value(o.Run(t.Context(), tool.Call{Tenant: "T1", Tool: name, Arguments: given(args),
			Locale: "ja"}))(t)
		for _, word := range []string{"pay_day", "payroll", "bank", "basic_pay", "closing", "birth", "address", "salary",
			"user_id"} {
			expect.That(t, !strings.Contains(string(result), `"`+word), "%s keeps %s: %.300s", name, word, result)
		}
	}
	const hr = "/freee/hr/api/v1"
	// freee's month of payment for the work of March is April
	want := []string{hr + "/companies/1884310/employees", hr + "/employees/3510001/work_record_summaries/2026/4",
		hr + "/users/me"}
	got := slices.Sorted(maps.Keys(o.paths.n))
	expect.That(t, slices.Equal(got, want), "freee was asked for %v", got)
	var none *explain.CallError
	_, err := o.Run(t.Context(), tool.Call{Tenant: "T2", Tool: "list_employees", Arguments: given(listArgs), Locale: "ja"})
	expect.That(t, errors.As(err, &none) && none.Problem == explain.ProblemNotConnected, "another tenant: %v", err)
}

func testChosenCompany(t *testing.T, o *office) {
	choose := func(id string) {
		t.Helper()
		got := o.vendors.Grant("freee")
		got.CompanyID = id
		expect.NoError(t, o.vault.Connect(t.Context(), "T1", "freee", vault.CredentialOf(got, o.vendors.Client("freee")),
			vault.About(got), aggregate.System()))
	}
	choose("1884309") // the token's owner does not administer it
	e := o.refuse(t, "list_employees", listArgs)
	expect.That(t, e.Problem == explain.ProblemNoCompany && o.vendors.Calls("list_employees") == 0, "%v", e)
	choose("1884310")
	var out struct{ Count int }
	if o.run(t, "list_employees", listArgs, &out); out.Count != 42 {
		t.Errorf("%d", out.Count)
	}
}
