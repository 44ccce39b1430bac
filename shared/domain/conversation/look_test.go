package conversation_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestAPlaceNamesFiles(t *testing.T) {
	var files []conversation.File
	for _, p := range []string{"a.go", "src/a.go", "src/b/c_test.go", "src2/x", "src/b/data.csv", "名簿/四月.csv"} {
		files = append(files, conversation.File{Path: p, Content: "x"})
	}
	tree := expect.Value((&conversation.Tree{}).Apply(files))(t)
	for place, want := range map[string]string{
		"":    "a.go src/a.go src/b/c_test.go src/b/data.csv src2/x 名簿/四月.csv",
		".":   "a.go src/a.go src/b/c_test.go src/b/data.csv src2/x 名簿/四月.csv",
		"src": "src/a.go src/b/c_test.go src/b/data.csv", "./src/": "src/a.go src/b/c_test.go src/b/data.csv",
		"/src/b": "src/b/c_test.go src/b/data.csv",
		"sr":     "src/a.go src/b/c_test.go src/b/data.csv src2/x", "a.go": "a.go", "none": "", "a.go/": "",
		"*.go": "a.go src/a.go src/b/c_test.go", "src/*.go": "src/a.go", "src/**": "src/a.go src/b/c_test.go src/b/data.csv",
		"**/*.csv": "src/b/data.csv 名簿/四月.csv", "src/**/a.go": "src/a.go", "名簿/*": "名簿/四月.csv",
		"**/b/**/*": "src/b/c_test.go src/b/data.csv", "../*": "",
	} {
		var got []string
		for _, f := range expect.Value(tree.Find(place))(t) {
			got = append(got, f.Path)
		}
		expect.Is(t, strings.Join(got, " "), want, "%q names", place)
	}
	if _, err := tree.Find("[a"); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a glob that can't be read: %v", err)
	}
}

func TestAGlobOfManyFoldersIsFast(t *testing.T) {
	var files []conversation.File
	for i := range 1000 {
		files = append(files, conversation.File{Path: strings.Repeat("a/", 20) + fmt.Sprint(i)})
	}
	tree := expect.Value((&conversation.Tree{}).Apply(files))(t)
	began := time.Now()
	found := expect.Value(tree.Find(strings.Repeat("**/a*/", 30) + "b"))(t)
	took := time.Since(began)
	expect.That(t, len(found) == 0 && took < 5*time.Second, "%d in %s", len(found), took)
}

func TestWhatIsATextAndItsLines(t *testing.T) {
	for content, want := range map[string]struct {
		text  bool
		lines int
	}{"": {true, 0}, "a": {true, 1}, "a\n": {true, 1}, "a\r\nb": {true, 2}, "\n\n": {true, 2}, "a\x00b": {false, 0},
		"\x93\xfa\x96\x7b": {false, 0}} {
		tree := expect.Value((&conversation.Tree{}).Apply([]conversation.File{{Path: "f", Content: content}}))(t)
		f := expect.Value(tree.Find("f"))(t)[0]
		text, ok := f.Text()
		expect.That(t, ok == want.text && conversation.LinesOf(text) == want.lines && f.Size() == len(content),
			"%q: %v, %d lines", content, ok, conversation.LinesOf(text))
	}
}
