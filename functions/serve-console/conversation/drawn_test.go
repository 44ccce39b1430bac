package conversation_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A person's own proposal is drawn as any action; the message in which the agent is told of it doesn't repeat it as JSON.
func TestAPersonsOwnProposalIsNoJSON(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	k.Answers(conversation.Answer{Text: "はい"})
	b := w.As(webapi.Tanaka)
	b.Post(k.Page()+"/propose", own("code_generate", "print(1)\n", "src/a.py", "", "計算する")).
		Leads(t, k.Page()+"?done=act_propose_action")
	page := html.UnescapeString(b.Get(k.Page()).Body)
	expect.That(t, !strings.Contains(page, `{"base"`) && !strings.Contains(page, `"hunks"`), "the payload is there as JSON: %s", page)
	_, told, _ := strings.Cut(page, `<ol class="said">`)
	for _, part := range []string{"人が提案しました", "計算する", `<a href="#asked-1">#1</a>`} {
		expect.That(t, strings.Contains(told, part), "%q is not in %s", part, told)
	}
	expect.That(t, strings.Contains(page, "+print(1)"), "what it does is nowhere")
}

// pulling is a conversation in which a pull request waits.
func pulling(w *consoletest.World, ci agent.CI) (*consoletest.Conversation, *conversation.Action) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "直して")
	commit, by := strings.Repeat("c0", 20), w.Now().Add(time.Hour)
	was, is := filesOf(w.T, "a.py", "1\n"), filesOf(w.T, "a.py", "2\n")
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit,
			State: conversation.SourceThere}
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	p := conversation.Payload{Tool: "open_pull_request", Arguments: `{"title":"Mend it","body":"why"}`}
	p.Base, p.Changes = new(string), conversation.Commit{SHA: commit}.Changes(was, is)
	p.Push = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, Into: "main", CI: ci}
	p.Called = conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write, Unseen: true}
	rev := expect.Value(w.Store.Settings(w.T.Context(), k.Talk.Tenant))(w.T).Rev
	return k, k.Answers(conversation.Answer{Proposal: &conversation.Proposal{
		Type: conversation.ToolCall, Payload: consoletest.Inline(p.JSON()), Summary: "直します", Tool: p.Tool, Access: p.Access,
		Push: p.Push, Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: rev},
	}}).Current()
}

// Whoever is asked about a pull request on the page is told what the card tells: what nobody wrote, to which vendor the
// result goes, and who can read what.
func TestAPullRequestHasItsNotesOnThePage(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k, x := pulling(w, agent.CIRun)
	b := w.As(webapi.Suzuki)
	page := b.Get(k.Page())
	page.Holds(t, "CI がシークレットを使って動きます", "Mend it", "誰も書いていない", "提供元", "この会話をコンソールで読めるのは",
		"acme/shop を GitHub で読める人は、誰でも", plus("+2")).
		Lacks(t, `{&#34;title`)
	b.Locale = "en"
	b.Get(k.Page()).Holds(t, "nobody wrote in this conversation", "Anyone who can read acme/shop on GitHub", "its vendor")
	b.Locale = "ja"

	b.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActReject, x, "いりません"))
	b.Get(k.Page()).Holds(t, "Mend it", "いりません").Lacks(t, "CI がシークレットを使って動きます", "誰も書いていない")
}

// Where a price isn't known, no page says that nothing was spent.
func TestAnUnknownPriceIsNoZero(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	said := func(cost aggregate.MicroUSD, unpriced int) *consoletest.Conversation {
		k := w.Talked(webapi.Sato, webapi.HR, "channel", fmt.Sprint("費用 ", cost, unpriced))
		use := aggregate.Usage{ID: aggregate.NewID(), Provider: "x", Model: "y", Calls: 2, Input: 1200, Output: 34, Cost: cost, Unpriced: unpriced}
		k.Run()
		k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい", Usage: use}, w.Now())
		})
		return k
	}
	spent := regexp.MustCompile(`費用</dt>\s*<dd>([^<]*)\s<|data-label="費用">([^<]*)</td>`)
	for _, test := range []struct {
		cost     aggregate.MicroUSD
		unpriced int
		says     string
	}{{0, 2, "料金不明"}, {5600, 1, "$0.0056 以上"}, {5600, 0, "$0.0056"}, {0, 0, "$0.00"}} {
		k := said(test.cost, test.unpriced)
		w.Later(time.Second)
		b := w.As(webapi.Suzuki)
		for i, path := range []string{k.Page(), "/console/agents"} { // the newest comes first
			found := spent.FindStringSubmatch(b.Get(path).Body)
			expect.Must(t, found != nil, "%s says no cost", path)
			expect.Is(t, strings.TrimSpace(found[i+1]), test.says, "%s", path)
		}
		b.Get(k.Page()).Holds(t, "1,200", "34")
	}
}
