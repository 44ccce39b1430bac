package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
)

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
