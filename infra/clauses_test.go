package infra_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// clause is a sentence of the original description of conversations with agents, and the tests that show that it holds:
// a package's folder, then tests or their parts, with commas between.
type clause struct{ says, shown string }

const (
	inDomain  = "shared/domain/conversation: "
	inAgent   = "shared/domain/agent: "
	inTurn    = "shared/model/turn: "
	inAnswer  = "functions/answer-message: "
	inRun     = "functions/run-action: "
	inConsole = "functions/serve-console/conversation: "
	inStore   = "shared/store/conversations: "
	inInfra   = "infra: "
)

// clauses has every clause of the description. Fields and enumerations are in agents_test.go, which the first ones name.
var clauses = []clause{
	{"the entities have these fields", inInfra + "TestNothingOfTheDescriptionOfAgentsIsMissing"},
	{"the enumerations have these values", inInfra + "TestNothingOfTheEnumerationsOfAgentsIsMissing"},
	{"a provider is openai, anthropic, http or local",
		"shared/model/provider: TestAnAgentsKeyGoesNowhereElse, TestWhatAnAgentLacks"},
	{"endpoint is the address of an agent by HTTP",
		"shared/model/provider: TestAnEndpointThatIsNotAllowedIsNotCalled; " + inAgent +
			"TestWhatTheDeploymentAllowsIsReached"},
	{"capabilities are what an agent offers", inAgent + "TestAnAgentMayWhatItsCapabilitiesSay; " + inTurn +
		"TestWhatAnAgentMayNotIsNotTaken"},
	{"one agent is the one that is chosen first", inAgent + "TestExactlyOneAgentIsTheDefault; " + inAnswer +
		"TestWhereNobodyNamedAnAgentOneThatCanAnswerDoes"},
	{"authRef refers to a key", "shared/model/provider: TestAnAgentsKeyGoesNowhereElse"},
	{"metadata has the label and the description", inConsole + "TestConversationsWithAgents"},
	{"Codex and Claude are built in", inAgent + "TestBuiltInAgentsAreSound, " +
		"TestACustomAgentOverridesABuiltInAndABrokenOneDoesNot"},
	{"other agents are read from aiAgents", inAgent + "TestEntriesAreReadInBothSpellings"},
	{"id, provider and capabilities are required", inAgent + "TestAnInvalidEntryIsSkippedWithAWarningThatNamesTheField"},
	{"a session uses one agent", inDomain + "TestAThreadHasOneConversation"},
	{"a session's status is open, executing, closed or error", inDomain + "TestStatusesMoveAsTheyMay"},
	{"pendingActionId is the action that waits for approval", inDomain + "TestNothingExecutesThatNobodyApproved"},
	{"lastActivityAt is when something was said or executed last",
		inDomain + "TestAConversationEndsAfterItsIdleDaysAndNotBefore"},
	{"isCached says whether a session is kept", inStore + "TestSessionsInTheTable/one_that_is_not_kept_is_forgotten"},
	{"a message is a person's, the agent's or the system's",
		inDomain + "TestTheSystemsWordsAndOthersAreKeptApart; " + inTurn + "TestNobodySpeaksInTheSystemsPart"},
	{"attachments are code, links and pieces of logs",
		inAnswer + "TestAnswers/an_answer_says_what_was_read_of_files,_and_never_reads_one_differently, " +
			"TestAFileThatCantBeReadIsSaid"},
	{"payload is what is to be executed", inDomain + "TestPayloadsOfEachTypeAreRead, TestWhatIsWrongWithAPayloadIsNamed"},
	{"an action is proposed by an agent", inAnswer + "TestAnswers/a_proposal_waits_for_a_person"},
	{"an action is proposed by a user", inDomain + "TestAPersonsProposalIsMadeOnce; functions/receive-interaction: " +
		"TestAPersonProposesAnActionFromAMessagesMenu; " + inConsole +
		"TestAPersonProposesAnActionOnThePage, TestAFileBesideOthersIsProposedByARun; " + inAnswer +
		"TestWhatAPersonTypedBecomesAnActionOnTheFilesAsTheyAre"},
	{"an agent hands over to the pipeline, and what became of that is a message of the system",
		inDomain + "TestAHandOverStaysInTheHistoryWithItsTask, TestAConversationIsToldOnceHowItsTaskEnded, " +
			"TestEachEndOfAHandedOverTaskHasItsSentence; " + inTurn + "TestTheAgentSeesWhatItHandedOver"},
	{"what was said in a thread can be given along", inDomain + "TestWhatWasSaidInAThreadIsGivenOnce; " + inAnswer +
		"TestAnAgentThatIsCalledInAThreadGetsWhatWasSaidThere, TestAThreadIsBoundedAndOneThatCantBeReadIsSaid"},
	{"an action is approved by a user", inDomain + "TestAnApprovalCoversWhatWasStampedAlone"},
	{"an action is approved by a rule", inDomain + "TestARuleLetsTestsRunAndNothingElse"},
	{"resultSummary and errorDetail say what came of it", inRun + "TestActions, TestPeopleAreToldOfLimitsInWords"},
	{"log entries have their order", inDomain + "TestTheMissingLinesOfAnOutputAreNamed; " + inRun +
		"TestLinesWithoutNumbersAreCounted"},
	{"over 1000 messages or 200 KB older ones are summed up",
		inTurn + "TestAConversationIsFoldedOverItsLimitsOnly, TestAFoldLeavesRoom; " + inInfra +
			"TestTheLimitsAndDefaultsOfAgentsAreTheDescribed"},
	{"a summary is marked as collapsed", inAnswer + "TestAnswers/a_summary_stands_for_nothing_that_is_not_in_it"},
	{"while pending, users approve or reject", inConsole +
		"TestConversationsWithAgents; functions/receive-interaction: TestPeopleDecideOnActions"},
	{"nothing executes without approval", inDomain + "TestNothingExecutesThatNobodyApproved, " +
		"TestAnApprovalCoversWhatWasStampedAlone; " + inRun + "TestAPayloadThatIsNotWhatWasStampedIsNotRun"},
	{"at most 500 lines of an action are kept, the first go",
		inStore + "TestSessionsInTheTable/the_newest_lines_of_an_output_stay; " + inInfra +
			"TestTheLimitsAndDefaultsOfAgentsAreTheDescribed"},
	{"a session that is not kept is destroyed", inStore + "TestSessionsInTheTable/one_that_is_not_kept_is_forgotten"},
	{"an action moves as the diagram says", inDomain + "TestStatusesMoveAsTheyMay; " + inInfra +
		"TestNothingOfTheEnumerationsOfAgentsIsMissing"},
	{"a user rejects: pending becomes cancelled", "functions/receive-interaction: " +
		"TestPeopleDecideOnActions/rejected_with_a_reason"},
	{"a user cancels: pending or executing becomes cancelled",
		"functions/receive-interaction: TestPeopleDecideOnActions/cancelled_by_whoever_asked; " + inDomain +
			"TestStatusesMoveAsTheyMay"},
	{"by default nothing is kept", inInfra + "TestTheLimitsAndDefaultsOfAgentsAreTheDescribed"},
	{"log lines have sessionId, agentId, actionId and event",
		inDomain + "TestEachLineOfTheLogHasItsFields; " + inRun + "TestAnEndIsLoggedOnce"},
	{"errors have a code and a text, people get a friendly one",
		inDomain + "TestEachLineOfTheLogHasItsFields; " + inAnswer +
			"TestAnswers/an_agent_that_is_gone_is_said_to_be, " +
			"TestAnswers/a_vendor_that_is_down_is_asked_again,_and_a_key_that_is_wrong_is_not"},
}

