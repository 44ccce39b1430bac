package webapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rule checks one value. at is the value's JSON pointer.
type rule func(c *checker, at string, v any)

// shape lists an object's fields. A name that starts with "!" is required.
// The field "type" is always allowed.
type shape struct {
	fields map[string]rule
	also   func(c *checker, at string, m map[string]any)
}

func (c *checker) object(at string, m map[string]any, s shape) {
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		key, required := strings.CutPrefix(name, "!")
		v, present := m[key]
		if !present || v == nil {
			if required {
				c.add(at, "missing required field: %s", key)
			}
			continue
		}
		s.fields[name](c, at+"/"+key, v)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		_, optional := s.fields[key]
		_, required := s.fields["!"+key]
		if !optional && !required && key != "type" {
			c.add(at, "invalid additional property: %s", key)
		}
	}
	if s.also != nil {
		s.also(c, at, m)
	}
}

// str is a string whose length, as Units counts it, is between least and most.
func str(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		if !ok {
			c.add(at, "must provide a string")
			return
		}
		n := Units(s)
		if n < least {
			c.add(at, "must be more than %d characters", least-1)
		}
		if n > most {
			c.add(at, "must be less than %d characters", most+1)
		}
	}
}

// text is a text object of one of the kinds, with at most most characters.
func text(most int, kinds ...string) rule {
	return func(c *checker, at string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.add(at, "must provide an object")
			return
		}
		kind, _ := m["type"].(string)
		if !slices.Contains(kinds, kind) {
			c.add(at+"/type", "must be a valid enum value: %s", strings.Join(kinds, ", "))
			return
		}
		fields := map[string]rule{"!text": str(1, most)}
		if kind == "plain_text" {
			fields["emoji"] = boolean
		} else {
			fields["verbatim"] = boolean
		}
		c.object(at, m, shape{fields: fields})
	}
}

func plain(most int) rule { return text(most, "plain_text") }
func rich(most int) rule  { return text(most, "plain_text", "mrkdwn") }

func boolean(c *checker, at string, v any) {
	if _, ok := v.(bool); !ok {
		c.add(at, "must be a boolean")
	}
}

func number(least, most int) rule {
	return func(c *checker, at string, v any) {
		f, ok := v.(float64)
		if !ok || f != float64(int(f)) {
			c.add(at, "must be an integer")
			return
		}
		if int(f) < least {
			c.add(at, "must be greater than or equal to %d", least)
		}
		if int(f) > most {
			c.add(at, "must be less than or equal to %d", most)
		}
	}
}

func enum(values ...string) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			c.add(at, "must be a valid enum value: %s", strings.Join(values, ", "))
		}
	}
}

// list is an array of least to most items, each of which must satisfy item.
func list(least, most int, item rule) rule {
	return func(c *checker, at string, v any) {
		items, ok := v.([]any)
		if !ok {
			c.add(at, "must be an array")
			return
		}
		if len(items) < least {
			c.add(at, "no fewer than %d items allowed", least)
		}
		if len(items) > most {
			c.add(at, "no more than %d items allowed", most)
			return
		}
		for i, e := range items {
			item(c, fmt.Sprintf("%s/%d", at, i), e)
		}
	}
}

// obj is an object with the fields of a shape.
func obj(s shape) rule {
	return func(c *checker, at string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			c.add(at, "must provide an object")
			return
		}
		c.object(at, m, s)
	}
}

// element is an interactive element of one of the kinds.
func element(kinds ...string) rule {
	return func(c *checker, at string, v any) {
		all, allowed := elementShapes(), map[string]shape{}
		for _, k := range kinds {
			allowed[k] = all[k]
		}
		c.typed(at, v, allowed, "element")
	}
}
