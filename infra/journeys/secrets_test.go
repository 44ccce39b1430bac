package journeys

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// modelKey is a planted member of the model secret.
const modelKey = "sk-planted-model-key-5d1c"

// printsAll is a command that prints what it can read of its surroundings, into a file and as its output.
const printsAll = `{ env; id; ` +
	`for f in /proc/self/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\0' '\n' < $f; done; ` +
	`cat ~/.aws/* /root/.aws/* /run/secrets/* /var/task/* /tmp/*.json; ` +
	`python3 -c "import urllib.request as u; ` +
	`print(u.urlopen('http://169.254.169.254/latest/meta-data/', timeout=2).read())"; } 2>&1 | ` +
	`grep -a -v -x '' | cut -c 1-500 | head -n 400 > found.txt; echo MARK-$((40+2)) >> found.txt; cat found.txt`

// mark is what the command writes last, so that a place that lacks it proves nothing.
const mark = "MARK-42"

// A3: secrets lie in Secrets Manager, in sealed rows, in the functions' environments, at vendors and in runs' task
// tokens. A conversation reads files, runs a command that prints all it can, calls a tool and pushes: none
// of the secrets stands in what models, commands, GitHub, Slack, the console, rows or the bucket got.
func TestNoSecretReachesWhatAgentsAndPeopleGet(t *testing.T) {
	driver.Leave(t, running)
	driver.Settings(t, running, func(x *tenancy.Settings) { driver.ListEmployees(x, "claude", webapi.Sato) })
	waits := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	waits.Card(driver.PromptCard, "approve_prompt") // its run waits for a token
	d := driver.Talk(t, running, webapi.Sato, "claude@shop: ファイルを見せて")
	d.Shows("ファイルを読みました")
	d.Reply("コマンド: " + printsAll)
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "169.254.169.254"), card.ApproveAction)
	d.Shows("操作 #1 完了", mark)
	d.Rests()
	d.Reply("従業員の一覧")
	d.Shows("操作 #2 完了", "list_employees")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	d.Shows("操作 #3 の確認", "found.txt") // the card shows a part only, the page all
	desk := driver.SitDown(t, running, webapi.Sato)
	status, said := desk.Act(d, "approve", "")
	expect.Must(t, status == http.StatusSeeOther, "the console says %d: %.300s", status, said)
	d.Shows("操作 #3 完了")
	x := d.Rests().Actions[2]

	repo := running.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
	places := map[string]string{
		"rows": inRows(t), "the bucket": inBucket(t, ""), "what models were sent": inBucket(t, "prompts/"),
		"Slack":  inSlack(t),
		"GitHub": fmt.Sprint(repo.Files(x.Pushed.Commit), repo.Pulls()),
	}
	for _, path := range []string{"", "?log=1", "/files", "/files/raw?path=found.txt"} {
		places["the console"] += page(t, desk, d.Page()+path)
	}
	for place, text := range places {
		expect.That(t, strings.Contains(text, mark), "%s lacks what the command wrote: nothing is proved", place)
	}
	planted := secrets(t, d)
	for kind, values := range planted {
		expect.That(t, len(values) > 0 && !slices.Contains(values, ""), "nothing is planted as %s", kind)
		for i, value := range values {
			for place, text := range places {
				if at := strings.Index(text, value); at >= 0 {
					t.Errorf("%s has %s, number %d: %.200q", place, kind, i, text[max(0, at-150):at])
				}
			}
		}
	}
}

// secrets returns all secrets of the stack, by where they lie.
func secrets(t *testing.T, d *driver.Dialogue) map[string][]string {
	t.Helper()
	out := map[string][]string{
		"Slack's secret": {running.SigningSecret, running.BotToken, running.ClientSecret}, "the model secret": {modelKey},
		"a vendor's secret": running.Vendors.Secrets(), "a token of GitHub": running.Vendors.GitHub.Tokens(),
	}
	for line := range strings.SplitSeq(running.Vendors.GitHub.Key(), "\n") {
		if line != "" && !strings.HasPrefix(line, "-----") {
			out["the App's key"] = append(out["the App's key"], line)
		}
	}
	for _, f := range running.Template.Functions {
		out["a function's credentials"] = append(out["a function's credentials"], lambda.SecretKey(f.ID))
	}
	scan(t, func(row map[string]any) {
		if token, ok := row["task_token"].(string); ok {
			out["a task token"] = append(out["a task token"], token)
		}
		// a row without a secret names its provider only
		if sealed, ok := row["credentials"].(string); ok && len(sealed) > 40 {
			out["sealed credentials"] = append(out["sealed credentials"], sealed)
		}
	})
	return out
}

func scan(t *testing.T, each func(row map[string]any)) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(running.AWS),
		&dynamodb.ScanInput{TableName: &running.TableName})
	for pages.HasMorePages() {
		for _, item := range expect.Value(pages.NextPage(context.Background()))(t).Items {
			each(rowOf(t, item))
		}
	}
}

func rowOf(t *testing.T, item map[string]types.AttributeValue) (row map[string]any) {
	t.Helper()
	expect.NoError(t, attributevalue.UnmarshalMap(item, &row))
	return row
}

// inRows is the text of all rows but those where tokens and sealed credentials belong.
func inRows(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	scan(t, func(row map[string]any) {
		if row["task_token"] == nil {
			delete(row, "credentials")
			fmt.Fprintln(&all, row)
		}
	})
	return all.String()
}

func inBucket(t *testing.T, prefix string) string {
	t.Helper()
	var all strings.Builder
	client := s3.NewFromConfig(running.AWS, func(o *s3.Options) { o.UsePathStyle = true })
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &running.BucketName, Prefix: &prefix})
	for pages.HasMorePages() {
		for _, o := range expect.Value(pages.NextPage(t.Context()))(t).Contents {
			got := expect.Value(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &running.BucketName, Key: o.Key}))(t)
			all.Write(expect.Value(io.ReadAll(got.Body))(t))
			expect.NoError(t, got.Body.Close())
		}
	}
	return all.String()
}

// inSlack is everything in Slack: messages, and files with their content.
func inSlack(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, c := range running.Sandbox.Workspace().Channels() {
		found, _ := running.Sandbox.Workspace().Everything(c.ID) // none in a deleted channel
		for _, m := range found {
			fmt.Fprintf(&all, "%+v\n", m)
			for _, f := range m.Files {
				kept := expect.Value(running.Sandbox.Workspace().File(f.ID))(t)
				fmt.Fprintf(&all, "%s\n%s\n", kept.Name, kept.Body)
			}
		}
	}
	return all.String()
}

// page is an answer of the console.
func page(t *testing.T, desk driver.Desk, path string) string {
	t.Helper()
	status, text := desk.Get(path)
	expect.That(t, status == http.StatusOK || status == http.StatusSeeOther || status == http.StatusFound, "%s: %d",
		path, status)
	return text
}
