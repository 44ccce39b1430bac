package stack

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// The stack must not start if the roles don't let AWS read the event sources and call the states' functions.
func TestRightsThatAWSNeedsAreThere(t *testing.T) {
	const folder = "testdata/system"
	text := string(expect.Value(os.ReadFile(filepath.Join(folder, "template.yaml")))(t))
	for name, tt := range map[string]struct{ old, new, want string }{
		"all":                     {"", "", ""},
		"to read the stream":      {"dynamodb:GetRecords, ", "", "dynamodb:GetRecords on resource"},
		"to take messages":        {"sqs:DeleteMessage, ", "", "sqs:deletemessage on resource"},
		"to set aside":            {"[!GetAtt NoteQueue.Arn, !GetAtt LostNotes.Arn]", "!GetAtt NoteQueue.Arn", "sqs:sendmessage on resource: arn:aws:sqs:us-east-1:123456789012:ringi-LostNotes"},
		"to call a function":      {"Resource: !GetAtt AskPersonFunction.Arn", "Resource: !GetAtt TickFunction.Arn", "lambda:InvokeFunction on resource"},
		"to call one by its ARN":  {"Resource: !GetAtt TickFunction.Arn", "Resource: !GetAtt AskPersonFunction.Arn", "lambda:InvokeFunction on resource"},
		"in words that are known": {"Effect: Allow, Action: dynamodb:PutItem", "Effect: Allow, NotAction: dynamodb:PutItem", "NotAction is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Must(t, strings.Contains(text, tt.old), "%q does not stand there", tt.old)
			dir := t.TempDir()
			expect.NoError(t, os.CopyFS(dir, os.DirFS(folder)))
			file := filepath.Join(dir, "template.yaml")
			expect.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, tt.old, tt.new, 1)), 0o600))
			names := template.Names{Stack: Name, Region: Region, Account: Account}
			s := &Stack{options: Options{Template: file}, log: slog.New(slog.DiscardHandler), Template: expect.Value(template.Read(file, names, map[string]string{"Stage": "dev"}))(t)}
			b, err := s.bench(names, nil)
			if err == nil {
				err = s.connect(b)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}
