package rules

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Label is an argument by whose value a mark tells one kind of call from another, such as 費目 of an order.
type Label struct {
	Name    string `json:"name"`
	Pointer string `json:"pointer"` // to a text, a number, or a list of these
}

// Labelled is met by the values of a label. Only calls whose mark has the label count, so a message that is sent at the
// end changes nothing. A value that isn't known is surely neither among such values nor among others, but might be: a
// later rule decides only if it asks no less. So it is where UseNot finds such values beside others.
type Labelled struct {
	Name string   `json:"name"`
	Is   Use      `json:"is"` // UseOnly: some calls have the label, and only such values; UseSome: one is such; UseNot: none
	List []string `json:"list,omitempty"`
	// What follows are bounds of a number, in place of a list: on one side or on both, each with or without itself.
	AtLeast Decimal `json:"at_least,omitempty"`
	Above   Decimal `json:"above,omitempty"`
	AtMost  Decimal `json:"at_most,omitempty"`
	Below   Decimal `json:"below,omitempty"`
}

// Bounded reports whether it has bounds in place of a list.
func (l *Labelled) Bounded() bool { return l.span() != span{} }

func (l *Labelled) span() span { return spanOf(l.AtLeast, l.Above, l.AtMost, l.Below) }

// holds reports whether it is met by the values that are known, and whether it might be by those that aren't.
func (l *Labelled) holds(f *Facts) (sure, might bool) {
	has, such, other, unknown := false, false, false, false
	for _, c := range f.Calls {
		values, is := c.Labels[l.Name]
		has, unknown = has || is, unknown || is && len(values) == 0
		for _, value := range values {
			in, may := l.takes(value)
			such, other, unknown = such || in, other || !may, unknown || may && !in
		}
	}
	switch l.Is {
	case UseSome:
		return such, such || unknown
	case UseOnly:
		might = has && !other
		return might && !unknown, might
	case UseNot:
		return other && !such && !unknown, other || unknown
	}
	return false, false
}

// takes reports whether a value is one of the list, or between the bounds, and whether it may be meant as one: of what
// is no number nobody knows which number it says.
func (l *Labelled) takes(value string) (sure, may bool) {
	n := numberIn(value)
	if l.Bounded() {
		sure = l.span().has(n)
		return sure, sure || n == ""
	}
	may = disguised(value)
	is := compact(value)
	for _, x := range l.List {
		listed, m := compact(x), numberIn(x)
		if strings.ToLower(listed) == strings.ToLower(is) || m.least(n) && n.least(m) {
			return true, true
		}
		may = may || legible.Resemble(listed, is) || m != "" && n == "" ||
			m == "" && n != "" && strings.ContainsFunc(listed, unicode.IsNumber)
	}
	return false, may
}

var (
	numberForm  = language.Regexp{Text: `^0*([0-9]+(?:\.[0-9]+)?|[1-9][0-9]{0,2}(?:,[0-9]{3})+)$`}
	pointedForm = language.Regexp{Text: `^[1-9][0-9]{0,2}\.[0-9]{3}$`}
)

// numberIn reads a label's value that is a number alone, "" if it is none: a unit may change it, and a point before
// three digits may be a mark of thousands.
func numberIn(value string) Decimal {
	text := spelling(value)
	m := numberForm.Get().FindStringSubmatch(text)
	if m == nil || pointedForm.Get().MatchString(text) {
		return ""
	}
	if d := Decimal(strings.ReplaceAll(m[1], ",", "")); d.Valid() {
		return d
	}
	return ""
}

// spelling is a label's value as it is compared: however wide its letters are, large or small, with or without blanks.
func spelling(value string) string { return strings.ToLower(compact(value)) }

// compact is a text without blanks, however wide its letters are.
func compact(value string) string {
	return strings.Map(func(r rune) rune {
		if legible.Blank(r) || legible.Ignorable(r) {
			return -1
		}
		return r
	}, legible.Narrow(value))
}

// disguised reports whether a value has letters that look like others.
func disguised(value string) bool {
	plain := spelling(value)
	return legible.Spelled(plain) != plain
}

// unlabelled returns the first label whose condition isn't surely met, or "". never says that one of them isn't met,
// whatever the values are that nobody knows.
func (c *Conditions) unlabelled(f *Facts) (name string, never bool) {
	for i := range c.Labels {
		sure, might := c.Labels[i].holds(f)
		if never = never || !might; !sure {
			name = c.Labels[i].Name
		}
	}
	return name, never
}

// asksLess returns the first of the rules, which might take a request, whose outcome is stricter than a decision: by
// its route or a number.
func (a *Answer) asksLess(might []*Rule) *Rule {
	i := slices.IndexFunc(might, func(r *Rule) bool {
		return !a.Refused && (r.Route == nil || !a.Route.asksAll(r.Route) || r.Numbered && !a.Numbered)
	})
	if i < 0 {
		return nil
	}
	return might[i]
}

