package consoletest

import (
	"context"
	"fmt"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// Files stands in for the bucket with conversations' files.
type Files struct {
	Changes []conversation.FileChange // the stored difference of every action
	By      map[string][]conversation.Maker
	Links   map[string][]byte // what was offered by a link, by name
	trees   map[string]*conversation.Tree
	commits map[string]conversation.Commit
}

func key(of large.VersionsOf, version string) string {
	return of.Tenant + "/" + of.ID + "/" + version
}

// KeepFiles stores a version of the conversation's files.
func (k *Conversation) KeepFiles(t *testing.T, tree *conversation.Tree) (version string) {
	t.Helper()
	f, is := k.Console.Files.(*Files)
	if !is {
		f = &Files{Links: map[string][]byte{}, trees: map[string]*conversation.Tree{}, commits: map[string]conversation.Commit{}}
		k.Console.Files = f
	}
	version = conversation.Version(expect.Value(tree.Archive())(t))
	f.trees[key(large.VersionsOf{Tenant: k.Talk.Tenant, ID: k.Talk.ID}, version)] = tree
	return version
}

// KeepCommit stores what the commit of a version has.
func (k *Conversation) KeepCommit(version string, c conversation.Commit) {
	k.Console.Files.(*Files).commits[key(large.VersionsOf{Tenant: k.Talk.Tenant, ID: k.Talk.ID}, version)] = c
}

// LoseFiles deletes a version.
func (k *Conversation) LoseFiles(version string) {
	delete(k.Console.Files.(*Files).trees, key(large.VersionsOf{Tenant: k.Talk.Tenant, ID: k.Talk.ID}, version))
}

func (f *Files) Difference(context.Context, large.VersionsOf, string, string) ([]conversation.FileChange, error) {
	return f.Changes, nil
}

// Made returns which actions changed each path.
func (f *Files) Made(context.Context, large.VersionsOf, string, int) (conversation.Made, error) {
	return conversation.Made{Paths: f.By}, nil
}

func (f *Files) tree(of large.VersionsOf, version string) (*conversation.Tree, error) {
	if version == "" {
		return &conversation.Tree{}, nil
	}
	if t := f.trees[key(of, version)]; t != nil {
		return t, nil
	}
	return nil, large.ErrGone
}

func (f *Files) Manifest(_ context.Context, of large.VersionsOf, version string) (
	m conversation.Manifest, err error,
) {
	t, err := f.tree(of, version)
	if err == nil {
		m = t.Manifest()
	}
	return m, err
}

func (f *Files) Commit(_ context.Context, of large.VersionsOf, version string) (conversation.Commit, error) {
	c, ok := f.commits[key(of, version)]
	if !ok {
		return c, large.ErrGone
	}
	return c, nil
}

func (f *Files) Each(_ context.Context, of large.VersionsOf, version string, files []conversation.Entry,
	take func(conversation.Entry, []byte) error,
) error {
	t, err := f.tree(of, version)
	if err != nil {
		return err
	}
	for _, e := range files {
		content, ok := t.Content(e.Path)
		if !ok {
			return fmt.Errorf("%s has no %s", version, e.Path)
		}
		if err := take(e, content); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) Link(_ context.Context, of large.VersionsOf, name string, body []byte) (string, error) {
	f.Links[name] = body
	return "https://bucket.example/" + key(of, name), nil
}
