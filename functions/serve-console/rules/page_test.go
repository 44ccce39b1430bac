package rules_test

import (
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

const path = "/console/rules"

// stored returns the saved rules.
func stored(w *consoletest.World) *rules.Rules {
	w.T.Helper()
	x, _, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	return x
}

// ordered are the fields of a rule of three stages.
var ordered = []string{
	"name", "10万円以上の外部書き込み", "use", "writes_outside", "at_least", "10万円", "currency", "jpy", "outcome", "route", "channels", "|" + webapi.HR,
	"stages.0.name", "部長", "stages.0.kind", "people", "stages.0.people", "|" + webapi.Suzuki, "stages.0.need", "", "stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "again",
	"stages.1.was", "new", "stages.1.name", "経理", "stages.1.kind", "people", "stages.1.people", "|" + webapi.Tanaka + "|" + webapi.Alex, "stages.1.need", "１", "stages.1.vacant", "skip", "stages.1.own", "skip", "stages.1.twice", "skip",
	"stages.2.was", "new", "stages.2.name", "人事のみなさん", "stages.2.kind", "channel", "readers", "|" + webapi.Sato,
}

// written saves a rule of three stages, as an administrator does.
func written(t *testing.T, w *consoletest.World) {
	t.Helper()
	b := w.As(webapi.Suzuki)
	rule := b.Post(path, b.Get(path).Hidden("act", "begin.writes")).Says(t, http.StatusOK, "新しいルール")
	list := b.Post(path+"/rule", rule.Hidden(append(ordered, "act", "keep")...)).Says(t, http.StatusOK, "まだ保存していません", "10万円以上の外部書き込み")
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK, "いちばん弱い入口")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
}

func TestRules(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an administrator fills in a sentence and saves it": testARuleIsWritten,
		"two administrators at once":                        testTwoAdministrators,
		"what was not looked at is not saved":               testWhatWasNotLookedAtIsNotSaved,
		"the look before saving":                            testTheLookBeforeSaving,
		"without slack nothing is saved":                    testWithoutSlackNothingIsSaved,
		"the rules end":                                     testTheRulesEnd,
		"what is wrong is said at its field":                testWhatIsWrongIsSaidAtItsField,
		"the floor":                                         testTheFloor,
		"rules and stages are moved":                        testRulesAndStagesAreMoved,
		"what the form does not offer is kept":              testWhatTheFormDoesNotOfferIsKept,
		"the rule that takes a request":                     testTheRuleThatTakesARequest,
		"rules for the actions of agents":                   testRulesForActions,
		"people and channels are found by name":             testPeopleAndChannelsAreFoundByName,
		"a channel that got another id":                     testAChannelThatGotAnotherID,
		"rules travel as a file":                            testRulesTravelAsAFile,
		"a files mistakes are named with their lines":       testAFilesMistakesAreNamed,
		"no draft is believed":                              testNoDraftIsBelieved,
		"no rule becomes markup":                            testNoRuleBecomesMarkup,
		"a hundred rules of five stages":                    testAHundredRules,
		"a form of an organisation":                         testAFormOfAnOrganisation,
		"slack's groups need no organisation":               testGroupsNeedNoOrganisation,
		"the organisation answers on any day":               testTheOrganisationAnswersOnAnyDay,
		"the organisation's next day is looked at":          testTheNextDayIsLookedAt,
		"a department that nobody knows refuses":            testAnUnknownDepartmentRefuses,
		"an organisation that can't be read":                testAnOrganisationThatCantBeRead,
		"a large organisation is searched":                  testALargeOrganisation,
	})
}

func testARuleIsWritten(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(path).Says(t, http.StatusOK, "回覧ルールはまだありません", "実行ステップの承認を必須にする", "ダイレクトメッセージでも回覧ルールで決まります")
	written(t, w)
	x := stored(w)
	expect.Must(t, x != nil && len(x.Rules) == 1, "%+v", x)
	r := x.Rules[0]
	expect.Same(t, rules.Conditions{Kinds: []rules.Kind{rules.KindSteps},
		Places: &rules.Places{Channels: []string{webapi.HR}},
		Tools:  &rules.Tools{Use: rules.UseWriting}, Amount: &rules.Between{AtLeast: "100000", Currency: "JPY"}}, r.When)
	expect.Same(t, &rules.Policy{Stages: []rules.Stage{
		{Name: "部長", Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}, Empty: rules.EmptyRefuse},
		{Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Tanaka, webapi.Alex}}, Need: 1,
			Empty: rules.EmptySkip},
		{Name: "人事のみなさん", Who: rules.Who{Kind: rules.WhoChannel}, Need: 1},
	}, Readers: &rules.Readers{People: []string{webapi.Sato}}}, r.Route)
	says := "だれかが、#人事 で、10万円以上 (または金額不明)の外部への書き込みを依頼したら、①部長 (鈴木 一郎) → ②経理 (田中 恵・Alex Kim) のうち 1 人 (空席なら、本人なら、前の段階と同じ人なら省略) → " +
		"③人事のみなさん (チャンネルのだれか 1 人) の順に承認します。最低 2 人の別の人が必要です。決まったあとに 佐藤 花子 に知らせます。"
	b.Get(path).Says(t, http.StatusOK, says)
	b.Get("/console/audit?action=rules.updated").Says(t, http.StatusOK, "鈴木 一郎")
	b.Locale = "en"
	b.Get(path).Says(t, http.StatusOK, "When somebody asks in #人事 for a write outside of ¥100,000 or more (or an unreadable amount), ① 部長 (鈴木 一郎) → "+
		"② 1 of 経理 (田中 恵, Alex Kim) (left out if vacant or the requester’s own or asked at an earlier stage) → ③ 人事のみなさん (one member of the channel) must approve, in this order. "+
		"At least 2 different people. Told afterwards: 佐藤 花子.")
}
