package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
)

// Order is a pull request to open: changes that people approved, on one commit.
type Order struct {
	RepositoryID         int64
	Base                 string // the commit
	Branch, Into         string // the branch to make, and the one that is asked to take it
	Title, Body, Message string
	At                   time.Time // the commit's date
	Changes              []files.Change
	Allow                []string // as in the source
}

// Step is how far an order has come.
type Step struct {
	Commit string // made; nobody sees it without the branch
	Branch bool   // the branch leads to the commit
	Number int    // of the pull request
}

var (
	// ErrOther says that the repository's name is another repository's now.
	ErrOther = errors.New("the repository's name is another repository's")
	// ErrTaken says that the branch is there and leads to another commit.
	ErrTaken = errors.New("the branch leads to another commit")
	// ErrTree says that the tree that GitHub made is not the commit's with the changes, and nothing else.
	ErrTree = errors.New("GitHub's tree is not the commit's with the changes")
)

// Carry carries out an order from the step at which it is. After each further step note is called, and the next one
// begins only if it returns nil. A step that was made before and isn't known of is found, not made again. It returns
// the last step that is known, also beside an error: one of files.ErrRefused, ErrOther, ErrTaken, ErrTree,
// ErrTruncated, or an *explain.CallError, whose outcome is Unknown if the next step may be there.
func (c *Client) Carry(ctx context.Context, o Order, at Step, note func(context.Context, Step) error) (Step, error) {
	if err := c.is(ctx, o.RepositoryID); err != nil {
		return at, err
	}
	for _, step := range []struct {
		made bool
		make func(context.Context, Order, *Step) error
	}{{at.Commit != "", c.commit}, {at.Branch, c.branch}, {at.Number > 0, c.pull}} {
		if step.made {
			continue
		}
		if err := step.make(ctx, o, &at); err != nil {
			return at, err
		}
		if err := note(ctx, at); err != nil {
			return at, err
		}
	}
	return at, nil
}

// Look returns how far an order of this branch and commit has come, without making anything. It returns ErrOther, and
// ErrTaken if somebody else has the branch.
func (c *Client) Look(ctx context.Context, id int64, branch, commit string) (Step, error) {
	at := Step{Commit: commit}
	if err := c.is(ctx, id); err != nil {
		return at, err
	}
	switch n, err := c.pulled(ctx, branch, commit); {
	case err != nil:
		return at, err
	case n > 0:
		return Step{Commit: commit, Branch: true, Number: n}, nil
	}
	is, err := c.Branch(ctx, branch)
	if err == nil && is != "" && is != commit {
		err = ErrTaken
	}
	at.Branch = is != "" && is == commit
	return at, err
}

// is returns ErrOther unless the client's repository has this number.
func (c *Client) is(ctx context.Context, id int64) error {
	r, err := c.Repository(ctx)
	if err == nil && r.ID != id {
		err = ErrOther
	}
	return err
}

// commit makes the tree and the commit. GitHub's tree is compared before the commit is made.
func (c *Client) commit(ctx context.Context, o Order, at *Step) error {
	base, err := c.TreeOf(ctx, o.Base)
	if err != nil {
		return err
	}
	entries, err := c.Tree(ctx, base)
	if err != nil {
		return err
	}
	var whole conversation.Commit
	want := map[string]Entry{}
	for _, e := range entries {
		want[e.Path] = Entry{Mode: e.Mode, SHA: e.SHA}
		whole.Entries = append(whole.Entries, files.Committed{Path: e.Path, Mode: e.Mode})
	}
	if problems := whole.Unpushable(o.Changes, o.Allow); problems != nil {
		return fmt.Errorf("%s: %w", problems[0], files.ErrRefused)
	}
	changes, err := c.apply(ctx, o.Changes, want)
	if err != nil {
		return err
	}
	tree, err := c.MakeTree(ctx, base, changes)
	if err != nil {
		return err
	}
	made, err := c.Tree(ctx, tree)
	if err != nil {
		return err
	}
	got := map[string]Entry{}
	for _, e := range made {
		got[e.Path] = Entry{Mode: e.Mode, SHA: e.SHA}
	}
	if !maps.Equal(want, got) || len(got) != len(made) {
		return ErrTree
	}
	at.Commit, err = c.MakeCommit(ctx, Commit{Message: o.Message, Tree: tree, Parent: o.Base, Name: committer,
		Email: committerEmail, At: o.At.Truncate(time.Second)})
	return err
}

