package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func workspace(team string) tenancy.Tenant {
	return tenancy.Tenant{ID: aggregate.TenantID(team), Name: "株式会社 " + team, TeamID: team, Admins: []string{"U0ADMIN"}}
}

func testTenants(t *testing.T, st *taskStore) {
	first := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)
	want := workspace("T0FIRST")
	want.Rev, want.CreatedAt, want.UpdatedAt, want.Slug = 1, at(), at(), "t0first"
	expect.Same(t, want, first)
	expect.Same(t, want, expect.Value(st.Tenant(t.Context(), want.ID))(t))
	other := workspace("T0FIRST") // the tenant is there, and is returned as it is
	other.Name, other.Admins = "別名", []string{"U0STRANGER"}
	expect.Same(t, first, expect.Value(st.Bootstrap(t.Context(), other, at().Add(time.Hour)))(t))
	got := make([]tenancy.Tenant, 8)
	atOnce(t, len(got), func(i int) (err error) {
		x := workspace("T0THIRD")
		x.Name = fmt.Sprint(i)
		got[i], err = st.Bootstrap(t.Context(), x, at())
		return err
	}, errors.ErrUnsupported)
	for _, x := range got[1:] {
		expect.Same(t, got[0], x)
	}

	early, settings := workspace("T0EARLY"), tenancy.DefaultSettings() // settings saved before are kept
	settings.Locale = "en"
	expect.Value(st.SaveSettings(t.Context(), early.ID, settings, approver(), at()))(t)
	expect.Value(st.Bootstrap(t.Context(), early, at()))(t)
	expect.Is(t, expect.Value(st.Settings(t.Context(), early.ID))(t).Locale, "en")

	// Name and administrators are saved with their entry, by a person, over what was read.
	x := expect.Value(st.SaveAgent(t.Context(), first, "agent", "environment", at()))(t)
	before := x
	x.Name, x.Admins = "人事部", []string{"U0ADMIN", "U0SATO"}
	for range 2 { // the second time nothing is left to write
		expect.NoError(t, st.SaveTenant(t.Context(), x, approver(), at().Add(time.Hour)))
		x.Rev, x.UpdatedAt = before.Rev+1, at().Add(time.Hour)
		expect.Same(t, x, expect.Value(st.Tenant(t.Context(), x.ID))(t))
	}
	log := auditOfTenant(t, st, x.ID)
	expect.That(t, len(log) == 1 && log[0].Action == tenancy.AuditSettingsUpdated && log[0].ActorID == approver().ID &&
		log[0].ResourceType == "tenant" && strings.HasSuffix(string(log[0].Details),
		`,"fields":["admins","name"]}`), "%+v", log)
	expect.Fails(t, st.SaveTenant(t.Context(), before, approver(), at()), aggregate.ErrConflict, "over another's change")
	nobody := tenancy.Tenant{ID: "01NOBODY", Name: "x"}
	wantError(t, st.SaveTenant(t.Context(), nobody, approver(), at()), aggregate.ErrNotFound)
	wantError(t, expect.Err(st.Tenant(t.Context(), nobody.ID)), aggregate.ErrNotFound)
}

