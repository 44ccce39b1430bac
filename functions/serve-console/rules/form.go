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
	if x := (rules.Requester{Departments: web.Ticked(form["departments"]), Groups: web.Ticked(form["groups"]),
		Positions: web.Lines(form.Get("positions"))}); len(x.Departments)+len(x.Groups)+len(x.Positions) > 0 {
		is.Requester = &x
	}
	for i := range rules.MaxPointers + 1 { // one more than may be, to say that it is too many
		at := labelField(i)
		l := rules.Labelled{Name: strings.TrimSpace(form.Get(at + "name")), Is: rules.Use(form.Get(at + "is")),
			List: web.Lines(form.Get(at + "list"))}
		l.AtLeast, l.Above, l.AtMost, l.Below = typedBounds(form, at)
		if l.Name != "" || len(l.List) > 0 || l.Bounded() {
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
	if to := rules.Go(form.Get("to")); to != "" {
		is.Destinations = &rules.Destinations{Go: to, List: web.Lines(form.Get("destinations"))}
	}
	var amount rules.Between
	amount.AtLeast, amount.Above, amount.AtMost, amount.Below = typedBounds(form, "")
	if amount.Bounded() {
		amount.Currency = currencyTyped(form.Get("currency"))
		is.Amount = &amount
	}
	return is
}

// What a rule is for, as the form names it.
const (
	steps   = string(rules.KindSteps)
	actions = string(rules.KindAction)
	outside = string(rules.KindCall)
	both    = steps + " " + actions
)

// forKinds are the choices of what a rule is for.
var forKinds = []string{steps, actions, outside, both, steps + " " + outside, outside + " " + actions,
	steps + " " + outside + " " + actions}

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
	is := &rules.Policy{Hands: wholeTyped(form.Get("hands"))}
	var all []source
	most := rules.MaxStages * ((rules.MaxBeside+1)*rules.MaxAny*(rules.MaxInstead+1) + rules.MaxRaises)
	for i := range most + 1 { // to say that it is too many
		if at := stageField(i); form.Has(at + "was") {
			all = append(all, source{typedStage(form, at), form.Get(at + "join")})
		}
	}
	is.Stages = staged(all)
	readers := rules.Readers{People: web.Ticked(form["readers"]), Groups: web.Ticked(form["reader_groups"])}
	for _, value := range web.Ticked(form["reader_posts"]) {
		readers.Posts = append(readers.Posts, postOf(value))
	}
	for i := range rules.MaxPointers + 1 {
		at := readerField(i)
		w := rules.Who{Kind: rules.WhoPosition, Positions: web.Lines(form.Get(at + "positions")),
			Label: strings.TrimSpace(form.Get(at + "label")), None: strings.TrimSpace(form.Get(at + "none"))}
		if w.Label+w.None != "" || len(w.Positions) > 0 {
			readers.Posts = append(readers.Posts, w)
		}
	}
	if len(readers.People)+len(readers.Groups)+len(readers.Posts) > 0 {
		is.Readers = &readers
	}
	return is
}

// stageField begins the names of a source's inputs, labelField those of a condition on a kind, and readerField those of
// readers by one.
func stageField(i int) string  { return fmt.Sprintf("stages.%d.", i) }
func labelField(i int) string  { return fmt.Sprintf("labels.%d.", i) }
func readerField(i int) string { return fmt.Sprintf("reader_labels.%d.", i) }

func typedStage(form url.Values, at string) rules.Stage {
	field := func(name string) string { return form.Get(at + name) }
	is := rules.Stage{Name: strings.TrimSpace(field("name")), Need: wholeTyped(field("need")),
		Who: rules.Who{Kind: rules.WhoKind(field("kind"))}, Others: ticked(form, at+"others"),
		Empty: rules.Empty{Vacant: rules.Then(field("vacant")), Own: rules.Then(field("own")),
			Twice: rules.Then(field("twice"))},
		NoStandIns: ticked(form, at+"alone"), Share: rules.Share(field("share"))}
	if !form.Has(at + "vacant") { // it was joined to the one before it
		is.Empty = newEmpty
	}
	if is.Share != "" { // which stands in the place of a number
		is.Need = 0
	}
	switch who := &is.Who; who.Kind {
	case rules.WhoChannel:
		is = rules.Stage{Name: is.Name, Need: 1, Who: is.Who}
	case rules.WhoPeople:
		who.People = web.Ticked(form[at+"people"])
	case rules.WhoGroup:
		who.Group = strings.Join(web.Ticked(form[at+"group"]), " ")
	case rules.WhoManager:
		who.Level, is.Need, is.Share = wholeTyped(field("level")), 1, ""
	case rules.WhoPosition:
		for _, value := range web.Ticked(form[at+"position"]) {
			*who = postOf(value)
		}
		who.Positions, who.Label = append(who.Positions, web.Lines(field("also"))...), strings.TrimSpace(field("label"))
		who.None = strings.TrimSpace(field("none"))
	}
	return is
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

// typedFloor reads the floor, if the form has it.
func typedFloor(form url.Values, was rules.Floor) rules.Floor {
	if !form.Has("floor.stamps") {
		return was
	}
	is := rules.Floor{Stamps: wholeTyped(form.Get("floor.stamps"))}
	if value := amountTyped(form.Get("floor.hands_from")); value != "" {
		is.HandsFrom = &rules.Money{Value: value, Currency: currencyTyped(form.Get("floor.currency"))}
	}
	return is
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
	Title    string
	Allowed  bool // now; Ringi's own tools are known even if they are off
	Unmarked bool // nobody has marked where its arguments have an amount: that of its calls is always unknown
	Alone    bool // no request calls another tool beside it
	To       bool // it is known where its arguments have destinations
	Labels   []rules.Label
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
			m := task.Matter{Fields: web.Each(settings.MatterFields, func(x tenancy.MatterField) task.MatterValue {
				return task.MatterValue{Name: x.Name, Number: x.Number, Several: x.Several, Value: "0"}
			})}
			own.Mark = m.Steps(v.Locale, s.Version())[0].Mark
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
	m := p.Marked("")
	var labels []rules.Label
	if m != nil {
		labels = m.LabelledBy
	}
	unmarked := m == nil || m.How != rules.HowNothing && len(m.Pointers) == 0
	version := "1" // of one of Ringi's own tools without a mark any will do
	if p.Mark != nil {
		version = p.Mark.Version
	}
	free := p.ToolName != catalog.Decide && p.Call(version, access, "{}", p.Mark).Amount == rules.Nothing()
	return knownTool{rules.Known{Tool: t, Access: access}, title, allowed, unmarked, t == rules.Tool{Name: catalog.Decide},
		m != nil && len(m.Destinations) > 0, labels, free}
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
