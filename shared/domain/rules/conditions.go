package rules

import (
	"reflect"
	"slices"

	"ringi/shared/words/legible"
)

// Conditions say which requests a rule takes: those that meet all of them. One that is absent is met by every request.
type Conditions struct {
	Kinds     []Kind     `json:"kinds,omitempty"`
	Places    *Places    `json:"places,omitempty"`
	Requester *Requester `json:"requester,omitempty"`
	Tools     *Tools     `json:"tools,omitempty"`
	Amount    *Between   `json:"amount,omitempty"`
	Labels    []Labelled `json:"labels,omitempty"`
}

// Places are where a request is made: in one of the channels, or in direct messages if Direct.
type Places struct {
	Channels []string `json:"channels,omitempty"`
	Direct   bool     `json:"direct,omitempty"`
}

// Requester is who asks: one of the people, or somebody of one of the departments, of one below it, or of one of the
// groups. Of whom the organisation says nothing, nobody knows whether they are in a department: no later rule decides
// either, since it might ask less. Nor does one where a department is none of the organisation's: it may be theirs,
// under another name.
type Requester struct {
	People      []string `json:"people,omitempty"` // Slack user ids
	Departments []string `json:"departments,omitempty"`
	Groups      []string `json:"groups,omitempty"`
}

// Tools are what a request calls.
type Tools struct {
	Use  Use    `json:"use"`
	List []Tool `json:"list,omitempty"` // not of UseWriting
}

// Use says how a request uses the tools of a condition.
type Use string

const (
	UseSome    Use = "some"           // at least one call is of a listed tool
	UseOnly    Use = "only"           // there are calls, and all are of listed tools
	UseWriting Use = "writes_outside" // at least one call writes outside
)

// Between bounds a request's amount, on one side or on both. An amount that isn't known is above everything and below
// nothing.
type Between struct {
	AtLeast  Decimal `json:"at_least,omitempty"`
	Below    Decimal `json:"below,omitempty"`
	Currency string  `json:"currency"`
}

// Labelled is met by the values of a label, all of which must be listed. Only calls whose mark has the label count, so
// a message that is sent at the end changes nothing.
type Labelled struct {
	Name string   `json:"name"`
	List []string `json:"list"`
}

// hold reports whether a request meets all conditions, as far as they are certain.
func (c *Conditions) hold(f *Facts) bool {
	return (len(c.Kinds) == 0 || slices.Contains(c.Kinds, f.Kind)) &&
		(c.Places == nil || c.Places.hold(f.Place)) &&
		(c.Requester == nil || c.Requester.hold(f)) &&
		(c.Tools == nil || c.Tools.hold(f)) &&
		(c.Amount == nil || c.Amount.hold(f.Amount())) &&
		!slices.ContainsFunc(c.Labels, func(l Labelled) bool { return !l.hold(f) })
}

// unsure returns a label whose value nobody knows, or reports that of the requester it isn't known whether they are
// meant, where a request would meet the conditions if that were so. listed are the values of labels that rules list.
func (c *Conditions) unsure(f *Facts, listed map[string][]string) (label string, who bool) {
	may := *c
	if may.Requester != nil && may.Requester.unsure(f) {
		may.Requester, who = nil, true
	}
	may.Labels = slices.DeleteFunc(slices.Clone(c.Labels), func(l Labelled) bool {
		unknown := l.unknown(f, listed[l.Name])
		if unknown && label == "" {
			label = l.Name
		}
		return unknown
	})
	if label == "" && !who || !may.hold(f) {
		return "", false
	}
	return label, who
}

// covers reports whether all requests that meet the other conditions meet these, since each of these is among them.
func (c *Conditions) covers(other *Conditions) bool {
	is, of := reflect.ValueOf(*c), reflect.ValueOf(*other)
	for i := range is.NumField() {
		if x := is.Field(i); !x.IsZero() && !reflect.DeepEqual(x.Interface(), of.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func (p *Places) hold(at Place) bool {
	if at.Direct {
		return p.Direct
	}
	return slices.Contains(p.Channels, at.Channel)
}

func (r *Requester) hold(f *Facts) bool {
	within := func(code string) bool { return slices.Contains(f.Departments, legible.Narrow(code)) }
	grouped := func(group string) bool { return slices.Contains(f.Groups, group) }
	return slices.Contains(r.People, f.Requester) || slices.ContainsFunc(r.Groups, grouped) ||
		f.placed() && slices.ContainsFunc(r.Departments, within)
}

// unsure reports whether nobody knows if the requester is meant.
func (r *Requester) unsure(f *Facts) bool {
	return !r.hold(f) && len(r.Departments) > 0 && (!f.placed() || r.unknown(f) != "")
}

// unknown returns a department that the organisation doesn't have, or "".
func (r *Requester) unknown(f *Facts) string {
	for _, code := range r.Departments {
		if slices.Contains(f.Unknown, code) {
			return code
		}
	}
	return ""
}

// Unknown returns the departments of the condition that the organisation doesn't have.
func (r *Requester) Unknown(d Directory) (codes []string) {
	if r == nil {
		return nil
	}
	for _, code := range r.Departments {
		if !d.Knows(code, "") {
			codes = append(codes, code)
		}
	}
	return codes
}

func (t *Tools) hold(f *Facts) bool {
	listed := func(c Call) bool { return t.lists(c.Tool) }
	switch t.Use {
	case UseSome:
		return slices.ContainsFunc(f.Calls, listed)
	case UseOnly:
		return len(f.Calls) > 0 && !slices.ContainsFunc(f.Calls, func(c Call) bool { return !listed(c) })
	case UseWriting:
		return f.Writes()
	}
	return false
}

func (t *Tools) lists(tool Tool) bool { return slices.ContainsFunc(t.List, tool.Same) }

func (b *Between) hold(a Amount) bool {
	return (b.AtLeast == "" || a.AtLeast(b.AtLeast, b.Currency)) && (b.Below == "" || a.Below(b.Below, b.Currency))
}

// Bounded reports whether it has a bound.
func (b *Between) Bounded() bool { return b.AtLeast+b.Below != "" }

// values returns what a request's calls have at a label, whether any has it, and whether each value is known.
func (f *Facts) values(label string) (all []string, has, known bool) {
	known = true
	for _, c := range f.Calls {
		values, is := c.Labels[label]
		has, known = has || is, known && (!is || len(values) > 0)
		all = append(all, values...)
	}
	return all, has, known
}

func (l *Labelled) hold(f *Facts) bool {
	values, has, known := f.values(l.Name)
	return has && known && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(l.List, v) })
}

// unknown reports whether nobody can say if a request is meant: a value isn't known, or one that no rule lists, or only
// some of several are meant.
func (l *Labelled) unknown(f *Facts, listed []string) bool {
	values, has, known := f.values(l.Name)
	other := func(v string) bool { return !slices.Contains(l.List, v) }
	some := slices.ContainsFunc(values, func(v string) bool { return !other(v) })
	return has && (!known || slices.ContainsFunc(values, func(v string) bool {
		return !slices.Contains(listed, v) || some && other(v)
	}))
}

// Names returns the labels on which there are conditions.
func (c *Conditions) Names() (names []string) {
	for _, l := range c.Labels {
		names = append(names, l.Name)
	}
	return names
}

// listed returns the values of each label that the rules list.
func (r *Rules) listed() map[string][]string {
	all := map[string][]string{}
	for i := range r.Rules {
		for _, l := range r.Rules[i].When.Labels {
			all[l.Name] = append(all[l.Name], l.List...)
		}
	}
	return all
}