// asksAll reports whether a policy has all stages of another one, in their order, and asks no fewer hands and readers.
func (p *Policy) asksAll(other *Policy) bool {
	rest := p.Stages
	for _, s := range other.Stages {
		s.Name = ""
		i := slices.IndexFunc(rest, func(x Stage) bool { x.Name = ""; return reflect.DeepEqual(x, s) })
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return p.LeastHands() >= other.LeastHands() && (other.Readers == nil || p.Readers.tellAll(other.Readers))
}

// tellAll reports whether readers are at least those of another policy.
func (r *Readers) tellAll(other *Readers) bool {
	return r != nil && all(other.People, r.People) && all(other.Groups, r.Groups) &&
		!slices.ContainsFunc(other.Posts, func(post Who) bool {
			return !slices.ContainsFunc(r.Posts, func(x Who) bool { return reflect.DeepEqual(x, post) })
		})
}

func (l *Labelled) check(p *problems, at string) {
	p.words(l.Name, at+".name", MaxNamed)
	uses := []Use{UseOnly, UseSome, UseNot}
	p.unless(slices.Contains(uses, l.Is), at+".is", "choice", choices(uses))
	if l.Bounded() {
		p.unless(len(l.List) == 0, at+".list", "of_bounds")
		p.bounds(l.AtLeast, l.Above, l.AtMost, l.Below, at)
		return
	}
	p.unless(len(l.List) > 0, at+".list", "some", MaxListed)
	p.list(l.List, at+".list", MaxListed, func(v, field string) { p.words(v, field, MaxValue) })
}

func (c *Conditions) checkLabels(p *problems, at string) {
	p.unless(len(c.Labels) <= MaxPointers, at, "most", MaxPointers)
	for i := range c.Labels {
		field := fmt.Sprintf("%s[%d]", at, i)
		c.Labels[i].check(p, field)
		p.unless(!slices.ContainsFunc(c.Labels[:i], func(x Labelled) bool { return x.Name == c.Labels[i].Name }),
			field+".name", "twice")
	}
}

// LabelsOf returns what a call of one version of the tool has at each label: none where it isn't known, as of another
// version, or where a reference, nothing or an empty text or list stands.
func (m *Mark) LabelsOf(version string, arguments aggregate.JSON) map[string][]string {
	if m == nil || len(m.LabelledBy) == 0 {
		return nil
	}
	values := map[string][]string{}
	root, ok := decode(string(arguments))
	ok = ok && m.Version == version && len(m.Problems()) == 0
	for _, l := range m.LabelledBy {
		values[l.Name] = nil
		if ok {
			values[l.Name] = textsAt(root, l.Pointer, labelText)
		}
	}
	return values
}

// labelText returns a text, or a number as it is written.
func labelText(v any) string {
	if n, is := v.(json.Number); is && Decimal(n).Valid() {
		return n.String()
	}
	return plainText(v)
}

func plainText(v any) string {
	text, _ := v.(string)
	return text
}

// textsAt returns the texts at a pointer, and each of a list there; none if one of them isn't known.
func textsAt(root any, pointer string, text func(any) string) (all []string) {
	values, why := at(root, Tokens(pointer))
	if why != "" {
		return nil
	}
	for _, v := range values {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, v := range list {
			if text(v) == "" {
				return nil
			}
			all = append(all, text(v))
		}
		if len(list) == 0 {
			return nil
		}
	}
	return all
}

func (m *Mark) checkLabels(p *problems) {
	p.unless(len(m.LabelledBy) <= MaxPointers, "labelled_by", "must have at most %d entries", MaxPointers)
	for i, l := range m.LabelledBy {
		field := fmt.Sprintf("labelled_by[%d]", i)
		p.name(l.Name, field+".name", MaxNamed)
		p.pointer(l.Pointer, field+".pointer")
		p.unless(!slices.ContainsFunc(m.LabelledBy[:i], func(x Label) bool { return x.Name == l.Name }), field+".name",
			"is there twice")
	}
}

// Names returns the labels on which there are conditions.
func (c *Conditions) Names() (names []string) {
	for _, l := range c.Labels {
		names = append(names, l.Name)
	}
	return names
}

// Labels returns those by which stages, and readers, find the department of a post.
func (p *Policy) Labels() (names []string) {
	if p == nil {
		return nil
	}
	sources, _ := p.Sources()
	for _, s := range sources {
		all := s.Who.All()
		for _, x := range s.Raises {
			all = append(all, x.Who)
		}
		for _, w := range all {
			if w.Label != "" {
				names = append(names, w.Label)
			}
		}
	}
	if p.Readers != nil {
		for _, post := range p.Readers.Posts {
			if post.Label != "" {
				names = append(names, post.Label)
			}
		}
	}
	return names
}

// all reports whether all values are in a list.
func all[T comparable](values, list []T) bool {
	return !slices.ContainsFunc(values, func(v T) bool { return !slices.Contains(list, v) })
}
