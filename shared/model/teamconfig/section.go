package teamconfig

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// reading is the state of reading one configuration.
type reading struct {
	w      Workspace
	found  []Finding
	models []Named
	bytes  int // read so far
}

// section is a table of a file. end reports every key that nothing has read.
type section struct {
	r     *reading
	file  string // the file that has the table
	path  string // prefix of its keys in messages: "members[0]."
	keys  map[string]any
	from  map[string]string // the file of each key that comes from another file
	taken map[string]bool
	torn  bool // the file with further keys could not be read
}

func (r *reading) section(file, path string, keys map[string]any) *section {
	return &section{r: r, file: file, path: path, keys: keys, taken: map[string]bool{}}
}

// topTable returns a file's only table. Without one it records a finding and returns nil. what names the kind of file.
func (r *reading) topTable(file, path, key, what string, tables map[string]any) *section {
	if tables == nil {
		return nil
	}
	whole := r.section(file, path, tables)
	if _, steps := whole.take("workflow"); steps {
		whole.refuse("workflow", "can't be played: Ringi has no fixed steps. Write a [team] with these executors as members")
		return nil
	}
	keys := whole.table(key)
	if _, ok := tables[key]; !ok {
		whole.refuse(key, "is required: %s's file has a table [%s]", what, key)
	}
	whole.end()
	if keys == nil {
		return nil
	}
	return r.section(file, path, keys)
}

// refuse records a mistake.
func (s *section) refuse(key, format string, a ...any) {
	s.record(key, false, fmt.Sprintf(format, a...))
}

// warn records a part of the file that has no effect.
func (s *section) warn(key, format string, a ...any) {
	s.record(key, true, fmt.Sprintf(format, a...))
}

func (s *section) record(key string, warning bool, message string) {
	file, field := s.fileOf(key), s.path+key
	if key == "" {
		field = strings.TrimSuffix(s.path, ".")
	}
	value := s.keys[key]
	if _, list := value.([]any); list && !strings.HasPrefix(message, "must be") {
		value = nil // the message quotes the element of the list
	}
	if !s.taken[key] && secretive(key) {
		value = nil // it may be secret, and cards and consoles show it
	}
	s.r.found = append(s.r.found, Finding{File: file, Field: field, Value: written(value), Message: message,
		Warning: warning})
}

// take returns a key's value.
func (s *section) take(key string) (any, bool) {
	s.taken[key] = true
	v, ok := s.keys[key]
	return v, ok
}

// fileOf returns the file that a key stands in.
func (s *section) fileOf(key string) string {
	if f, ok := s.from[key]; ok {
		return f
	}
	return s.file
}

// typed returns a key's value of type T, or false if the key is not set. A value of another type gives false and a
// finding, whose message says that it must be what.
func typed[T any](s *section, key, what string) (value T, ok bool) {
	v, set := s.take(key)
	if value, ok = v.(T); set && !ok {
		s.refuse(key, "must be %s", what)
	}
	return value, ok
}

// listed returns a key's list of Ts, nil if the key is not set. Any other value is recorded: it "must be" what.
func listed[T any](s *section, key, what string) []T {
	all, ok := typed[[]any](s, key, what)
	if !ok {
		return nil
	}
	list := make([]T, len(all))
	for i, x := range all {
		if list[i], ok = x.(T); !ok {
			s.refuse(key, "must be %s", what)
			return nil
		}
	}
	return list
}

// text returns a key's text, or nil if the key is not set. A value of another type is recorded.
func (s *section) text(key string) *string {
	if t, ok := typed[string](s, key, "a string"); ok {
		return &t
	}
	return nil
}

// needed returns a text. It records a finding if the text is not set or blank.
func (s *section) needed(key string) string {
	if _, ok := s.keys[key]; !ok {
		if s.take(key); !s.torn {
			s.refuse(key, "is required")
		}
		return ""
	}
	t := s.text(key)
	if t == nil {
		return ""
	}
	if blank(*t) {
		s.refuse(key, "must not be empty")
	}
	return *t
}

// instruction reads the system instruction: a text, or a table that has the text under the key text.
func (s *section) instruction() *string {
	const key = "system_instruction"
	table, ok := s.keys[key].(map[string]any)
	if !ok {
		return s.text(key)
	}
	s.take(key)
	inner := s.r.section(s.fileOf(key), s.path+key+".", table)
	t := inner.text("text")
	if _, ok := table["text"]; !ok {
		inner.refuse("text", "is required")
	}
	inner.end()
	return t
}

// number returns a key's number from 0 to most.
func (s *section) number(key string, most float64) *float64 {
	v, ok := s.take(key)
	if !ok {
		return nil
	}
	var x float64
	switch v := v.(type) {
	case float64:
		x = v
	case int64:
		x = float64(v)
	default:
		s.refuse(key, "must be a number")
		return nil
	}
	if !(x >= 0 && x <= most) {
		s.refuse(key, "must be 0.0 to %s", decimal(most))
		return nil
	}
	return &x
}

