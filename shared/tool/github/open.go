package github

import (
	"context"
	"errors"
	"fmt"
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
	is, err := c.branchAt(ctx, branch)
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
	base, err := c.treeOf(ctx, o.Base)
	if err != nil {
		return err
	}
	entries, err := c.tree(ctx, base)
	if err != nil {
		return err
	}
	var whole conversation.Commit
	want := map[string]Entry{}
	for _, e := range entries {
		want[e.Path] = Entry{Mode: e.Mode, SHA: e.SHA}
		whole.Entries = append(whole.Entries, files.Committed{Path: e.Path, Mode: e.Mode})
	}
	if problems := whole.Unpushable(o.Changes); problems != nil {
		return fmt.Errorf("%s: %w", problems[0], files.ErrRefused)
	}
	changes, err := c.apply(ctx, o.Changes, want)
	if err != nil {
		return err
	}
	var tree object
	err = c.make(ctx, "/git/trees", map[string]any{"base_tree": base, "tree": changes}, &tree)
	if err != nil {
		return unseen(err)
	}
	if _, err := c.hash(tree.SHA); err != nil {
		return err
	}
	got, err := c.tree(ctx, tree.SHA)
	if err != nil {
		return err
	}
	for _, e := range got {
		if want[e.Path] != (Entry{Mode: e.Mode, SHA: e.SHA}) {
			return ErrTree
		}
	}
	if len(got) != len(want) {
		return ErrTree
	}
	var made struct {
		SHA     string   `json:"sha"`
		Tree    object   `json:"tree"`
		Parents []object `json:"parents"`
	}
	by := map[string]string{"name": committer, "email": committerEmail,
		"date": o.At.UTC().Truncate(time.Second).Format(time.RFC3339)}
	err = c.make(ctx, "/git/commits", map[string]any{"message": o.Message, "tree": tree.SHA, "parents": []string{o.Base},
		"author": by, "committer": by}, &made)
	if err != nil {
		return unseen(err)
	}
	if made.Tree.SHA != tree.SHA || len(made.Parents) != 1 || made.Parents[0].SHA != o.Base {
		return c.odd("the commit has another tree or another parent")
	}
	at.Commit, err = c.hash(made.SHA)
	return err
}

// make posts what is to be made in the repository.
func (c *Client) make(ctx context.Context, path string, in, out any) error {
	return c.wire.Write(ctx, http.MethodPost, c.path("%s", path), in, out)
}

// unseen returns the error of a call that made nothing that anybody can see before a ref leads to it.
func unseen(err error) error {
	if e, ok := errors.AsType[*explain.CallError](err); ok {
		e.Outcome = explain.CallFailed
	}
	return err
}

// committer is the author of what people approved. GitHub signs only commits that have none of their own, so these are
// unsigned. The address is reserved and nobody's.
const committer, committerEmail = "ringi", "ringi@noreply.invalid"

// apply returns what GitHub is to make of the files that change, each made of the commit's own bytes, and makes the
// same of the entries. Content that stays is named by its hash, and need not be text. A file with a hash of null is
// deleted.
func (c *Client) apply(ctx context.Context, changes []files.Change, entries map[string]Entry) (
	list []map[string]any, err error) {
	for _, x := range changes {
		e := entries[x.Path]
		made := map[string]any{"path": x.Path, "mode": e.Mode, "type": "blob"}
		list = append(list, made)
		if x.Is != nil {
			e.Mode, made["mode"] = x.Is.Mode, x.Is.Mode
		}
		if x.Was != nil && x.Is != nil && x.Was.SHA256 == x.Is.SHA256 {
			made["sha"], entries[x.Path] = e.SHA, e
			continue
		}
		var was []byte
		if x.Was != nil {
			if was, err = c.blob(ctx, e.SHA); err != nil {
				return nil, err
			}
		}
		is, err := x.After(was)
		if err != nil {
			return nil, err
		}
		if x.Is == nil {
			made["sha"] = nil
			delete(entries, x.Path)
			continue
		}
		made["content"], entries[x.Path] = string(is), Entry{Mode: e.Mode, SHA: files.BlobSHA(is)}
	}
	return list, nil
}

// branch makes the branch. One that leads to the commit was made by an earlier try.
func (c *Client) branch(ctx context.Context, o Order, at *Step) error {
	err := c.make(ctx, "/git/refs", map[string]string{"ref": "refs/heads/" + o.Branch, "sha": at.Commit}, new(ref))
	if err != nil && found(err) {
		is, read := c.branchAt(ctx, o.Branch)
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
	var p struct {
		Number int `json:"number"`
	}
	err := c.make(ctx, "/pulls", map[string]any{"title": o.Title, "body": o.Body, "head": o.Branch, "base": o.Into,
		"draft": true, "maintainer_can_modify": false}, &p)
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

// pulled returns the number of the pull request, open or closed, of a branch at this commit, or 0.
func (c *Client) pulled(ctx context.Context, branch, commit string) (int, error) {
	owner, _, _ := strings.Cut(c.name, "/")
	var list []struct {
		Number int    `json:"number"`
		Head   object `json:"head"`
	}
	query := url.Values{"state": {"all"}, "head": {owner + ":" + branch}}
	err := c.wire.Read(ctx, c.path("/pulls?%s", query.Encode()), &list)
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

// branchAt returns the commit of a branch, or "" if there is no such branch.
func (c *Client) branchAt(ctx context.Context, name string) (sha string, err error) {
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
