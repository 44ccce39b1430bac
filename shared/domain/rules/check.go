package rules

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

func (c *Conditions) check(p *problems, at string) {
	for i, k := range c.Kinds {
		field := fmt.Sprintf("%s.kinds[%d]", at, i)
		p.unless(slices.Contains(kinds, k), field, "must be steps or action")
		p.unless(!slices.Contains(c.Kinds[:i], k), field, "is there twice")
	}
	value := func(v, field string) { p.words(v, field, MaxValue) }
	if x := c.Places; x != nil {
		p.unless(x.Direct || len(x.Channels) > 0, at+".places", "must name a channel or direct messages, or be absent")
		p.list(x.Channels, at+".places.channels", MaxListed,
			p.like(&channelForm, "must be a Slack channel's id such as C012ABCDEF"))
	}
	if x := c.Requester; x != nil {
		p.unless(len(x.Departments)+len(x.Groups) > 0, at+".requester", "must name a department or group, or be absent")
		p.list(x.Departments, at+".requester.departments", MaxListed, value)
		p.list(x.Groups, at+".requester.groups", MaxListed, p.group)
	}
	if c.Tools != nil {
		c.Tools.check(p, at+".tools")
	}
	if x := c.Destinations; x != nil {
		p.unless(x.Go == GoWithin || x.Go == GoOutside, at+".destinations.go", "must be within or outside")
		p.unless(len(x.List) > 0, at+".destinations.list", "must have 1 to %d entries", MaxListed)
		p.list(x.List, at+".destinations.list", MaxListed, value)
	}
	if c.Amount != nil {
		c.Amount.check(p, at+".amount")
	}
}

func (t *Tools) check(p *problems, at string) {
	switch t.Use {
	case UseWriting:
		p.unless(len(t.List) == 0, at+".list", "must be empty of writes outside")
	case UseSome, UseOnly:
		p.unless(len(t.List) > 0 && len(t.List) <= MaxListed, at+".list", "must have 1 to %d entries", MaxListed)
	default:
		p.add(at+".use", "must be some, only or writes_outside")
	}
	for i, tool := range t.List {
		field := fmt.Sprintf("%s.list[%d]", at, i)
		p.unless(len(tool.Name) >= 1 && len(tool.Name) <= MaxTool, field+".name", "must have 1 to %d bytes", MaxTool)
		p.unless(len(tool.Address) <= MaxAddress && (tool.Address == "" || strings.Contains(tool.Address, "://")),
			field+".address", "must be an address of at most %d bytes, or empty of Ringi's own tool", MaxAddress)
		p.unless(!slices.ContainsFunc(t.List[:i], tool.Same), field, "is there twice")
	}
}

func (b *Between) check(p *problems, at string) {
	p.unless(b.AtLeast != "" || b.Below != "", at, "must have at_least or below, or be absent")
	if b.AtLeast != "" {
		p.number(b.AtLeast, at+".at_least")
	}
	if b.Below != "" {
		p.number(b.Below, at+".below")
	}
	p.unless(b.AtLeast == "" || b.Below == "" || b.AtLeast.below(b.Below), at+".below", "must be more than at_least")
	p.currency(b.Currency, at+".currency")
}

// Problems returns everything for which the mark can't be saved.
func (m *Mark) Problems() []aggregate.ErrField {
	var p problems
	p.unless(m.Version != "" && len(m.Version) <= maxVersion, "version", "must have 1 to %d bytes", maxVersion)
	p.list(m.Destinations, "destinations", MaxPointers, p.pointer)
	switch {
	case m.How == HowNothing, m.How == HowUnknown && len(m.Destinations) > 0:
		p.unless(len(m.Pointers)+len(m.Units)+len(m.Asides) == 0 && m.Currency == "", "pointers",
			"must be absent, as the currency, where no amount is marked")
		return p
	case m.How != HowSum && m.How != HowProduct:
		p.add("how", "must be sum, product or nothing")
	}
	p.unless(len(m.Pointers) > 0, "pointers", "must have 1 to %d entries", MaxPointers)
	p.list(m.Pointers, "pointers", MaxPointers, p.pointer)
	p.list(m.Units, "units", MaxPointers, p.pointer)
	p.list(m.Asides, "asides", MaxPointers, p.pointer)
	for i, aside := range m.Asides {
		for _, of := range slices.Concat(m.Pointers, m.Units) {
			p.unless(of != aside && !strings.HasPrefix(of, aside+"/"), fmt.Sprintf("asides[%d]", i),
				"must not be %s or what it is in", of)
		}
	}
	p.unless(m.How != HowProduct || len(m.Pointers) == 0 || m.sameRows(), "pointers",
		"must go through the same rows to be multiplied")
	p.currency(m.Currency, "currency")
	return p
}
