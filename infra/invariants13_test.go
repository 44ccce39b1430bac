package infra_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

const (
	inTask        = "shared/domain/task: "
	inCirculation = "shared/domain/circulation: "
	inRules       = "shared/domain/rules: "
	inClicks      = "functions/receive-interaction: "
	inCards       = "functions/update-card: "
)

// ofRoutes are the invariants of gates under a rule, by their number in design.md, with the tests that hold them.
var ofRoutes = map[int]clause{
	13: {"it waits only with its route, which never changes", inTask + "TestAGateOpensOnlyWithItsRoute, " +
		"TestNoStepsGateOpensUnderARuleWithoutARoute, TestNoOrderOfActsSettlesAGateWithoutItsStamps, " +
		"TestAGateKeepsTheRevisionByWhichItOpened; " + inDomain + "TestAnActionOpensOnlyWithItsRoute; " +
		"shared/domain/aggregate: TestTheHeadKnowsWhatIsUnderARule"},
	14: {"nothing settles without its stamps", inTask + "TestNoOrderOfActsSettlesAGateWithoutItsStamps, " +
		"TestNobodyStampsOtherStepsThanAreAsked, TestNoStampIsCarriedToTheSameBytesOfANextVersion, " +
		"TestNoSwitchLetsTheSystemApproveAGateUnderARule; " + inDomain +
		"TestNoOrderOfActsExecutesAnActionWithoutItsStamps, TestWhatTheSettingsApproveWaitsUnderARule; " + inCirculation +
		"TestRandomWalksAsTheOracleSays, TestWalksStandAsTheyAreWritten; " + inClicks + "TestManyStampAtOnce"},
	15: {"nobody counts twice in a stage, and no asker", inCirculation + "TestRandomWalksAsTheOracleSays, " +
		"TestWhyAnActIsRefused, TestWhoNeverStampsAtAnyDesk, TestOnePersonAtManyDesksSettlesNothing, TestAskersAreCounted; " +
		inTask + "TestNoOrderOfActsSettlesAGateWithoutItsStamps; " + inRules + "TestARouteCanBeSettledByOthersThanItsAskers, " +
		"TestWhoMayNotStampIsAtNoDesk"},
	16: {"nothing lowers what is owed but a stamp", inTask + "TestNoOrderOfActsSettlesAGateWithoutItsStamps, " +
		"TestASuccessorStampsInAnothersPlace; " + inCirculation + "TestRandomWalksAsTheOracleSays"},
	17: {"who claims looks again", inTask + "TestAClaimLooksAgainAtWhatWasSettled, " +
		"TestAClaimLooksAgainAtWhatWasSettledAgain, TestAClaimOverATornReadOfARouteRunsNothing, " +
		"TestADecisionOverTornRowsDoesNothingThatTheTrueRowsWouldNot, TestWhatWasSettledIsGoodForSomeDays; " + inDomain +
		"TestAClaimLooksAgainAtAnActionUnderARule, TestAClaimOverATornReadOfARouteRunsNothing, " +
		"TestAnActionThatWasSettledTooLongAgoExpires"},
	18: {"what Walk does not know settles nothing", inCirculation + "TestARouteThatCannotBeWalkedSettlesNothing, " +
		"TestWhyAnActIsRefused; " + inTask + "TestAGateMovesOnlyAsItsRouteSays, TestAGateThatLostItsRuleIsNotDecided; " +
		"functions/serve-console/route: TestALaterReleasesRouteIsSaidToBeOne"},
	19: {"an act is on the stage that was seen", inClicks + "TestButtonsOfAStage, TestRejectionsOnARoute; " +
		inCirculation + "TestWhyAnActIsRefused; functions/serve-console/subject: TestActsAlongARoute"},
	20: {"numbers", inTask + "TestWhatANumberedRuleSettledBeginsWithTheNextNumber, TestARetriedExecutionKeepsItsNumber, " +
		"TestWhatNeverBeganHasNoNumber, TestOnlyNumberedRulesGiveNumbers, TestAnAttemptUnderANumberedRuleGetsANumber, " +
		"TestNothingOfANumberedRuleRunsWithoutItsNumber; functions/execute-process: " +
		"TestManyThatBeginAtOnceHaveNumbersWithoutAGap, TestANumberWhoseAnswerIsLostIsTakenOnce"},
	21: {"what opens can be settled", inRules + "TestARouteCanBeSettledByOthersThanItsAskers, TestDifferentHands, " +
		"TestARouteBelowTheFloorIsNotOpened; " + inCirculation + "TestRandomWalksAsTheOracleSays, " +
		"TestAGateIsStuckOnlyWithoutPeopleWhomItNeeds; " + inTask + "TestAGateOpensOnlyWithItsRoute"},
	22: {"one entry for each act", inTask + "TestNoOrderOfActsSettlesAGateWithoutItsStamps, " +
		"TestAnEndNamesTheGatesAtWhichPeopleWereAsked; " + inDomain + "TestNoOrderOfActsExecutesAnActionWithoutItsStamps, " +
		"TestTheEndOfAnActionNamesItsRoute; infra/audit: TestBothVerifiersFindEveryTamperingWithARoute, " +
		"TestBothVerifiersSayWhatOfARouteWasChanged, TestAGateThatIsLeftOutWithAllItsEntriesIsFound"},
	23: {"whoever owes sees it", inCards + "TestCopiesAlongARoute, TestCopiesOfActionsAlongARoute, " +
		"TestHomeTabsAlongARoute; shared/decide/inbox: TestWhatAPersonOwesIsFoundWhereverItStands, " +
		"TestWhatPrincipalsOweIsFoundForWhoStandsIn; shared/slack/people: TestAListSaysWhoOwesAStage"},
}

// Each invariant of gates under a rule is in design.md and has tests that are there.
func TestEachInvariantOfRoutesHasItsTests(t *testing.T) {
	text := string(expect.Value(os.ReadFile("design.md"))(t))
	_, text, _ = strings.Cut(text, "Of gates under a rule, as far as they are built:")
	text, _, _ = strings.Cut(text, "\n## ")
	numbers := map[int]bool{}
	for _, found := range regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(text, -1) {
		n := expect.Value(strconv.Atoi(found[1]))(t)
		numbers[n] = true
		expect.That(t, ofRoutes[n].shown != "", "invariant %d has no tests", n)
	}
	for n, c := range ofRoutes {
		expect.That(t, numbers[n], "design.md has no invariant %d: %s", n, c.says)
		for folder, tests := range c.testsOf(t) {
			written, _ := testsIn(t, folder)
			for _, test := range tests {
				expect.That(t, written[test] == "pass", "invariant %d: %s: there is no %s, or it skips itself", n, folder, test)
			}
		}
	}
	expect.Is(t, len(numbers), 11, "invariants of routes")
}
