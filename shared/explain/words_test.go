package explain

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEachLanguageHasAllTexts(t *testing.T) {
	expect.Whole[effectWords](t, texts, "texts/effect")
	expect.Whole[askWords](t, texts, "texts/asks")
	expect.Whole[RouteWords](t, texts, "texts/routes")
	expect.Whole[actionWords](t, texts, "texts/actions")
	expect.Whole[teamWords](t, texts, "texts/teams")
	expect.Whole[logTexts](t, texts, "texts/log")
	expect.Whole[refusalWords](t, texts, "texts/refused")
	expect.Whole[endWords](t, texts, "texts/ended")
	expect.Whole[callWords](t, texts, "texts/failedcall")
	for _, locale := range language.All {
		w := effectWordsOf.In(locale)
		for _, name := range []string{w.Total, w.Unread} {
			expect.That(t, slices.Contains(rules.OwnNames, name), "an argument may be called %s", name)
		}
		for _, act := range []rules.Act{rules.ActSheet, rules.ActDecide, "dm", ""} {
			form := w.Acts[string(act)]
			expect.That(t, form["Short"] != "" && form["ShortBare"] != "" && form["Final"] != "" && form["Bare"] != "",
				"%s lacks words for %q", locale, act)
		}
	}
}

// A stage that nobody named is called in the reader's language, whoever made it; another name stays.
func TestAStageWithoutANameIsCalledInTheReadersLanguage(t *testing.T) {
	for name, want := range map[string]string{"Approval 1": "承認 1", "承認 8": "承認 8", "Approval 9": "Approval 9",
		"部長": "部長"} {
		expect.Is(t, StageName("ja", name), want)
	}
}

// The verdict on what Ringi doesn't do comes before the reason.
func TestADeclinedRequestBeginsWithThat(t *testing.T) {
	said := Ended("en", task.ReasonUnsupported, "I can't book trains.", NoRetry)
	expect.That(t, strings.HasPrefix(said, "Ringi can’t") && strings.HasSuffix(said, "\nI can't book trains."), "%s", said)
}

// Each end of a team in a contest has a sentence of its own.
func TestEveryEndOfATeamHasASentence(t *testing.T) {
	ends := []TeamEnd{}
	for _, exit := range contest.ExitReasons {
		ends = append(ends, TeamEnd{Exit: exit})
	}
	for _, why := range contest.Reasons {
		ends = append(ends, TeamEnd{Failed: true, Exit: contest.PartialFailure, Reason: why})
	}
	for _, locale := range language.All {
		seen := map[string]bool{"": true}
		for _, e := range ends {
			expect.That(t, !seen[e.In(locale)], "%s: %+v is %q", locale, e, e.In(locale))
			seen[e.In(locale)] = true
		}
	}
}

// What is done is told as past, and a sheet with the rows that it got.
func TestWhatIsDoneIsPast(t *testing.T) {
	sheet := task.Step{Order: 1, Tool: toolSheet, Access: aggregate.Write, ToolInput: aggregate.JSON(
		`{"spreadsheet_id":"s","sheet":"9月","columns":[],"rows":{"$ref":"x.result.rows"}}`)}
	dm := task.Step{Order: 2, Tool: tenancy.MessageTool, Access: aggregate.Write,
		ToolInput: `{"recipient":"U0SATO","text":"x","details":[]}`}
	for _, tc := range []struct {
		locale, rows string
		step         task.Step
		want         string
	}{
		{"ja", "1200", sheet, "シート「s」のタブ「9月」に書き込みました — 1,200 行"},
		{"en", "11", sheet, "Wrote to the tab “9月” of the sheet “s” — 11 rows"},
		{"en", "", sheet, "Wrote to the tab “9月” of the sheet “s”"},
		{"ja", "", dm, "U0SATO さんに DM を送りました"},
		{"en", "", dm, "Sent a DM to U0SATO"},
	} {
		e := EffectOf(tc.locale, tc.step, nil, nil)
		e.Amount = rules.Nothing()
		expect.Is(t, Plain(e.Done(tc.locale, tc.rows)), tc.want)
	}
}

