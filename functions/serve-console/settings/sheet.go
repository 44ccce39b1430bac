package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

type settingsData struct {
	Rev      int
	Base     string // the form as it was opened
	Unchosen bool   // nobody has decided on self-approval
	Conflict bool
	NoSlack  bool
	unasked
	Cut      bool
	Contest  *contestNote
	Problems []fieldProblem
	Both     []string
	Sections []settingsSection
	Log      []settingsEntry
}

// fieldProblem describes an input's problem.
type fieldProblem struct{ At, Label, Text string }

type settingsSection struct {
	Key, Title string
	Note       string
	Inputs     []input
}

type input struct {
	tenancy.Words
	Name, ID, Value string
	Kind            tenancy.Kind
	Boxes           []web.Box    // of a choice or a flag
	Of              *web.Chooser // of people or groups
	Rows            []settingRow
	Problems        []string
	Now             string // the saved value, if the input differs
	Bound           string
	Ruled           bool // rules stand: for steps they decide
}

func (t settingsTexts) sheetOf(p settingsPage) settingsData {
	now := formOf(p.now)
	d := settingsData{
		Rev: p.now.Rev, Base: now.Encode(), Unchosen: !p.now.SelfApprovalChosen, Conflict: p.conflict, unasked: p.unasked,
		Contest: p.contest, NoSlack: p.members == nil,
	}
	d.Cut = p.members != nil && p.members.More
	for _, wrong := range p.problems {
		base, _, _ := strings.Cut(wrong.Field, "[")
		label := t.label(wrong.Field)
		if id := idAt(p.form, wrong.Field); id != "" {
			label += ": " + nameOf(p.members, id)
		}
		d.Problems = append(d.Problems, fieldProblem{At: inputID(base), Label: label, Text: t.problem(wrong)})
	}
	for _, name := range p.both {
		d.Both = append(d.Both, t.label(name))
	}
	for _, s := range tenancy.Sections {
		section := settingsSection{Key: s.Key, Title: s.Title.In(t.Locale())}
		for _, x := range s.Settings {
			section.Inputs = append(section.Inputs, t.inputOf(p, x, now))
		}
		d.Sections = append(d.Sections, section)
	}
	return d
}

func inputID(name string) string { return "s-" + strings.NewReplacer(".", "-", "_", "-").Replace(name) }

// idAt returns the approver's id that a problem's field points to.
func idAt(form url.Values, field string) string {
	base, at, ok := strings.Cut(field, "[")
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); !ok || err != nil || !strings.Contains(base, "approvers.") {
		return ""
	}
	if ids := web.Ticked(form[base]); n < len(ids) {
		return ids[n]
	}
	return ""
}

func (t settingsTexts) inputOf(p settingsPage, x tenancy.Setting, now url.Values) input {
	in := input{Name: x.Name, ID: inputID(x.Name), Kind: x.Kind, Words: x.Says.In(t.Locale()), Value: p.form.Get(x.Name)}
	for _, wrong := range p.problems {
		if base, _, _ := strings.Cut(wrong.Field, "["); base == x.Name &&
			(x.Kind != tenancy.KindRows || wrong.Field == x.Name) {
			in.Problems = append(in.Problems, t.problem(wrong))
		}
	}
	if slices.Contains(p.both, x.Name) {
		in.Now = t.shown(p.members, x.Name, now)
	}
	switch x.Kind {
	case tenancy.KindFlag:
		in.Boxes = []web.Box{{Value: "true", Text: t.Say("yes"), On: in.Value == "true"}, {
			Value: "false", Text: t.Say("no"), On: in.Value == "false",
		}}
	case tenancy.KindChoice:
		for _, value := range x.Choices {
			in.Boxes = append(in.Boxes, web.Box{Value: value, Text: t.value(x.Name, value), On: in.Value == value})
		}
	case tenancy.KindPeople, tenancy.KindGroups:
		in.Of = t.approvers(x, p)
	case tenancy.KindRows:
		in.Rows = t.rowsOf(p, x.Name, x.Max)
	case tenancy.KindWhole:
		in.Bound = fmt.Sprintf("%s – %s", web.Count(int64(x.Min)), web.Count(int64(x.Max)))
	}
	in.Ruled = p.now.RulesRev > 0 && (x.Name == "process_approval_required" || strings.HasPrefix(x.Name, "approvers."))
	switch {
	case x.Name == "max_cost_day_usd" && p.now.FurtherDay > 0:
		in.Bound = t.Say("further_day", "usd", p.now.FurtherDay)
	case x.Name == "prices" && p.now.FurtherDay > 0:
		in.Bound = t.Say("further_prices")
	case x.Limit && in.Bound == "":
		in.Bound = t.Say("unlimited")
	case x.Limit:
		in.Bound += " · " + t.Say("unlimited")
	}
	return in
}

