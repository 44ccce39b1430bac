package rules

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// typed reads a rule's form. A number that can't be read becomes one that is refused.
func typed(form url.Values) (is rules.Rule) {
	is.ID, is.Name, is.When = form.Get("id"), strings.TrimSpace(form.Get("name")), typedConditions(form)
	switch form.Get("outcome") {
	case "route":
		is.Route, is.Numbered = typedRoute(form), ticked(form, "numbered")
	case "refuse":
		is.Refuse = strings.TrimSpace(strings.ReplaceAll(form.Get("refuse"), "\r\n", "\n"))
	}
	return is
}

// ticked reports whether a box is ticked.
func ticked(form url.Values, name string) bool { return len(web.Ticked(form[name])) > 0 }

func typedConditions(form url.Values) (is rules.Conditions) {
	for name := range strings.FieldsSeq(form.Get("kinds")) {
		is.Kinds = append(is.Kinds, rules.Kind(name))
	}
	if x := (rules.Places{Channels: web.Ticked(form["channels"]), Direct: ticked(form, "direct")}); len(x.Channels) > 0 ||
		x.Direct {
		is.Places = &x
	}
	if x := (rules.Requester{People: web.Ticked(form["people"]), Departments: web.Ticked(form["departments"]),
		Groups: web.Ticked(form["groups"])}); len(x.People)+len(x.Departments)+len(x.Groups) > 0 {
		is.Requester = &x
	}
	for i := range rules.MaxPointers + 1 { // one more than may be, to say that it is too many
		at := labelField(i)
		l := rules.Labelled{Name: strings.TrimSpace(form.Get(at + "name")), List: web.Lines(form.Get(at + "list"))}
		if l.Name != "" || len(l.List) > 0 {
			is.Labels = append(is.Labels, l)
		}
	}
	if use := rules.Use(form.Get("use")); use != "" {
		is.Tools = &rules.Tools{Use: use}
		for _, value := range web.Ticked(form["tools"]) {
			if use != rules.UseWriting {
				is.Tools.List = append(is.Tools.List, toolOf(value))
			}
		}
	}
	amount := rules.Between{AtLeast: amountTyped(form.Get("low")), Below: amountTyped(form.Get("high"))}
	if amount.Bounded() {
		amount.Currency = currencyTyped(form.Get("currency"))
		is.Amount = &amount
	}
	return is
}

// What a rule is for, as the form names it.
const (
	steps   = string(rules.KindSteps)
	outside = string(rules.KindCall)
)

// forKinds are the choices of what a rule is for.
var forKinds = []string{"", steps, outside}

// kindsValue names the kinds that a rule takes; none of them is every kind.
func kindsValue(kinds []rules.Kind) string {
	var names []string
	for _, k := range slices.Sorted(slices.Values(kinds)) {
		names = slices.Insert(names, 0, string(k)) // steps first
	}
	return strings.Join(names, " ")
}

// currencyTyped reads a currency; none is yen.
func currencyTyped(text string) string {
	return cmp.Or(strings.ToUpper(strings.TrimSpace(text)), yen)
}

func typedRoute(form url.Values) *rules.Policy {
	var all []source
	for i := range rules.MaxStages*rules.MaxAny + 1 { // to say that it is too many
		if at := stageField(i); form.Has(at + "was") {
			all = append(all, source{typedStage(form, at), form.Get(at+"join") != ""})
		}
	}
	is := &rules.Policy{Stages: staged(all), Tells: form.Get("tells")}
	return is
}

// stageField begins the names of a source's inputs, and labelField those of a condition on a kind.
func stageField(i int) string { return fmt.Sprintf("stages.%d.", i) }
func labelField(i int) string { return fmt.Sprintf("labels.%d.", i) }

func typedStage(form url.Values, at string) rules.Stage {
	field := func(name string) string { return form.Get(at + name) }
	is := rules.Stage{Name: strings.TrimSpace(field("name")), Need: wholeTyped(field("need")),
		Who: rules.Who{Kind: rules.WhoKind(field("kind"))}}
	switch who := &is.Who; who.Kind {
	case rules.WhoChannel:
		is.Need = 1
	case rules.WhoPeople:
		who.People = web.Ticked(form[at+"people"])
	case rules.WhoGroup:
		who.Group = strings.Join(web.Ticked(form[at+"group"]), " ")
	case rules.WhoManager:
		who.Level, is.Need = wholeTyped(field("level")), 1
	case rules.WhoPosition:
		for _, value := range web.Ticked(form[at+"position"]) {
			*who = postOf(value)
		}
	}
	return is
}

