package store

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

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
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0FIRST"), at()))(t)
	other := workspace("T0SECOND")
	other.Slug = "taken"
	expect.Value(st.Bootstrap(t.Context(), other, at()))(t)

	t.Run("a tenant without any has the defaults", func(t *testing.T) {
		expect.Same(t, tenancy.DefaultSettings(), expect.Value(st.Settings(t.Context(), "01NOBODY"))(t))
	})

	t.Run("a change is saved with the entry that names the fields", func(t *testing.T) { testSettingsSaved(t, st, owner) })
	t.Run("what is refused, and what is there, writes nothing", func(t *testing.T) { testNothingToSave(t, st, owner) })
	t.Run("a slug moves with its row, unless it is another's", func(t *testing.T) { testSlugMoves(t, st, owner) })
	t.Run("a slug moves, and what is learnt of the tenant meanwhile stays", func(t *testing.T) { testSlugMovesAlone(t, st, owner) })
	t.Run("an agent that can't be read keeps no settings from being read", func(t *testing.T) { testSettingsWithAgents(t, st) })
}

func inMap(name string, v types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: table.Item{name: v}}
}

// A row may have been edited by hand.
func testSettingsWithAgents(t *testing.T, st *taskStore) {
	entry := func(id string, more table.Item) *types.AttributeValueMemberM {
		it := table.Item{"id": table.Text(id), "provider": table.Text("openai"), "capabilities": &types.AttributeValueMemberL{Value: []types.AttributeValue{table.Text("code")}}, "later": table.Number(1)}
		maps.Copy(it, more)
		return &types.AttributeValueMemberM{Value: it}
	}
	for i, name := range []string{"agents", "aiAgents"} {
		tenant := fmt.Sprintf("01AGENTS%d", i)
		write(t, st, table.Item{
			"PK": table.Text("TENANT#" + tenant), "SK": table.Text("SETTINGS"), "type": table.Text("settings"), "schema_version": table.Number(1), "rev": table.Number(4),
			"config": &types.AttributeValueMemberM{Value: table.Item{"name": table.Text("新"), "of_another": table.Text("x"),
				"aiSessions": inMap("cache", inMap("enabled", &types.AttributeValueMemberBOOL{Value: true})),
				name: &types.AttributeValueMemberL{Value: []types.AttributeValue{
					entry("a", table.Item{"isDefault": &types.AttributeValueMemberBOOL{Value: true}}), table.Text("b"), entry("c", table.Item{"capabilities": table.Text("code")}),
				}}}},
		})
		got := expect.Value(st.Settings(t.Context(), tenant))(t)
		if len(got.Agents) != 3 || !got.Agents[0].IsDefault || !got.AISessions.Cache.Enabled || got.Name != "新" || got.SessionIdleDays != 14 {
			t.Fatalf("%s: %+v", name, got)
		}
		defs, warnings := agent.Definitions(got.Agents, nil)
		if len(defs) != 3 || agent.Default(defs).ID != "a" || len(warnings) != 2 || warnings[0].Field != "entry" || warnings[1].Field != "capabilities" {
			t.Errorf("%s: %+v, %v", name, defs, warnings)
		}
		got.Agents, got.MaxVersions = got.Agents[:1], 3
		saved := expect.Value(st.SaveSettings(t.Context(), tenant, got, approver(), at()))(t)
		expect.Same(t, saved, expect.Value(st.Settings(t.Context(), tenant))(t))
	}
}

func testSettingsSaved(t *testing.T, st *taskStore, owner tenancy.Tenant) {
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	x.PromptApprovalRequired, x.MaxCostUSD = false, 1.5
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}
	saved := expect.Value(st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)))(t)
	got := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	expect.Same(t, saved, got)
	x.Rev, x.UpdatedAt, x.UpdatedBy = 2, at().Add(time.Hour), approver().ID
	expect.Same(t, x, got)
	log := auditOfTenant(t, st, owner.ID)
	want := []aggregate.AuditEntry{{
		ID: log[0].ID, TenantID: owner.ID, Timestamp: at().Add(time.Hour), ActorType: aggregate.ActorUser, ActorID: approver().ID,
		Action: tenancy.AuditSettingsUpdated, ResourceType: "settings", ResourceID: table.TextOf(raw(t, st, "TENANT#"+owner.ID, "SETTINGS"), "id"),
		Details: `{"changes":{"approvers.mode":{"is":"list","was":"channel"},"approvers.users":{"is":["U1","U2"],"was":[]},"max_cost_usd":{"is":1.5,"was":0},"prompt_approval_required":{"is":false,"was":true}},"fields":["approvers","max_cost_usd","prompt_approval_required"]}`,
	}}
	expect.Same(t, want, log)
}

func testNothingToSave(t *testing.T, st *taskStore, owner tenancy.Tenant) {
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	again, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(2*time.Hour))
	expect.That(t, err == nil && again.Rev == 2, "rev %d, %v", again.Rev, err)
	x.Rev, x.MaxVersions = 1, 9
	if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at()); !errors.Is(err, aggregate.ErrConflict) || len(auditOfTenant(t, st, owner.ID)) != 1 {
		t.Errorf("%v, want ErrConflict and one entry", err)
	}
}

func testSlugMoves(t *testing.T, st *taskStore, owner tenancy.Tenant) {
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	x.Slug = "taken"
	wantField(t, second(st.SaveSettings(t.Context(), owner.ID, x, approver(), at())), "slug")
	x.Slug = "jinji"
	expect.Value(st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)))(t)
	now := expect.Value(st.Tenant(t.Context(), owner.ID))(t)
	if now.Slug != "jinji" || now.Rev != 2 || raw(t, st, "SLUG#default", "SLUG") != nil || table.TextOf(raw(t, st, "SLUG#jinji", "SLUG"), "tenant_id") != owner.ID {
		t.Errorf("tenant has slug %q at rev %d", now.Slug, now.Rev)
	}
	nobody := tenancy.DefaultSettings()
	nobody.Slug = "nobody"
	wantField(t, second(st.SaveSettings(t.Context(), "01NOBODY", nobody, approver(), at())), "slug")
}

func testSlugMovesAlone(t *testing.T, st *taskStore, owner tenancy.Tenant) {
	known := expect.Value(st.Tenant(t.Context(), owner.ID))(t)
	m := &meanwhile{do: func() {
		if _, err := st.SaveAgent(t.Context(), known, "agent_1", "env_1", at()); err != nil {
			t.Error(err)
		}
		if err := st.NameTenant(t.Context(), known, "株式会社リンギ", at()); err != nil {
			t.Error(err)
		}
	}}
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	x.Slug = "ringi"
	expect.Value(st.over(m).SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)))(t)
	is, err := st.Tenant(t.Context(), owner.ID)
	if err != nil || is.Slug != "ringi" || is.AgentID != "agent_1" || is.EnvironmentID != "env_1" || is.Name != "株式会社リンギ" {
		t.Errorf("%+v, %v", is, err)
	}
}

// meanwhile calls do just before the first transaction is sent.
type meanwhile struct{ do func() }

func (m *meanwhile) RoundTrip(r *http.Request) (*http.Response, error) {
	if do := m.do; do != nil && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		m.do = nil
		do()
	}
	return http.DefaultTransport.RoundTrip(r)
}