// committer is the author of what people approved. GitHub signs only commits that have none of their own, so these are
// unsigned. The address is reserved and nobody's.
const committer, committerEmail = "ringi", "ringi@noreply.invalid"

// apply returns what GitHub is to make of the files that change, each made of the commit's own bytes, and makes the
// same of the entries. Content that stays is named by its hash, and need not be text.
func (c *Client) apply(ctx context.Context, changes []files.Change, entries map[string]Entry) (
	list []Change, err error) {
	for _, x := range changes {
		was := []byte(nil)
		if x.Was != nil && x.Is != nil && x.Was.SHA256 == x.Is.SHA256 {
			entry := Entry{Mode: x.Is.Mode, SHA: entries[x.Path].SHA}
			list, entries[x.Path] = append(list, Change{Path: x.Path, Mode: entry.Mode, SHA: entry.SHA}), entry
			continue
		}
		if x.Was != nil {
			if was, err = c.Blob(ctx, entries[x.Path].SHA); err != nil {
				return nil, err
			}
		}
		is, err := x.After(was)
		if err != nil {
			return nil, err
		}
		if x.Is == nil {
			list = append(list, Change{Path: x.Path, Mode: entries[x.Path].Mode})
			delete(entries, x.Path)
			continue
		}
		content := string(is)
		list = append(list, Change{Path: x.Path, Mode: x.Is.Mode, Content: &content})
		entries[x.Path] = Entry{Mode: x.Is.Mode, SHA: files.BlobSHA(is)}
	}
	return list, nil
}

// branch makes the branch. One that leads to the commit was made by an earlier try.
func (c *Client) branch(ctx context.Context, o Order, at *Step) error {
	err := c.MakeBranch(ctx, o.Branch, at.Commit)
	if err != nil && found(err) {
		is, read := c.Branch(ctx, o.Branch)
		switch {
		case read != nil:
			err = uncertain(err, read)
		case is == at.Commit:
			err = nil
		case is != "":
			err = ErrTaken
		}
	}
	at.Branch = err == nil
	return err
}

// pull opens the pull request. One of the branch and the commit was opened by an earlier try.
func (c *Client) pull(ctx context.Context, o Order, at *Step) error {
	p, err := c.OpenPull(ctx, o.Title, o.Body, o.Branch, o.Into)
	if err == nil && p.Number <= 0 {
		err = &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemBadAnswer,
			Args: []any{explain.GitHub}, Err: errors.New("a pull request without a number")}
	}
	if err != nil && found(err) {
		n, read := c.pulled(ctx, o.Branch, at.Commit)
		switch {
		case read != nil:
			err = uncertain(err, read)
		case n > 0:
			p.Number, err = n, nil
		}
	}
	if err == nil {
		at.Number = p.Number
	}
	return err
}

// pulled returns the number of the pull request of a branch at this commit, or 0.
func (c *Client) pulled(ctx context.Context, branch, commit string) (int, error) {
	list, err := c.Pulls(ctx, branch)
	for _, p := range list {
		if p.Head.SHA == commit && p.Number > 0 {
			return p.Number, err
		}
	}
	return 0, err
}

// found reports whether a step that was answered with an error may be there all the same: GitHub has no answer, or
// refuses what exists.
func found(err error) bool {
	e, ok := errors.AsType[*explain.CallError](err)
	return ok && (e.Outcome == explain.CallUnknown || e.Problem == explain.ProblemRejected)
}

// uncertain returns the error of a step of which nobody could be asked whether it is there.
func uncertain(err, read error) error {
	e, ok := errors.AsType[*explain.CallError](read)
	if !ok {
		return errors.Join(err, read)
	}
	e.Outcome = explain.CallUnknown
	return e
}

// Change is a file that a new tree has in place of the base's. Without Content and SHA the file is deleted.
type Change struct {
	Path    string
	Mode    string // files.ModeFile or ModeExecutable
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
	return c.wire.Write(ctx, http.MethodPost, c.path("/git/refs"),
		map[string]string{"ref": "refs/heads/" + name, "sha": commit},
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
