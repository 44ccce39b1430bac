package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
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

	t.Run("a tenant without any has the defaults", func(t *testing.T) {
		expect.Same(t, tenancy.DefaultSettings(), expect.Value(st.Settings(t.Context(), "01NOBODY"))(t))
	})

	t.Run("a change is saved with the entry that names the fields", func(t *testing.T) { testSettingsSaved(t, st, owner) })
	t.Run("what is refused, and what is there, writes nothing", func(t *testing.T) { testNothingToSave(t, st, owner) })
}

func testSettingsSaved(t *testing.T, st *taskStore, owner tenancy.Tenant) {
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
}

func testNothingToSave(t *testing.T, st *taskStore, owner tenancy.Tenant) {
	x := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	again, err := st.SaveSettings(t.Context(), owner.ID, x, approver(), at().Add(2*time.Hour))
	expect.That(t, err == nil && again.Rev == 1, "rev %d, %v", again.Rev, err)
	x.Rev, x.MaxVersions = 0, 9
	_, err = st.SaveSettings(t.Context(), owner.ID, x, approver(), at())
	expect.That(t, errors.Is(err, aggregate.ErrConflict) && len(auditOfTenant(t, st, owner.ID)) == 1,
		"%v, want ErrConflict and one entry", err)
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