func testIntegrations(t *testing.T, st *taskStore) {
	by := approver()
	x := tenancy.Integration{TenantID: tenant, Provider: "freee", Status: tenancy.Connected, Credentials: "sealed-1",
		Metadata: `{"company_id":1}`}

	expect.Fails(t, expect.Err(st.Integration(t.Context(), tenant, "freee")), aggregate.ErrNotFound, "before")
	save := func(x tenancy.Integration) tenancy.Integration {
		t.Helper()
		out := expect.Value(st.SaveIntegration(t.Context(), x, by, at()))(t)
		got := expect.Value(st.Integration(t.Context(), tenant, x.Provider))(t)
		expect.Same(t, out, got)
		stored := table.TextOf(raw(t, st, "INTEGRATIONS#"+tenant, "INTEGRATION#"+x.Provider), "credentials")
		want := map[bool]string{true: "{}", false: got.Credentials}[got.Credentials == ""]
		expect.Is(t, stored, want, "credentials %q, and the column holds", got.Credentials)
		return got
	}
	x = save(x)
	_, err := st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee",
		Status: tenancy.Connected}, by, at())
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "a second first one: %v, want ErrConflict", err)
	x = save(x) // nothing new to record
	x.Credentials = "sealed-2"
	x = save(x)
	x.Status, x.StatusReason = tenancy.Broken, tenancy.CredentialRefused
	x = save(x)
	stale := x
	stale.Rev--
	expect.Fails(t, expect.Err(st.SaveIntegration(t.Context(), stale, by, at())), aggregate.ErrConflict, "an older one")

	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 3 && log[2].Details == `{"provider":"freee","reason":"refused"}` &&
		log[0].ResourceID == x.ID && log[0].ActorID == by.ID, "%+v", log)
	save(tenancy.Integration{TenantID: tenant, Provider: "google", Status: tenancy.Connected})
	every := expect.Value(st.Integrations(t.Context(), tenant))(t)
	expect.That(t, len(every) == 2 && every[0].Provider == "freee" && every[1].Provider == "google", "%+v", every)
	none, err := st.Integrations(t.Context(), "01OTHER")
	expect.That(t, err == nil && len(none) == 0, "another tenant has %d, %v", len(none), err)
}

// Of several renewals of one revision only one succeeds, and renewals write no audit entry.
func testRenewedIntegrations(t *testing.T, st *taskStore) {
	x := expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant, Provider: "freee",
		Status: tenancy.Connected, Credentials: "one"}, approver(), at()))(t)
	since := x.ConnectedAt
	won, _ := atOnce(t, 32, func(i int) error {
		mine := x
		mine.Refreshing = &tenancy.Refreshing{By: strconv.Itoa(i), Until: at()}
		return expect.Err(st.RenewIntegration(t.Context(), mine, at()))
	}, aggregate.ErrConflict)
	is, err := st.Integration(t.Context(), tenant, "freee")
	expect.Must(t, err == nil && won == 1 && is.Refreshing != nil && is.Rev == x.Rev+1, "%d hold it: %+v", won, is)
	is.Credentials, is.Refreshing = "two", nil
	is = expect.Value(st.RenewIntegration(t.Context(), is, at()))(t)
	got, err := st.Integration(t.Context(), tenant, "freee")
	expect.That(t, err == nil && got.Credentials == "two" && got.Refreshing == nil && got.ConnectedAt.Equal(*since),
		"%+v, %v", got, err)
	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 1, "%d entries", len(log))
}

func testEndedIntegrations(t *testing.T, st *taskStore) {
	first := at()
	for _, provider := range []string{"freee", "google", "mcp:rooms"} {
		expect.Value(st.SaveIntegration(t.Context(), tenancy.Integration{TenantID: tenant,
			Provider: provider}.Fresh("sealed", "{}"), approver(), first))(t)
	}
	for want := range 2 { // the second time it is already done
		n, err := st.EndIntegrations(t.Context(), tenant, tenancy.TokensRevoked, first.Add(time.Hour), first)
		expect.That(t, err == nil && n == 1-want, "ended %d, %v", n, err)
	}

	atOnce(t, 5, func(int) error {
		return expect.Err(st.EndIntegrations(t.Context(), tenant, tenancy.AppUninstalled, first.Add(4*time.Hour),
			first.Add(4*time.Hour)))
	}, errors.ErrUnsupported)
	ended := map[string]int{}
	for _, e := range auditOfTenant(t, st, tenant) {
		if e.Action == tenancy.AuditIntegrationDisconnected {
			ended[string(e.Details)]++
			expect.That(t, e.ActorType == aggregate.System().Type, "%+v", e)
		}
	}
	if diff := cmp.Diff(map[string]int{
		`{"provider":"slack","reason":"tokens_revoked"}`: 1, `{"provider":"freee","reason":"app_uninstalled"}`: 1,
		`{"provider":"mcp:rooms","reason":"app_uninstalled"}`: 1, `{"provider":"google","reason":"app_uninstalled"}`: 1,
	}, ended); diff != "" {
		t.Error(diff)
	}
	_, err := st.EndIntegrations(t.Context(), "a#b", tenancy.AppUninstalled, first, first)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a tenant that reaches into another key: %v", err)
}

