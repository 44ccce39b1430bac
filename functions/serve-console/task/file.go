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
	"ringi/shared/store/large"
)

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
	values, ok := web.ResultValues(text)
	table, found := tableNamed(values, name)
	if !ok || !found {
		return aggregate.ErrNotFound
	}
	name = fmt.Sprintf("ringi-%s-%s-%s.csv", a.Head.TaskID, r.PathValue("step"), name)
	return web.AttachCSV(w, r, name, append([][]string{table.Columns}, table.Rows...))
}

// tableNamed returns the table for a file name.
func tableNamed(values []web.Value, name string) (t web.Sheet, ok bool) {
	var tables []web.Sheet
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
	case name == "values", name == "1" && len(tables) == 0:
		return t, true
	case err == nil && number >= 1 && number <= len(tables):
		return tables[number-1], true
	}
	return web.Sheet{}, false
}

// sendSent sends what models were sent for a request. Only the requester and administrators may see it.
func (c *Pages) sendSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	if !mayReadPrompts(v, a) {
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}
	}
	return c.SendSent(w, r, a.Ref(), a.Uses)
}

// mostServed is the largest file that the console serves itself, in bytes: Lambda limits answers to 6 MB, in which a
// third more stands for bytes that are no text. A larger one is fetched from the bucket by a link of a minute.
const mostServed = 4 << 20

// shielded is the policy of a file that browsers show by themselves: it runs nothing, loads nothing, and has no origin.
const shielded = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// sendFile sends a file of the request, to be saved or, if it is asked for and browsers can, to be looked at.
func (c *Pages) sendFile(w http.ResponseWriter, r *http.Request, _ *web.Viewer, a *task.Aggregate) error {
	f := a.AttachedAs(r.PathValue("sum"))
	if f == nil {
		return aggregate.ErrNotFound
	}
	if f.Bytes > mostServed {
		address, err := c.Results.AttachedAddress(r.Context(), a.Ref(), f.SHA256, f.SavedAs())
		if err != nil {
			return err
		}
		http.Redirect(w, r, address, http.StatusSeeOther)
		return nil
	}
	body, err := c.Results.Attached(r.Context(), a.Ref(), f.SHA256)
	if errors.Is(err, large.ErrExpired) {
		return fmt.Errorf("%w: %w: %w", web.ErrExpired, aggregate.ErrNotFound, err)
	}
	if err != nil {
		return err
	}
	kept := large.Attachment(f.SavedAs())
	if r.URL.Query().Has("view") && f.Kind.Previewed() {
		kept = "inline" + strings.TrimPrefix(kept, "attachment")
	}
	w.Header().Set("Content-Security-Policy", shielded)
	return web.Serve(w, f.Kind.MediaType(), kept, body)
}
