package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Planted secrets, which must stand nowhere. Of people's texts the marks of plays stand for all.
const (
	signingSecret = "planted0signing0secret0aa11bb22"
	botToken      = "xoxb-planted-bot-token"
	modelKey      = "sk-planted-model-key-5d1c"
	plantedMark   = "C0FAULT"
	plantedReason = "もっと簡潔にしてください"
)

// credentialsMayNotBeOpened: the key's policy denies decryption. The card says that the tool could not be
// called, and nothing of the policy; once that is mended somebody tries again.
func (w *world) credentialsMayNotBeOpened(t *testing.T) {
	const decrypt = "TrentService.Decrypt"
	expect.Value(w.plays(story{name: "denied", act: func(p *play) {
		p.answersAll(decrypt, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"AccessDeniedException","Message":"User arn:aws:iam::123456789012:role/x is not ` +
				`authorized"}`))
		}))
		p.asks(staff)
		p.approvesGates()
		face := driver.Face(p.Card(driver.ExecutionCard, "retry_execution"))
		for _, leak := range []string{"arn:aws", "authorized", "AccessDenied"} {
			expect.That(p.t, !strings.Contains(face, leak), "the card says %s", leak)
		}
		p.answersAll(decrypt, nil)
		p.ClickUntilTaken(webapi.Sato, driver.ExecutionCard, "retry_execution")
		p.untilCompleted()
	}}))(t)
}

// tokensAreRenewed: one task refreshes the vendors' tokens once each, one has its token revoked, and one loses the
// answer to its refresh.
func (w *world) tokensAreRenewed(t *testing.T) {
	connect := func() { expect.NoError(t, driver.Connect(t.Context(), w.Stack, w.Sandbox.TeamID())) }
	for shows, fault := range map[string]func(){
		"✅ 実行完了": func() { w.Vendors.Expire("freee"); w.Vendors.Expire("google") },
		"認証が切れて": func() { w.Vendors.Revoke("freee") },
		"接続が失われ": func() { w.Vendors.Expire("freee"); w.Vendors.Drop(vendors.FreeeTokens) },
	} {
		connect()
		asked := w.Vendors.Calls(vendors.FreeeTokens) + w.Vendors.Calls(vendors.GoogleTokens)
		expect.NoError(t, driver.Try(t.Context(), func(d driver.T) {
			p := &play{world: w, trace: newTrace(), t: d, mark: fmt.Sprintf("C0FAULT%05d", w.marks.Add(1))}
			p.asks(month)
			fault()
			p.approvesGates()
			p.Card(driver.ExecutionCard, shows)
		}))
		if shows == "✅ 実行完了" {
			expect.Is(t, w.Vendors.Calls(vendors.FreeeTokens)+w.Vendors.Calls(vendors.GoogleTokens)-asked, 2, "tokens asked for")
		}
	}
	connect()
}

// printsAll is a command that prints what it can read of its surroundings, into a file and as its output, and a word at
// the end: a place that lacks that proves nothing.
const printsAll = `{ env; id; ` +
	`for f in /proc/self/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\0' '\n' < $f; done; ` +
	`cat ~/.aws/* /root/.aws/* /run/secrets/* /var/task/* /tmp/*.json; ` +
	`python3 -c "import urllib.request as u; ` +
	`print(u.urlopen('http://169.254.169.254/latest/meta-data/', timeout=2).read())"; } 2>&1 | ` +
	`grep -a -v -x '' | cut -c 1-500 | head -n 400 > found.txt; echo MARK-$((40+2)) >> found.txt; cat found.txt`

const printed42 = "MARK-42"

// printsAllItCanRead is a conversation with such a command, and a pull request of what that printed.
func (w *world) printsAllItCanRead(t *testing.T) (page, commit string) {
	d := driver.Talk(t, w.Stack, webapi.Sato, "claude@shop: コマンド: "+printsAll)
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "169.254.169.254"), card.ApproveAction)
	d.Shows("操作 #1 完了", printed42)
	d.Rests()
	d.Reply("プルリクエストを開いて")
	d.Shows("操作 #2 の確認", "found.txt") // the card shows a part only, the page all
	status, said := driver.SitDown(t, w.Stack, webapi.Sato).Act(d, "approve", "")
	expect.Must(t, status == http.StatusSeeOther, "the console says %d: %.300s", status, said)
	d.Shows("操作 #2 完了")
	return d.Page(), d.Rests().Actions[1].Pushed.Commit
}

