package stories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// Stories of conversations with an agent, in a thread of #人事.

// talks has Sato say something to an agent that he names.
func (p *play) talks(agent, text string) {
	ts := p.says(webapi.Sato, webapi.HR, "", agent+": "+text)
	p.follows(conversation.RefOf(p.tenant(), conversation.ID(p.Sandbox.TeamID(), webapi.HR, ts)), webapi.HR, ts)
}

func (p *play) replies(text string, files ...webapi.File) {
	p.says(webapi.Sato, webapi.HR, p.Root, text, files...)
}

// talk returns the conversation, nil before there is one.
func (p *play) talk() *conversation.Aggregate {
	a, err := store.NewConversations(p.db, p.TableName).Load(context.Background(), p.Ref)
	if err != nil {
		return nil
	}
	return a
}

// over approves each action as it is proposed, and waits until that with a number is over, and told.
func (p *play) over(number int) {
	var pressed time.Time
	p.Eventually(fmt.Sprintf("action %d is over", number), func() bool {
		a := p.talk()
		if a == nil {
			return false
		}
		if x := a.Pending(); x != nil && time.Since(pressed) > 3*time.Second {
			key := fmt.Sprintf("CARD#action#%04d", x.Number)
			for _, m := range p.Cards(key) {
				_ = p.Sandbox.Click(webapi.Sato, p.Channel, m.TS, card.ApproveAction)
				pressed = time.Now()
			}
		}
		return len(a.Actions) >= number && a.Current() == nil && p.rests()
	})
}

// answered waits until so many messages of people are answered.
func (p *play) answered(messages int) {
	rows := store.NewConversations(p.db, p.TableName)
	p.Eventually("each message is answered", func() bool {
		said, err := rows.Messages(context.Background(), p.Ref.Tenant, p.Ref.ID, "")
		said = slices.DeleteFunc(said, func(m conversation.Message) bool { return m.Sender != conversation.FromUser })
		return err == nil && len(said) >= messages && p.rests() // which is read after the messages
	})
}

// script leaves traces in the files.
const script = "echo one >> log.txt; sleep 0.5; echo two >> log.txt; echo three >> log.txt; cat log.txt # "

func command(p *play) {
	p.talks("codex", "コマンド: "+script+p.mark)
	p.over(1)
}

// ranOnce reports whether a command whose process died ran once at most, and row, files and card say what is known: it
// has succeeded, or nobody knows.
func ranOnce(p *play, want, got end) bool {
	x, s := p.talk().Actions[0], p.talk().Conversation
	said := got.Cards["CARD#action#0001"]
	switch succeeded := x.ExitCode != nil && *x.ExitCode == 0; {
	case p.began() > 1:
		return false
	case x.Status == conversation.ActionSucceeded && succeeded && x.Version == s.WorkspaceVersion && !x.NotTaken:
		return len(got.Files) == 1 && strings.Contains(said, "three")
	case x.Status == conversation.ActionSucceeded && succeeded && x.NotTaken: // its claim had ended
		return len(got.Files) == 0 && strings.Contains(said, "three")
	case x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown:
		return len(got.Files) == 0 && strings.Contains(said, "結果不明")
	}
	return x.Status == conversation.ActionFailed && x.Outcome == "" && p.began() == 0
}

// began counts how often a command was begun in a sandbox.
func (p *play) began() (n int) {
	for key, times := range p.sent() {
		if strings.HasPrefix(key, "RunActionFunction ") && strings.Contains(strings.ToLower(key), "response-streaming") {
			n += times
		}
	}
	return n
}

// listedRead has an agent read what an administrator listed, without a stamp.
func listedRead(p *play) {
	p.talks("codex", p.mark)
	p.answered(1)
	p.replies("従業員の一覧")
	p.over(1)
}

// calledOnce reports whether a call whose process died failed and did nothing.
func calledOnce(p *play, want, got end) bool {
	for kind, n := range got.Sent {
		if n > want.Sent[kind] {
			return false
		}
	}
	a := p.talk()
	x := a.Actions[len(a.Actions)-1]
	return x.Status == conversation.ActionFailed && x.Outcome == "" && x.CallResult == nil
}

// pullRequest begins from a repository, and opens a pull request of the file that the agent wrote.
func pullRequest(p *play) {
	p.talks("codex@shop", p.mark+".txt を作って")
	p.over(1)
	p.replies("プルリクエストを開いて")
	p.over(2)
}