func testAgents(t *testing.T, st *taskStore) {
	_, err := st.SaveAgent(t.Context(), workspace("T0NOBODY"), "agent_1", "env_1", at())
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "%v for a tenant that is not there", err)
	made := expect.Value(st.Bootstrap(t.Context(), workspace("T0AGENT"), at()))(t)
	for i, try := range []struct {
		name         string
		as           tenancy.Tenant
		agent, wants string
	}{
		{"the first one's stands", made, "agent_1", "agent_1"},
		{"who comes later gets it", made, "agent_2", "agent_1"},
		{"it can be replaced", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_3", "agent_3"},
		{"once", tenancy.Tenant{ID: made.ID, AgentID: "agent_1"}, "agent_4", "agent_3"},
	} {
		got := expect.Value(st.SaveAgent(t.Context(), try.as, try.agent, "env of "+try.agent,
			at().Add(time.Duration(i+1)*time.Hour)))(t)
		expect.That(t, got.AgentID == try.wants && got.EnvironmentID == "env of "+try.wants && got.Name == made.Name,
			"%s: %+v", try.name, got)
		expect.That(t, (try.agent == try.wants) == got.UpdatedAt.Equal(at().Add(time.Duration(i+1)*time.Hour)),
			"%s: the row says that it was written at %v", try.name, got.UpdatedAt)
	}
}

func testUsage(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	load := func() *task.Aggregate {
		t.Helper()
		return loaded(t, st, ref)
	}
	pay := func(u aggregate.Usage, decide func(a *task.Aggregate) (aggregate.Change, error)) {
		t.Helper()
		after := expect.Value(st.Decide(t.Context(), ref, task.Charge(u, at(), decide)))(t)
		diff := cmp.Diff(load(), after, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".DueAt" },
			cmp.Ignore()))
		expect.That(t, diff == "", "what was loaded is not what was committed: %v", diff)
	}
	used := func(id string) aggregate.Usage {
		return aggregate.Usage{ID: id, Provider: "anthropic", Model: "claude-sonnet-4-6", Prompt: "extract.ja.1",
			RequestID: "req_1", Calls: 1,
			Sent:  &aggregate.Blob{Bytes: 9000, S3Key: "prompts/01TENANT/01TASK/" + aggregate.HashOf(id) + ".json"},
			Input: 1 << 40, Output: 2, Cached: 3, Written: 4, MS: 5, Cost: 3_500_000, Unpriced: 1}
	}
	nothing := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }

	pay(used("1"), nothing)
	pay(used("2"), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: "t", Description: "d", Priority: task.Low, TaskType: task.TypeStandard},
			at())
	})
	pay(used("2"), nothing)
	a := load()
	want := used("2")
	expect.Same(t, &want, a.Task.Usage)
	sum := aggregate.Usage{Calls: 2, Input: 2 << 40, Output: 4, Cached: 6, MS: 10, Cost: 7_000_000, Unpriced: 2}
	diff := cmp.Diff(&sum, a.Used())
	expect.That(t, diff == "" && len(a.Uses) == 2 && a.Uses[1].Made == "TASK", "%s in %d rows", diff, len(a.Uses))
	expect.Same(t, a.Uses, expect.Value(st.Uses(t.Context(), ref))(t))
	testSpent(t, st, ref, used("2"))
	none := expect.Value(st.Uses(t.Context(), task.RefOf(ref.Tenant, aggregate.NewID())))(t)
	expect.Is(t, len(none), 0, "of a task that is not there")
}

