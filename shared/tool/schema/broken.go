package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// broken returns at which of its schema's keywords a value fails that isn't valid, and what that keyword says; nothing
// for a keyword that Problem doesn't name.
func broken(s *jsonschema.Schema, v any) (keyword, limit string) {
	text, isText := v.(string)
	length := utf8.RuneCountInString(text)
	n, isNumber := v.(float64)
	if whole, is := v.(int64); is {
		n, isNumber = float64(whole), true
	}
	var values []string
	for _, x := range s.Enum {
		values = append(values, written(x))
	}
	switch {
	case s.Enum != nil && !slices.Contains(values, written(v)):
		return "enum", strings.Join(values, ", ")
	case isNumber && s.Minimum != nil && n < *s.Minimum:
		return "minimum", written(*s.Minimum)
	case isNumber && s.Maximum != nil && n > *s.Maximum:
		return "maximum", written(*s.Maximum)
	case isText && s.MinLength != nil && length < *s.MinLength:
		return "minLength", strconv.Itoa(*s.MinLength)
	case isText && s.MaxLength != nil && length > *s.MaxLength:
		return "maxLength", strconv.Itoa(*s.MaxLength)
	}
	return "", ""
}

// written returns a value as people write it.
func written(v any) string {
	if f, is := v.(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
