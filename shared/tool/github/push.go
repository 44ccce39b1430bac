package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"ringi/shared/explain"
	"strings"
	"time"
)

// Change is a file that a new tree has in place of the base's. Without Content and SHA the file is deleted.
type Change struct {
	Path    string
	Mode    string // conversation.ModeFile or ModeExecutable
	Content *string
	SHA     string // of content that is there already
}

// change is a Change as GitHub reads it.
type change struct {
	Path    string  `json:"path"`
	Mode    string  `json:"mode"`
	Type    string  `json:"type"`
	Content *string `json:"content"`
}

// named is a Change to content by its hash, which is null for a file that is deleted.
type named struct {
	Path string  `json:"path"`
	Mode string  `json:"mode"`
	Type string  `json:"type"`
	SHA  *string `json:"sha"`
}

type made struct {
	SHA string `json:"sha"`
}

// MakeTree makes a tree that is base with these changes. Nobody sees it until a ref leads to it.
func (c *Client) MakeTree(ctx context.Context, base string, changes []Change) (sha string, err error) {
	var list []any
	for _, x := range changes {
		switch {
		case x.Content != nil:
			list = append(list, change{Path: x.Path, Mode: x.Mode, Type: "blob", Content: x.Content})
		case x.SHA != "":
			list = append(list, named{Path: x.Path, Mode: x.Mode, Type: "blob", SHA: &x.SHA})
		default:
			list = append(list, named{Path: x.Path, Mode: x.Mode, Type: "blob"})
		}
	}
	var out made
	if err := c.wire.Write(ctx, http.MethodPost, c.path("/git/trees"), map[string]any{"base_tree": base, "tree": list},
		&out); err != nil {
		return "", unseen(err)
	}
	return c.hash(out.SHA)
}

// Commit is a commit to make.
type Commit struct {
	Message, Tree, Parent string
	Name, Email           string // of its author and committer
	At                    time.Time
}

// MakeCommit makes a commit. The same commit has the same hash; nobody sees it until a ref leads to it.
func (c *Client) MakeCommit(ctx context.Context, x Commit) (sha string, err error) {
	by := map[string]string{"name": x.Name, "email": x.Email, "date": x.At.UTC().Format(time.RFC3339)}
	var out struct {
		made
		Tree    made   `json:"tree"`
		Parents []made `json:"parents"`
	}
	if err := c.wire.Write(ctx, http.MethodPost, c.path("/git/commits"), map[string]any{
		"message": x.Message, "tree": x.Tree, "parents": []string{x.Parent}, "author": by, "committer": by,
	}, &out); err != nil {
		return "", unseen(err)
	}
	if out.Tree.SHA != x.Tree || len(out.Parents) != 1 || out.Parents[0].SHA != x.Parent {
		return "", c.odd("the commit has another tree or another parent")
	}
	return c.hash(out.SHA)
}

// unseen returns the error of a call that made nothing that anybody can see, whatever became of it.
func unseen(err error) error {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		e.Outcome = explain.CallFailed
	}
	return err
}

// Branch returns the commit of a branch, or "" if there is no such branch.
func (c *Client) Branch(ctx context.Context, name string) (sha string, err error) {
	var at ref
	err = c.wire.Read(ctx, c.path("/git/ref/heads/%s", name), &at)
	if e, ok := errors.AsType[*explain.CallError](err); ok && e.Problem == explain.ProblemNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return c.hash(at.Object.SHA)
}

// MakeBranch makes a branch. If it exists, GitHub refuses; Branch then says at which commit it is.
func (c *Client) MakeBranch(ctx context.Context, name, commit string) error {
	return c.wire.Write(ctx, http.MethodPost, c.path("/git/refs"), map[string]string{"ref": "refs/heads/" + name, "sha": commit},
		new(ref))
}

// Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Draft  bool   `json:"draft"`
	State  string `json:"state"`
	Head   struct {
		SHA string `json:"sha"`
	} `json:"head"`
}

// OpenPull opens a draft pull request from a branch to another.
func (c *Client) OpenPull(ctx context.Context, title, body, head, base string) (p Pull, err error) {
	return p, c.wire.Write(ctx, http.MethodPost, c.path("/pulls"), map[string]any{
		"title": title, "body": body, "head": head, "base": base, "draft": true, "maintainer_can_modify": false,
	}, &p)
}

// Pulls returns the pull requests, open or closed, that come from a branch.
func (c *Client) Pulls(ctx context.Context, head string) (list []Pull, err error) {
	owner, _, _ := strings.Cut(c.name, "/")
	query := url.Values{"state": {"all"}, "head": {owner + ":" + head}}
	return list, c.wire.Read(ctx, c.path("/pulls?%s", query.Encode()), &list)
}