// testSpent needs two usages of 3.50 dollars each, one of which was charged three times.
func testSpent(t *testing.T, st *taskStore, ref aggregate.Ref, u aggregate.Usage) {
	t.Helper()
	spent := func(now time.Time, day, month float64) {
		t.Helper()
		got := expect.Value(st.Spent(t.Context(), ref.Tenant, now))(t)
		expect.That(t, got == (tenancy.Sums{Day: aggregate.USD(day), Month: aggregate.USD(month)}),
			"spent at %s: %+v, want %v and %v", now, got, day, month)
	}
	spent(at(), 7, 7)
	spent(at().AddDate(0, 0, 1), 0, 7)
	spent(at().AddDate(0, 1, 0), 0, 0)
	// Failed calls cost as much as others and are charged once each, even if the whole run was superseded.
	superseded := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, aggregate.ErrSuperseded }
	atOnce(t, 10, func(i int) error {
		x := u
		x.ID = fmt.Sprintf("nothing-%d", i/2)
		return expect.Err(st.Decide(t.Context(), ref, task.Charge(x, at().AddDate(0, 0, 2), superseded)))
	}, aggregate.ErrSuperseded)
	spent(at().AddDate(0, 0, 2), 5*3.5, 7+5*3.5)
	expect.Is(t, expect.Value(st.Spent(t.Context(), aggregate.NewID(), at()))(t), tenancy.Sums{}, "of another tenant")
}

// auditOfTenant returns a tenant's audit entries of April, in order.
func auditOfTenant(t *testing.T, s *taskStore, tenant string) []aggregate.AuditEntry {
	t.Helper()
	var out []aggregate.AuditEntry
	for _, it := range rows(t, s, "AUDIT#"+tenant+"#2026-04") {
		var x aggregate.AuditEntry
		expect.NoError(t, table.Unpack(it, &x))
		out = append(out, x)
	}
	return out
}

func testSettings(t *testing.T, st *taskStore) {
	expect.Same(t, tenancy.DefaultSettings(), expect.Value(st.Settings(t.Context(), "01NOBODY"))(t))
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	x.PromptApprovalRequired, x.MaxCostUSD = false, 1.5
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}
	saved := expect.Value(st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)))(t)
	got := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	expect.Same(t, saved, got)
	x.Rev, x.UpdatedAt, x.UpdatedBy = 1, at().Add(time.Hour), approver().ID
	expect.Same(t, x, got)
	log := auditOfTenant(t, st, owner.ID)
	expect.That(t, len(log) == 1 && log[0].Action == tenancy.AuditSettingsUpdated && log[0].ActorID == approver().ID &&
		log[0].ResourceID == table.TextOf(raw(t, st, "TENANT#"+owner.ID, "SETTINGS"), "id"), "%+v", log)

	// What is there already, and what is refused, writes nothing.
	again := expect.Value(st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(2*time.Hour)))(t)
	expect.Is(t, again.Rev, 1)
	x.Rev, x.MaxVersions = 0, 9
	wantError(t, expect.Err(st.SaveSettings(t.Context(), owner.ID, x, approver(), at())), aggregate.ErrConflict)
	expect.Is(t, len(auditOfTenant(t, st, owner.ID)), 1, "entries")
}

func testRules(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0RULES"), at()))(t)
	x, rev, err := st.Rules(t.Context(), owner.ID)
	expect.That(t, err == nil && x == nil && rev == 0, "before any: %v, %d, %v", x, rev, err)

	save := func(n, over int) (int, error) {
		_, rev, err := st.SaveRules(t.Context(), owner.ID,
			&rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "x", Outcome: rules.Outcome{Refuse: fmt.Sprint(n)}}}},
			over, nil, approver(),
			at().Add(time.Hour))
		return rev, err
	}
	rev, err = save(1, 0)
	expect.That(t, err == nil && rev == 1, "saved as %d: %v", rev, err)
	expect.Fails(t, expect.Err(save(2, 0)), aggregate.ErrConflict, "over what was there")
	rev, err = save(2, 1)
	expect.That(t, err == nil && rev == 2, "saved as %d: %v", rev, err)

	x, rev, err = st.Rules(t.Context(), owner.ID)
	expect.That(t, err == nil && rev == 2 && x.Rev == 2 && x.Rules[0].Refuse == "2", "%+v, %d, %v", x, rev, err)
	s := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	expect.That(t, s.RulesRev == 2, "the settings note %d", s.RulesRev)
	s.MaxVersions = 9
	s = expect.Value(st.SaveSettings(t.Context(), owner.ID, s, approver(), at()))(t)
	expect.That(t, s.RulesRev == 2, "saved settings note %d", s.RulesRev)
	expect.That(t, len(auditOfTenant(t, st, owner.ID)) == 3, "entries")
}

