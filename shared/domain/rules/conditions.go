package rules

import (
	"reflect"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/words/legible"
)

// Conditions say which requests a rule takes: those that meet all of them. One that is absent is met by every request.
type Conditions struct {
	Kinds        []Kind        `json:"kinds,omitempty"`
	Places       *Places       `json:"places,omitempty"`
	Requester    *Requester    `json:"requester,omitempty"`
	Tools        *Tools        `json:"tools,omitempty"`
	Destinations *Destinations `json:"destinations,omitempty"`
	Amount       *Between      `json:"amount,omitempty"`
	Labels       []Labelled    `json:"labels,omitempty"`
}

// Places are where a request is made: in one of the channels, or in direct messages if Direct.
type Places struct {
	Channels []string `json:"channels,omitempty"`
	Direct   bool     `json:"direct,omitempty"`
}

// Requester is who asks: somebody of one of the departments, of one below it, or of one of the groups, and whose main
// post has one of the positions. It is met by nobody of whom the organisation says nothing, and then no later rule
// decides either: it might ask less. Nor does one where a department or position is none of the organisation's: it may
// be theirs, under another name.
type Requester struct {
	Departments []string `json:"departments,omitempty"`
	Groups      []string `json:"groups,omitempty"`
	Positions   []string `json:"positions,omitempty"`
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
	UseNot     Use = "not"            // of a label: there are values, and none is listed
)

// Destinations are where a request's writes go. A write whose destination isn't known goes anywhere.
type Destinations struct {
	Go   Go       `json:"go"`
	List []string `json:"list"`
}

// Go says how a request's destinations relate to a list.
type Go string

const (
	GoWithin  Go = "within"  // the request writes, and to listed destinations only
	GoOutside Go = "outside" // one of the destinations is not listed
)

// Between bounds a request's amount, on one side or on both. An amount that isn't known is above everything and below
// nothing.
type Between struct {
	AtLeast  Decimal `json:"at_least,omitempty"`
	Above    Decimal `json:"above,omitempty"` // in place of AtLeast: without the bound itself
	AtMost   Decimal `json:"at_most,omitempty"`
	Below    Decimal `json:"below,omitempty"` // in place of AtMost: without the bound itself
	Currency string  `json:"currency"`
}

// hold reports whether a request meets all conditions.
func (c *Conditions) hold(f *Facts) bool {
	name, _ := c.unlabelled(f)
	return name == "" && c.might(f)
}

// might reports whether a request meets all conditions, if what nobody knows of its labels is in their lists.
func (c *Conditions) might(f *Facts) bool {
	return c.mightBut(f) && (c.Requester == nil || c.Requester.hold(f))
}

// unsure reports whether a request might meet all conditions but that on the requester, of whom nothing is known, or of
// one of whose departments or positions nothing is.
func (c *Conditions) unsure(f *Facts) bool {
	return c.Requester != nil && (!f.placed() || c.unknown(f) != "") && c.mightBut(f)
}

// unknown returns a department or position of the condition on the requester that the organisation has on no day, or
// "".
func (c *Conditions) unknown(f *Facts) string {
	for _, code := range slices.Concat(c.Requester.Departments, c.Requester.Positions) {
		if slices.Contains(f.Unknown, code) {
			return code
		}
	}
	return ""
}

// mightBut is might without the condition on the requester.
func (c *Conditions) mightBut(f *Facts) bool {
	_, never := c.unlabelled(f)
	return !never && (len(c.Kinds) == 0 || slices.Contains(c.Kinds, f.Kind)) &&
		(c.Places == nil || c.Places.hold(f.Place)) &&
		(c.Tools == nil || c.Tools.hold(f)) &&
		(c.Destinations == nil || c.Destinations.hold(f)) &&
		(c.Amount == nil || c.Amount.hold(f.Amount()))
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
	there := r.anywhere() || slices.ContainsFunc(r.Departments, within) || meet(r.Groups, f.Groups)
	is := func(position string) bool { return organisation.Posted(position) == f.Position }
	return f.placed() && there && (len(r.Positions) == 0 || slices.ContainsFunc(r.Positions, is))
}

// anywhere reports whether it names no place to which somebody belongs.
func (r *Requester) anywhere() bool { return len(r.Departments)+len(r.Groups) == 0 }

// Unknown returns the departments and positions of the condition that the organisation has on no day.
func (r *Requester) Unknown(d Directory) (names []string) {
	if r == nil {
		return nil
	}
	for _, code := range r.Departments {
		if !d.Knows(code, "") {
			names = append(names, code)
		}
	}
	for _, position := range r.Positions {
		if !d.Knows("", position) {
			names = append(names, position)
		}
	}
	return names
}

// meet reports whether two lists share a value.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
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

// hold takes a command without calls as one that may go anywhere.
func (d *Destinations) hold(f *Facts) bool {
	outside := f.uncalled() || slices.ContainsFunc(f.Calls, func(c Call) bool {
		unlisted := func(to string) bool { return !slices.Contains(d.List, to) }
		return c.Writes() && (len(c.Destinations) == 0 || slices.ContainsFunc(c.Destinations, unlisted))
	})
	switch d.Go {
	case GoWithin:
		return f.Writes() && !outside
	case GoOutside:
		return outside
	}
	return false
}

func (b *Between) hold(a Amount) bool {
	if !a.comparable(b.Currency) {
		return b.span().high.none()
	}
	return b.span().has(a.Value)
}

func (b *Between) span() span { return spanOf(b.AtLeast, b.Above, b.AtMost, b.Below) }

// Bounded reports whether it has a bound.
func (b *Between) Bounded() bool { return *b != (Between{Currency: b.Currency}) }

// To returns where a call of one version of the tool goes: the texts at the marked pointers, and each text of a list
// there. It returns none, which means anywhere, if one of them isn't known: without a mark, or where something else
// than a text stands at a pointer, an empty text or list, nothing, or a reference.
func (m *Mark) To(version string, arguments aggregate.JSON) []string {
	if m == nil || m.Version != version || len(m.Problems()) > 0 {
		return nil
	}
	root, ok := decode(string(arguments))
	if !ok {
		return nil
	}
	var all []string
	for _, p := range m.Destinations {
		found := textsAt(root, p, plainText)
		if found == nil {
			return nil
		}
		all = append(all, found...)
	}
	return all
}
