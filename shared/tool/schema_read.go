package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dlclark/regexp2/v2"

	"ringi/shared/domain/aggregate"
)

// MaxSchema is how many bytes a schema may have.
const MaxSchema = 16 << 10

// Further limits of a schema. They bound the memory and the time of a check.
const (
	maxWhole   = 1 << 20 // bytes with perSchema for each schema, as often as it is referred to
	perSchema  = 256
	maxNesting = 64      // schemas in schemas
	maxPattern = 2000    // bytes
	maxStack   = 2 << 20 // integers with which a pattern goes back; the library's own limit is for short texts
)

// InlineSchema returns a schema as CompileSchema reads it: with the target of each $ref in its place, in the words of
// the newest draft, so a model can read it without following references. Its errors are those of CompileSchema.
func InlineSchema(text string) (json.RawMessage, error) {
	r, err := read(text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(r.root)
}

func read(text string) (*reader, error) {
	if len(text) > MaxSchema {
		return nil, fmt.Errorf("it is %d bytes long, the limit is %d", len(text), MaxSchema)
	}
	document, err := Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	r := &reader{document: document, following: []string{""}}
	r.patterns = map[string]*regexp2.Regexp{}
	r.root, err = r.schema(document, 0)
	return r, err
}

type reader struct {
	Schema
	document  any
	following []string // pointers of the open references, the outermost first
	written   int
}

func (r *reader) write(bytes int) error {
	if r.written += bytes; r.written > maxWhole {
		return fmt.Errorf("with all that is referred to, the limit of %d bytes is passed", maxWhole)
	}
	return nil
}

func (r *reader) schema(v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("schemas are nested deeper than %d", maxNesting)
	}
	if err := r.write(perSchema); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case map[string]any:
		return r.object(v, depth)
	}
	return nil, errors.New("a schema must be an object or a boolean")
}

func (r *reader) object(in map[string]any, depth int) (any, error) {
	out, target := map[string]any{}, any(nil)
	for _, keyword := range slices.Sorted(maps.Keys(in)) {
		var err error
		v, to := in[keyword], keyword
		if right := keywords()[aggregate.Form(keyword)]; right != "" && right != keyword {
			return nil, aggregate.Problem{Field: keyword, Code: "must be written " + right}
		}
		list, isList := v.([]any)
		_, tuple := in["items"].([]any)
		switch keyword {
		case "$defs", "definitions", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment":
			continue
		case "$ref":
			target, err = r.follow(v, depth+1)
		case "$dynamicRef", "$recursiveRef":
			err = errors.New("only $ref is followed")
		case "$id":
			if depth > 0 {
				err = errors.New("only the whole may have one")
			}
		case "dependencies", "dependentRequired", "dependentSchemas", "contains", "minContains", "maxContains",
			"unevaluatedItems", "unevaluatedProperties": // no published tool has one
			err = errors.New("values are not held against it")
		case "not", "if", "then", "else", "propertyNames", "additionalProperties":
			out[to], err = r.schema(v, depth+1)
		case "additionalItems":
			if tuple {
				out["items"], err = r.schema(v, depth+1)
			}
		case "items":
			if !tuple {
				out[to], err = r.schema(v, depth+1)
				break
			}
			to = "prefixItems"
			fallthrough
		case "prefixItems", "allOf", "anyOf", "oneOf":
			if !isList || len(list) == 0 {
				err = errors.New("it must be a list of schemas")
				break
			}
			out[to], err = r.list(list, depth+1)
		case "properties", "patternProperties":
			out[to], err = r.named(keyword, v, depth+1)
		default:
			out[to] = v
			err = r.data(keyword, v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyword, err)
		}
	}
	if target == nil {
		return out, nil
	}
	return beside(out, target), nil
}