// decimal writes a bound as files write decimals.
func decimal(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// noMost is the bound of whole numbers that have no other. As seconds it still fits into a time.Duration.
const noMost = math.MaxInt32

// whole returns a key's whole number within bounds.
func (s *section) whole(key string, least, most int) *int {
	v, ok := s.take(key)
	if !ok {
		return nil
	}
	n, ok := v.(int64)
	if x, isFloat := v.(float64); isFloat && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		n, ok = int64(x), true
	}
	switch {
	case !ok:
		s.refuse(key, "must be a whole number")
	case n < int64(least) && most >= noMost:
		s.refuse(key, "must be %d or more", least)
	case n < int64(least), n > int64(most):
		s.refuse(key, "must be %d to %d", least, most)
	default:
		return new(int(n))
	}
	return nil
}

func (s *section) wholeOr(unset, least, most int, key string) int {
	if n := s.whole(key, least, most); n != nil {
		return *n
	}
	return unset
}

// table returns a key's table, or nil if it is not set or no table.
func (s *section) table(key string) map[string]any {
	t, _ := typed[map[string]any](s, key, "a table")
	return t
}

// list returns a key's list of tables. header shows in messages how a file writes such a table.
func (s *section) list(key, header string) []map[string]any {
	return listed[map[string]any](s, key, "a list of tables: "+header)
}

// model returns the name of a model, or unset if the key is not set.
func (s *section) model(key, unset string) string {
	if _, ok := s.keys[key]; !ok && unset != "" {
		s.take(key)
		s.names(key, unset)
		return unset
	}
	name := s.needed(key)
	if blank(name) {
		return name
	}
	n, err := aggregate.ParseModelName(name)
	provider, _, named := strings.Cut(name, ":")
	if err == nil && provider == aggregate.GrokResponses {
		s.warn(key, "is called as %s: the model answers, but without xAI's own tools",
			legible.Beginning(n.String(), maxShown))
	}
	if err != nil {
		if named && !slices.Contains(aggregate.ModelProviders, provider) && provider != aggregate.GoogleGLA {
			s.refuse(key, "has the unknown prefix %q; Ringi knows %s, %s and %s", legible.Beginning(provider, maxShown)+":",
				strings.Join(aggregate.ModelProviders, ", "), aggregate.GoogleGLA, aggregate.Grok)
			return name
		}
		s.refuse(key, "isn't a model name: use <provider>:<model>, or a name that starts with claude-, gpt-, gemini-, or "+
			"o1, o3 and so on")
		return name
	}
	s.names(key, name)
	return name
}

// names notes where a model is named. One that a file leaves out is noted at the first of its places in that file.
func (s *section) names(key, model string) {
	file, _ := s.from[key]
	n := Named{File: cmp.Or(file, s.file), Field: s.path + key, Model: model}
	_, n.Set = s.keys[key]
	again := func(x Named) bool { return x.File == n.File && x.Model == n.Model }
	if n.Set || !slices.ContainsFunc(s.r.models, again) {
		s.r.models = append(s.r.models, n)
	}
}

// call reads the settings of a model's call, with the bounds for all agents but leaders.
func (s *section) call() Call { return s.callWithin(0, noMost) }

// callWithin reads the same settings with other bounds for the timeout.
func (s *section) callWithin(least, most int) Call {
	s.ignored("a call has the fields that are named here, whatever its model's vendor", "model_settings",
		"google_model_settings")
	return Call{
		Temperature: s.number("temperature", 2), MaxTokens: s.whole("max_tokens", 1, noMost),
		TimeoutSeconds: s.whole("timeout_seconds", least, most),
		MaxRetries:     s.whole("max_retries", 0, noMost),
		StopSequences:  listed[string](s, "stop_sequences", "a list of strings"),
		TopP:           s.number("top_p", 1), Seed: s.seed(),
	}
}

func (s *section) seed() *int { return s.whole("seed", math.MinInt, math.MaxInt) }

func (s *section) ignored(why string, keys ...string) {
	for _, key := range keys {
		if _, ok := s.take(key); ok {
			s.warn(key, "has no effect: %s", why)
		}
	}
}

// end refuses every key that nothing has read.
func (s *section) end() {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		switch {
		case s.taken[key]:
		default:
			s.refuse(key, "isn't a known field here")
		}
	}
}

// secretive reports whether a key's name suggests a secret.
func secretive(key string) bool {
	return slices.ContainsFunc([]string{"key", "token", "secret", "passw", "credential", "auth"}, func(of string) bool {
		return strings.Contains(strings.ToLower(key), of)
	})
}

// blank reports whether a text has no visible character. An ideographic space is not visible either.
func blank(s string) bool { return !legible.Text(s) }
