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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// draft is rules that somebody writes. It travels in the page's form: nothing is kept until all of it is saved.
type draft struct {
	Rev   int // revision of the saved rules that it began from
	Rules []rules.Rule
}

// mostDraft bounds a draft that is unpacked: rules that can be saved, and as much again for those that can't yet.
const mostDraft = 2 * rules.MaxBytes

// packed returns the draft for a hidden field.
func (d draft) packed() string {
	text, _ := json.Marshal(d) // only strings, numbers, booleans and lists of these
	return web.Packed(text)
}

// draftOf reads a draft that packed made. It returns aggregate.Problem for one that no page of Ringi's has made.
func draftOf(text string) (d draft, err error) {
	plain, err := web.Unpacked(text, mostDraft)
	if err != nil || len(plain) > mostDraft || json.Unmarshal(plain, &d) != nil || len(d.Rules) > 2*rules.MaxRules {
		return draft{}, aggregate.Problem{Field: "draft", Code: "must be as the page has it"}
	}
	return d, nil
}

// arranged moves or removes an entry of a list.
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

// typedRule reads a rule's form, and says what it says twice where there is one place. A number that can't be read
// becomes one that is refused.
func typedRule(form url.Values) (is rules.Rule, wrong aggregate.Problems) {
	is.ID, is.Name = form.Get("id"), strings.TrimSpace(form.Get("name"))
	is.Conditions = typedConditions(form)
	is.Numbered, is.Tells = form.Has("numbered"), form.Get("tells")
	is.Refuse = strings.TrimSpace(strings.ReplaceAll(form.Get("refuse"), "\r\n", "\n"))
	for i := range rules.MaxStages + 1 { // one more than may be, to say that it is too many
		at := stageField(i)
		if is.Refuse != "" || !form.Has(at+"name") {
			continue
		}
		s := rules.Stage{Name: strings.TrimSpace(form.Get(at + "name")), Need: wholeTyped(form.Get(at + "need"))}
		for _, value := range web.Ticked(form[at+"who"]) {
			wrong.Unless(asks(&s.Who, value), fmt.Sprintf("stages[%d]", i), "one_each")
		}
		is.Stages = append(is.Stages, s)
	}
	return is, wrong
}

// stageField begins the names of a stage's inputs.
func stageField(i int) string { return fmt.Sprintf("stages.%d.", i) }

func typedConditions(form url.Values) (is rules.Conditions) {
	is.From, is.Below = amountTyped(form.Get("from")), amountTyped(form.Get("below"))
	if is.Bounded() {
		is.Currency = cmp.Or(strings.ToUpper(strings.TrimSpace(form.Get("currency"))), yen)
	}
	kinds := web.Ticked(form["asks"])
	if len(kinds) == 0 {
		kinds = []string{""} // for nothing: it is refused
	}
	if len(kinds) < len(rules.Kinds) {
		is.Asks = web.Each(kinds, func(k string) rules.Kind { return rules.Kind(k) })
	}
	for _, value := range web.Ticked(form["by"]) {
		switch kind, of, _ := strings.Cut(value, ":"); kind {
		case "department":
			is.Departments = append(is.Departments, of)
		case "group":
			is.Groups = append(is.Groups, of)
		default:
			is.People = append(is.People, of)
		}
	}
	is.Channels = web.Ticked(form["channels"])
	if use := form.Get("use"); use == useSome || use == useOnly {
		is.Tools, is.Only = web.Each(web.Ticked(form["tools"]), rules.ToolOf), use == useOnly
	}
	for i, name := range form["label"] {
		if name = tenancy.LabelIn(language.All[0], strings.TrimSpace(name)); name != "" && i < len(form["values"]) {
			if is.Labels == nil {
				is.Labels = map[string][]string{}
			}
			is.Labels[name] = append(is.Labels[name], web.Lines(form["values"][i])...)
		}
	}
	return is
}

// between stands between a department and a position. Neither can have it.
const between = "\t"

// asks adds a source to those of a stage, by its value in the form; false if it has one of the kind already.
func asks(w *rules.Who, value string) bool {
	kind, of, _ := strings.Cut(value, ":")
	was := *w
	switch kind {
	case "superior":
		w.Superior, _ = strconv.Atoi(of)
		return was.Superior == 0
	case "post":
		w.Department, w.Position, _ = strings.Cut(of, between)
		return was.Department+was.Position == ""
	case "group":
		w.Group = of
		return was.Group == ""
	case "channel":
		w.Channel = true
	default:
		w.People = append(w.People, of)
	}
	return true
}