func (t settingsTexts) choosing(m *people.Members, groups bool) web.Choosing {
	return web.Choosing{Members: m, Groups: groups, Box: func(id string, on bool) web.Box { return t.boxOf(m, id, on) }}
}

// approvers is the chooser of approvers; it searches if the form does.
func (t settingsTexts) approvers(x tenancy.Setting, p settingsPage) *web.Chooser {
	query := p.form.Get("find." + x.Name)
	of, ids := t.choosing(p.members, x.Kind == tenancy.KindGroups), web.Ticked(p.form[x.Name])
	c := of.Choose(x.Name, ids, map[bool]string{true: query}[searches(p.form)])
	c.Query = query
	return &c
}

// boxOf returns the checkbox of a current or possible approver, with the reason if they can't be one.
func (t settingsTexts) boxOf(m *people.Members, id string, on bool) web.Box {
	b := web.Box{Value: id, Text: nameOf(m, id), Code: id, On: on}
	if m == nil {
		return b
	}
	u, isUser := m.Person(id)
	g, isGroup := m.Group(id)
	var rule tenancy.Rule
	switch {
	case isUser:
		rule = m.Rule(u)
	case isGroup:
		b.Text = fmt.Sprintf("%s (@%s, %s)", g.Name, g.Handle, t.Say("members", "n", g.Count))
		if g.Disabled {
			rule = people.RuleNoGroup
		}
	case !m.More || strings.HasPrefix(id, "S"):
		b.Note = t.Say("unlisted")
	}
	if rule != "" {
		b.Note, b.Off = t.rule(rule), !on
	}
	return b
}

func (t settingsTexts) shown(m *people.Members, name string, form url.Values) string {
	if _, rows := rowsLists[name]; rows {
		return cmp.Or(rowsShown(name, form), t.Say("nothing"))
	}
	var all []string
	for _, value := range form[name] {
		switch {
		case strings.Contains(name, "approvers.u"):
			value = nameOf(m, value)
		case value == "true":
			value = t.Say("yes")
		case value == "false":
			value = t.Say("no")
		}
		all = append(all, t.value(name, value))
	}
	if len(all) == 0 {
		return t.Say("nothing")
	}
	return strings.Join(all, ", ")
}

type settingsEntry struct {
	At      time.Time
	Who     string
	Changes []change
}

type change struct{ Label, Was, Is string }

// latest is how many changes of settings the page shows.
const latest = 10

func (c *Pages) settingsLog(ctx context.Context, v *web.Viewer, m *people.Members) ([]settingsEntry, error) {
	page, err := c.Store.Audit(ctx, v.Tenant, store.AuditFilter{Action: tenancy.AuditSettingsUpdated}, "", latest)
	if err != nil {
		return nil, fmt.Errorf("read who changed settings: %w", err)
	}
	t := settingsTexts{v.Texts("settings")}
	var out []settingsEntry
	for _, e := range page.Items {
		out = append(out, settingsEntry{At: e.Timestamp, Who: nameOf(m, e.ActorID),
			Changes: t.differences(m, tenancy.ReadDifferences(e.Details))})
	}
	return out, nil
}

func (t settingsTexts) differences(m *people.Members, diff []tenancy.Difference) (all []change) {
	for _, d := range diff {
		if x, ok := tenancy.SettingNamed(d.Field); !ok || x.OnPage() {
			all = append(all, change{t.label(d.Field), t.plain(m, d.Field, d.Was), t.plain(m, d.Field, d.Is)})
		}
	}
	return all
}