func (w *world) shop() *vendors.Repository {
	return w.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
}

// pulled checks that GitHub has one pull request of the action, with the commit's tree and what people approved, and
// that where the files are from is said once.
func pulled(t driver.T, p *play) {
	a := p.talk()
	x := a.Actions[1]
	var own []vendors.Pull
	for _, pull := range p.shop().Pulls() {
		if pull.Head == x.Pushed.Branch {
			own = append(own, pull)
		}
	}
	expect.Must(t, x.Status == conversation.ActionSucceeded && len(own) == 1 && own[0].Number == x.Pushed.Number &&
		own[0].HeadSHA == x.Pushed.Commit && p.shop().Ref("heads/"+x.Pushed.Branch) == x.Pushed.Commit,
		"%s (%s %s) %+v, GitHub has %+v", x.Status, x.Error, x.ErrorDetail, x.Pushed, own)
	is, name := p.shop().Files(x.Pushed.Commit), p.mark+".txt"
	want := p.shop().Files(x.Pushed.Base)
	want[name] = is[name]
	expect.Same(t, want, is)
	expect.That(t, is[name] != "", "the pull request lacks %s", name)
	said := 0
	for _, m := range expect.Value(store.NewConversations(p.db, p.TableName).Messages(context.Background(), p.Ref.Tenant,
		p.Ref.ID, ""))(t) {
		if m.Reason == conversation.ReasonSourceThere {
			said++
		}
	}
	expect.Is(t, said, 1, "where the files are from is said … times")
}

// offer has an agent offer a request, which a person makes, and others withdraw when it waits.
func offer(p *play) {
	p.talks("codex", "demo: mark "+p.mark+" "+staff+"。これは稟議にします")
	var pressed time.Time
	p.Eventually("the request is made", func() bool {
		a := p.talk()
		if a == nil || len(a.Offered) == 0 {
			return false
		}
		if !a.Offered[0].Done && time.Since(pressed) > 3*time.Second {
			for _, all := range p.AllCards() {
				_ = p.Sandbox.Click(webapi.Sato, p.Channel, all[0].TS, card.MakeRequest)
			}
			pressed = time.Now()
		}
		return a.Offered[0].Done && p.rests()
	})
	made := driver.Request{Thread: p.Thread, Store: store.NewTasks(p.db, p.TableName),
		Ref: task.RefOf(p.tenant(), p.talk().Offered[0].TaskID)}
	p.belongs(made.Ref.ID, p.mark)
	p.also = append(p.also, made.Ref)
	p.Eventually("its policy waits", func() bool {
		a, err := made.Store.Load(context.Background(), made.Ref)
		return err == nil && a.Prompt() != nil && len(a.Waits) == 1 && a.Head.Shown()
	})
	r := made.Load().Request
	expect.Must(p.t, r.EventID == "session:"+p.Ref.ID && r.ThreadTS == p.Root, "the request is %+v", r)
}

// attached are files that a person attaches, twice under one name, one of them in Shift_JIS. The command after that
// finds them.
func attached(p *play) {
	file := func(name, body string) webapi.File {
		return webapi.File{Name: name, MIMEType: "text/plain", Body: []byte(body)}
	}
	p.talks("codex", p.mark)
	p.answered(1)
	p.replies(".ringi/in/staff.csv を読んで", file("staff.csv", "name,hours\nSato,8\n"),
		file("sjis.txt", "\x8e\x52\x93\x63\n"))
	p.answered(2)
	p.replies("ファイルを見せて", file("staff.csv", "name,hours\nSato,9\n"))
	p.answered(3)
	p.replies("コマンド: cat '.ringi/in/staff (2).csv'")
	p.over(1)
}

// unreadOnce reports whether all files lie there but for the text of one whose reader died, of which people are told.
func unreadOnce(p *play, want, got end) bool {
	if p.began() > 1 || len(p.talk().Conversation.Attached) != 3 {
		return false
	}
	for _, x := range p.talk().Conversation.Attached {
		if x.Why == string(isolated.TooComplex) {
			delete(want.Files, x.Path+".txt")
		}
	}
	for path, content := range want.Files {
		if got.Files[path] != content {
			return false
		}
	}
	return len(got.Files) == len(want.Files)
}
