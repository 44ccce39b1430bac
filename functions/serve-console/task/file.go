package task

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
)

// maxPlain is the largest uncompressed answer: Lambda limits answers to 6 MB.
const maxPlain = 1 << 20

// sendResult sends a step's result as a CSV file: 1.csv is the first table, values.csv the values outside tables, and
// all.csv the first table or, without one, the values.
func (c *Pages) sendResult(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
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
	values, ok := card.ResultValues(text)
	table, found := tableNamed(values, name)
	if !ok || !found {
		return aggregate.ErrNotFound
	}
	body := web.CSV(table)
	if len(body) > maxPlain && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = web.Zipped(body)
		w.Header().Set("Content-Encoding", "gzip")
	}
	name = fmt.Sprintf("ringi-%s-%s-%s.csv", a.Head.TaskID, r.PathValue("step"), name)
	return web.Attach(w, web.KindCSV, name, body)
}

// tableNamed returns the table for a file name.
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

// showSent shows a prompt as it was sent to a model. Only the requester and administrators may see it.
func (c *Pages) showSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	if !mayReadPrompts(v, a) {
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}
	}
	back := "/console/tasks/" + a.Head.TaskID
	return c.ShowKept(w, r, v, a.Ref(), a.Uses, back, "task",
		func(u *aggregate.Use) (string, error) { return answered(a, u.Made), nil })
}

// answered returns what model calls made, as Ringi took it in; "" if they made nothing that people read.
func answered(a *task.Aggregate, made string) string {
	if a.Task != nil && a.Task.Key() == made {
		return a.Task.Title + "\n\n" + a.Task.Description
	}
	if a.Answer != nil && a.Answer.Key() == made {
		return a.Answer.Sentence
	}
	if p := aggregate.Find(a.Prompts, made); p != nil {
		return p.Content
	}
	if p := aggregate.Find(a.Processes, made); p != nil {
		return plan(p)
	}
	if e := aggregate.Find(a.Executions, made); e != nil {
		return e.Summary
	}
	return ""
}

// plan writes steps as a list.
func plan(p *task.Process) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s — %s\n", s.Order, s.Name(), s.Tool)
		if s.Description != "" {
			fmt.Fprintf(&b, "   %s\n", s.Description)
		}
	}
	if p.Remarks != "" {
		fmt.Fprintf(&b, "\n%s\n", p.Remarks)
	}
	return b.String()
}
