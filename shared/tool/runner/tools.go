package runner

import (
	"context"
	"encoding/json"

	"ringi/shared/tool"
	"ringi/shared/tool/freee"
	"ringi/shared/tool/overtime"
	"ringi/shared/tool/sheets"
	"ringi/shared/tool/slackdm"
)

// read fills in from the call's arguments, which fit the tool's schema.
func read(c tool.Call, in any) error {
	if err := json.Unmarshal(c.Arguments, in); err != nil {
		return badArguments(c.Tool, err)
	}
	return nil
}

func (r *Runner) freee(ctx context.Context, c tool.Call) (*freee.Client, error) {
	token, err := r.token(ctx, c, tool.Freee)
	if err != nil {
		return nil, err
	}
	return freee.New(r.config.FreeeURL, token, r.http, r.config.Now), nil
}

func (r *Runner) listEmployees(ctx context.Context, c tool.Call) (any, error) {
	var in struct {
		Status string `json:"status"`
	}
	if err := read(c, &in); err != nil {
		return nil, err
	}
	client, err := r.freee(ctx, c)
	if err != nil {
		return nil, err
	}
	return client.ListEmployees(ctx, in.Status == "active")
}

func (r *Runner) listAttendance(ctx context.Context, c tool.Call) (any, error) {
	var in struct {
		Year      int              `json:"year"`
		Month     int              `json:"month"`
		Employees []freee.Employee `json:"employees"`
	}
	if err := read(c, &in); err != nil {
		return nil, err
	}
	client, err := r.freee(ctx, c)
	if err != nil {
		return nil, err
	}
	return client.ListAttendance(ctx, in.Year, in.Month, in.Employees)
}

func (r *Runner) calculateOvertime(_ context.Context, c tool.Call) (any, error) {
	var in struct {
		Mode    string         `json:"mode"`
		Records []freee.Record `json:"records"`
	}
	if err := read(c, &in); err != nil {
		return nil, err
	}
	if in.Mode == "calculate" {
		return overtime.Calculate(in.Records), nil
	}
	if problems := overtime.Validate(in.Records); len(problems) > 0 {
		return nil, &tool.Error{Outcome: tool.Failed, Problem: tool.ProblemBadData, Args: []any{len(problems), problems[0]}}
	}
	return overtime.Validated{Mode: in.Mode, Count: len(in.Records)}, nil
}

func (r *Runner) writeRows(ctx context.Context, c tool.Call) (any, error) {
	var in sheets.Table
	if err := read(c, &in); err != nil {
		return nil, err
	}
	token, err := r.token(ctx, c, tool.Google)
	if err != nil {
		return nil, err
	}
	return sheets.New(r.config.SheetsURL, token, r.http).Write(ctx, in)
}

func (r *Runner) sendDM(ctx context.Context, c tool.Call) (any, error) {
	var in slackdm.Message
	if err := read(c, &in); err != nil {
		return nil, err
	}
	token, err := r.token(ctx, c, tool.Slack)
	if err != nil {
		return nil, err
	}
	return slackdm.New(r.config.SlackURL, token, r.http).Send(ctx, in, c.Key)
}
