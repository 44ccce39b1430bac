package store

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/task"
)

// auditOfTenant returns the entries of April, in order.
func auditOfTenant(t *testing.T, s *Store, tenant string) []task.AuditEntry {
	t.Helper()
	var out []task.AuditEntry
	for _, it := range rows(t, s, "AUDIT#"+tenant+"#2026-04") {
		var x task.AuditEntry
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
		if diff := cmp.Diff(task.DefaultSettings(), got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a change is saved with the entry that names the fields", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.PromptApprovalRequired, x.MaxCostUSD = false, 1.5
		x.Approvers = task.Approvers{Mode: task.ApproversList, Users: []string{"U1", "U2"}}
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
		want := []task.AuditEntry{{
			ID: log[0].ID, TenantID: owner.ID, Timestamp: at().Add(time.Hour), ActorType: task.ActorUser, ActorID: approver().ID,
			Action: task.SettingsUpdated, ResourceType: "settings", ResourceID: textOf(raw(t, st, "TENANT#"+owner.ID, "SETTINGS"), "id"),
			Details: `{"fields":["approvers","max_cost_usd","prompt_approval_required"]}`,
		}}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("saving what is there writes nothing", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.Approvers.Usergroups = []string{}
		got, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(2*time.Hour))
		if err != nil || got.Rev != 2 || len(auditOfTenant(t, st, owner.ID)) != 1 {
			t.Errorf("rev %d, %d entries, %v", got.Rev, len(auditOfTenant(t, st, owner.ID)), err)
		}
	})

	t.Run("who saves over another's change is told", func(t *testing.T) {
		x := task.DefaultSettings()
		x.Rev = 1
		if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at()); !errors.Is(err, task.ErrConflict) {
			t.Errorf("%v, want ErrConflict", err)
		}
	})

	t.Run("what is out of bounds is named", func(t *testing.T) {
		x := task.DefaultSettings()
		x.MaxVersions = 0
		var bad task.ErrField
		if _, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at()); !errors.As(err, &bad) || bad.Field != "max_versions" {
			t.Errorf("%v, want ErrField of max_versions", err)
		}
	})

	t.Run("a slug moves with its row, unless it is another's", func(t *testing.T) {
		x, err := st.Settings(t.Context(), owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		x.Slug = "taken"
		var bad task.ErrField
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
		nobody := task.DefaultSettings()
		nobody.Slug = "nobody"
		if _, err := st.SaveSettings(t.Context(), "01NOBODY", nobody, approver(), at()); !errors.As(err, &bad) || bad.Field != "slug" {
			t.Errorf("%v, want ErrField of slug", err)
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
		want := task.DefaultSettings()
		want.Name, want.PromptApprovalRequired, want.Rev = "旧", false, 4
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func testIntegrations(t *testing.T, s *suite) {
	st := s.store(t)
	by := approver()
	x := task.Integration{TenantID: tenant, Provider: "freee", Status: task.Connected, Credentials: "sealed-1", Metadata: `{"company_id":1}`}

	if _, err := st.Integration(t.Context(), tenant, "freee"); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("before: %v, want ErrNotFound", err)
	}
	save := func(x task.Integration) task.Integration {
		t.Helper()
		out, err := st.SaveIntegration(t.Context(), x, by, at())
		if err != nil {
			t.Fatal(err)
		}
		got, err := st.Integration(t.Context(), tenant, x.Provider)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(out, got); diff != "" {
			t.Error(diff)
		}
		return got
	}
	x = save(x)
	if _, err := st.SaveIntegration(t.Context(), task.Integration{TenantID: tenant, Provider: "freee", Status: task.Connected}, by, at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("a second first one: %v, want ErrConflict", err)
	}
	x = save(x) // nothing new to record
	x.Credentials = "sealed-2"
	x = save(x)
	x.Status = task.Broken
	x = save(x)
	x.Status = task.Disconnected
	x = save(x)
	if x.Credentials != "" || x.ConnectedAt != nil {
		t.Errorf("credentials %q since %v stay after disconnecting", x.Credentials, x.ConnectedAt)
	}
	stale := x
	stale.Rev--
	if _, err := st.SaveIntegration(t.Context(), stale, by, at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("an older one: %v, want ErrConflict", err)
	}

	actions := map[task.Action]int{}
	for _, e := range auditOfTenant(t, st, tenant) {
		actions[e.Action]++
		if e.ResourceID != x.ID || e.Details != `{"provider":"freee"}` || e.ActorID != by.ID {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff(map[task.Action]int{task.IntegrationConnected: 2, task.IntegrationDisconnected: 1}, actions); diff != "" {
		t.Error(diff)
	}

	save(task.Integration{TenantID: tenant, Provider: "google", Status: task.Connected})
	every, err := st.Integrations(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	if len(every) != 2 || every[0].Provider != "freee" || every[1].Provider != "google" {
		t.Errorf("%+v", every)
	}
	if none, err := st.Integrations(t.Context(), "01OTHER"); err != nil || len(none) != 0 {
		t.Errorf("another tenant has %d, %v", len(none), err)
	}
	for field, x := range map[string]task.Integration{
		"provider": {TenantID: tenant, Status: task.Connected}, "status": {TenantID: tenant, Provider: "freee", Status: "maybe"},
	} {
		var bad task.ErrField
		if _, err := st.SaveIntegration(t.Context(), x, by, at()); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%v, want ErrField of %s", err, field)
		}
	}
}

func testTools(t *testing.T, s *suite) {
	st := s.store(t)
	p, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	if err != nil || found || !p.Allowed || p.Rev != 0 {
		t.Fatalf("without a row: %+v, %v, %v; want allowed", p, found, err)
	}
	p.Allowed, p.Constraints = false, `{"users":["U1"]}`
	saved, err := st.SaveToolPermission(t.Context(), p, approver(), at())
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := st.ToolPermission(t.Context(), tenant, "send_slack_dm")
	if err != nil || !found {
		t.Fatalf("%v, %v", found, err)
	}
	if diff := cmp.Diff(saved, got); diff != "" {
		t.Error(diff)
	}
	if got.Allowed || got.Rev != 1 || got.Constraints != p.Constraints || !got.CreatedAt.Equal(at()) {
		t.Errorf("%+v", got)
	}
	if _, err := st.SaveToolPermission(t.Context(), p, approver(), at()); !errors.Is(err, task.ErrConflict) {
		t.Errorf("%v, want ErrConflict", err)
	}
	got.Allowed = true
	if _, err := st.SaveToolPermission(t.Context(), got, approver(), at().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	every, err := st.ToolPermissions(t.Context(), tenant)
	if err != nil || len(every) != 1 || !every[0].Allowed || !every[0].CreatedAt.Equal(at()) {
		t.Errorf("%+v, %v", every, err)
	}
	log := auditOfTenant(t, st, tenant)
	if len(log) != 2 || log[0].Action != task.ToolPermissionUpdated || log[0].Details != `{"allowed":false,"tool":"send_slack_dm"}` {
		t.Errorf("%+v", log)
	}
	for field, x := range map[string]task.ToolPermission{"tool_name": {TenantID: tenant}, "constraints": {TenantID: tenant, ToolName: "x", Constraints: "{"}} {
		var bad task.ErrField
		if _, err := st.SaveToolPermission(t.Context(), x, approver(), at()); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%v, want ErrField of %s", err, field)
		}
	}
}
