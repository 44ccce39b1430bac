package driver

import (
	"slices"
	"strings"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// AskByForm asks for a decision of a title by the form, with cards in #人事.
func AskByForm(t T, s *stack.Stack, user, title string) *Request {
	t.Helper()
	return AskWithFiles(t, s, user, title)
}

// FormFile is a file of a form.
type FormFile struct {
	Name string `json:"name"`
	Body []byte `json:"body"`
}

// AskWithFiles is AskByForm with files.
func AskWithFiles(t T, s *stack.Stack, user, title string, files ...FormFile) *Request {
	t.Helper()
	given := make([]any, len(files))
	for i, f := range files {
		given[i] = map[string]any{"name": f.Name, "body": f.Body}
	}
	return FillIn(t, s, user, map[string]any{"matter": "支出", "title": title, "amount": "120万",
		"description": "入れ替えの時期のため。", "file": given})
}

// FillIn asks for a decision by these values of the form's fields.
func FillIn(t T, s *stack.Stack, user string, fields map[string]any) *Request {
	t.Helper()
	asked := time.Now()
	expect.NoError(t, s.Sandbox.Global(user, "ringi_matter"))
	views := s.Sandbox.Views(user)
	expect.Must(t, len(views) == 1, "%d forms are open", len(views))
	fields["request_channel"] = webapi.HR
	wrong, err := s.Sandbox.Submit(user, views[0].ID, fields)
	expect.Must(t, err == nil && len(wrong) == 0, "%v, %v", wrong, err)
	return askedFor(t, s, fields["title"].(string), asked)
}

// askedFor returns the request that Ringi posted for who filled in a form.
func askedFor(t T, s *stack.Stack, title string, asked time.Time) *Request {
	t.Helper()
	all := expect.Value(s.Sandbox.Workspace().History(webapi.HR, webapi.Range{}))(t)
	at := slices.IndexFunc(all, func(m webapi.Message) bool {
		return m.User == webapi.Bot && strings.Contains(m.Text, title)
	})
	expect.Must(t, at >= 0, "no message asks for the decision")
	r := At(t, s, webapi.HR, all[at].TS)
	r.Asked = asked
	return r
}
