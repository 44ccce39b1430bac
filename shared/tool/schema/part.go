package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp/syntax"
	"slices"
	"strconv"

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

// Limits of a schema. They bound the memory and the time of a check.
const (
	maxText     = 256 << 10 // bytes
	maxUnfolded = 1 << 20   // bytes: its data, with perSchema for each schema, as often as it is referred to
	perSchema   = 256
	maxNesting  = 64     // schemas in schemas
	maxPattern  = 2000   // bytes
	maxProgram  = 10_000 // instructions of all patterns: as many may run for each character of a text
)

type limits struct{ written, program int }

func (l *limits) write(bytes int) error {
	if l.written += bytes; l.written > maxUnfolded {
		return fmt.Errorf("with all that is referred to, the limit of %d bytes is passed", maxUnfolded)
	}
	return nil
}

// data checks the value of a keyword that is not a schema.
func (l *limits) data(keyword string, v any) (json.RawMessage, error) {
	var err error
	switch keyword {
	case "type":
		err = checkTypes(v)
	case "pattern":
		text, _ := v.(string) // the library refuses any other type
		err = l.pattern(text)
	case "enum", "const":
		err = exact(v)
	}
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return b, l.write(len(b))
}

func (l *limits) pattern(text string) error {
	if len(text) > maxPattern {
		return fmt.Errorf("the pattern is %d bytes long, the limit is %d", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil // newForm decides, and bounds its time otherwise
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil
	}
	if l.program += len(program.Inst); l.program > maxProgram {
		return errors.New("the patterns repeat too much")
	}
	return nil
}

// checkTypes refuses unknown types.
func checkTypes(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, name := range list {
		if s, _ := name.(string); !slices.Contains([]string{"null", "boolean", "object", "array", "number", "integer",
			"string"}, s) {
			return fmt.Errorf("there is no type %v", name)
		}
	}
	if len(list) == 0 {
		return errors.New("it names no type")
	}
	return nil
}

// exact refuses integers that a float64 can't represent, because the library compares numbers as float64.
func exact(v any) error {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil && (n > 1<<53 || n < -1<<53) {
			return fmt.Errorf("%s has more digits than can be compared", v)
		}
	case []any:
		for _, x := range v {
			if err := exact(x); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, x := range v {
			if err := exact(x); err != nil {
				return err
			}
		}
	}
	return nil
}
