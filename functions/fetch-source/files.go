package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/tool/github"
)

// Limits of what is fetched apart from the archive, where the archive has another content than the commit.
const (
	mostBlobs = 50
	maxBlobs  = 8 << 20 // bytes of all of them
)

// files returns the files of the source's commit, and the commit's manifest.
func files(ctx context.Context, repo *github.Client, s *conversation.Source) (
	conversation.Commit, *conversation.Imported, error) {
	commit := conversation.Commit{Repository: s.Repository, RepositoryID: s.RepositoryID, SHA: s.Commit, Path: s.Path}
	var err error
	if commit.Tree, err = repo.TreeOf(ctx, s.Commit); err != nil {
		return commit, nil, fmt.Errorf("find the tree: %w", err)
	}
	tree, err := repo.Below(ctx, commit.Tree, s.Path)
	if err != nil {
		return commit, nil, fmt.Errorf("list the tree: %w", err)
	}
	if len(tree) > conversation.MaxLooked {
		return commit, nil, github.ErrTruncated
	}
	for _, e := range tree {
		commit.Entries = append(commit.Entries, conversation.Committed{Path: e.Path, Mode: e.Mode, SHA: e.SHA, Size: e.Size})
	}
	imported, err := unpacked(ctx, repo, s)
	if err != nil {
		return commit, nil, err
	}
	return commit, imported, mend(ctx, repo, imported, imported.Compare(commit.Entries))
}

// unpacked reads the commit's archive. A read that breaks off is tried again, an archive that can't be read is not.
func unpacked(ctx context.Context, repo *github.Client, s *conversation.Source) (*conversation.Imported, error) {
	body, err := repo.Archive(ctx, s.Commit)
	if err != nil {
		return nil, fmt.Errorf("fetch the archive: %w", err)
	}
	defer body.Close()
	counted := &noting{Reader: body}
	unzipped, err := gzip.NewReader(counted)
	if err == nil {
		var m *conversation.Imported
		if m, err = conversation.Import(ctx, unzipped, s.Path); err == nil {
			return m, nil
		}
	}
	if counted.err != nil && !errors.Is(counted.err, io.EOF) || !errors.Is(err, conversation.ErrRefused) {
		return nil, fmt.Errorf("%w: the archive broke off", explain.ErrUnavailable) // the error may quote the address
	}
	return nil, err
}

// noting notes the error of its reader.
type noting struct {
	io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if err != nil {
		n.err = err
	}
	return k, err
}

// mend fetches the commit's own content for the files that the archive has another content of. Those beyond the limits
// are left out.
func mend(ctx context.Context, repo *github.Client, m *conversation.Imported, differ []conversation.Committed) error {
	left := int64(maxBlobs)
	for i, e := range differ {
		if i >= mostBlobs || e.Size > left {
			m.Drop(e.Path)
			continue
		}
		left -= e.Size
		content, err := repo.Blob(ctx, e.SHA)
		if err != nil {
			return fmt.Errorf("fetch a file: %w", err)
		}
		m.Replace(e, content)
	}
	return nil
}
