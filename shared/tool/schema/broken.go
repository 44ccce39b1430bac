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
	decimal := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	is := func(x any) bool { return fmt.Sprint(x) == fmt.Sprint(v) }
	switch {
	case s.Enum != nil && !slices.ContainsFunc(s.Enum, is):
		return "enum", strings.Trim(fmt.Sprint(s.Enum), "[]")
	case isNumber && s.Minimum != nil && n < *s.Minimum:
		return "minimum", decimal(s.Minimum)
	case isNumber && s.Maximum != nil && n > *s.Maximum:
		return "maximum", decimal(s.Maximum)
	case isText && s.MinLength != nil && length < *s.MinLength:
		return "minLength", strconv.Itoa(*s.MinLength)
	case isText && s.MaxLength != nil && length > *s.MaxLength:
		return "maxLength", strconv.Itoa(*s.MaxLength)
	}
	return "", ""
}
