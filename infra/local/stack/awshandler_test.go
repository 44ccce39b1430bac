package stack

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// The answer may arrive before the transport knows that the call's body has ended: the service answers each call as
// soon as it has read the body's last byte.
func TestAnAnswerThatComesAtOnceIsForwardedWhole(t *testing.T) {
	expect.Patience(t)
	call, answer := strings.Repeat("c", 9000), strings.Repeat("a", 65536)
	service := expect.Value(listen(anyPort, "-test"))(t)
	t.Cleanup(func() { service.Close() })
	go func() {
		for {
			c, err := service.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for said := bufio.NewReader(c); ; {
					r, err := http.ReadRequest(said)
					if err != nil {
						return
					}
					io.CopyN(io.Discard, r.Body, r.ContentLength)
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n"+answer)
				}
			}()
		}
	}()
	front := expect.Server(t, expect.Value(awsHandler(http.NotFoundHandler(), http.NotFoundHandler(),
		address(service), "", "", slog.New(slog.DiscardHandler)))(t))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	expect.AtOnce(16, func(int) {
		for range 100 {
			resp, err := client.Post(front.URL, "", strings.NewReader(call))
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			expect.That(t, err == nil && string(got) == answer, "%d bytes of the answer, %v", len(got), err)
		}
	})
}

// The stack must not start if the roles don't let AWS read the event sources and call the states' functions.
func TestRightsThatAWSNeedsAreThere(t *testing.T) {
	const folder = "testdata/system"
	text := string(expect.Value(os.ReadFile(filepath.Join(folder, "template.yaml")))(t))
	for name, tt := range map[string]struct{ old, new, want string }{
		"all":                {"", "", ""},
		"to read the stream": {"dynamodb:GetRecords, ", "", "dynamodb:GetRecords on resource"},
		"to take messages":   {"sqs:DeleteMessage, ", "", "sqs:deletemessage on resource"},
		"to set aside": {"[!GetAtt NoteQueue.Arn, !GetAtt LostNotes.Arn]", "!GetAtt NoteQueue.Arn",
			"sqs:sendmessage on resource: arn:aws:sqs:us-east-1:123456789012:ringi-LostNotes"},
		"to call a function": {"Resource: !GetAtt AskPersonFunction.Arn", "Resource: !GetAtt TickFunction.Arn",
			"lambda:InvokeFunction on resource"},
		"to call one by its ARN": {"Resource: !GetAtt TickFunction.Arn", "Resource: !GetAtt AskPersonFunction.Arn",
			"lambda:InvokeFunction on resource"},
		"in words that are known": {"Effect: Allow, Action: dynamodb:PutItem", "Effect: Allow, NotAction: dynamodb:PutItem",
			"NotAction is not known"},
	} {
		expect.Must(t, strings.Contains(text, tt.old), "%q does not stand there", tt.old)
		dir := t.TempDir()
		expect.NoError(t, os.CopyFS(dir, os.DirFS(folder)))
		file := filepath.Join(dir, "template.yaml")
		expect.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, tt.old, tt.new, 1)), 0o600))
		s := &Stack{Template: expect.Value(template.Read(file, template.Names{}, map[string]string{"Stage": "dev"}))(t)}
		b, err := template.NewBench(file, template.Names{}, nil, slog.New(slog.DiscardHandler))
		if err == nil {
			err = s.connect(b)
		}
		expect.That(t, (tt.want == "") == (err == nil) && strings.Contains(fmt.Sprint(err), tt.want), "%s: %v", name, err)
	}
}