// A card tells each sentence about what will be done also once it is done, with the same names in it.
func TestEachActHasAPast(t *testing.T) {
	names := regexp.MustCompile(`\{\w+\}`)
	namesIn := func(said string) []string { return slices.Sorted(slices.Values(names.FindAllString(said, -1))) }
	for _, locale := range language.All {
		acts := effectWordsOf.In(locale).Acts
		for _, act := range []rules.Act{rules.ActSheet, rules.ActDecide, rules.ActRead, "dm", ""} {
			forms := acts[string(act)]
			expect.That(t, forms["Bare"] != "", "%s has no sentence for %q", locale, act)
			for _, form := range []string{"Both", "Party", "Items", "Bare"} {
				is, done := forms[form], forms[form+"Done"]
				expect.That(t, (is == "") == (done == "") && (is == "" || is != done) &&
					slices.Equal(namesIn(is), namesIn(done)), "%s: %q is done by %q", locale, is, done)
			}
		}
	}
}

// A kind of matter could go on with the sentence.
func TestAPartyIsQuoted(t *testing.T) {
	decide := task.Step{Order: 1, Tool: tenancy.DecideTool, ToolVersion: "v1", Access: aggregate.Write,
		ToolInput: `{"matter":"既に部長が承認した支出","title":"x"}`}
	s := SumUp("ja", []task.Step{decide})
	expect.Has(t, Plain(s.Says()), "「既に部長が承認した支出」")
	expect.Has(t, s.Short("ja"), "「既に部長が承認した支出」")
	decide.ToolInput = aggregate.JSON(`{"matter":"` + strings.Repeat("長", 60) + `」へ","title":"x"}`)
	expect.Has(t, SumUp("ja", []task.Step{decide}).Short("ja"), "…」")
}

func TestALengthIsInHoursAndMinutes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Minute: "1 時間 30 分", time.Hour: "1 時間", 3610 * time.Second: "1 時間", 65 * time.Second: "1 分 5 秒", 0: "",
		12 * time.Minute: "12 分",
		time.Millisecond: "0.1秒", 450 * time.Millisecond: "0.5秒", 3240 * time.Millisecond: "3.2秒", 7 * time.Second: "7秒",
		9990 * time.Millisecond: "10秒", 42 * time.Second: "42秒", 61600 * time.Millisecond: "1 分 2 秒",
	} {
		expect.Is(t, Length("ja", d), want)
	}
	expect.Is(t, Length("en", 200*time.Second), "3 min 20 s")
}

// A refusal for want of people names whom it lacks, whose rule it is, and the page of the console that helps, whatever
// the reason.
func TestWhyNobodyIsFoundIsSaidWithWhatToDo(t *testing.T) {
	as := func(marks string) func(string) string { return func(s string) string { return marks + s } }
	said := func(why aggregate.Reason, detail string) string {
		return Ended("ja", why, FitDetail(why, detail, as(""), as("@")), NoRetry)
	}
	for _, code := range []string{rules.LeftAbove, rules.LeftVacant, rules.LeftStanding, rules.LeftOwn, rules.LeftPeople,
		rules.LeftAlone, rules.LeftMany, rules.LeftChannel, "new"} {
		for _, user := range []string{"", "U1"} {
			text := said(task.ReasonNoRoute, "課長\n"+code+"\n"+user+"\n高額")
			expect.That(t, strings.Contains(text, "「組織」") || strings.Contains(text, "「回覧ルール」"), "%s: %s", code, text)
			expect.That(t, strings.Contains(text, "課長") && !strings.ContainsAny(text, "{}\n"), "%s: %s", code, text)
			names := user != "" && (code == rules.LeftAbove || code == rules.LeftVacant)
			expect.Is(t, strings.Contains(text, "@U1"), names, "%s: %s", code, text)
		}
		for _, locale := range language.All {
			expect.That(t, code == "new" || endWordsOf.In(locale).Lacks[code] != "" ||
				endWordsOf.In(locale).Lacks[code+"_of"] != "", "%s has no words for %s", locale, code)
		}
	}
	for _, why := range []aggregate.Reason{task.ReasonNoRoute, task.ReasonStepNoRoute} {
		expect.That(t, said(why, "部長\npeople\n\n高額") != said(why, "部長\nvacant\n\n高額"), "%s", why)
	}
	expect.Has(t, said(task.ReasonUnknownPost, "課長\nabove\nU1\n高額"), "@U1 さんの上長が、組織表にありません。")
}

// Whatever is known of an end or a refusal, its sentence has a word in each place.
func TestEachActForGoodHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		for _, kind := range circulation.Kinds {
			w := askWordsOf.In(locale).Ways[kind.Verb]
			expect.That(t, !kind.Final || w.Follows != "" && w.Submit != "" && w.Example != "", "%s, %s: %+v", locale,
				kind.Kind, w)
		}
	}
}

