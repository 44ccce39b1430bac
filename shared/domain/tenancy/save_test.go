package tenancy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

var (
	now    = time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)
	person = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}
	known  = Tenant{Meta: aggregate.Meta{Rev: 3}, ID: "T1", Name: "人事", Slug: "default", TeamID: "T0TEAM",
		Admins: []string{"U0ADMIN"}}
)

// fieldOf returns the field that an error names, or else the error's text.
func fieldOf(err error) string {
	var bad aggregate.ErrField
	switch {
	case errors.As(err, &bad):
		return bad.Field
	case err != nil:
		return err.Error()
	}
	return ""
}

// details returns the details of a change's audit entries.
func details(c Change) (all []string) {
	for _, e := range c.Audit {
		all = append(all, string(e.Action)+" "+string(e.Details))
	}
	return all
}

func TestSettingsAreSavedByAPersonWithTheFieldsThatChanged(t *testing.T) {
	was := SettingsRow{ID: "S1", TenantID: "T1", Rev: 2, Config: DefaultSettings()}
	for name, test := range map[string]struct {
		set    func(*Settings)
		by     aggregate.Actor
		owner  Tenant
		wrong  string // the invalid field
		audit  []string
		writes int
		redraw bool
	}{
		"nothing changed": {func(x *Settings) { x.Approvers.Users = nil }, person, known, "", nil, 0, false},
		"three fields": {func(x *Settings) {
			x.MaxCostUSD, x.PromptApprovalRequired, x.Approvers.Users = 1.5, false, []string{"U1"}
		}, person, known, "",
			[]string{`settings.updated {"changes":{"approvers.users":{"is":["U1"],"was":[]},"max_cost_usd":{"is":1.5,"was":0},"prompt_approval_required":{"is":false,"was":true}},"fields":["approvers","max_cost_usd","prompt_approval_required"]}`}, 1, true},
		"self-approval": {func(x *Settings) { x.AllowSelfApproval, x.SelfApprovalChosen = false, true }, person, known, "",
			[]string{`settings.updated {"changes":{"allow_self_approval":{"is":false,"was":true},"self_approval_chosen":{"is":true,"was":false}},"fields":["allow_self_approval","self_approval_chosen"]}`}, 1, true},
		"the language": {func(x *Settings) { x.Locale = "en" }, person, known, "",
			[]string{`settings.updated {"changes":{"locale":{"is":"en","was":"ja"}},"fields":["locale"]}`}, 1, true},
		"what no card shows": {func(x *Settings) { x.MaxVersions = 9 }, person, Tenant{}, "",
			[]string{`settings.updated {"changes":{"max_versions":{"is":9,"was":5}},"fields":["max_versions"]}`}, 1, false},
		"the slug": {func(x *Settings) { x.Slug = "jinji" }, person, known, "",
			[]string{`settings.updated {"changes":{"slug":{"is":"jinji","was":"default"}},"fields":["slug"]}`}, 4, false},
		"a slug of nobody": {func(x *Settings) { x.Slug = "jinji" }, person, Tenant{}, "slug", nil, 0, false},
		"out of bounds":    {func(x *Settings) { x.MaxVersions = 0 }, person, known, "max_versions", nil, 0, false},
		"by the system":    {func(*Settings) {}, aggregate.System(), known, "updated_by", nil, 0, false},
		"by nobody": {func(*Settings) {}, aggregate.Actor{Type: aggregate.ActorUser}, known, "updated_by", nil, 0,
			false},
		"by an agent": {func(*Settings) {}, aggregate.Actor{Type: aggregate.ActorAgent, ID: "U0ADMIN"}, known,
			"updated_by", nil, 0, false},
		"over another's first": {func(x *Settings) { x.Rev = 1; x.MaxVersions = 9 }, person, known,
			"save settings of T1: it changed meanwhile", nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := was.Settings()
			test.set(&x)
			saved, c, err := x.Save(was, test.owner, "S2", test.by, now)
			expect.Must(t, fieldOf(err) == test.wrong, "%v, want %q", err, test.wrong)
			diff := cmp.Diff(test.audit, details(c))
			expect.That(t, diff == "" && (err != nil || len(c.Writes) == test.writes && c.Redraw == test.redraw),
				"%d writes, redraw %v %s", len(c.Writes), c.Redraw, diff)
			if err != nil || test.writes == 0 {
				return
			}
			x.Rev, x.UpdatedAt, x.UpdatedBy = 3, now, person.ID
			want := Write{Over: 2, Row: SettingsRow{ID: "S1", TenantID: "T1", Rev: 3, Config: x, UpdatedAt: now,
				UpdatedBy: person.ID}}
			expect.Same(t, want, c.Writes[0])
			expect.Same(t, x, saved)
		})
	}
}

