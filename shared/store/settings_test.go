package store

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

// auditOfTenant returns the entries of April, in order.
func auditOfTenant(t *testing.T, s *taskStore, tenant string) []aggregate.AuditEntry {
	t.Helper()
	var out []aggregate.AuditEntry
	for _, it := range rows(t, s, "AUDIT#"+tenant+"#2026-04") {
		var x aggregate.AuditEntry
		if err := unpack(it, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

func testSettings(t *testing.T, s *suite) {
	st := s.store(t)
	owner, err := st.Bootstrap(t.Context(), workspace("T0FIRST"), at())
	if err != nil {
		t.Fatal(err)
	}
	other := workspace("T0SECOND")
	other.Slug = "taken"
	if _, err := st.Bootstrap(t.Context(), other, at()); err != nil {
		t.Fatal(err)
	}

	t.Run("a tenant without any has the defaults", func(t *testing.T) {
		got, err := st.Settings(t.Context(), "01NOBODY")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tenancy.DefaultSettings(), got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a change is saved with the entry that names the fields", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.PromptApprovalRequired, x.MaxCostUSD = false, 1.5
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U1", "U2"}}
		saved, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		got, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(saved, got); diff != "" {
			t.Error(diff)
		}
		x.Rev, x.UpdatedAt, x.UpdatedBy = 2, at().Add(time.Hour), approver().ID
		if diff := cmp.Diff(x, got); diff != "" {
			t.Error(diff)
		}
		log := auditOfTenant(t, st, owner.ID)
		want := []aggregate.AuditEntry{{
			ID: log[0].ID, TenantID: owner.ID, Timestamp: at().Add(time.Hour), ActorType: aggregate.ActorUser, ActorID: approver().ID,
			Action: tenancy.AuditSettingsUpdated, ResourceType: "settings", ResourceID: textOf(raw(t, st, "TENANT#"+owner.ID, "SETTINGS"), "id"),
			Details: `{"fields":["approvers","max_cost_usd","prompt_approval_required"]}`,
		}}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("what is refused, and what is there, writes nothing", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		same, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(2*time.Hour))
		if err != nil || same.Rev != 2 {
			t.Errorf("rev %d, %v", same.Rev, err)
		}
		x.Rev, x.MaxVersions = 1, 9
		if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at()); !errors.Is(err, aggregate.ErrConflict) || len(auditOfTenant(t, st, owner.ID)) != 1 {
			t.Errorf("%v, want ErrConflict and one entry", err)
		}
	})

	t.Run("a slug moves with its row, unless it is another's", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.Slug = "taken"
		var bad aggregate.ErrField
		if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at()); !errors.As(err, &bad) || bad.Field != "slug" {
			t.Errorf("%v, want ErrField of slug", err)
		}
		x.Slug = "jinji"
		if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		now, err := st.Tenant(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.Slug != "jinji" || now.Rev != 2 || raw(t, st, "SLUG#default", "SLUG") != nil || textOf(raw(t, st, "SLUG#jinji", "SLUG"), "tenant_id") != owner.ID {
			t.Errorf("tenant has slug %q at rev %d", now.Slug, now.Rev)
		}
		nobody := tenancy.DefaultSettings()
		nobody.Slug = "nobody"
		if _, err := st.SaveSettings(t.Context(), "01NOBODY", nobody, approver(), at()); !errors.As(err, &bad) || bad.Field != "slug" {
			t.Errorf("%v, want ErrField of slug", err)
		}
	})

	t.Run("a slug moves, and what is learnt of the tenant meanwhile stays", func(t *testing.T) {
		known, err := st.Tenant(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		m := &meanwhile{do: func() {
			if _, err := st.SaveAgent(t.Context(), known, "agent_1", "env_1", at()); err != nil {
				t.Error(err)
			}
			if err := st.NameTenant(t.Context(), known, "株式会社リンギ", at()); err != nil {
				t.Error(err)
			}
		}}
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.Slug = "ringi"
		if _, err := s.over(st, m).SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		is, err := st.Tenant(t.Context(), owner.ID)
		if err != nil || is.Slug != "ringi" || is.AgentID != "agent_1" || is.EnvironmentID != "env_1" || is.Name != "株式会社リンギ" {
			t.Errorf("%+v, %v", is, err)
		}
	})

	t.Run("settings of an older release have the defaults of newer fields", func(t *testing.T) {
		_, err := st.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &st.table, Item: item{
			"PK": text("TENANT#01OLD"), "SK": text("SETTINGS"), "type": text("settings"), "schema_version": number(1), "rev": number(4),
			"config": &types.AttributeValueMemberM{Value: item{"name": text("旧"), "prompt_approval_required": &types.AttributeValueMemberBOOL{}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := st.Settings(t.Context(), "01OLD")
		if err != nil {
			t.Fatal(err)
		}
		want := tenancy.DefaultSettings()
		want.Name, want.PromptApprovalRequired, want.Rev = "旧", false, 4
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// meanwhile does something just before the first transaction leaves.
type meanwhile struct{ do func() }

func (m *meanwhile) RoundTrip(r *http.Request) (*http.Response, error) {
	if do := m.do; do != nil && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		m.do = nil
		do()
	}
	return http.DefaultTransport.RoundTrip(r)
}
