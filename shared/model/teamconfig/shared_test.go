package teamconfig

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"ringi/shared/runtime/expect"
)

const contestFile = "[orchestrator]\n[[orchestrator.teams]]\nconfig = 'teams/a.toml'\n"

// sharing is a workspace of three contests that shares what the text says.
func sharing(text string) Workspace {
	files := fstest.MapFS{
		"ours.toml": {Data: []byte(contestFile)}, "theirs.toml": {Data: []byte(contestFile)}, "all.toml": {Data: []byte(contestFile)},
		"teams/a.toml": {Data: []byte("[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\nmodel = 'openai:gpt-4o'\n")},
	}
	if text != "" {
		files[SharedFile] = &fstest.MapFile{Data: []byte(text)}
	}
	return Workspace{FS: files}
}

// A contest is shared with all that its file names, and nothing else is: neither in the list nor when it is asked for
// by name.
func TestContestsAreSharedByName(t *testing.T) {
	w := sharing("[contests]\n'theirs.toml' = ['T2', 'T3']\n'./all.toml' = ['any']\n'ours.toml' = []\n'../x.toml' = ['any']\n'teams/a.toml' = 'T2'\n")
	for team, want := range map[string][]string{"T2": {"all.toml", "theirs.toml"}, "T4": {"all.toml"}, "any": {"all.toml"}, "": {"all.toml"}} {
		x := expect.Value(w.SharedWith(team))(t)
		files, more, err := x.Contests()
		expect.NoError(t, err)
		expect.Same(t, want, files)
		for _, file := range []string{"ours.toml", "theirs.toml", "all.toml", "./all.toml", "./ours.toml", "teams/../ours.toml", "teams/a.toml"} {
			_, found := x.Contest(file)
			clean := expect.Value(inside(file))(t)
			wanted := len(want) > 0 && clean == want[0] || len(want) > 1 && clean == want[1]
			if Valid(found) != wanted || more || !wanted && found[0].Message != errNotShared.Error() {
				t.Errorf("%q and %s: %v", team, file, found)
			}
		}
	}
}

func TestWithoutAFileThatSharesThemThereAreNoContests(t *testing.T) {
	for text, wrong := range map[string]bool{"": false, "[contests]\n": false, "contests = 1\n": false, "[contests": true} {
		x, err := sharing(text).SharedWith("T2")
		expect.Is(t, err != nil, wrong, "%q: %v", text, err)
		files, _, err := x.Contests()
		_, found := x.Contest("ours.toml")
		expect.That(t, err == nil && len(files) <= 0 && !Valid(found), "%q shares %v, %v", text, files, err)
	}
	_, err := Workspace{FS: down{}}.SharedWith("T2")
	expect.Fails(t, err, errDown, "a bucket that is down")
}

var errDown = errors.New("the bucket does not answer")

// down is a bucket that doesn't answer.
type down struct{}

func (down) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errDown}
}
