package task

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
)

// maxPlain is how large an answer may be without being compressed: Lambda hands over 6 MB at most.
const maxPlain = 1 << 20

// errExpired: a value was deleted when its time was over.
var errExpired = fmt.Errorf("%w: %w", aggregate.ErrNotFound, large.ErrExpired)

// sendResult sends a table of a step's result, or all of its values, as a file for spreadsheets: 1.csv is the first
// table, values.csv what is in no table, and all.csv the first table or, where there is none, the values.
func (c *Pages) sendResult(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.taskOf(r, v)
	if err != nil {
		return err
	}
	row := StepAt(a, r.PathValue("step"))
	name, isCSV := strings.CutSuffix(r.PathValue("file"), ".csv")
	if row == nil || row.Result == nil || !isCSV {
		return aggregate.ErrNotFound
	}
	text, err := c.Results.Open(r.Context(), a.Ref(), *row.Result)
	if errors.Is(err, large.ErrExpired) {
		return errExpired
	}
	if err != nil {
		return err
	}
	values, ok := card.ResultValues(text, v.Locale)
	table, found := tableNamed(values, name)
	if !ok || !found {
		return aggregate.ErrNotFound
	}
	return sendFile(
		w, r, fmt.Sprintf("ringi-%s-%s-%s.csv", a.Head.TaskID, r.PathValue("step"), name), "text/csv; charset=utf-8",
		CSV(table),
	)
}

// tableNamed is the table that a file's name asks for.
func tableNamed(values []card.Value, name string) (t card.Table, ok bool) {
	var tables []card.Table
	t.Columns = []string{"name", "value"}
	for _, v := range values {
		if v.Table != nil {
			tables = append(tables, *v.Table)
		}
		for _, text := range v.Texts {
			t.Rows = append(t.Rows, []string{v.Name, text})
		}
	}
	number, err := strconv.Atoi(name)
	switch {
	case name == "values", name == "all" && len(tables) == 0:
		return t, true
	case name == "all":
		return tables[0], true
	case err == nil && number >= 1 && number <= len(tables):
		return tables[number-1], true
	}
	return card.Table{}, false
}

func sendFile(w http.ResponseWriter, r *http.Request, name, kind string, body []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	if len(body) > maxPlain && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(body) // into memory: it can't fail
		z.Close()
		body = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
	}
	_, err := w.Write(body)
	return err
}

// showSent shows what a model was sent, to the requester and administrators alone.
func (c *Pages) showSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.taskOf(r, v)
	if err != nil {
		return err
	}
	if !mayReadPrompts(v, a) {
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}
	}
	return c.ShowKept(w, r, v, a.Ref(), a.Uses, "/console/tasks/"+a.Head.TaskID, "task")
}
