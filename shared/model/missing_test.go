package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func lacking(t *testing.T, steps []step, lacks ...model.LackData) string {
	t.Helper()
	b := expect.Value(json.Marshal(map[string]any{"steps": append([]step{}, steps...), "missing": lacks, "remarks": ""}))(t)
	return string(b)
}

// withoutDM returns the input for a plan of a tenant that forbids messages.
func withoutDM(t *testing.T) model.PlanInput {
	t.Helper()
	in := confined(t, "list_employees", `{"departments":["営業部"]}`)
	in.Tools = in.Tools.Only(func(s tool.Spec) bool { return s.Name != "send_slack_dm" })
	in.Forbidden = []string{"send_slack_dm"}
	return in
}

// A request that steps can't carry out gets an explanation, never steps for a part of it.
func TestWhatCantBePlannedIsSaid(t *testing.T) {
	in := withoutDM(t)
	dm := model.LackData{What: "依頼者への\n通知", Tool: "send_slack_dm", Why: "forbidden"}
	for name, test := range map[string]struct {
		locale string
		lacks  []model.LackData
		said   string
	}{
		"forbidden":  {"ja", []model.LackData{dm}, "「依頼者への 通知」に必要なツール send_slack_dm は、管理者が許可していません。"},
		"constraint": {"ja", []model.LackData{{"人事部の一覧", "list_employees", "constraint"}}, "「人事部の一覧」は、管理者が定めたツール list_employees の制限 departments (営業部) の範囲外です。"},
		"no tool":    {"ja", []model.LackData{{"PDF の作成", "", "no_tool"}}, "「PDF の作成」を行うツールがありません。"},
		"no value":   {"en", []model.LackData{{"a message to Kato", "", "unknown"}}, "“a message to Kato” needs a value that is in neither the request nor the policy."},
		"many":       {"en", []model.LackData{dm, dm, dm, dm}, strings.Repeat("“依頼者への 通知” needs the tool send_slack_dm, which an administrator hasn't allowed. ", 2) + "And 2 more."},
		"long":       {"ja", []model.LackData{{strings.Repeat("長", 150), "", "no_tool"}}, "「" + strings.Repeat("長", 59) + "…」を行うツールがありません。"},
	} {
		t.Run(name, func(t *testing.T) {
			in := in
			in.Locale = test.locale
			g := says(lacking(t, []step{listStep(1)}, test.lacks...))
			steps, _, usage, err := model.Plan(t.Context(), g, in)
			var lack *model.LackError
			expect.Must(t, errors.As(err, &lack) && len(steps) == 0 && len(g.asked) == 1,
				"%+v, %v after %d calls", steps, err, len(g.asked))
			f := model.FailedAtCost(err, usage)
			want := task.ReasonPlanLacks
			if why := test.lacks[0].Why; why == "no_tool" || why == "unknown" {
				want = task.ReasonPlanNever
			}
			expect.That(t, f.Reason == want && f.Said == test.said && f.Detail == "" && !f.Transient && f.Usage.Calls == 1,
				"%+v", f)
			expect.That(t, !strings.Contains(err.Error(), "通知"), "the error tells what was said: %v", err)
		})
	}
	expect.Must(t, strings.Contains(in.Forbidden[0], "dm"), "%v", in.Forbidden)
}

// A model can't claim that available tools are missing, nor plan something other than what was asked for.
func TestALackMustBeOne(t *testing.T) {
	for name, test := range map[string]struct {
		answer, told string
	}{
		"a tool that is allowed":     {lacking(t, nil, model.LackData{What: "x", Tool: "calculate_overtime", Why: "forbidden"}), `missing.0.tool: "calculate_overtime" is none of the forbidden tools`},
		"a tool without constraints": {lacking(t, nil, model.LackData{What: "x", Tool: "calculate_overtime", Why: "constraint"}), `missing.0.tool: "calculate_overtime" is no tool with constraints`},
		"a tool that there is not":   {lacking(t, nil, model.LackData{What: "x", Tool: "send_mail", Why: "no_tool"}), "missing.0.tool must be empty where why is no_tool"},
		"nothing to see":             {lacking(t, nil, model.LackData{What: "\u200b", Why: "no_tool"}), "missing.0.what is empty"},
		"an odd reason":              {lacking(t, nil, model.LackData{What: "x", Why: "approved"}), "missing.0.why"},
		"neither steps nor a lack":   {lacking(t, []step{}), "missing"},
		"another department":         {answer(t, listStep(1).with("toolInput", `{"status":"active","department":"営業部"}`)), "department \"営業部\" stands neither in the policy nor in the request"},
	} {
		t.Run(name, func(t *testing.T) {
			in := withoutDM(t)
			in.Policy, in.Request = "人事部の従業員一覧を取得します。", "人事部の一覧"
			g := says(test.answer, lacking(t, nil, model.LackData{What: "人事部の一覧", Tool: "list_employees", Why: "constraint"}))
			_, _, _, err := model.Plan(t.Context(), g, in)
			var lack *model.LackError
			expect.Must(t, errors.As(err, &lack) && len(g.asked) == 2, "%v after %d calls", err, len(g.asked))
			expect.Has(t, told(t, g.asked[1]), test.told, "told")
		})
	}
	in := withoutDM(t)
	in.Policy = "営業の従業員一覧を取得します。"
	if steps, _, _, err := model.Plan(t.Context(), says(answer(t, listStep(1).with("toolInput", `{"status":"active","department":"営業部"}`))), in); err != nil || len(steps) != 1 {
		t.Errorf("the department that was asked for: %v", err)
	}
}

func TestTheDemoSaysWhatItMayNot(t *testing.T) {
	for name, test := range map[string]struct {
		tool, constraints, request, tells string
	}{
		"another department":         {"list_employees", `{"departments":["営業部"]}`, "人事部の勤怠をまとめて", "list_employees の制限 departments (営業部) の範囲外"},
		"the whole company":          {"list_employees", `{"departments":["営業部"]}`, "勤怠をまとめて", "list_employees の制限 departments (営業部) の範囲外"},
		"another sheet":              {"write_rows_to_google_sheet", `{"spreadsheet_ids":["another"]}`, "勤怠をまとめて", "write_rows_to_google_sheet の制限 spreadsheet_ids (another) の範囲外"},
		"another than the requester": {"send_slack_dm", `{"recipients":["U0OTHER"]}`, "勤怠をまとめて", "send_slack_dm の制限 recipients (U0OTHER) の範囲外"},
		"no room can be booked":      {"send_slack_dm", `{}`, "会議室を予約して", "ツールがありません"},
	} {
		t.Run(name, func(t *testing.T) {
			in := confined(t, test.tool, aggregate.JSON(test.constraints))
			in.Request, in.Locale = test.request, "ja"
			_, _, usage, err := model.Plan(t.Context(), demo.Layers{}, in)
			if f := model.FailedAtCost(err, usage); (f.Reason == task.ReasonPlanNever) != (name == "no room can be booked") || !strings.Contains(f.Said, test.tells) {
				t.Errorf("%v: %+v", err, f)
			}
		})
	}
	in := withoutDM(t)
	in.Request, in.Locale = "営業部の勤怠をまとめて", "ja"
	_, _, usage, err := model.Plan(t.Context(), demo.Layers{}, in)
	expect.Has(t, model.FailedAtCost(err, usage).Said, "send_slack_dm は、管理者が許可していません", "%v", err)
}