var shownForm = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*(/.+)?$`)

// testsOf returns a clause's tests by the folder of their package. A part's name may have a comma before an underscore.
func (c clause) testsOf(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for of := range strings.SplitSeq(c.shown, "; ") {
		folder, tests, _ := strings.Cut(of, ": ")
		for test := range strings.SplitSeq(tests, ", ") {
			expect.Must(t, shownForm.MatchString(test), "%q names no test: %q", c.says, test)
			out[folder] = append(out[folder], test)
		}
	}
	expect.Must(t, len(out) > 0, "nothing shows that %q", c.says)
	return out
}

// TestEachClauseOfTheDescriptionOfAgentsHolds fails for each clause that a test shows which is not there, or which skips
// itself. The tests run with their packages.
func TestEachClauseOfTheDescriptionOfAgentsHolds(t *testing.T) {
	wanted := map[string][]string{}
	for _, c := range clauses {
		for folder, tests := range c.testsOf(t) {
			wanted[folder] = append(wanted[folder], tests...)
		}
	}
	outcome := map[string]map[string]string{}
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		written, text := testsIn(t, folder)
		outcome[folder] = map[string]string{}
		for _, test := range wanted[folder] {
			name, part, whole := strings.Cut(test, "/")
			if outcome[folder][test] = written[name]; whole &&
				!strings.Contains(text, `"`+strings.ReplaceAll(part, "_", " ")+`"`) {
				outcome[folder][test] = ""
			}
		}
	}
	for _, c := range clauses {
		t.Run(c.says, func(t *testing.T) {
			for folder, tests := range c.testsOf(t) {
				for _, test := range tests {
					was := outcome[folder][test]
					expect.That(t, was == "pass", "%s: %s", folder, cmp.Or(was, "there is no")+" "+test)
				}
			}
		})
	}
}

// testsIn returns the tests of a package, "pass" for each that skips nothing by itself, and the text of their files.
func testsIn(t *testing.T, folder string) (out map[string]string, text string) {
	t.Helper()
	out = map[string]string{}
	for _, file := range expect.Value(filepath.Glob(filepath.Join("..", folder, "*_test.go")))(t) {
		source := expect.Value(os.ReadFile(file))(t)
		text += string(source)
		f := expect.Value(parser.ParseFile(token.NewFileSet(), file, source, 0))(t)
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Recv != nil || fn.Body == nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			out[fn.Name.Name] = "pass"
			if len(fn.Body.List) == 0 || skips(fn.Body) {
				out[fn.Name.Name] = "skips or does nothing:"
			}
		}
	}
	return out, text
}

// skips reports whether a function calls t.Skip, t.SkipNow or t.Skipf.
func skips(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			of, is := call.Fun.(*ast.SelectorExpr)
			found = found || is && strings.HasPrefix(of.Sel.Name, "Skip")
		}
		return !found
	})
	return found
}

// A clause is not shown by a test that is gone, is skipped or does nothing.
func TestATestThatShowsNothingIsSeen(t *testing.T) {
	for name, body := range map[string]string{"skipped": `t.Skip("later")`,
		"skipped for now": `if testing.Short() { t.SkipNow() }`} {
		f := expect.Value(parser.ParseFile(token.NewFileSet(), "x_test.go",
			"package x\nfunc TestX(t *testing.T) {\n"+body+"\n}", 0))(t)
		expect.That(t, skips(f.Decls[0].(*ast.FuncDecl).Body), "%s is not seen", name)
	}
	here, _ := testsIn(t, "infra")
	expect.Is(t, here["TestThatNobodyWrote"], "")
	expect.Is(t, here["TestATestThatShowsNothingIsSeen"], "pass")
}
