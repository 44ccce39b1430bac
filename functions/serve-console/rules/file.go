package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// file leaves out the revision, which says nothing in another workspace.
var file = web.YAMLForm{Own: func(name string) bool { return name == "rev" }}

const mostKept = 10

// export sends the rules, or an earlier revision of them, as a YAML file; a comment after each id has the name.
func (a *asked) export() error {
	ctx, tenant := a.r.Context(), a.v.Tenant
	x, rev, err := a.Store.Rules(ctx, tenant)
	if asks := a.r.URL.Query().Get("rev"); asks != "" && err == nil {
		if rev, err = strconv.Atoi(asks); err != nil || rev < 1 {
			return web.ErrNoPage
		}
		var old tenancy.RulesKept
		if old, err = a.Store.RulesOf(ctx, tenant, rev); errors.Is(err, aggregate.ErrNotFound) {
			return web.ErrNoPage
		}
		x = old.Rules
	}
	if err != nil {
		return err
	}
	if x == nil {
		return web.ErrNoPage
	}
	owner, err := a.Store.Tenant(ctx, tenant)
	if err != nil {
		return err
	}
	text, err := file.Write(*x, a.Say("about", "workspace", owner.Name, "rev", rev), func(id string) string {
		return legible.Visible(cmp.Or(a.names[id], web.ChannelName(a.channels, id)))
	})
	if err != nil {
		return err
	}
	return web.Attach(a.w, web.KindYAML, fmt.Sprintf("ringi-rules-%d.yaml", rev), text)
}

type importData struct {
	Text string
	web.Faults
}

// read makes a draft of a file, to be looked at before it is saved. A rule without an id gets one.
func (a *asked) read() error {
	text, err := web.YAML(a.r)
	if err != nil {
		return err
	}
	now, err := a.saved()
	if err != nil {
		return err
	}
	x := blank()
	a.file = true
	lines, faults := file.Read(text, x)
	for i := range x.Rules {
		if x.Rules[i].ID == "" {
			x.Rules[i].ID = aggregate.NewID()
		}
	}
	var all []web.Fault
	for _, f := range faults {
		all = append(all, a.fault(f.Line, legible.OneLine(legible.First(f.Field, 200)),
			a.Problem(f.Problem, nil)))
	}
	if len(faults) == 0 {
		for _, p := range x.Problems(knownOf(a.tools)) {
			one := a.problems(x, aggregate.Problems{p})[0]
			all = append(all, a.fault(lines.Line(p.Field), one.Label, one.Text))
		}
	}
	if len(all) > 0 {
		d := importData{string(text), web.FaultsOf(all)}
		return a.show("rules/import", a.Say("import_title"), d, http.StatusUnprocessableEntity)
	}
	a.draft = draft{Rev: now.Rev, Rules: x}
	return a.list(listState{})
}

func (a *asked) fault(line int, label, text string) web.Fault {
	f := web.Fault{Label: label, Text: text}
	if line > 0 {
		f.Line = a.Say("line", "n", line)
	}
	return f
}

// draft is rules that somebody writes. It travels in the page's form: nothing is kept until all of it is saved.
type draft struct {
	Rev   int          `json:"rev"`   // revision of the saved rules that it began from
	Rules *rules.Rules `json:"rules"` // nil: none
}

// mostDraft bounds a draft that is unpacked: rules that can be saved, and as much again for those that can't yet.
const mostDraft = 2 * rules.MaxBytes

// packed returns a value for a hidden field. A hundred rules as plain text would be most of a page.
func packed(d draft) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("pack a draft: %v", err)) // it holds only strings, numbers, booleans and lists of these
	}
	return web.Packed(text)
}

// draftOf reads a draft that packed made. It returns an aggregate.Problem for one that no page of Ringi's has made.
func draftOf(text string) (d draft, err error) {
	plain, err := web.Unpacked(text, mostDraft)
	if err != nil || len(plain) > mostDraft || json.Unmarshal(plain, &d) != nil {
		return draft{}, aggregate.Problem{Field: "draft", Code: "must be as the page has it"}
	}
	if d.Rules != nil && len(d.Rules.Rules) > 2*rules.MaxRules {
		err = aggregate.Problem{Field: "draft", Code: fmt.Sprintf("must have at most %d rules", 2*rules.MaxRules)}
	}
	return d, err
}

// same reports whether two values are written alike.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// blank returns rules without a rule: what only reads is for the channel, what writes outside is refused.
func blank() *rules.Rules {
	return &rules.Rules{Form: rules.Form, Rules: []rules.Rule{}}
}
