package explain

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
	dm := task.Step{Order: 2, Tool: toolMessage, Access: aggregate.Write,
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
		acts, others := effectWordsOf.In(locale).Acts, effectWordsOf.In(language.All[0]).Acts
		for _, act := range []rules.Act{rules.ActSheet, rules.ActDecide, rules.ActRead, "dm", ""} {
			forms := acts[string(act)]
			expect.That(t, forms["Bare"] != "", "%s has no sentence for %q", locale, act)
			for _, form := range []string{"Both", "Party", "Items", "Bare"} {
				is, done := forms[form], forms[form+"Done"]
				expect.That(t, (is == "") == (others[string(act)][form] == ""), "%q has %s in one language", act, form)
				expect.That(t, (is == "") == (done == "") && (is == "" || is != done) &&
					slices.Equal(namesIn(is), namesIn(done)), "%s: %q is done by %q", locale, is, done)
			}
		}
	}
}

// A part of a result is told in words, by its own ones unless these could be a row's place.
func TestAPartOfAResultHasItsName(t *testing.T) {
	for key, want := range map[string]string{
		"order_number": "“order number” from step 1", "item_1": "“item_1” from step 1", "a__b": "“a__b” from step 1",
		"order number": "““order number”” from step 1", "item_no.0": "“item no › item 1” from step 1",
		"rows.1.id": "“rows › item 2 › id” from step 1", "発注番号": "“発注番号” from step 1",
	} {
		l := writer{locale: "en", w: lineWordsOf("en"), earlier: []task.Step{{StepID: "step-1", Order: 1, Tool: "x.y"}}}
		expect.That(t, l.from("step-1.result."+key), "%s leads nowhere", key)
		expect.Is(t, Plain(l.out), want)
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
