package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/people"
	"ringi/shared/words/legible"
)

type settingsData struct {
	Path     string
	Rev      int
	Unchosen bool // nobody has decided on self-approval
	Conflict bool
	NoSlack  bool
	Unasked  string
	Cut      bool
	Note     string
	Contest  *contestNote
	Problems []web.Fault
	Groups   []settingsGroup
}

// settingsGroup is a part of a section; the first one may have no title.
type settingsGroup struct {
	Title  string
	Inputs []input
	Folded []input
}

type input struct {
	tenancy.Words
	Name, ID, Value string
	Kind            tenancy.Kind
	Choices         []web.Choice
	Of              *web.Chooser // of people or groups
	Lines           string       // of a list of one column: its input, in which each line is a row
	Rows            []settingRow
	Units           []web.Choice // hours or days
	Problems        []string
	Now             string // the saved value, if the input differs
	Bound           string
	Ruled           bool // rules decide it
	Changed         bool // it isn't what is saved
}

func (t settingsTexts) sheetOf(p settingsPage) settingsData {
	now := formOf(p.now)
	d := settingsData{Path: sectionPath(p.Key), Rev: p.now.Rev, Conflict: p.conflict,
		Unasked: p.unasked, Unchosen: !p.now.SelfApprovalChosen && p.Key == "approval", NoSlack: p.members == nil}
	d.Cut = p.members != nil && p.members.More
	for _, wrong := range p.problems {
		base, _, _ := strings.Cut(wrong.Field, "[")
		label := t.label(wrong.Field)
		if id := idAt(p.form, wrong.Field); id != "" {
			label += ": " + nameOf(p.members, id)
		}
		d.Problems = append(d.Problems, web.Fault{At: placeOf(base), Label: label, Text: t.problem(wrong)})
	}
	for _, x := range p.Settings {
		title := t.In("groups", x.Name)
		if title != "" || len(d.Groups) == 0 {
			d.Groups = append(d.Groups, settingsGroup{Title: title})
		}
		group := &d.Groups[len(d.Groups)-1]
		in := t.inputOf(p, x, now)
		if folded(p, x, in) {
			group.Folded = append(group.Folded, in)
		} else {
			group.Inputs = append(group.Inputs, in)
		}
	}
	return d
}

// seldom are settings that most workspaces leave as they are.
var seldom = []string{"approvers.usergroups", "fiscal_year_month", "max_versions"}

// folded reports whether an input stands in the fold of its group: it is seldom set, isn't now, and nobody is at it.
func folded(p settingsPage, x tenancy.Setting, in input) bool {
	return slices.Contains(seldom, x.Name) && !in.Changed && len(in.Problems) == 0 && in.Now == "" &&
		(in.Of == nil || in.Of.Query == "") && !differ(x, p.form, formOf(tenancy.DefaultSettings()))
}

// differ reports whether the inputs of a setting have other values in two forms.
func differ(x tenancy.Setting, a, b url.Values) bool {
	return slices.ContainsFunc(inputsOf(x), func(name string) bool { return !alike(a[name], b[name]) })
}

// placeOf returns the address of a setting's input.
func placeOf(name string) string {
	for _, s := range tenancy.Sections {
		if slices.ContainsFunc(s.Settings, func(x tenancy.Setting) bool { return x.Name == name }) {
			return sectionPath(s.Key) + "#" + inputID(name)
		}
	}
	return "#" + inputID(name)
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
	if in.Changed = differ(x, p.form, now); in.Changed && p.conflict {
		in.Now = cmp.Or(strings.Join(t.shown(p.members, x.Name, now), ", "), t.Say("nothing"))
	}
	switch x.Kind {
	case tenancy.KindChoice:
		for _, value := range x.Choices {
			in.Choices = append(in.Choices, web.Choice{Value: value, Text: t.value(x.Name, value), Chosen: in.Value == value})
		}
	case tenancy.KindPeople, tenancy.KindGroups:
		in.Of = t.approvers(x, p)
	case tenancy.KindRows:
		if in.Lines = linesOf(x.Name); in.Lines == "" {
			in.Rows = t.rowsOf(p, x.Name, x.Max)
			break
		}
		lines := web.Lines(strings.Join(p.form[in.Lines], "\n"))
		in.Value = strings.Join(lines, "\n")
		for i, line := range lines {
			for _, wrong := range p.problems {
				if strings.HasPrefix(wrong.Field, fmt.Sprintf("%s[%d].", x.Name, i)) {
					in.Problems = append(in.Problems, line+": "+t.problem(wrong))
				}
			}
		}
	case tenancy.KindWhole:
		in.Bound = t.bound(x, in.Unit)
	}
	if hourly(x.Name) {
		of := p.form.Get(x.Name + unit)
		in.Units = []web.Choice{{Value: "1", Text: in.Unit, Chosen: of == "1"},
			{Value: "24", Text: t.Say("unit_days"), Chosen: of == "24"}}
	}
	in.Ruled = p.now.RulesRev > 0 && x.Name == "process_approval_required"
	switch {
	case x.Name == "model":
		in.Bound = p.used
	case x.Limit:
		in.Bound = strings.TrimSpace(in.Bound + " " + t.Say("unlimited"))
	}
	return in
}

