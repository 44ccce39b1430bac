package settings

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
)

// markable is a tool that writes, as it may be called now.
type markable struct {
	row            tenancy.ToolPermission
	title, version string
	schema         string
	own            *catalog.File // Ringi's own tool, of which it is known what it does
	back           string        // the page that lists the tool
	knows          []tenancy.Constraint
}

// markable returns a tool that can be marked. It returns ErrNoPage if the tool only reads or is none that is allowed.
func (c *Pages) markable(r *http.Request, v *web.Viewer) (m markable, err error) {
	name := r.PathValue("name")
	if m.row, _, err = c.Store.ToolPermission(r.Context(), v.Tenant, name); err != nil {
		return m, err
	}
	if server, _, foreign := tenancy.ServerTool(name); foreign {
		pin := m.row.Pin
		if pin == nil || !m.row.Allowed || pin.Access != aggregate.Write {
			return m, web.ErrNoPage
		}
		m.title, m.version, m.schema = pin.Title, pin.Version(), string(pin.Input)
		m.back = serverPath(server) + "#" + name
		return m, nil
	}
	tools, err := tool.Builtin()
	if err != nil {
		return m, err
	}
	s, ok := tools.Lookup(name)
	if !ok || s.Access != aggregate.Write || name == catalog.Decide { // its mark is made from the form
		return m, web.ErrNoPage
	}
	m.title, m.version, m.schema, m.knows = s.Title(v.Locale), s.Version(), s.InputSchema, s.Knows()
	if file, known := catalog.Named(name); known {
		m.own = &file
	}
	m.back = "/console/tools#" + name
	return m, nil
}

// role is what an argument is for, or several roles with + between them.
const (
	roleParty = "party" // who is paid or written to
	roleItem  = "item"
	roleWords = "words"
	roleTimes = "times" // a number that is multiplied
	rolePlus  = "plus"  // a number that is added
	roleMoney = "currency"
	roleKind  = "kind" // by whose value rules tell calls apart
)

// roles are those that the form offers. A mark may have others: see typedOf.
var roles = []string{"", roleParty, roleItem, roleTimes, rolePlus, roleMoney, roleKind, roleWords}

// place is where a mark has the arguments of a role: a field of one pointer, or one of several.
type place struct {
	role, field string // field as problems of a mark name it
	one         *string
	many        *[]string
}

// placesOf returns the places of a mark. That of its labels has a copy of their pointers.
func placesOf(m *rules.Mark) []place {
	var kinds []string
	for _, l := range m.LabelledBy {
		kinds = append(kinds, l.Pointer)
	}
	return []place{
		{role: roleParty, field: "party", one: &m.Party}, {role: roleItem, field: "item", one: &m.Item},
		{role: roleTimes, field: "pointers", many: &m.Pointers}, {role: rolePlus, field: "how", many: &m.Pointers},
		{role: roleMoney, field: "currency_at", one: &m.CurrencyAt},
		{role: roleWords, field: "words", one: &m.Words}, {role: roleKind, field: "labelled_by", many: &kinds},
	}
}

// pointers are those in a place.
func (p place) pointers() []string {
	switch {
	case p.many != nil:
		return *p.many
	case *p.one != "":
		return []string{*p.one}
	}
	return nil
}

// hows are how the amount follows from the numbers of a role.
var hows = map[string]rules.How{roleTimes: rules.HowProduct, rolePlus: rules.HowSum}

// typedMark is a mark as a form has it, with arguments to try it on.
type typedMark struct {
	Act, Currency string
	Free          bool // calls never move money
	Rows          []typedRow
	Labels        []typedLabel
	Example       string
}

// typedRow is what is said of one argument.
type typedRow struct{ At, Role string }

// typedLabel is what people call a value of the arguments.
type typedLabel struct{ Value, Label string }

// typedOf returns the form of a mark, with a row for each argument of the schema: first those that have a role. A list
// has one row, whether it is marked as a whole or by its rows.
func typedOf(m *rules.Mark, of markable) typedMark {
	t := typedMark{Currency: "JPY", Example: example(of.schema)}
	if m == nil {
		m = &rules.Mark{}
	}
	t.Act, t.Free, t.Currency = string(m.Act), m.How == rules.HowNothing, cmp.Or(m.Currency, t.Currency)
	places, _ := choices(of.schema)
	at := slices.Concat(mentioned(m), places) // the schema may have changed since
	for i, pointer := range at {
		if slices.ContainsFunc(at[:i], func(have string) bool { return bare(have) == bare(pointer) }) {
			continue
		}
		t.Rows = append(t.Rows, typedRow{pointer, roleIn(m, pointer)})
	}
	first := func(x typedRow) int {
		if i := slices.Index(roles, x.Role); i >= 0 {
			return cmp.Or(i, len(roles))
		}
		return 1
	}
	slices.SortStableFunc(t.Rows, func(a, b typedRow) int { return cmp.Compare(first(a), first(b)) })
	for _, value := range slices.Sorted(maps.Keys(m.Labels)) {
		t.Labels = append(t.Labels, typedLabel{value, m.Labels[value]})
	}
	return t
}

// bare returns the pointer of a list without that of its rows, of which none has a name.
func bare(pointer string) string {
	for strings.HasSuffix(pointer, "/"+schema.Rows) {
		pointer = strings.TrimSuffix(pointer, "/"+schema.Rows)
	}
	return pointer
}

// mentioned returns the pointers of a mark.
func mentioned(m *rules.Mark) (all []string) {
	for _, p := range placesOf(m) {
		all = append(all, p.pointers()...)
	}
	return all
}

