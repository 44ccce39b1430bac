package catalog_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Each file has every text in every language, and mentions nothing that the tool does not have.
func TestEachFileIsWhole(t *testing.T) {
	named := regexp.MustCompile(`\{(\w+)\}`)
	for _, f := range expect.Value(catalog.Files())(t) {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal(f.Input, &input))
		texts := map[string]language.Texts{"title": f.Title, "about": f.About}
		if f.Line != nil {
			texts["line"] = f.Line
		}
		for name, a := range f.Arguments {
			own := map[string]language.Texts{"other": a.Other, "null": a.Null, "absent": a.Absent}
			for value, words := range a.Is {
				own["is "+value] = words
			}
			for value, words := range a.Choices {
				own["choice "+value] = words
			}
			for of, words := range own {
				if words != nil {
					texts[name+" "+of] = words
				}
				for _, is := range named.FindAllStringSubmatch(words.In("ja")+words.In("en"), -1) {
					expect.That(t, is[1] == name, "%s: %s speaks of {%s}", f.Name, name, is[1])
				}
			}
		}
		whatIsShown(t, f, input.Properties)
		if f.Demo != nil {
			texts["request of demo"] = f.Demo.Request
			for _, locale := range language.All {
				if w := f.Demo.Words[locale]; w.From == "" || w.Things == "" || w.Tab == "" || w.Handled == "" ||
					slices.ContainsFunc(f.Demo.Columns, func(key string) bool { return w.Columns[key] == "" }) {
					t.Errorf("%s: the demo lacks words in %s: %+v", f.Name, locale, w)
				}
			}
			_, err := regexp.Compile(f.Demo.Asks)
			expect.That(t, err == nil && f.Demo.Asks != "", "%s: asks: %q, %v", f.Name, f.Demo.Asks, err)
		}
		for what, text := range texts {
			for _, locale := range language.All {
				said, ok := text[locale]
				expect.That(t, ok && (said != "" || strings.HasSuffix(what, " absent")),
					"%s has no %s in %s: write it into shared/domain/catalog/%s.json", f.Name, what, locale, f.Name)
				for _, is := range named.FindAllStringSubmatch(said, -1) {
					expect.That(t, input.Properties[is[1]] != nil, "%s: %s speaks of {%s}, which is no argument", f.Name, what, is[1])
				}
			}
		}
		for name := range input.Properties {
			for _, locale := range language.All {
				expect.That(t, f.Line == nil || strings.Contains(f.Line[locale], "{"+name+"}"),
					"%s: its line in %s does not say {%s}", f.Name, locale, name)
			}
		}
	}
}

// whatIsShown checks that each argument of a tool that is told by its act has a name that people can read.
func whatIsShown(t *testing.T, f catalog.File, arguments map[string]any) {
	t.Helper()
	m := rules.Mark{Version: "1", How: rules.HowNothing, Party: f.Shown.Party, Words: f.Shown.Words, Item: f.Shown.Item}
	expect.That(t, len(m.Problems()) == 0, "%s is shown by what is no mark: %v", f.Name, m.Problems())
	for _, locale := range language.All {
		for name := range arguments {
			called := f.Shown.Names["/"+name][locale]
			expect.That(t, f.Shown.Act == "" || rules.IsName(called, rules.MaxNamed),
				"%s has no name for %s in %s: %q", f.Name, name, locale, called)
		}
	}
}

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
		`{"event":"APPROVE"}`: true, `{"body":{"approval_action":"approve","n":1}}`: true,
		`{"rows":[{"status":"承認済"}]}`: true,
		`{"autoApprove":true}`:        true, `{"approved":true}`: true, `{"decision":["approved"]}`: true,
		`{"newStatus":"approved"}`: true,
		`{"event":"COMMENT"}`:      false, `{"approve":false}`: false, `{"text":"approved"}`: false,
		`{"old_string":"approve"}`:      false,
		`{"reason":"approved by Sato"}`: false, `{"status":"approved by Sato"}`: false, `{}`: false,
		`{"command":"gh pr review --approve"}`: false, // see call.Unasked
	} {
		var a map[string]any
		expect.NoError(t, json.Unmarshal([]byte(arguments), &a))
		expect.That(t, (catalog.ApprovingBy(a) != "") == want, "%s: %q", arguments, catalog.ApprovingBy(a))
	}
}
