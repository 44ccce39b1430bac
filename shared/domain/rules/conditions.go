package rules

import (
	"cmp"
	"maps"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Conditions say which requests a rule takes: those that meet all of them. One that is absent is met by every request,
// but for the tools: a rule without any takes what writes outside.
type Conditions struct {
	Asks []Kind `json:"asks,omitempty"` // none: whatever asks
	// Who asks is one of the people, or somebody of one of the departments, of one below it, or of one of the groups. Of
	// whom the organisation says nothing, nobody knows whether they are in a department: no later rule decides either,
	// since it might ask less. Nor does one where a department is none of the organisation's: it may be theirs, under
	// another name.
	People      []string `json:"people,omitempty"` // Slack user ids
	Departments []string `json:"departments,omitempty"`
	Groups      []string `json:"groups,omitempty"`
	Channels    []string `json:"channels,omitempty"` // ids; Direct: direct messages
	Tools       []Tool   `json:"tools,omitempty"`    // at least one call is of one of them
	Only        bool     `json:"only,omitempty"`     // all calls are
	// The amount is bounded on one side or on both. One that isn't known is above everything and below nothing.
	From     Decimal `json:"from,omitempty"`
	Below    Decimal `json:"below,omitempty"`
	Currency string  `json:"currency,omitempty"`
	// Labels are met by the values at a label, all of which must be listed. Only calls whose mark has the label count,
	// so a message that is sent at the end changes nothing.
	Labels map[string][]string `json:"labels,omitempty"`
}

// Direct stands for direct messages among channels. No channel has this id.
const Direct = "direct"

// hold reports whether a request meets all conditions, as far as they are certain.
func (c *Conditions) hold(f *Facts) bool {
	for name := range c.Labels {
		if !c.labelled(name, f) {
			return false
		}
	}
	return c.asks(f.Kind) && c.here(f.Place) && (!c.Asker() || c.by(f)) && c.uses(f) && c.bound(f.Amount())
}

// unsure returns a label whose value nobody knows, or reports that of the requester it isn't known whether they are
// meant, where a request would meet the conditions if that were so. listed are the values of labels that rules list.
func (c *Conditions) unsure(f *Facts, listed map[string][]string) (label string, who bool) {
	may := *c
	if who = !c.by(f) && len(c.Departments) > 0 && (!f.placed() || c.nowhere(f) != ""); who {
		may.People, may.Departments, may.Groups = nil, nil, nil
	}
	may.Labels = maps.Clone(c.Labels)
	for _, name := range c.Names() {
		if c.unknown(name, f, listed[name]) {
			delete(may.Labels, name)
			label = cmp.Or(label, name)
		}
	}
	if label == "" && !who || !may.hold(f) {
		return "", false
	}
	return label, who
}

func (c *Conditions) asks(kind Kind) bool { return len(c.Asks) == 0 || slices.Contains(c.Asks, kind) }

func (c *Conditions) here(at Place) bool {
	if at.Direct {
		at.Channel = Direct
	}
	return len(c.Channels) == 0 || slices.Contains(c.Channels, at.Channel)
}

// Asker reports whether there is a condition on who asks.
func (c *Conditions) Asker() bool { return len(c.People)+len(c.Departments)+len(c.Groups) > 0 }

func (c *Conditions) by(f *Facts) bool {
	within := func(code string) bool { return slices.Contains(f.Departments, language.Narrow(code)) }
	grouped := func(group string) bool { return slices.Contains(f.Groups, group) }
	return slices.Contains(c.People, f.Requester) || slices.ContainsFunc(c.Groups, grouped) ||
		f.placed() && slices.ContainsFunc(c.Departments, within)
}

// nowhere returns a department that the organisation doesn't have, or "".
func (c *Conditions) nowhere(f *Facts) string {
	return aggregate.First(c.Departments, func(code string) bool { return slices.Contains(f.Unknown, code) })
}

// Unknown returns the departments of the conditions that the organisation doesn't have.
func (c *Conditions) Unknown(d Directory) []string {
	return slices.DeleteFunc(slices.Clone(c.Departments), func(code string) bool { return d.Knows(code, "") })
}

// uses is the condition on tools.
func (c *Conditions) uses(f *Facts) bool {
	listed := func(x Call) bool { return slices.ContainsFunc(c.Tools, x.Tool.Same) }
	switch {
	case len(c.Tools) == 0:
		return f.Writes()
	case c.Only:
		return len(f.Calls) > 0 && !slices.ContainsFunc(f.Calls, func(x Call) bool { return !listed(x) })
	}
	return slices.ContainsFunc(f.Calls, listed)
}

// Bounded reports whether there is a condition on the amount.
func (c *Conditions) Bounded() bool { return c.From+c.Below != "" }

func (c *Conditions) bound(a Amount) bool {
	return (c.From == "" || a.AtLeast(c.From, c.Currency)) && (c.Below == "" || a.Below(c.Below, c.Currency))
}

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

// labelled is the condition on a label.
func (c *Conditions) labelled(name string, f *Facts) bool {
	values, has, known := f.values(name)
	return has && known && !slices.ContainsFunc(values, func(v string) bool {
		return !slices.Contains(c.Labels[name], v)
	})
}

// unknown reports whether nobody can say if a request is meant: a value isn't known, or one that no rule lists, or only
// some of several are meant.
func (c *Conditions) unknown(name string, f *Facts, listed []string) bool {
	values, has, known := f.values(name)
	other := func(v string) bool { return !slices.Contains(c.Labels[name], v) }
	some := slices.ContainsFunc(values, func(v string) bool { return !other(v) })
	return has && (!known || slices.ContainsFunc(values, func(v string) bool {
		return !slices.Contains(listed, v) || some && other(v)
	}))
}

// Names returns the labels on which there are conditions.
func (c *Conditions) Names() []string { return slices.Sorted(maps.Keys(c.Labels)) }

// listed returns the values of each label that the rules list.
func (r *Rules) listed() map[string][]string {
	all := map[string][]string{}
	for i := range r.Rules {
		for name, list := range r.Rules[i].Labels {
			all[name] = append(all[name], list...)
		}
	}
	return all
}
