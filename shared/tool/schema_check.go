package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
)

// checking is one check of a value.
type checking struct {
	*Schema
	steps  int
	spent  time.Duration   // by patterns
	unsure string          // why the check has no result, neither way
	lists  map[*any]listed // by the first value
}

// listed are the values of an enum, as texts.
type listed struct {
	has  map[aggregate.JSON]bool
	said string // all of them, for a message
}

// value holds a schema against the value at a place.
func (c *checking) value(schema, v any, at []string) (found problems) {
	c.pay(1)
	s, isObject := schema.(map[string]any)
	switch {
	case c.unsure != "":
		return found
	case schema == false:
		found.add(at, "nothing may stand here")
		return found
	case isObject && !takes(s, v):
		found.add(at, "%s", wrongType(v, typesOf(s)))
		return found // the other keywords are not about this type
	}
	if one, has := s["const"]; has {
		if c.written(v) != c.written(one) {
			found.add(at, "const: %s does not equal %s", shown(v), shown(one))
		}
	}
	if all := listOf(s["enum"]); all != nil {
		list := c.listed(all)
		if !list.has[c.written(v)] {
			found.add(at, "enum: %s does not equal any of: %s", shown(v), list.said)
		}
	}
	c.forms(s, v, at, &found)
	switch v := v.(type) {
	case json.Number:
		found.limit(s, at, v, -1, "minimum", "exclusiveMinimum")
		found.limit(s, at, v, 1, "maximum", "exclusiveMaximum")
		if step, has := s["multipleOf"].(json.Number); has && !new(big.Rat).Quo(exact(v), exact(step)).IsInt() {
			found.add(at, "multipleOf: %s is no multiple of %s", v, step)
		}
	case string:
		found.size(s, at, utf8.RuneCountInString(v), "minLength", "maxLength")
		if form, has := s["pattern"].(string); has && !c.matches(form, v) {
			found.add(at, "pattern: %q does not match %q", shown(v), form)
		}
	case []any:
		c.elements(s, v, at, &found)
	case map[string]any:
		c.members(s, v, at, &found)
	}
	return found
}

// pay counts what a check does, so that it ends.
func (c *checking) pay(steps int) {
	if c.steps += steps; c.steps > maxSteps {
		c.unsure = fmt.Sprintf("it takes over %d steps", maxSteps)
	}
}

// listed reads an enum once in a check.
func (c *checking) listed(all []any) listed {
	if len(all) == 0 {
		return listed{}
	}
	list, known := c.lists[&all[0]]
	if !known {
		list = listed{has: map[aggregate.JSON]bool{}, said: shown(all)}
		c.pay(len(all))
		for _, x := range all {
			list.has[written(x)] = true
		}
		c.lists[&all[0]] = list
	}
	return list
}

// written is the text of a value, which is paid for.
func (c *checking) written(v any) aggregate.JSON {
	text := written(v)
	c.pay(1 + len(text)/8)
	return text
}

// shown is a value in a message. Who calls it has paid for it.
func shown(v any) string { return clip(fmt.Sprint(v)) }

// forms checks the schemas for the same value.
func (c *checking) forms(s map[string]any, v any, at []string, found *problems) {
	for _, x := range listOf(s["allOf"]) {
		found.take(c.value(x, v, at))
	}
	c.choose("anyOf", s, v, at, found)
	c.choose("oneOf", s, v, at, found)
	if not, has := s["not"]; has && len(c.value(not, v, at)) == 0 {
		found.add(at, "has the form that it must not have")
	}
	if cond, has := s["if"]; has {
		decides := "else"
		if len(c.value(cond, v, at)) == 0 {
			decides = "then"
		}
		if x, has := s[decides]; has {
			found.take(c.value(x, v, at))
		}
	}
}

// choose counts the forms that a value fits. If it fits none, its problems are those of the form with the fewest, among
// the forms for the value's type.
func (c *checking) choose(keyword string, s map[string]any, v any, at []string, found *problems) {
	fits, nearest, others := 0, problems(nil), []string(nil)
	for _, x := range listOf(s[keyword]) {
		if form, is := x.(map[string]any); is && !takes(form, v) {
			others = append(others, typesOf(form)...)
			continue
		}
		one := c.value(x, v, at)
		if len(one) == 0 {
			fits++
		} else if nearest == nil || len(one) < len(nearest) {
			nearest = one
		}
	}
	switch {
	case nearest == nil && fits == 0 && others != nil:
		found.add(at, "%s", wrongType(v, others))
	case fits == 0:
		found.take(nearest)
	case fits > 1 && keyword == "oneOf":
		found.add(at, "fits %d of the forms of which it must have one", fits)
	}
}

