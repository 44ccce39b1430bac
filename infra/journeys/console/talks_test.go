package console

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// talk makes a conversation in #人事 in which the demo agent proposes to write files after this many messages.
func talk(t *testing.T, messages int) aggregate.Ref {
	t.Helper()
	all := store.ConversationsOf(store.New(dynamodb.NewFromConfig(running.AWS), running.TableName, store.Kinds()...))
	now := time.Now()
	ts := fmt.Sprintf("%d.%06d", now.Unix(), now.UnixMicro()%1_000_000)
	in := conversation.Inbound{Team: running.Sandbox.TeamID(), Channel: webapi.HR, ChannelType: "channel", Thread: ts,
		TS: ts, User: webapi.Sato, Text: "ファイルを作って"}
	ref := in.Ref()
	for from := 0; from < messages; from += 25 {
		var rows []aggregate.Row
		for n := from; n < from+25; n++ {
			rows = append(rows, &conversation.Message{
				MessageID: conversation.MessageID("T", ref.ID,
					fmt.Sprint(n)), SessionID: ref.ID, Sender: conversation.FromUser, User: webapi.Sato,
				Content: fmt.Sprintf("%d 番目の、集計のしかたを相談するメッセージ", n), CreatedAt: now.Add(time.Duration(n-messages-10) * time.Second),
			})
		}
		expect.NoError(t, all.PutListed(t.Context(), ref.Tenant, conversation.MessagesList, ref.ID, rows, nil))
	}
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: agent.Codex, Locale: "ja", IdleDays: 14}, now))(t)
	expect.NoError(t, all.Begin(t.Context(), c))
	expect.Eventually(t, "the agent proposes to write files", func() bool {
		a, err := all.Load(t.Context(), ref)
		return err == nil && a.Conversation.PendingActionID != ""
	})
	return ref
}

// TestAPersonDecidesOnThePageOfAConversation: among a thousand messages a person reads the complete proposal and
// approves it, and its result appears without reloading.
func TestAPersonDecidesOnThePageOfAConversation(t *testing.T) {
	driver.Leave(t, running)
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Card(driver.PromptCard,
		"approve_prompt") // by which the workspace is known
	b := browser.Start(t)
	empty := signIn(t, b, browser.Window{Width: 390, Height: 844, Phone: true, Language: "en", Calm: true}, webapi.Alex,
		"/console/agents")
	empty.Until(`document.querySelector(".empty")?.innerText.includes("No conversations yet")`)
	looks(t, empty, "agents-phone-empty")
	ref := talk(t, 1000)
	page := "/console/sessions/" + ref.ID
	tab := signIn(t, b, browser.Window{Width: 1280, Height: 900, Calm: true}, webapi.Suzuki, "/console/agents")
	tab.Until(fmt.Sprintf(`document.querySelector('#talks a[href="%s"]')`, page))
	looks(t, tab, "agents")
	tab.Click(fmt.Sprintf(`#talks a[href="%s"]`, page))
	tab.Until(`document.querySelector("#asked-1")?.innerText.includes("hello.test.js") && document.querySelectorAll(".said > li").length >= 99 && document.querySelector("#summary")`)
	tab.Until(`[...document.querySelectorAll("[hidden]")].every((e) => getComputedStyle(e).display === "none")`)
	looks(t, tab, "session-waits")
	tab.Click(`form:has(input[value="approve"]) button`)
	tab.Until(`location.search.includes("done=act_approve") && document.querySelector("#action-1")?.innerText.includes("完了")`)
	looks(t, tab, "session-done")
	tab.Click(`a[rel=prev]`)
	tab.Until(`location.search.includes("before=") && document.querySelectorAll(".said > li").length >= 99`)
	looks(t, tab, "session-earlier")
	tab.Clean()
}