func TestNoSentenceHasAPlaceLeft(t *testing.T) {
	details := []string{"", "x", "1/2", "/x", "x/", "12", "a\nabove\nU1\nb", "a\n\n\n", "a\nb", "a (b)"}
	for _, locale := range language.All {
		s := Surface{locale, page{}}
		said := []string{DecidedOn(locale, "a", "b"), s.CancelAccepted(), s.ReasonNotTaken(),
			s.CancelledBefore("U1", time.Time{})}
		ended, refused := endWordsOf.In(locale), refusalWordsOf.In(locale)
		for r := range ended.Sentences {
			known, _ := KnownEnd(locale, string(r))
			said = append(said, known)
			for _, detail := range details {
				no := aggregate.Refusal{Why: r, Detail: detail}
				for _, text := range []string{EndedInTalk(locale, r, detail), Ended(locale, r, detail, NoRetry)} {
					expect.That(t, text != "" && !strings.Contains(text, "🔄"), "%s %s: no button tries again: %s", locale, r, text)
					said = append(said, text)
				}
				said = append(said, s.Note(aggregate.ErrDecided{Reason: r}),
					RefusedByRules(locale, no, func(s string, _ int) string { return s }))
				for _, by := range []Retry{RetryDraft, RetryRun} {
					said = append(said, Ended(locale, r, detail, by))
				}
			}
		}
		for _, r := range []aggregate.Reason{task.ReasonStandIn, task.ReasonStoodFor, task.ReasonStandInEnded} {
			said = append(said, StandIn(locale, r, task.StandInTold{Hand: "a"}))
		}
		for left := range ended.NotAttached {
			said = append(said, NotAttached(locale, task.ReadFile{Left: left}))
		}
		for rule := range refused.Rules {
			said = append(said, s.Note(aggregate.ErrNotAllowed{Rule: rule}))
		}
		for status := range refused.Decided {
			said = append(said, s.Note(aggregate.ErrDecided{Status: status}))
		}
		for why := range refused.Acts {
			said = append(said, s.Note(&circulation.Refusal{Why: circulation.Why(why)}))
		}
		for _, x := range sentinels {
			said = append(said, s.Note(x.err))
		}
		said = append(said, s.Note(aggregate.ErrNotLatest{}), s.Note(aggregate.Problem{}), s.Note(task.StopError{}),
			s.Note(aggregate.Problem{Field: "rejection_reason"}))
		for _, text := range said {
			expect.That(t, !strings.Contains(text, "{"), "%s: %s", locale, text)
		}
	}
}

func at() time.Time { return time.Date(2026, 4, 17, 23, 30, 0, 0, time.UTC) }

// actions returns the actions that this module's code declares.
func actions(t *testing.T) (all []string) {
	t.Helper()
	declared := regexp.MustCompile(`Action\s*=\s*"([a-z_]+\.[a-z_]+)"`)
	root := filepath.Join("..", "..")
	for _, folder := range []string{"shared", "functions"} {
		expect.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
				all = append(all, m[1])
			}
			return err
		}))
	}
	expect.Must(t, len(all) >= 24, "only %d actions were found: %v", len(all), all)
	for _, kind := range circulation.Kinds {
		all = append(all, "process."+kind.Entry, "step."+kind.Entry, "action."+kind.Entry)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// What an administrator marks is said without pointers.
func TestTheLogSaysAMarkInWords(t *testing.T) {
	x := aggregate.AuditEntry{Details: aggregate.Details(map[string]any{"mark": map[string]any{"how": "product",
		"pointers": []string{"/items/*/quantity", "/items/*/unit_price"}, "currency_at": "/currency"}})}
	expect.Is(t, LogWordsIn("en").Briefly(x, nil), "Currency in: currency · How the amount follows: multiplied · "+
		"Amount in: items › quantity, items › unit_price")
}

func TestTheLogNamesRowsByTheirKeys(t *testing.T) {
	for key, want := range map[string]string{"GATE#0002#001#03": "Check of a step 2 1 3", "#general": "#general",
		"PROCESS#0012": "Steps 12", "attempt": LogWordsIn("en").Field("attempt")} {
		expect.Is(t, LogWordsIn("en").Field(key), want)
	}
}

func TestEveryActionHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		said := map[string]string{}
		for _, a := range actions(t) {
			text := LogWordsIn(locale).Action(aggregate.Action(a))
			expect.That(t, text != a && said[text] == "", "%s has no words of its own in %s: %q, as %s", a, locale, text,
				said[text])
			said[text] = a
		}
	}
	expect.Is(t, LogWordsIn("en").Action("prompt.read"), "prompt.read", "an unknown action")
}