// nothingSecretIsLeftBehind looks through all places, after all that was played and the conversation of
// printsAllItCanRead: no secret stands there. In what functions printed and in runs' histories stands no text of
// people, either.
func (w *world) nothingSecretIsLeftBehind(t *testing.T, talk, commit string) {
	desk := driver.SitDown(t, w.Stack, webapi.Sato)
	functions := strings.Fields("ReceiveEvent ReceiveInteraction ResumeTask ExtractTask DraftPrompt RequestApproval " +
		"PlanProcess ExecuteProcess UpdateCard AnswerMessage RunAction CallTool")
	for i, name := range functions { // those that handle content have printed something, so the search covers it
		functions[i] = `{"function":"` + name + `Function",`
	}
	console := ""
	for _, path := range []string{"", "?log=1", "/files", "/files/raw?path=found.txt"} {
		_, page := desk.Get(talk + path)
		console += page
	}
	bucket, prompts := w.inBucket(t)
	places := map[string]struct {
		text string
		has  []string
	}{
		"what functions printed": {w.printed.String(), append(functions, `"called"`, `"decided"`, "_aws")},
		"runs' histories":        {w.history(t), []string{"ExecuteProcess", "AnswerMessage"}},
		"rows":                   {w.everyRow(t), []string{printed42, plantedMark, "connected"}},
		"the bucket":             {bucket, []string{printed42}},
		"what models were sent":  {prompts, []string{printed42}},
		"Slack":                  {w.inSlack(t), []string{printed42, plantedMark}},
		"the console":            {console, []string{printed42}},
		"GitHub":                 {fmt.Sprint(w.shop().Files(commit), w.shop().Pulls()), []string{printed42}},
	}
	secrets := w.secrets(t)
	texts := []string{plantedMark, plantedReason, "v0=", "@example.com", "進め方:"}
	for place, x := range places {
		for _, sign := range x.has {
			expect.That(t, strings.Contains(x.text, sign), "%s lacks %s: nothing is proved", place, sign)
		}
		never := maps.Clone(secrets)
		switch place {
		case "runs' histories": // AWS itself puts task tokens there, in the input of the calls that carry them
			delete(never, "a task token")
			never["people's text"] = texts
		case "what functions printed":
			never["people's text"] = texts
		}
		for kind, values := range never {
			for i, value := range values {
				if at := strings.Index(x.text, value); at >= 0 {
					t.Errorf("%s has %s, number %d: %.300q", place, kind, i, x.text[max(0, at-200):])
				}
			}
		}
	}
}

// secrets returns all secrets of the stack, by where they lie.
func (w *world) secrets(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{
		"Slack's secret": {signingSecret, botToken, w.ClientSecret}, "the model secret": {modelKey},
		"a vendor's secret": w.Vendors.Secrets(), "a token of GitHub": w.Vendors.GitHub.Tokens(),
	}
	for line := range strings.SplitSeq(w.Vendors.GitHub.Key, "\n") {
		if line != "" && !strings.HasPrefix(line, "-----") {
			out["the App's key"] = append(out["the App's key"], line)
		}
	}
	for _, f := range w.Template.Functions {
		out["a function's credentials"] = append(out["a function's credentials"], lambda.SecretKey(f.ID))
	}
	w.tokens.Range(func(token, _ any) bool {
		out["a task token"] = append(out["a task token"], token.(string))
		return true
	})
	w.scan(t, func(row map[string]any) {
		if sealed, _ := row["credentials"].(string); len(sealed) > 40 { // a row without a secret names its provider only
			out["sealed credentials"] = append(out["sealed credentials"], sealed)
		}
	})
	for kind, values := range out {
		expect.That(t, len(values) > 0 && !slices.Contains(values, ""), "nothing is planted as %s", kind)
	}
	return out
}

func (w *world) scan(t *testing.T, each func(row map[string]any)) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(w.db, &dynamodb.ScanInput{TableName: &w.TableName})
	for pages.HasMorePages() {
		for _, item := range expect.Value(pages.NextPage(context.Background()))(t).Items {
			var row map[string]any
			expect.NoError(t, attributevalue.UnmarshalMap(item, &row))
			each(row)
		}
	}
}

// everyRow is the text of all rows, without tokens and sealed credentials where they belong.
func (w *world) everyRow(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	w.scan(t, func(row map[string]any) {
		if row["task_token"] == nil {
			delete(row, "credentials")
			fmt.Fprintln(&all, row)
		}
	})
	return all.String()
}

// inBucket is the text of all objects, and of the prompts among them.
func (w *world) inBucket(t *testing.T) (text, prompts string) {
	t.Helper()
	var all, sent strings.Builder
	client := s3.NewFromConfig(w.AWS, func(o *s3.Options) { o.UsePathStyle = true })
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &w.BucketName})
	for pages.HasMorePages() {
		for _, o := range expect.Value(pages.NextPage(t.Context()))(t).Contents {
			got := expect.Value(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &w.BucketName, Key: o.Key}))(t)
			said := expect.Value(io.ReadAll(got.Body))(t)
			if all.Write(said); strings.HasPrefix(*o.Key, "prompts/") {
				sent.Write(said)
			}
			expect.NoError(t, got.Body.Close())
		}
	}
	return all.String(), sent.String()
}

// inSlack is everything in Slack: messages, and files with their content.
func (w *world) inSlack(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, c := range w.Sandbox.Workspace.Channels() {
		found, _ := w.Sandbox.Workspace.Everything(c.ID) // none in a deleted channel
		for _, m := range found {
			fmt.Fprintf(&all, "%+v\n", m)
			for _, f := range m.Files {
				kept := expect.Value(w.Sandbox.Workspace.File(f.ID))(t)
				fmt.Fprintf(&all, "%s\n%s\n", kept.Name, kept.Body)
			}
		}
	}
	return all.String()
}

// history returns every event of every run.
func (w *world) history(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, x := range expect.Value(driver.Executions(w.Stack, "", ""))(t) {
		all.Write(expect.Value(json.Marshal(expect.Value(w.eventsOf(x.ExecutionArn))(t)))(t))
	}
	return all.String()
}