func TestAFoundingIsTriedAgainWithWhatIsFree(t *testing.T) {
	long := strings.Repeat("a", 63)
	for name, test := range map[string]struct {
		slug   string
		err    error
		writes int
		want   string // the slug of the next attempt
	}{
		"nothing refused":          {"default", nil, 3, "default"},
		"in another's way":         {"default", aggregate.ErrConflict, 3, "default"},
		"the slug is taken":        {"default", errSlugTaken, 3, "default-t0team"},
		"a long slug is taken":     {long, errSlugTaken, 3, long[:56] + "-t0team"},
		"the tail is there":        {"default-t0team", errSlugTaken, 3, "default-t0team"},
		"settings are there":       {"default", errConfigured, 2, "default"},
		"both":                     {"default", errors.Join(errSlugTaken, errConfigured), 3, "default-t0team"},
		"the tail is there, both":  {"default-t0team", errors.Join(errSlugTaken, errConfigured), 2, "default-t0team"},
		"a failure of the network": {"default", errors.New("reset"), 3, "default"},
	} {
		t.Run(name, func(t *testing.T) {
			first := Founding{Tenant: Tenant{ID: "T1", Slug: test.slug, TeamID: "T0TEAM"}}
			made, c, err := first.After(test.err).Change("S1", now)
			expect.That(t, err == nil && made.Slug == test.want && len(c.Writes) == test.writes && made.Rev == 1 &&
				len(c.Audit) == 0, "slug %q, %d writes, %v", made.Slug, len(c.Writes), err)
			row, ok := c.Writes[len(c.Writes)-1].Row.(SettingsRow)
			expect.That(t, !ok || row.Config.Slug == test.want && row.Rev == 1 && row.ID == "S1", "%+v", row)
		})
	}
	_, _, err := (Founding{Tenant: Tenant{ID: "T1", Slug: "Not A Slug"}}).Change("S1", now)
	expect.That(t, fieldOf(err) == "slug", "%v", err)
}

func TestNameAndAdministratorsAreSavedByAPerson(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(*Tenant)
		by    aggregate.Actor
		wrong string
		audit []string
	}{
		"nothing changed": {func(*Tenant) {}, person, "", nil},
		"both": {func(x *Tenant) { x.Name, x.Admins = "総務", []string{"U0SATO"} }, person, "",
			[]string{`settings.updated {"changes":{"admins":{"is":["U0SATO"],"was":["U0ADMIN"]},` +
				`"name":{"is":"総務","was":"人事"}},"fields":["admins","name"]}`}},
		"the agent is none": {func(x *Tenant) { x.AgentID = "agent" }, person, "", nil},
		"no name":           {func(x *Tenant) { x.Name = "" }, person, "name", nil},
		"no id":             {func(x *Tenant) { x.Admins = []string{"@sato"} }, person, "admins[0]", nil},
		"too many":          {func(x *Tenant) { x.Admins = slices.Repeat([]string{"U1"}, 51) }, person, "admins", nil},
		"by the system":     {func(*Tenant) {}, aggregate.System(), "updated_by", nil},
		"over another's":    {func(x *Tenant) { x.Rev = 2 }, person, "save tenant T1: it changed meanwhile", nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := known
			test.set(&x)
			c, err := x.Save(known, test.by, now)
			diff := cmp.Diff(test.audit, details(c))
			expect.That(t, diff == "" && fieldOf(err) == test.wrong && len(c.Writes) == len(test.audit),
				"%v, want %q, %d writes %s", err, test.wrong, len(c.Writes), diff)
			for _, w := range c.Writes {
				want := map[string]any{"name": x.Name, "admins": x.Admins, "updated_at": now, "rev": 4}
				expect.Same(t, want, w.Set)
				expect.Same(t, map[string]any{"rev": 3, "name": "人事"}, w.If)
			}
		})
	}
}
