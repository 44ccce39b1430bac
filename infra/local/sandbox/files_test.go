package sandbox_test

import (
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

// The app's files stand in the thread once they are shared, and are shared once.
func TestFilesOfTheAppAreSharedOnce(t *testing.T) {
	s := slacktest.Start(t)
	root := s.Say(t, webapi.Sato, webapi.HR, "files?")
	c := s.Client
	may := expect.Value(c.May(t.Context(), slackapi.ScopeFiles))(t)
	expect.That(t, may && !expect.Value(c.May(t.Context(), "admin"))(t), "the scopes")
	id := expect.Value(c.Upload(t.Context(), "表.csv", []byte("1,2\n")))(t)
	expect.That(t, !expect.Value(c.Shared(t.Context(), id, webapi.HR, root))(t), "it is shared before anybody said so")
	files := []slackapi.Uploaded{{ID: id, Title: "out/表.csv"}}
	expect.NoError(t, c.Share(t.Context(), webapi.HR, root, "files", files))
	expect.That(t, expect.Value(c.Shared(t.Context(), id, webapi.HR, root))(t), "it is not shared")
	expect.That(t, !expect.Value(c.Shared(t.Context(), id, webapi.HR, "1.2"))(t), "it is shared in another thread")
	again := c.Share(t.Context(), webapi.HR, root, "files", files)
	expect.Is(t, slackapi.Code(again), "file_already_completed", "a second time")
	thread := s.Thread(t, webapi.HR, root)
	last := thread[len(thread)-1]
	expect.That(t, len(thread) == 1 && len(last.Files) == 1 && last.Files[0].Title == "out/表.csv", "%+v", last)
	expect.That(t, !expect.Value(c.Shared(t.Context(), "F0NONE", webapi.HR, root))(t), "a file that isn't there")
}