// source is a way in which a stage finds people, as the form has it: a stage of its own, or joined to the one before
// it, of which any is asked.
type source struct {
	rules.Stage
	joined bool
}

// staged returns the stages of sources.
func staged(all []source) []rules.Stage {
	stages := []rules.Stage{}
	for i, s := range all {
		if i == 0 || !s.joined {
			stages = append(stages, s.Stage)
			continue
		}
		to := &stages[len(stages)-1].Who
		*to = rules.Who{Kind: rules.WhoAny, Any: append(slices.Clone(to.Each()), s.Who)}
	}
	return stages
}

// sourcesOf returns the sources of a route as the form has them.
func sourcesOf(p *rules.Policy) (all []source) {
	for _, s := range p.Stages {
		for i, who := range s.Who.Each() {
			s.Who = who
			all = append(all, source{s, i > 0})
		}
	}
	return all
}

// wholeTyped reads a number, nothing as 0, and whatever is no number as -1.
func wholeTyped(text string) int {
	text = web.Digits(strings.TrimSpace(text))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// wholeShown is the text that wholeTyped reads as this number.
func wholeShown(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// arranged moves or removes an entry of a list: up, down or delete and its number.
func arranged[T any](list []T, act string, i int) []T {
	list = slices.Clone(list)
	switch {
	case i < 0 || i >= len(list):
	case act == "up" && i > 0:
		list[i-1], list[i] = list[i], list[i-1]
	case act == "down" && i+1 < len(list):
		list[i], list[i+1] = list[i+1], list[i]
	case act == "delete":
		list = slices.Delete(list, i, i+1)
	}
	return list
}

type knownTool struct {
	rules.Known
	Title   string
	Allowed bool // now; Ringi's own tools are known even if they are off
	Alone   bool // no request calls another tool beside it
	Labels  []rules.Label
	// Free: its calls move no money, as rules see them whatever the arguments are.
	Free bool
}

// knownTools returns Ringi's own tools and those of MCP servers that are on.
func (c *Pages) knownTools(ctx context.Context, v *web.Viewer) (all []knownTool, err error) {
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.ToolPermissions(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for _, s := range tools.Planned().All() {
		own := tenancy.ToolPermission{ToolName: s.Name, Allowed: true}
		if i := slices.IndexFunc(rows, func(p tenancy.ToolPermission) bool { return p.ToolName == s.Name }); i >= 0 {
			own = rows[i]
		}
		if s.Name == catalog.Decide { // its mark is made from the form
			own.Mark = (&task.Matter{}).Steps(v.Locale, s.Version())[0].Mark
		}
		all = append(all, knownAs(own, rules.Tool{Name: s.Name}, s.Access, s.Title(v.Locale), own.Allowed))
	}
	for _, p := range rows {
		if s, on := tool.Pinned(p, settings.MCPServers); on {
			all = append(all, knownAs(p, p.Tool(), s.Access, titled(p), true))
		}
	}
	return all, nil
}

// titled returns what a server calls its tool, and the tool's own name: any server may choose any title.
func titled(p tenancy.ToolPermission) string {
	if p.Pin.Title == "" {
		return p.ToolName
	}
	return p.Pin.Title + " (" + p.ToolName + ")"
}

func knownAs(p tenancy.ToolPermission, t rules.Tool, access aggregate.Access, title string, allowed bool) knownTool {
	var labels []rules.Label
	if m := p.Marked(""); m != nil {
		labels = m.LabelledBy
	}
	version := "1" // of one of Ringi's own tools without a mark any will do
	if p.Mark != nil {
		version = p.Mark.Version
	}
	free := p.ToolName != catalog.Decide && p.Call(version, access, "{}", p.Mark).Amount == rules.Nothing()
	return knownTool{rules.Known{Tool: t, Access: access}, title, allowed, t == rules.Tool{Name: catalog.Decide}, labels,
		free}
}

// knownOf returns the tools as rules need them.
func knownOf(all []knownTool) []rules.Known {
	return web.Each(all, func(x knownTool) rules.Known { return x.Known })
}

// toolValue is a tool as the value of an input; toolOf reads it.
func toolValue(t rules.Tool) string { return t.Address + " " + t.Name }

func toolOf(value string) rules.Tool {
	address, name, _ := strings.Cut(value, " ")
	return rules.Tool{Address: address, Name: name}
}

func find(all []knownTool, t rules.Tool) (knownTool, bool) {
	i := slices.IndexFunc(all, func(x knownTool) bool { return x.Tool.Same(t) })
	if i < 0 {
		return knownTool{}, false
	}
	return all[i], true
}

func (k knownTool) writes() bool { return k.Access != aggregate.Read }