// sourcesOf returns the sources of a stage as the form has them.
func sourcesOf(w rules.Who) (all []string) {
	if w.Superior != 0 {
		all = append(all, "superior:"+strconv.Itoa(w.Superior))
	}
	if w.Department+w.Position != "" {
		all = append(all, "post:"+w.Department+between+w.Position)
	}
	if w.Group != "" {
		all = append(all, "group:"+w.Group)
	}
	if w.Channel {
		all = append(all, "channel:")
	}
	return append(all, prefixed("user:", w.People)...)
}

func prefixed(prefix string, all []string) []string {
	return web.Each(all, func(x string) string { return prefix + x })
}

// wholeTyped reads a number, nothing as 0, and whatever is no number as -1.
func wholeTyped(text string) int {
	if text = web.Digits(strings.TrimSpace(text)); text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// edited is a rule in its form, with its place in the draft: behind all others it is a new one.
type edited struct {
	At   int
	Rule rules.Rule
}

func (a *asked) edit() error {
	sent := a.r.PostForm
	act, place, _ := strings.Cut(sent.Get("act"), ".")
	rule, wrong := typedRule(sent)
	e := edited{wholeTyped(sent.Get("at")), rule}
	i, err := strconv.Atoi(place)
	switch {
	case act == "back":
		return a.list(listState{})
	case act == "keep":
		return a.keep(e, wrong)
	case act == "stage":
		e.Rule.Stages, e.Rule.Refuse = append(e.Rule.Stages, a.newStage(len(e.Rule.Stages))), ""
	case err == nil:
		e.Rule.Stages = arranged(e.Rule.Stages, act, i)
	}
	return a.form(e, a.labelled(wrong))
}

// keep takes the rule into the draft, unless something is wrong with it: then the form says what.
func (a *asked) keep(e edited, wrong aggregate.Problems) error {
	if e.Rule.Name == "" {
		made := a.madeName(&e.Rule)
		e.Rule.Name = made
		for n := 2; slices.ContainsFunc(a.draft.Rules, func(x rules.Rule) bool {
			return x.ID != e.Rule.ID && x.Name == e.Rule.Name
		}); n++ {
			e.Rule.Name = fmt.Sprintf("%s (%d)", made, n)
		}
	}
	all := slices.Clone(a.draft.Rules)
	if e.At < 0 || e.At >= len(all) {
		e.At, all = len(all), append(all, rules.Rule{})
	}
	all[e.At] = e.Rule
	for _, p := range (&rules.Rules{Rules: all}).Problems(web.KnownToRules(a.tools)) {
		if at, field := ruleAt(p.Field); at == e.At || at < 0 {
			wrong = append(wrong, aggregate.Problem{Field: field, Code: p.Code, Args: p.Args})
		}
	}
	if len(wrong) > 0 {
		return a.form(e, a.labelled(wrong))
	}
	a.draft.Rules = all
	return a.list(listState{})
}

// labelled says what is wrong with the form's rule, each thing once, and leads there.
func (a *asked) labelled(wrong aggregate.Problems) (out []web.Fault) {
	for _, p := range wrong {
		f := web.Fault{At: "#" + inputOf(p.Field), Label: a.label(p.Field), Text: a.Problem(p, a.kindNamed)}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// inputOf is the id of the input, or of the group of some, that has a field.
func inputOf(field string) string {
	first, _, _ := strings.Cut(field, ".")
	at := indexed.Get().ReplaceAllString(first, "-$1")
	switch name := indexed.Get().ReplaceAllString(first, ""); name {
	case "stages":
		return at
	case "people", "departments", "groups":
		return "by"
	default:
		return name
	}
}

type ruleData struct {
	Draft, ID string
	At        int
	What      string // it is for
	Further   bool   // it has conditions besides what is used for how much
	Problems  []web.Fault

	Name, Find        string
	Many              bool // too many to choose among: somebody is looked for
	Use               []web.Choice
	Low, High         string
	Currency          string
	Asks              []web.Box
	Tools, By, Places several
	Labels            [][2]string // name and values
	Stages            []stageData
	More              bool // another stage may be added
	Numbered          bool
	Tells             []web.Choice
	Refuse            string
}

// several are selects of one name, of which the last chooses one more.
type several struct {
	ID, Name, Label string
	Selects         [][]web.Choice
}

type stageData struct {
	At, Mark, Name, Need string
	Who                  several
}

// Wrong reports whether something is wrong with what has this id.
func (d ruleData) Wrong(id string) bool {
	return slices.ContainsFunc(d.Problems, func(f web.Fault) bool { return f.At == "#"+id })
}

func (a *asked) form(e edited, wrong []web.Fault) error {
	r := &e.Rule
	d := ruleData{Draft: a.draft.packed(), ID: r.ID, At: e.At, What: a.called(r),
		Problems: wrong, Name: a.givenName(r), Find: a.r.PostForm.Get("find"),
		Low: grouped(r.From), High: grouped(r.Below), Currency: cmp.Or(r.Currency, yen), Numbered: r.Numbered,
		Refuse: r.Refuse, More: len(r.Stages) < rules.MaxStages}
	for _, use := range []string{useWriting, useSome, useOnly} {
		chosen := use == useOf(&r.Conditions) || len(r.Tools) == 0 && use == a.r.PostForm.Get("use")
		d.Use = append(d.Use, web.Choice{Value: use, Text: a.In("uses", use), Chosen: chosen})
	}
	for _, kind := range rules.Kinds {
		d.Asks = append(d.Asks, web.Box{Value: string(kind), Text: a.In("kinds", kind),
			On: len(r.Asks) == 0 || slices.Contains(r.Asks, kind)})
	}
	who, by := a.options(d.Find)
	d.Many = len(a.members.People) > web.MostToChoose || len(who) > mostOptions
	d.Tools = a.several("tools", a.toolOptions(), web.Each(r.Tools, rules.Tool.String), func(value string) string {
		return a.tool(rules.ToolOf(value))
	})
	d.By = a.several("by", by, slices.Concat(prefixed("user:", r.People), prefixed("group:", r.Groups),
		prefixed("department:", r.Departments)), a.source)
	d.Places = a.several("channels", a.channelOptions(), r.Channels, a.channel)
	for _, name := range r.Names() {
		d.Labels = append(d.Labels, [2]string{tenancy.LabelIn(a.Locale(), name), strings.Join(r.Labels[name], "\n")})
	}
	d.Labels = append(d.Labels, [2]string{})
	d.Further = r.Asker() || len(r.Channels)+len(r.Labels) > 0
	for i, s := range r.Stages {
		x := stageData{At: stageField(i), Mark: number(i), Name: explain.StageName(a.Locale(), s.Name),
			Need: a.r.PostForm.Get(stageField(i) + "need")}
		if s.Need >= 0 {
			x.Need = strings.TrimPrefix(strconv.Itoa(s.Need), "0")
		}
		x.Who = a.several(x.At+"who", who, sourcesOf(s.Who), a.source)
		d.Stages = append(d.Stages, x)
	}
	d.Tells = a.toTell(r.Tells)
	title := a.Say("edit_title")
	if e.At >= len(a.draft.Rules) {
		title = a.Say("new_title")
	}
	return a.show("rules-rule", web.Document{Title: title, Form: rulesPath + "/rule", Data: d,
		Status: web.Answer(false, len(wrong) > 0)})
}

func grouped(n rules.Decimal) string {
	if !n.Valid() {
		return string(n)
	}
	return explain.Grouped(string(n))
}

// several offers the options for each chosen value, and for one more.
func (a *asked) several(name string, options []web.Choice, chosen []string, says func(value string) string) several {
	x := several{ID: strings.NewReplacer(".", "-").Replace(name), Name: name,
		Label: a.In("fields", name[strings.LastIndexByte(name, '.')+1:])}
	for _, value := range append(slices.Clone(chosen), "") {
		all := append([]web.Choice{{Text: a.Say("choose")}}, options...)
		x.Selects = append(x.Selects, choosing(all, value, says))
	}
	return x
}

// choosing marks the value among choices. One that is none of them becomes one.
func choosing(all []web.Choice, value string, says func(value string) string) []web.Choice {
	i := slices.IndexFunc(all, func(c web.Choice) bool { return c.Value == value })
	if i < 0 {
		i, all = len(all), append(all, web.Choice{Value: value, Text: says(value)})
	}
	all[i].Chosen = true
	return all
}

// toTell are nobody, the viewer's channels and the user groups, and what is chosen.
func (a *asked) toTell(is string) []web.Choice {
	all := append([]web.Choice{{Text: a.Say("tells_none")}}, a.channelOptions()[1:]...)
	for _, c := range a.groupOptions() {
		all = append(all, web.Choice{Value: strings.TrimPrefix(c.Value, "group:"), Text: c.Text})
	}
	return choosing(all, is, a.toldTo)
}
