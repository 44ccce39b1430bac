package catalog_test

import (
	"encoding/json"
	"testing"

	"ringi/shared/domain/catalog"
	"ringi/shared/runtime/expect"
)

func TestNoToolThatApprovesElsewhere(t *testing.T) {
	for name, title := range map[string]string{
		"approve_request": "", "approveExpense": "", "freee_approve": "", "mcp__jira__approve-request": "",
		"expenses.pre/approve": "", "sign_off_release": "", "update_approval_request_actions": "", "lgtm": "",
		"merge_pull_request": "", "mergePullRequest": "", "merge_merge_request": "", "accept_merge_request": "",
		"enable_auto_merge": "", "pull_request_review_write": "", "submit_pending_pull_request_review": "",
		"create_and_submit_pull_request_review": "", "reactions_add": "", "slack_add_reaction": "", "add_emoji_reaction": "",
		"workflows.stepCompleted": "", "complete_workflow_step": "", "functions.completeSuccess": "",
		"put_request": "申請を承認する", "run": "一括承認", "act": "Approve a request", "decide": "稟議の決裁処理",
	} {
		expect.That(t, catalog.Approving(name, title, `{"type":"object"}`) != "", "%s %s is taken", name, title)
	}
	for name, title := range map[string]string{
		"list_approvals": "承認待ち一覧", "create_approval_request": "承認を申請", "get_merge_request": "", "create_merge_request": "",
		"list_approved_expenses": "承認済みの経費", "merge_cells": "", "merge_contacts": "", "get_reactions": "",
		"request_copilot_review": "", "add_comment_to_pending_review": "", "get_pull_request_merge_status": "",
		"disapproved": "", "start_workflow": "", "Bash": "", "book_room": "会議室を予約", "open_pull_request": "",
		"set_approver": "承認者を設定",
	} {
		expect.Is(t, catalog.Approving(name, title, `{"type":"object"}`), "", name)
	}
}

// A tool of many deeds is known by the mark that an argument of it may be a yes.
func TestNoToolWhoseArgumentApprovesElsewhere(t *testing.T) {
	for schema, name := range map[string]string{
		`{"properties":{"event":{"enum":["COMMENT","APPROVE"]}}}`:                            "create_review_of_pull",
		`{"properties":{"body":{"properties":{"approval_action":{"const":"approve"}}}}}`:     "put",
		`{"properties":{"approve":{"type":"boolean"}}}`:                                      "save_expense",
		`{"properties":{"x":{"anyOf":[{"enum":["open"]},{"enum":["Approved"]}]}}}`:           "set_status",
		`{"$defs":{"s":{"enum":["承認","差戻し"]}},"properties":{"s":{"$ref":"#/$defs/s"}}}`:      "set_status",
		`{"properties":{"rows":{"items":{"properties":{"approved":{"type":"boolean"}}}}}}`:   "save_rows",
		`{"properties":{"event":{"enum":["COMMENT","approve"],"description":"What to do"}}}`: "get_or_set",
	} {
		expect.That(t, catalog.Approving(name, "", schema) != "", "%s %s is taken", name, schema)
	}
	for schema, name := range map[string]string{
		`{"properties":{"status":{"enum":["pending","approved"]}}}`:               "list_expenses",
		`{"properties":{"approver_id":{"type":"string"}}}`:                        "create_expense",
		`{"properties":{"text":{"type":"string","description":"approve"}}}`:       "post",
		`{"required":["approve_by"],"properties":{"d":{"examples":["approve"]}}}`: "post",
		`{`: "post", ``: "post", `null`: "post", `[true]`: "post",
	} {
		expect.Is(t, catalog.Approving(name, "", schema), "", schema)
	}
}

func TestNoCallThatApprovesElsewhere(t *testing.T) {
	for arguments, want := range map[string]bool{
		`{"event":"APPROVE"}`: true, `{"body":{"approval_action":"approve","n":1}}`: true, `{"rows":[{"status":"承認済"}]}`: true,
		`{"autoApprove":true}`: true, `{"approved":true}`: true, `{"decision":["approved"]}`: true, `{"newStatus":"approved"}`: true,
		`{"event":"COMMENT"}`: false, `{"approve":false}`: false, `{"text":"approved"}`: false, `{"old_string":"approve"}`: false,
		`{"reason":"approved by Sato"}`: false, `{"status":"approved by Sato"}`: false, `{}`: false,
		`{"command":"gh pr review --approve"}`: false, // see call.Unasked
	} {
		var a map[string]any
		expect.NoError(t, json.Unmarshal([]byte(arguments), &a))
		expect.That(t, (catalog.ApprovingBy(a) != "") == want, "%s: %q", arguments, catalog.ApprovingBy(a))
	}
}
