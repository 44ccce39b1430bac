package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"ringi/functions/serve-console/story"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// maxPlain is how large an answer may be without being compressed: Lambda hands over 6 MB at most.
const maxPlain = 1 << 20

// errExpired: a value was deleted when its time was over.
var errExpired = fmt.Errorf("%w: %w", aggregate.ErrNotFound, large.ErrExpired)

// sendResult sends a table of a step's result, or all of its values, as a file for spreadsheets: 1.csv is the first table,
// values.csv what is in no table, and all.csv the first table or, where there is none, the values.
func (c *Console) sendResult(w http.ResponseWriter, r *http.Request, v *viewer) error {
	a, err := c.loaded(r, v)
	if err != nil {
		return err
	}
	row := story.StepAt(a, r.PathValue("step"))
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
	return sendFile(w, r, fmt.Sprintf("ringi-%s-%s-%s.csv", a.Head.TaskID, r.PathValue("step"), name), "text/csv; charset=utf-8", story.CSV(table))
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

// sentPage is what a model was sent.
type sentPage struct {
	Of                  string // what the calls were made for, as the texts have it
	Back, Model, Prompt string
	Parts               []story.Part
	Left                int // parts that are not shown
	Expired             bool
}

// showSent shows what a model was sent, to the requester and administrators alone.
func (c *Console) showSent(w http.ResponseWriter, r *http.Request, v *viewer) error {
	a, err := c.loaded(r, v)
	if err != nil {
		return err
	}
	if !mayReadPrompts(v, a) {
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}
	}
	use := useOf(a, r.PathValue("use"))
	if use == nil || !use.Kept() {
		return aggregate.ErrNotFound
	}
	return c.showKept(w, r, v, a.Ref(), use, "/console/tasks/"+a.Head.TaskID, "task")
}

// showKept shows what was kept of calls that an aggregate made; back is where it was chosen.
func (c *Console) showKept(w http.ResponseWriter, r *http.Request, v *viewer, of aggregate.Ref, use *aggregate.Use, back, what string) error {
	p := sentPage{Of: what, Back: back, Model: legible.OneLine(use.Model), Prompt: legible.OneLine(use.Prompt)}
	text, err := c.Results.Open(r.Context(), of, *use.Sent)
	switch {
	case errors.Is(err, large.ErrExpired):
		p.Expired = true
	case err != nil:
		return err
	default:
		p.Parts, p.Left = story.Parts(text)
	}
	here := map[string]string{"task": "tasks", "conversation": "agents", "contest": "contests"}[what]
	return c.show(w, r, v, document{Title: v.texts("sent").Say("title"), Here: here, Data: p}, "sent.html")
}

// useOf is the row of calls with this id.
func useOf(a *task.Aggregate, id string) *aggregate.Use {
	for _, u := range a.Uses {
		if u.ID == id {
			return u
		}
	}
	return nil
}