func (r *reader) list(in []any, depth int) (any, error) {
	out := make([]any, len(in))
	for i, s := range in {
		var err error
		if out[i], err = r.schema(s, depth); err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return out, nil
}

func (r *reader) named(keyword string, v any, depth int) (any, error) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it must be an object of schemas")
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		err := r.write(len(name))
		if err == nil && keyword == "patternProperties" {
			err = r.form(name)
		}
		if err == nil {
			out[name], err = r.schema(members[name], depth)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// beside puts a reference's target beside the other keywords of the schema that refers to it.
func beside(out map[string]any, target any) any {
	members, isObject := target.(map[string]any)
	words := []string{"title", "description", "default", "examples", "deprecated"}
	for keyword := range out {
		isObject = isObject && slices.Contains(words, keyword)
	}
	if isObject {
		whole := maps.Clone(members)
		maps.Copy(whole, out)
		return whole
	}
	out["allOf"] = append([]any{target}, listOf(out["allOf"])...)
	return out
}

// follow reads a reference's target. References can't leave the document or form circles, so each schema is finite.
func (r *reader) follow(v any, depth int) (any, error) {
	ref, _ := v.(string)
	fragment, here := strings.CutPrefix(ref, "#")
	if !here {
		return nil, fmt.Errorf("%q: schemas may not refer to other documents", ref)
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	if slices.Contains(r.following, pointer) {
		return nil, fmt.Errorf("%q: schemas may not refer to themselves", ref)
	}
	target, ok := locate(r.document, pointer)
	if !ok {
		return nil, fmt.Errorf("%q: there is no such schema", ref)
	}
	r.following = append(r.following, pointer)
	x, err := r.schema(target, depth)
	r.following = r.following[:len(r.following)-1]
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	return x, nil
}

func locate(v any, pointer string) (any, bool) {
	steps := strings.Split(pointer, "/")
	if steps[0] != "" {
		return nil, false
	}
	for _, step := range steps[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		object, _ := v.(map[string]any)
		member, ok := object[step]
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(listOf(v)) {
			member, ok = listOf(v)[i], true
		}
		if !ok {
			return nil, false
		}
		v = member
	}
	return v, true
}

// keywords are those of JSON Schema that anybody reads, by aggregate.Form: some readers take one in other letters for
// the same, and others ignore it.
var keywords = sync.OnceValue(func() map[string]string {
	const all = "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema $vocabulary " +
		"additionalItems additionalProperties allOf anyOf const contains default definitions dependencies " +
		"dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum " +
		"exclusiveMinimum format if items maxContains maxItems maxLength maxProperties maximum minContains " +
		"minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems " +
		"properties propertyNames readOnly required then title type unevaluatedItems unevaluatedProperties " +
		"uniqueItems writeOnly"
	by := map[string]string{}
	for name := range strings.FieldsSeq(all) {
		by[aggregate.Form(name)] = name
	}
	return by
})

// types are what a value may be.
var types = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

// data checks the value of a keyword that is no schema. It ignores keywords that it doesn't know.
func (r *reader) data(keyword string, v any) error {
	number, _ := v.(json.Number)
	n := exact(number)
	switch keyword {
	case "type":
		all, several := v.([]any)
		if !several {
			all = []any{v}
		}
		for _, one := range all {
			if text, _ := one.(string); !slices.Contains(types, text) {
				return fmt.Errorf("there is no type %v", one)
			}
		}
		if len(all) == 0 {
			return errors.New("it names no type")
		}
	case "uniqueItems":
		if _, is := v.(bool); !is {
			return errors.New("it must be true or false")
		}
	case "pattern":
		text, is := v.(string)
		if !is {
			return errors.New("it must be a text")
		}
		if err := r.form(text); err != nil {
			return err
		}
	case "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum":
		if n == nil || keyword == "multipleOf" && n.Sign() <= 0 {
			return errors.New("it must be a number, and multipleOf must be above 0")
		}
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties":
		if n == nil || !n.IsInt() || n.Sign() < 0 {
			return errors.New("it must be a whole number")
		}
	case "required":
		list, is := v.([]any)
		if !is || slices.ContainsFunc(list, func(x any) bool { _, text := x.(string); return !text }) {
			return errors.New("it must be a list of names")
		}
	case "enum", "const":
		var found problems
		if found.measure(v, nil); keyword == "enum" && listOf(v) == nil || len(found) > 0 {
			return errors.New("it must be a list, or const, without a number that is too large")
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.write(len(b))
}

// form reads a pattern as ECMA 262 defines it, which is what JSON Schema asks for. It goes back and tries again, so its
// time is bounded.
func (r *reader) form(text string) error {
	if len(text) > maxPattern {
		return fmt.Errorf("the pattern is %d bytes long, the limit is %d", len(text), maxPattern)
	}
	// Schemas are read with the u flag, as validators do; some that are published are patterns only without it.
	stack := regexp2.OptionMaxBacktrackingStackSize(maxStack)
	form, err := regexp2.Compile(text, regexp2.ECMAScript|regexp2.Unicode, stack)
	if err != nil {
		if form, err = regexp2.Compile(text, regexp2.ECMAScript, stack); err != nil {
			return fmt.Errorf("not a pattern of ECMA 262: %w", err)
		}
		if strings.Contains(text, `\p`) || strings.Contains(text, `\P`) {
			return fmt.Errorf("a class of characters of the pattern %q is not known", text)
		}
	}
	form.MatchTimeout = patience
	r.patterns[text] = form
	return nil
}