func testTools(t *testing.T, st *taskStore) {
	p, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	expect.Must(t, err == nil && !found && p.Allowed && p.Rev == 0, "without a row: %+v, %v, %v; want allowed", p, found,
		err)
	p.Allowed, p.Constraints = false, `{"recipients":["U123"]}`
	saved := expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at(), tenancy.OnlyRecipients))(t)
	got, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	expect.Must(t, err == nil && found, "%v, %v", found, err)
	expect.Same(t, saved, got)
	expect.That(t, !got.Allowed && got.Rev == 1 && got.Constraints == p.Constraints && got.CreatedAt.Equal(at()), "%+v",
		got)
	wantError(t, expect.Err(st.SaveToolPermission(t.Context(), p, approver(), at(), tenancy.OnlyRecipients)),
		aggregate.ErrConflict)
	got.Allowed = true
	expect.Value(st.SaveToolPermission(t.Context(), got, approver(), at().Add(time.Hour), tenancy.OnlyRecipients))(t)
	every, err := st.ToolPermissions(t.Context(), tenant)
	expect.That(t, err == nil && len(every) == 1 && every[0].Allowed && every[0].CreatedAt.Equal(at()), "%+v, %v", every,
		err)
	expect.Is(t, len(auditOfTenant(t, st, tenant)), 2, "entries")
	testServerTool(t, st)
}

func testServerTool(t *testing.T, st *taskStore) {
	t.Helper()
	p, found, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	expect.Must(t, err == nil && !found && !p.Allowed, "without a row: %+v, %v, %v; want it off", p, found, err)
	p.Allowed = true
	p.Pin = &tenancy.Pin{URL: "https://example.com", Title: "予約", Description: "Books.", Input: `{"type":"object"}`,
		Output: `{"maximum":9007199254740993}`, Access: aggregate.Write, Hash: "h"}
	saved := expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at().Add(2*time.Hour)))(t)
	got, found, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	if diff := cmp.Diff(saved, got); diff != "" || err != nil || !found || got.Pin.Version() != p.Pin.Version() {
		t.Error(diff, err, found)
	}
	for range 2 { // the second time it is already recorded
		expect.NoError(t, st.NoteToolChanged(t.Context(), got, at().Add(3*time.Hour)))
	}
	noted, _, err := st.ToolPermission(t.Context(), tenant, "rooms.book")
	expect.That(t, err == nil && noted.ChangedAt != nil && noted.ChangedAt.Equal(at().Add(3*time.Hour)) &&
		noted.UpdatedAt.Equal(*noted.ChangedAt) && noted.Rev == got.Rev, "%+v, %v", noted, err)
	log := auditOfTenant(t, st, tenant)
	expect.That(t, len(log) == 4 && log[3].ActorType == aggregate.ActorSystem &&
		log[3].Details == `{"allowed":false,"changed":true,"tool":"rooms.book"}`, "%+v", log)
	noted.ChangedAt = nil
	noted = expect.Value(st.SaveToolPermission(t.Context(), noted, approver(), at().Add(4*time.Hour)))(t)
	if err := st.NoteToolChanged(t.Context(), got, at().Add(5*time.Hour)); err != nil { // found in the earlier version
		t.Fatal(err)
	}
	again, _, _ := st.ToolPermission(t.Context(), tenant, "rooms.book")
	expect.That(t, again.ChangedAt == nil, "what an administrator has just allowed was switched off")
}
