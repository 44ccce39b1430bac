package conversation_test

import (
	"context"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// storedFiles stands in for the bucket with conversations' files.
type storedFiles struct {
	Changes []files.Change    // the difference of every action
	Links   map[string][]byte // what was offered by a link, by name
	trees   map[string]*files.Tree
}

func key(of large.VersionsOf, version string) string {
	return of.Tenant + "/" + of.ID + "/" + version
}

// keepFiles stores a version of the conversation's files.
func keepFiles(t *testing.T, k *consoletest.Conversation, tree *files.Tree) (version string) {
	t.Helper()
	f, is := k.Console.Files.(*storedFiles)
	if !is {
		f = &storedFiles{Links: map[string][]byte{}, trees: map[string]*files.Tree{}}
		k.Console.Files = f
	}
	version = files.Sum(expect.Value(tree.Archive())(t))
	f.trees[key(large.VersionsOf{Tenant: k.Talk.Tenant, ID: k.Talk.ID}, version)] = tree
	return version
}

// loseFiles deletes a version.
func loseFiles(k *consoletest.Conversation, version string) {
	delete(k.Console.Files.(*storedFiles).trees, key(large.VersionsOf{Tenant: k.Talk.Tenant, ID: k.Talk.ID}, version))
}

func (f *storedFiles) Difference(context.Context, large.VersionsOf, string, string) ([]files.Change, error) {
	return f.Changes, nil
}

func (f *storedFiles) Get(_ context.Context, of large.VersionsOf, version string) (*files.Tree, error) {
	if version == "" {
		return &files.Tree{}, nil
	}
	if t := f.trees[key(of, version)]; t != nil {
		return t, nil
	}
	return nil, large.ErrGone
}

func (f *storedFiles) Link(_ context.Context, of large.VersionsOf, name string, body []byte) (string, error) {
	f.Links[name] = body
	return "https://bucket.example/" + key(of, name), nil
}
