package subject

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

// Limits on what a page shows of a result: table rows, and texts outside tables. The page counts the rest.
const (
	maxRows  = 100
	maxTexts = 200
	maxText  = 4000 // characters of one text
)

// Result is what a page shows of a step's result.
type Result struct {
	Values  []Part
	Left    int // values that are not shown
	Expired bool
	Unread  bool   // it was not opened; its file has it
	Preview string // the beginning of one that is no JSON
}

// Part is a part of a result: a text, or a table. Personal data is masked where cards mask it.
type Part struct {
	Name   string // the names that lead to it
	Text   string
	Table  *Sheet // nil: it is a text
	Number int    // of the table, from 1
	Left   int    // rows that are not shown
}

// Sheet shows a list of objects or of lists.
type Sheet struct {
	Columns []string
	Rows    [][]string
}

func (r Reader) result(s Source, b *aggregate.Blob) *Result {
	if b == nil {
		return nil
	}
	out := &Result{}
	text := []byte(b.JSON)
	if v, opened := s.Opened[b.S3Key]; opened && b.S3Key != "" {
		text, out.Expired = v.JSON, v.Expired
	}
	if out.Expired || len(text) == 0 {
		out.Unread = b.S3Key != ""
		return out
	}
	parts, ok := partsOf(text)
	if !ok {
		out.Preview = language.Spelled(language.Mask(language.Beginning(string(text), maxText)))
		return out
	}
	out.Left = max(0, len(parts)-maxTexts)
	out.Values = web.Each(parts[:len(parts)-out.Left], Part.shown)
	return out
}

// shown returns a part with invisible characters spelled out, and at most maxRows rows and maxText characters of a
// text.
func (p Part) shown() Part {
	begin := func(text string) string { return language.Spelled(language.Beginning(text, maxText)) }
	p.Name, p.Text = language.OneLine(p.Name), begin(p.Text)
	if p.Table != nil {
		p.Left = max(0, len(p.Table.Rows)-maxRows)
		p.Table = &Sheet{web.Each(p.Table.Columns, language.OneLine), web.Each(p.Table.Rows[:len(p.Table.Rows)-p.Left],
			func(row []string) []string { return web.Each(row, begin) })}
	}
	return p
}

// partsOf returns a step's result, with personal data masked. ok is false if the result isn't JSON.
func partsOf(text []byte) (parts []Part, ok bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return nil, false
	}
	v = language.MaskAll(v)
	if members, isObject := v.(map[string]any); !isObject || len(members) == 0 {
		v = map[string]any{"result": v}
	}
	parts, tables := flatten(nil, "", v), 0
	for i := range parts {
		if parts[i].Table != nil {
			tables++
			parts[i].Number = tables
		}
	}
	return parts, true
}

// flatten adds the members of objects one by one. Different results give different lists.
func flatten(out []Part, name string, v any) []Part {
	part := Part{Name: name}
	switch v := v.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			out = flatten(out, strings.TrimPrefix(name+explain.PathSign+memberName(member), explain.PathSign), v[member])
		}
		if len(v) > 0 {
			return out
		}
	case []any:
		part.Table = tableOf(v)
	}
	if part.Table == nil {
		part.Text = plainly(v)
	}
	return append(out, part)
}

// tableOf makes a table of a list if all its items are objects or all are lists.
func tableOf(list []any) *Sheet {
	var keys []string
	width, objects := 0, 0
	for _, item := range list {
		switch item := item.(type) {
		case map[string]any:
			objects++
			keys = slices.AppendSeq(keys, maps.Keys(item))
		case []any:
			width = max(width, len(item))
		default:
			return nil
		}
	}
	if len(keys) == 0 && width == 0 || objects > 0 && objects < len(list) {
		return nil
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	keys = slices.Compact(keys)
	t := &Sheet{Columns: web.Each(keys, memberName)}
	for i := range width {
		t.Columns = append(t.Columns, fmt.Sprint(i+1))
	}
	for _, item := range list {
		row := make([]string, len(t.Columns))
		switch item := item.(type) {
		case map[string]any:
			for i, key := range keys {
				if v, had := item[key]; had {
					row[i] = plainly(v)
				}
			}
		case []any:
			for i, v := range item {
				row[i] = plainly(v)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rank orders columns: ids that identify a row come first, then names.
func rank(key string) int {
	switch lower := strings.ToLower(key); {
	case lower == "id" || lower == "num" || strings.HasSuffix(lower, "_id"):
		return 0
	case strings.Contains(lower, "name") || lower == "title" || lower == "label":
		return 1
	}
	return 2
}

// plainly shows a value. A text stands in quotation marks only if it could be taken for another type, as "5".
func plainly(v any) string {
	if text, is := v.(string); is {
		return language.Literal(text)
	}
	text, _ := aggregate.Written(v) // can't fail for decoded JSON
	return string(text)
}

// memberName quotes a member's name that could be taken for an item's number or for two names.
func memberName(name string) string {
	if strings.Contains(name, strings.TrimSpace(explain.PathSign)) {
		return language.Quoted(name)
	}
	return language.Literal(name)
}

// sendResult sends a step's result as a CSV file: 1.csv is the first table, values.csv the values outside tables.
func (c *Pages) sendResult(w http.ResponseWriter, r *http.Request, _ *web.Viewer, a *task.Aggregate) error {
	i := slices.IndexFunc(a.Steps, func(s *task.StepResult) bool {
		return Key(s.ProcessVersion, s.Attempt, s.Order) == r.PathValue("step")
	})
	name, isCSV := strings.CutSuffix(r.PathValue("file"), ".csv")
	if i < 0 || a.Steps[i].Result == nil || !isCSV {
		return aggregate.ErrNotFound
	}
	text, err := c.Results.Open(r.Context(), a.Ref(), *a.Steps[i].Result)
	if errors.Is(err, large.ErrExpired) {
		return fmt.Errorf("%w: %w: %w", web.ErrExpired, aggregate.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	parts, ok := partsOf(text)
	table, found := tableNamed(parts, name)
	if !ok || !found {
		return aggregate.ErrNotFound
	}
	name = fmt.Sprintf("ringi-%s-%s-%s.csv", a.Head.TaskID, r.PathValue("step"), name)
	return web.AttachCSV(w, r, name, append([][]string{table.Columns}, table.Rows...))
}

// tableNamed returns the table for a file name.
func tableNamed(parts []Part, name string) (t Sheet, ok bool) {
	number, err := strconv.Atoi(name)
	t.Columns = []string{"name", "value"}
	tables := 0
	for _, p := range parts {
		switch {
		case p.Table == nil:
			t.Rows = append(t.Rows, []string{p.Name, p.Text})
		case err == nil && p.Number == number:
			return *p.Table, true
		default:
			tables++
		}
	}
	return t, name == "values" || name == "1" && tables == 0
}