// If nobody may approve a draft, it is not begun. That is not called a failure, and the log mentions no button.
func TestWhatIsPutOffHasNotFailed(t *testing.T) {
	for locale, failed := range map[string]string{"ja": "失敗", "en": "failed"} {
		w := LogWordsIn(locale)
		for reason, held := range map[aggregate.Reason]bool{task.ReasonNobodyApproves: true, task.ReasonModelRefused: false} {
			x := aggregate.AuditEntry{Action: task.AuditGenerationFailed,
				Details: aggregate.JSON(`{"reason":"` + string(reason) + `"}`)}
			expect.That(t, strings.Contains(w.Did(x), failed) != held && w.Did(x) != "", "%s %s: %q", locale, reason, w.Did(x))
			for _, d := range w.Details(x, nil) {
				expect.That(t, !strings.ContainsAny(d.Text, "🔄↻{}"), "%s %s: %q", locale, reason, d.Text)
			}
		}
	}
}

// Nobody approves a policy that a form says.
func TestWhatIsDoneAboutAForm(t *testing.T) {
	for _, locale := range language.All {
		w := LogWordsIn(locale)
		did := func(a aggregate.Action, form string) string {
			return w.Did(aggregate.AuditEntry{Action: a, Details: aggregate.JSON(`{"version":1` + form + `}`)})
		}
		expect.Is(t, did(task.AuditProcessRejected, ""), w.Action(task.AuditProcessRejected), "%s", locale)
		stands := did(task.AuditPromptApproved, `,"by_form":true`)
		expect.That(t, stands != "" && stands != did(task.AuditPromptApproved, ""), "%s: %q", locale, stands)
	}
}

func TestDetailsAreLines(t *testing.T) {
	called := func(id string) string { return map[string]string{"U0SANDSATO": "佐藤 花子"}[id] }
	for name, tt := range map[string]struct {
		details aggregate.JSON
		want    []LogDetail
	}{
		"none":    {"", nil},
		"null":    {"null", nil},
		"members": {`{"version":2,"reason":"もっと詳しく"}`, []LogDetail{{"Reason", "もっと詳しく"}, {"Version", "2"}}},
		"nested": {`{"changes":{"approvers":{"from":["U1","U2"],"to":[]}}}`,
			[]LogDetail{{"Changes › Who may approve › From", "U1, U2"}, {"Changes › Who may approve › To", ""}}},
		"settings": {`{"fields":["max_versions","later"],"changes":{"max_versions":{"was":5,"is":4},` +
			`"approvers.users":{"was":[],"is":["U1"]}}}`, []LogDetail{{"Changes › Approvers", "— → U1"},
			{"Changes › Maximum versions", "5 → 4"}, {"Changed fields", "Maximum versions, later"}}},
		"large":     {`{"hours":12345678901234567890}`, []LogDetail{{"Time limit (hours)", "12345678901234567890"}}},
		"no object": {`["x"]`, []LogDetail{{"", `["x"]`}}},
		"unasked":   {`{"reason":"route_silent"}`, []LogDetail{{"Reason", "Slack didn't say whom the rules ask"}}},
		"nothing":   {`{"reason":null}`, []LogDetail{{"Reason", "—"}}},
		"codes": {`{"surface":"console","reason":"cancelled_by_person","requester":"U0SANDSATO","provider":"google",` +
			`"by":"U0STRANGER"}`, []LogDetail{{"Decided by", "U0STRANGER"}, {"Provider", "Google Sheets"},
			{"Reason", "The task was cancelled. To continue, submit a new request."},
			{"Requested by", "佐藤 花子 (U0SANDSATO)"}, {"via", "the console"}}},
		"unknown": {`{"later":[{"a":1}]}`, []LogDetail{{"later", "a: 1"}}},
	} {
		diff := cmp.Diff(tt.want, LogWordsIn("en").Details(aggregate.AuditEntry{Details: tt.details}, called))
		expect.That(t, diff == "", "%s: %s", name, diff)
	}
}

func TestAnIdThatNoResourceHasIsRefused(t *testing.T) {
	for id, may := range map[string]bool{"": true, "01TASK": true, "01TASK#x": false, "<b>": false,
		strings.Repeat("U", 64): true, strings.Repeat("U", 65): false} {
		expect.Is(t, MayBeResource(id), may, "%s", id)
	}
}

