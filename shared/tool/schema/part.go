package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// part is a schema split up so that each place of a value is checked alone and can be named.
type part struct {
	types    []string             // the value has one of them; none: any type
	step     *float64             // what a number must be a multiple of
	own      *jsonschema.Resolved // other keywords about the value itself
	form     *form                // of a text
	all      []*part              // every one
	any, one []*part              // at least one fits, exactly one fits; none: no condition
	not      *part                // must not fit
	cond     *part                // if it fits, then decides, else orElse does
	then     *part
	orElse   *part
	has      *part // fitted by as many elements as least and most say; most below 0: any number
	least    int
	most     int
	names    *part // of every member's name
	members  map[string]*part
	depend   map[string]*part // of the whole object if it has the member
	patterns []pattern        // members by a pattern of their names
	closed   bool             // no other members are allowed
	others   *part            // the other members; nil: anything
	first    []*part          // the first elements, in order
	rest     *part            // the elements after first; nil: anything
}

type pattern struct {
	name *form
	part *part
}

func compile(text string) (*part, error) {
	whole, err := unfold(text)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	var t taker
	p := t.part(&s)
	return p, t.err
}

// taker splits schemas that have no references.
type taker struct{ err error }

func (t *taker) part(s *jsonschema.Schema) *part {
	if s == nil || t.err != nil {
		return nil
	}
	if s.MultipleOf != nil && *s.MultipleOf <= 0 {
		t.err = errors.New("multipleOf must be above 0")
		return nil
	}
	p, own := &part{types: s.Types, step: s.MultipleOf}, *s
	if s.Type != "" {
		p.types = []string{s.Type}
	}
	own.Type, own.Types, own.MultipleOf = "", nil, nil
	if s.UnevaluatedItems == nil && s.UnevaluatedProperties == nil { // these keywords depend on all others
		p.all, p.any, p.one = t.parts(s.AllOf), t.parts(s.AnyOf), t.parts(s.OneOf)
		p.first, p.rest = t.parts(s.PrefixItems), t.part(s.Items)
		p.members, p.depend = t.named(s.Properties), t.named(s.DependentSchemas)
		p.not, p.cond, p.then, p.orElse = t.part(s.Not), t.part(s.If), t.part(s.Then), t.part(s.Else)
		p.names, p.has = t.part(s.PropertyNames), t.part(s.Contains)
		p.least, p.most = 1, -1
		if s.MinContains != nil {
			p.least = *s.MinContains
		}
		if s.MaxContains != nil {
			p.most = *s.MaxContains
		}
		if s.Pattern != "" {
			p.form = t.form(s.Pattern)
		}
		for _, name := range slices.Sorted(maps.Keys(s.PatternProperties)) {
			p.patterns = append(p.patterns, pattern{t.form(name), t.part(s.PatternProperties[name])})
		}
		if p.closed = never(s.AdditionalProperties); !p.closed {
			p.others = t.part(s.AdditionalProperties)
		}
		own.AllOf, own.AnyOf, own.OneOf, own.PrefixItems, own.Items = nil, nil, nil, nil, nil
		own.Properties, own.PatternProperties, own.AdditionalProperties = nil, nil, nil
		own.Not, own.If, own.Then, own.Else, own.DependentSchemas = nil, nil, nil, nil, nil
		own.PropertyNames, own.Contains, own.MinContains, own.MaxContains, own.Pattern = nil, nil, nil, nil, ""
	}
	var err error
	if p.own, err = own.Resolve(nil); err != nil && t.err == nil {
		t.err = fmt.Errorf("not a schema: %w", err)
	}
	return p
}

func (t *taker) form(text string) *form {
	f, err := newForm(text)
	if err != nil && t.err == nil {
		t.err = err
	}
	return f
}

func (t *taker) named(in map[string]*jsonschema.Schema) map[string]*part {
	out := map[string]*part{}
	for name, s := range in {
		out[name] = t.part(s)
	}
	return out
}

func (t *taker) parts(list []*jsonschema.Schema) (out []*part) {
	for _, s := range list {
		out = append(out, t.part(s))
	}
	return out
}

// never reports whether no value fits a schema. The library reads false as {"not": {}}.
func never(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}