func (c *checking) elements(s map[string]any, v []any, at []string, found *problems) {
	found.size(s, at, len(v), "minItems", "maxItems")
	first := listOf(s["prefixItems"])
	rest, more := s["items"]
	for i, x := range v {
		if c.unsure != "" || i >= len(first) && !more {
			break
		}
		form := rest
		if i < len(first) {
			form = first[i]
		}
		found.take(c.value(form, x, append(at, strconv.Itoa(i))))
	}
	if s["uniqueItems"] == true {
		seen := map[aggregate.JSON]bool{}
		for i, x := range v {
			text := c.written(x)
			if c.unsure != "" {
				return
			}
			if seen[text] {
				found.add(append(at, strconv.Itoa(i)), "uniqueItems: an earlier element is the same")
			} else {
				seen[text] = true
			}
		}
	}
}

func (c *checking) members(s map[string]any, v map[string]any, at []string, found *problems) {
	found.size(s, at, len(v), "minProperties", "maxProperties")
	c.required(s["required"], v, at, found)
	members, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	var unknown []string
	for name := range members {
		c.pay(1 + len(name)/8)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if c.pay(1 + len(name)/8); c.unsure != "" {
			return
		}
		there := append(at, name)
		if names, has := s["propertyNames"]; has && len(c.value(names, name, there)) > 0 {
			found.add(at, "propertyNames: %q is no name that it may have", name)
		}
		x, known := members[name]
		if known {
			found.take(c.value(x, v[name], there))
		}
		for _, form := range slices.Sorted(maps.Keys(patterns)) {
			if c.matches(form, name) {
				known = true
				found.take(c.value(patterns[form], v[name], there))
			}
		}
		switch x, has := s["additionalProperties"]; {
		case !has || known:
		case x == false:
			unknown = append(unknown, "'"+name+"'")
		default:
			found.take(c.value(x, v[name], there))
		}
	}
	if err := aggregate.Misnamed(v, members); err != nil {
		found.add(at, "%v", err)
	}
	if len(unknown) > 0 {
		found.add(at, "additional properties %s not allowed", strings.Join(unknown, ", "))
	}
}

// matches returns false and sets unsure if matching takes too long or too much memory.
func (c *checking) matches(form, text string) bool {
	if c.pay(1 + len(text)/8); c.unsure != "" {
		return false
	}
	began := time.Now()
	fits, err := c.patterns[form].MatchString(text)
	if c.spent += time.Since(began); err != nil || c.spent > patience {
		c.unsure = fmt.Sprintf("the pattern %q takes over %v", form, patience)
	}
	return fits
}

// size limits how many of something there are.
func (f *problems) size(s map[string]any, at []string, n int, least, most string) {
	f.limit(s, at, json.Number(strconv.Itoa(n)), -1, least)
	f.limit(s, at, json.Number(strconv.Itoa(n)), 1, most)
}

// limit adds a problem for each keyword beyond whose limit a number is, in the direction of sign.
func (f *problems) limit(s map[string]any, at []string, n json.Number, sign int, keywords ...string) {
	for _, keyword := range keywords {
		most, has := s[keyword].(json.Number)
		if !has {
			continue
		}
		if by := exact(n).Cmp(exact(most)) * sign; by > 0 || by == 0 && strings.HasPrefix(keyword, "exclusive") {
			f.add(at, "%s: %s is beyond the limit of %s", keyword, n, most)
		}
	}
}

func (c *checking) required(names any, v map[string]any, at []string, found *problems) {
	var missing []string
	for _, name := range listOf(names) {
		c.pay(1)
		if _, has := v[name.(string)]; !has {
			missing = append(missing, name.(string))
		}
	}
	if missing != nil {
		found.add(at, "required: missing properties: %q", missing)
	}
}

// takes reports whether a schema allows a value's type.
func takes(s map[string]any, v any) bool {
	allowed, got := typesOf(s), typeOf(v)
	return len(allowed) == 0 || slices.Contains(allowed, got) || got == "integer" && slices.Contains(allowed, "number")
}

func wrongType(v any, want []string) string {
	return fmt.Sprintf("got %s, want %s", typeOf(v), strings.Join(want, " or "))
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") || exact(v).IsInt() {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// maxDigits is how many characters a number may have.
const maxDigits = 1000

// exact returns a number as it is written, nil for what is none or exceeds float64. As float64, 0.3 is not three times
// 0.1, and two large ids may be the same.
func exact(n json.Number) *big.Rat {
	f, err := n.Float64()
	if err != nil || len(n) > maxDigits {
		return nil
	}
	if f == 0 { // or nearer to 0 than float64 can be
		return new(big.Rat)
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// written returns a value as one text, the same for equal values.
func written(v any) aggregate.JSON {
	text, err := aggregate.Canonical(v)
	if err != nil { // impossible for what was decoded
		panic(err)
	}
	return text
}