// roleIn returns the role of an argument in a mark.
func roleIn(m *rules.Mark, pointer string) string {
	var all []string
	for _, p := range placesOf(m) {
		is := slices.ContainsFunc(p.pointers(), func(at string) bool { return bare(at) == bare(pointer) })
		if how, number := hows[p.role]; is && (!number || how == m.How) {
			all = append(all, p.role)
		}
	}
	return strings.Join(all, "+")
}

func typedIn(r *http.Request) typedMark {
	f := r.PostForm
	t := typedMark{Act: f.Get("shows"), Currency: strings.ToUpper(strings.TrimSpace(f.Get("currency"))),
		Free: f.Get("free") != "", Example: f.Get("example")}
	nth := func(name string, i int) string {
		if i < len(f[name]) {
			return strings.TrimSpace(f[name][i])
		}
		return ""
	}
	for i := range f["at"][:min(len(f["at"]), 2*maxChoices)] {
		t.Rows = append(t.Rows, typedRow{nth("at", i), nth("role", i)})
	}
	for i := range f["value"][:min(len(f["value"]), 2*rules.MaxNames)] {
		if x := (typedLabel{nth("value", i), nth("label", i)}); x != (typedLabel{}) {
			t.Labels = append(t.Labels, x)
		}
	}
	return t
}

// mark returns what was typed as a mark of a tool's version, nil if nothing was marked, and what no mark can say.
func (t typedMark) mark(m markable) (*rules.Mark, []aggregate.Problem) {
	x := &rules.Mark{Version: m.version, Act: rules.Act(t.Act)}
	places := placesOf(x)
	var wrong []aggregate.Problem
	for _, row := range t.Rows {
		for role := range strings.SplitSeq(row.Role, "+") {
			i := slices.IndexFunc(places, func(p place) bool { return p.role == role })
			if i < 0 {
				continue
			}
			if how, number := hows[role]; number {
				if x.How != rules.HowUnknown && x.How != how {
					wrong = append(wrong, aggregate.Problem{Field: "how", Code: "must be one of both"})
				}
				x.How, x.Currency = how, t.Currency
			}
			if p := places[i]; p.many != nil {
				*p.many = append(*p.many, row.At)
			} else {
				if *p.one != "" {
					wrong = append(wrong, aggregate.Problem{Field: role, Code: "is there twice"})
				}
				*p.one = bare(row.At)
			}
		}
	}
	if x.CurrencyAt != "" {
		x.Currency = ""
	}
	for _, at := range places[len(places)-1].pointers() {
		x.LabelledBy = append(x.LabelledBy, rules.Label{Name: m.kind(at), Pointer: at})
	}
	if t.Free || m.own != nil && x.How == rules.HowUnknown {
		x.How = rules.HowNothing
	}
	for _, label := range t.Labels {
		if x.Labels == nil {
			x.Labels = map[string]string{}
		}
		if x.Labels[label.Value] != "" {
			wrong = append(wrong, aggregate.Problem{Field: "labels", Code: "is there twice"})
		}
		x.Labels[label.Value] = label.Label
	}
	if reflect.DeepEqual(x, &rules.Mark{Version: m.version}) {
		return nil, nil
	}
	return x, slices.Concat(wrong, x.Problems())
}

// kind returns what rules call the label at a pointer: as they do already, else as the schema calls the argument.
func (m markable) kind(at string) string {
	if was := m.row.Mark; was != nil {
		if i := slices.IndexFunc(was.LabelledBy, func(l rules.Label) bool { return l.Pointer == at }); i >= 0 {
			return was.LabelledBy[i].Name
		}
	}
	path, title := rules.Tokens(bare(at)), ""
	places, said := choices(m.schema)
	if i := slices.Index(places, at); i >= 0 && rules.IsName(said[i].Title, rules.MaxNamed) {
		title = said[i].Title
	}
	return cmp.Or(title, path[len(path)-1])
}

func (c *Pages) mark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	typed := typedOf(m.row.Marked(m.version), m)
	if m.own != nil && m.own.Shown.Act == rules.ActMessage {
		typed.Example = web.Indented(v.Texts("tool-mark").Say("example_message"))
	}
	return c.showMark(w, r, v, m, typed, nil, false)
}

// saveMark saves the mark that a form has, or shows how arguments are read with it.
func (c *Pages) saveMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable) error {
	typed := typedIn(r)
	mark, wrong := typed.mark(m)
	if r.PostForm.Get("act") != "save" || len(wrong) > 0 {
		return c.showMark(w, r, v, m, typed, wrong, false)
	}
	if web.RevisionOf(r.PostForm) != m.row.Rev || r.PostForm.Get("version") != m.version {
		return c.showMark(w, r, v, m, typed, nil, true)
	}
	p := m.row
	p.Mark = mark
	_, err := c.Store.SaveToolPermission(r.Context(), p, v.Actor(), c.Now(), m.knows...)
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		return c.showMark(w, r, v, m, typed, nil, true)
	case err != nil:
		return err
	}
	return c.Done(w, r, "/console/tools/marks/"+m.row.ToolName, "saved")
}

func (c *Pages) showMark(w http.ResponseWriter, r *http.Request, v *web.Viewer, m markable, typed typedMark,
	wrong []aggregate.Problem, conflict bool) error {
	t := markTexts{v.Texts("tool-mark")}
	data := t.data(m, typed, wrong)
	data.Came = web.Came{Conflict: conflict, Wrong: len(wrong) > 0}
	d := web.Document{Title: cmp.Or(m.title, m.row.ToolName), Here: "tools", Data: data}
	if r.PostForm.Get("act") == "save" {
		d.Status = data.Status()
	}
	return c.Show(w, r, v, d, "tools/mark")
}