func row(details string) aggregate.AuditEntry {
	return aggregate.AuditEntry{ID: "01ENTRY", TenantID: "01T", Timestamp: at(), ActorType: aggregate.ActorUser,
		ActorID: "U1", Action: task.AuditPromptRejected, ResourceType: "prompt", ResourceID: "01ROW",
		AggregateID: "01TASK", Details: aggregate.JSON(details)}
}

func TestDetailsHaveWordsForTheirCodes(t *testing.T) {
	for _, locale := range language.All {
		said := ""
		for _, d := range LogWordsIn(locale).Details(row(
			`{"edited_by":"U1","rule":{"name":"r","numbered":true},"type":"grant"}`), nil) {
			said += d.Name + ": " + d.Text + "\n"
		}
		for _, code := range []string{"edited_by", "numbered", "grant"} {
			expect.That(t, !strings.Contains(said, code), "%s says %s: %s", locale, code, said)
		}
	}
}

func TestAFileForPeople(t *testing.T) {
	words := LogWordsIn("ja")
	expect.Same(t, words.Columns[:2], []string{"日時 (日本時間)", "誰が"})
	expect.Same(t, words.Row(row(`{"reason":"x"}`)), []string{"2026-04-18 08:30:00", "U1", "実行方針を却下した",
		"prompt.rejected", "実行方針", "01ROW", "01TASK", `{"reason":"x"}`, "2026-04-17T23:30:00.000Z", "01ENTRY"})
}

// Readers of the log don't know Ringi's codes for stages and kinds.
func TestCodesInDetailsHaveWords(t *testing.T) {
	for _, locale := range language.All {
		for _, d := range []string{
			fmt.Sprintf(`{"layer":%q}`, task.L1), fmt.Sprintf(`{"layer":%q}`, task.L2), fmt.Sprintf(`{"layer":%q}`,
				task.L3), fmt.Sprintf(`{"layer":%q}`, task.L4),
			fmt.Sprintf(`{"kind":%q}`, task.KindUnsupported), fmt.Sprintf(`{"kind":%q}`, task.KindHelp),
		} {
			got := LogWordsIn(locale).Details(aggregate.AuditEntry{Details: aggregate.JSON(d)}, nil)
			expect.That(t, len(got) == 1 && !strings.Contains(d, fmt.Sprintf("%q}", got[0].Text)) &&
				!strings.Contains(d, `"`+got[0].Name+`"`), "%s %s: %v", locale, d, got)
		}
	}
}

// A line of the log says what changed from what to what, and why, in words.
func TestALineSaysWhatTellsMost(t *testing.T) {
	called := func(id string) string { return map[string]string{"U0SANDSATO": "Hanako Sato"}[id] }
	for details, want := range map[aggregate.JSON]string{
		"":      "",
		`["x"]`: "",
		`{"hash":"0e87","version":2,"asked_at":"2026-04-17T23:30:00.123Z"}`: "",
		`{"changes":{"max_versions":{"was":5,"is":4},"approvers.mode":{"was":"channel","is":"list"},` +
			`"allow_self_approval":{"was":false,"is":true}},"fields":["max_versions"]}`: "People may approve their own " +
			"requests: off → on · " +
			"Who may approve: Members of the request’s channel → Selected people and groups · Maximum versions: 5 → 4",
		`{"changes":{"mcp_servers":{"was":[],"is":[{"name":"office","url":"https://office.example/mcp"}]}}}`: "MCP " +
			"servers: — → Name: office · Address: https://office.example/mcp",
		`{"reason":"Split it by department.","stage":1,"surface":"console"}`: "Split it by department.",
		`{"from":"2026-12-27","hand":"U0SANDSATO","principal":"U0OTHER","until":"2027-01-16"}`: "On behalf of: U0OTHER · " +
			"Stamps instead: Hanako Sato · From: 2026-12-27 · Until: 2027-01-16",
		`{"allowed":true,"tool":"office.order"}`:           "Allowed: on",
		`{"rule":{"id":"01KS","name":"All","revision":1}}`: "Rule: All",
	} {
		expect.Is(t, LogWordsIn("en").Briefly(aggregate.AuditEntry{Details: details}, called), want)
	}
	long := LogWordsIn("ja").Briefly(aggregate.AuditEntry{Details: aggregate.Details(map[string]any{
		"reason": strings.Repeat("長い", 200)})}, called)
	expect.Is(t, len([]rune(long)), mostBriefly)
}