func (t settingsTexts) choosing(m *people.Members, groups bool) web.Choosing {
	names := map[string]string{}
	if m != nil {
		for _, u := range m.People {
			names[u.ID] = legible.OneLine(u.Name)
		}
	}
	web.Distinct(names)
	return web.Choosing{Members: m, Groups: groups, Box: func(id string, on bool) web.Box {
		b := t.boxOf(m, id, on)
		b.Text = cmp.Or(names[id], b.Text)
		return b
	}}
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
	b := web.Box{Value: id, Text: nameOf(m, id), On: on}
	if m == nil {
		return b
	}
	u, isUser := m.Person(id)
	g, isGroup := m.Group(id)
	var rule string
	switch {
	case isUser:
		rule = m.Rule(u)
	case isGroup:
		b.Text = fmt.Sprintf("%s (@%s, %s)", g.Name, g.Handle, t.Say("members", "n", g.Count))
		if g.Disabled {
			rule = "no_group"
		}
	case !m.More || strings.HasPrefix(id, "S"):
		b.Note = t.Say("unlisted")
	}
	if rule != "" {
		b.Note, b.Off = t.problem(aggregate.Problem{Code: rule}), !on
	}
	return b
}

// shown returns the values of a setting in a form as people read them.
func (t settingsTexts) shown(m *people.Members, name string, form url.Values) (all []string) {
	x, ok := tenancy.SettingNamed(name)
	_, rows := rowsLists[name]
	switch {
	case rows:
		return t.rowsShown(name, form)
	case x.Limit && form.Get(name) == "0":
		return []string{t.Say("no_limit")}
	case hourly(name):
		n, err := hoursOf(form, name)
		if err == nil {
			return []string{t.hours(n)}
		}
	}
	for _, value := range filled(form[name]) {
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case x.Kind == tenancy.KindWhole && err == nil:
			value = web.Count(n)
		case strings.Contains(name, "approvers.u"), name == "admins":
			value = apart(m, value)
		case value == "true":
			value = t.Say("yes")
		case value == "false":
			value = t.Say("no")
		}
		all = append(all, t.value(name, value))
	}
	if ok && len(all) == 1 {
		if unit := x.Says.In(t.Locale()).Unit; unit != "" {
			all[0] += " " + unit
		}
	}
	return all
}

// changes are what saving changes, and from when on it counts.
type changes struct {
	All    []change
	AtOnce string // what counts at once, also for what waits
	Later  string // what counts for what begins then
}

// change is a setting with its values before and after.
type change struct {
	Label   string
	Was, Is []changed
}

// changed is a value, and whether it is on one side only.
type changed struct {
	Text  string
	Alone bool
}

func (t settingsTexts) changes(m *people.Members, diff []tenancy.Difference) (out changes) {
	var atOnce, later []string
	for _, d := range diff {
		x, ok := tenancy.SettingNamed(d.Field)
		if ok && !x.OnPage() {
			continue
		}
		was, is := t.plain(m, d.Field, d.Was), t.plain(m, d.Field, d.Is)
		out.All = append(out.All, change{t.label(d.Field), t.beside(was, is), t.beside(is, was)})
		if d.Field == "allow_self_approval" || strings.HasPrefix(d.Field, "approvers.") {
			atOnce = append(atOnce, d.Field)
		} else {
			later = append(later, d.Field)
		}
	}
	out.AtOnce = web.Joined(atOnce, t.label, t.Say("and"))
	out.Later = web.Joined(later, t.label, t.Say("and"))
	return out
}

// beside returns values, each with whether it is not among the others.
func (t settingsTexts) beside(values, others []string) (all []changed) {
	for _, v := range values {
		all = append(all, changed{v, !slices.Contains(others, v)})
	}
	if len(values) == 0 {
		all = append(all, changed{Text: t.Say("nothing")})
	}
	return all
}

func (t settingsTexts) plain(m *people.Members, field string, is aggregate.JSON) []string {
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
	return t.shown(m, field, form)
}

type settingsTexts struct{ web.Texts }

func (t settingsTexts) problem(p aggregate.Problem) string {
	return t.Problem(p, func(w string) string { return t.value(p.Field, w) })
}

// label returns a field's readable name; a field in a list has its number appended, and its column if it has one.
func (t settingsTexts) label(field string) string {
	if provider, ok := strings.CutPrefix(field, "clients."); ok {
		return fmt.Sprintf("%s (%s)", t.Say("client"), auditlog.Vendor(provider))
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