func (t settingsTexts) plain(m *people.Members, field string, is aggregate.JSON) string {
	var list []string
	var text string
	var of tenancy.Settings
	form := url.Values{}
	_, rows := rowsLists[field]
	switch {
	case rows && json.Unmarshal([]byte(`{"`+field+`":`+string(is)+`}`), &of) == nil:
		form = formOf(of)
	case json.Unmarshal([]byte(is), &list) == nil:
		form[field] = list
	case json.Unmarshal([]byte(is), &text) == nil:
		form.Set(field, text)
	default:
		form.Set(field, string(is))
	}
	if field == "admins" {
		for i, id := range form[field] {
			form[field][i] = nameOf(m, id)
		}
	}
	return t.shown(m, field, form)
}

// lastModel returns the model that the workspace's newest request used, and when. Only the usage has it for certain: a
// deployment may override the model of the settings, and the pages don't see that parameter.
func (c *Pages) lastModel(ctx context.Context, tenant string) (aggregate.Use, error) {
	newest, err := c.Store.Tasks(ctx, tenant, task.Filter{}, "", 1)
	if err != nil || len(newest.Items) == 0 {
		return aggregate.Use{}, err
	}
	a, err := c.Store.Load(ctx, task.RefOf(tenant, newest.Items[0].ID))
	if err != nil {
		return aggregate.Use{}, err
	}
	var last aggregate.Use
	for _, u := range a.Uses {
		if u.Model != "" && u.CreatedAt.After(last.CreatedAt) {
			last = *u
		}
	}
	return last, nil
}

// sayModel adds to the model's setting which model was used last. It adds nothing if that can't be read.
func (c *Pages) sayModel(ctx context.Context, v *web.Viewer, d *settingsData) {
	last, err := c.lastModel(ctx, v.Tenant)
	if err != nil {
		slog.WarnContext(ctx, "which model was used is not shown", "err", err)
		return
	}
	t := settingsTexts{v.Texts("settings")}
	for i := range d.Sections {
		for j := range d.Sections[i].Inputs {
			if in := &d.Sections[i].Inputs[j]; in.Name == "model" {
				in.Bound = t.modelUsed(last.Provider, last.Model, last.CreatedAt)
			}
		}
	}
}

func (t settingsTexts) modelUsed(provider, model string, at time.Time) string {
	if model == "" {
		return t.Say("model_unused")
	}
	name := legible.OneLine(model)
	if provider == aggregate.Demo {
		name = t.Say("model_demo")
	}
	return t.Say("model_used", "model", name, "when", web.Minute(at))
}

type settingsTexts struct{ web.Texts }

func (t settingsTexts) rule(r tenancy.Rule, values ...any) string {
	return t.In("rules", r, append(values, "commands", agent.OpenCommands())...)
}

func (t settingsTexts) problem(p tenancy.Problem) string {
	var words []string
	for _, w := range p.Words {
		words = append(words, t.value(p.Field, w))
	}
	return cmp.Or(
		t.rule(p.Rule, "min", web.Count(int64(p.Min)), "max", web.Count(int64(p.Max)), "words", strings.Join(words, " / ")),
		string(p.Rule),
	)
}

// label returns a field's readable name; a field in a list has its number appended, and its column if it has one.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Say("client"), provider)
	}
	base, at, _ := strings.Cut(field, "[")
	x, ok := tenancy.SettingNamed(base)
	switch {
	case field == "admins":
		return t.Say("admins")
	case !ok || !x.OnPage():
		return field
	}
	label := x.Says.In(t.Locale()).Label
	var n int
	if _, err := fmt.Sscanf(at, "%d]", &n); err == nil {
		label = fmt.Sprintf("%s (%d)", label, n+1)
		if _, column, ok := strings.Cut(at, "]."); ok {
			label += ": " + cmp.Or(t.In("columns", base+"."+column), column)
		}
	}
	return label
}

// value returns the label of one of a fixed set of values, or else the value itself.
func (t settingsTexts) value(field, is string) string {
	x, _ := tenancy.SettingNamed(field)
	if i := slices.Index(x.Choices, is); i >= 0 {
		return x.Says.In(t.Locale()).Choices[i]
	}
	return is
}
