package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/tool"
)

// calls returns the functions of Ringi's own tools, by name.
func (r *Runner) calls() map[string]function {
	return map[string]function{
		"list_employees": with(func(ctx context.Context, c tool.Call, in struct {
			Department, Status string
			AsOf               string `json:"as_of"`
		}) (any, error) {
			return r.freee(c).ListEmployees(ctx, in.Status == "active", in.Department, in.AsOf)
		}),
		"list_departments": with(func(ctx context.Context, c tool.Call, in struct{ Department string }) (any, error) {
			return r.freee(c).ListDepartments(ctx, in.Department, c.Bounds.Departments)
		}),
		"list_positions": func(ctx context.Context, c tool.Call) (any, error) { return r.freee(c).ListPositions(ctx) },
		"list_attendance": with(func(ctx context.Context, c tool.Call, in struct {
			Year, Month int
			Employees   []Employee
		}) (any, error) {
			return r.freee(c).ListAttendance(ctx, in.Year, in.Month, in.Employees, c.Bounds.Departments)
		}),
		"calculate_overtime": with(calculateOvertime),
		"write_rows_to_google_sheet": with(func(ctx context.Context, c tool.Call, in Table) (any, error) {
			return r.sheets(c).Write(ctx, in)
		}),
		"send_slack_dm": with(r.sendDM),
	}
}

// with makes a call with its arguments, which fit the tool's schema.
func with[T any](do func(ctx context.Context, c tool.Call, in T) (any, error)) function {
	return func(ctx context.Context, c tool.Call) (any, error) {
		var in T
		if err := read(c, &in); err != nil {
			return nil, err
		}
		return do(ctx, c, in)
	}
}

// read decodes a call's arguments. Numbers in an any stay as they are written.
func read(c tool.Call, in any) error {
	d := json.NewDecoder(bytes.NewReader(c.Arguments.JSON()))
	d.UseNumber()
	if err := d.Decode(in); err != nil {
		return badArguments(c.Tool, err)
	}
	return nil
}

func (r *Runner) freee(c tool.Call) *Freee {
	chosen := func(ctx context.Context) (string, error) { return r.config.Company(ctx, c.Tenant) }
	address := cmp.Or(r.config.FreeeURL, "https://api.freee.co.jp/hr")
	return NewFreee(address, tokens{r, c, explain.Freee}, chosen, r.http, r.config.Now)
}

func calculateOvertime(_ context.Context, c tool.Call, in struct {
	Mode    string
	Records []Record
}) (any, error) {
	if in.Mode == "calculate" {
		return Calculate(in.Records, c.Locale), nil
	}
	if problems := Validate(in.Records); len(problems) > 0 {
		return nil, explain.Fail(explain.ProblemBadData, nil, len(problems), problems[0])
	}
	return Validated{Mode: in.Mode, Count: len(in.Records)}, nil
}

// Look returns the result of an earlier call with the same key and arguments if Ringi sees that it arrived: its own
// message, or just these rows in a sheet. found is false for any other tool, and if it can't look.
func (r *Runner) Look(ctx context.Context, c tool.Call) (result json.RawMessage, found bool) {
	if c.Pin != nil {
		return nil, false
	}
	var is any
	switch c.Tool {
	case "send_slack_dm":
		var in DirectMessage
		dm, err := r.dm(ctx, c)
		if err != nil || read(c, &in) != nil {
			return nil, false
		}
		sent, err := dm.Find(ctx, in, c.Key)
		is, found = sent, err == nil && sent.AlreadySent
	case "write_rows_to_google_sheet":
		var in Table
		if read(c, &in) != nil {
			return nil, false
		}
		is, found = r.sheets(c).Find(ctx, in)
	}
	result, err := aggregate.Written(is)
	return result, found && err == nil
}

func (r *Runner) sheets(c tool.Call) *Sheets {
	return NewSheets(cmp.Or(r.config.SheetsURL, "https://sheets.googleapis.com"), tokens{r, c, explain.Google}, r.http)
}

func (r *Runner) sendDM(ctx context.Context, c tool.Call, in DirectMessage) (any, error) {
	in.Below = BelowDM(c.Locale, c.Asked, c.Stamped)
	send := func() (any, error) {
		dm, err := r.dm(ctx, c)
		if err != nil {
			return nil, err
		}
		return dm.Send(ctx, in, c.Key)
	}
	sent, err := send()
	var e *explain.CallError
	if errors.As(err, &e) && e.Problem == explain.ProblemUnauthorized && r.config.SlackRefused != nil &&
		r.config.SlackRefused(ctx) {
		return send() // the refused attempt sent nothing, so it may be repeated
	}
	return sent, err
}
