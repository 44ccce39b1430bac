package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
)

// Order is a pull request to open: changes that people approved, on one commit.
type Order struct {
	RepositoryID         int64
	Into                 string // the branch that is asked to take it
	Title, Body, Message string
	At                   time.Time // the commit's date
	Changes              []files.Change
}

// Final is why an order can't be carried out, also by another try.
type Final aggregate.Reason

func (f Final) Error() string { return "a pull request ends: " + string(f) }

// Carry carries out an order from the step at which it is. After each further step note is called, and the next one
// begins only if it returns nil. A step that was made before and isn't known of is found, not made again. It returns
// the last step that is known, also beside an error: a Final, files.ErrRefused, or an *explain.CallError, whose outcome
// is Unknown if the next step may be there.
func (c *Client) Carry(ctx context.Context, o Order, at conversation.Pushed,
	note func(context.Context, conversation.Pushed) error) (conversation.Pushed, error) {
	if err := c.is(ctx, o.RepositoryID); err != nil {
		return at, err
	}
	for _, step := range []struct {
		made bool
		make func(context.Context, Order, *conversation.Pushed) error
	}{{at.Commit != "", c.commit}, {at.There, c.branch}, {at.Number > 0, c.pull}} {
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

// Look returns how far an order of this branch and commit has come, without making anything.
func (c *Client) Look(ctx context.Context, id int64, at conversation.Pushed) (conversation.Pushed, error) {
	at.There, at.Number = false, 0
	err := c.is(ctx, id)
	if err == nil {
		at.There, err = c.pulled(ctx, &at)
	}
	if err == nil && !at.There {
		at.There, err = c.branched(ctx, &at)
	}
	return at, err
}

// is returns an error unless the client's repository has this number.
func (c *Client) is(ctx context.Context, id int64) error {
	r, err := c.Repository(ctx)
	if err == nil && r.ID != id {
		err = Final(conversation.ReasonPushSource)
	}
	return err
}

// commit makes the tree and the commit. GitHub's tree is compared before the commit is made.
func (c *Client) commit(ctx context.Context, o Order, at *conversation.Pushed) error {
	base, err := c.treeOf(ctx, at.Base)
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
		return failed(err) // nobody sees it before a ref leads to it
	}
	if _, err := c.hash(tree.SHA); err != nil {
		return err
	}
	got, err := c.tree(ctx, tree.SHA)
	if err != nil {
		return err
	}
	other := func(e Entry) bool { return want[e.Path] != Entry{Mode: e.Mode, SHA: e.SHA} }
	if len(got) != len(want) || slices.ContainsFunc(got, other) {
		return Final(conversation.ReasonPushOther)
	}
	var made struct {
		SHA     string   `json:"sha"`
		Tree    object   `json:"tree"`
		Parents []object `json:"parents"`
	}
	by := map[string]string{"name": committer, "email": committerEmail,
		"date": o.At.UTC().Truncate(time.Second).Format(time.RFC3339)}
	err = c.make(ctx, "/git/commits", map[string]any{"message": o.Message, "tree": tree.SHA, "parents": []string{at.Base},
		"author": by, "committer": by}, &made)
	if err != nil {
		return failed(err)
	}
	if made.Tree.SHA != tree.SHA || len(made.Parents) != 1 || made.Parents[0].SHA != at.Base {
		return c.odd("the commit has another tree or another parent")
	}
	at.Commit, err = c.hash(made.SHA)
	return err
}

// make posts what is to be made in the repository.
func (c *Client) make(ctx context.Context, path string, in, out any) error {
	return c.wire.Write(ctx, http.MethodPost, c.path("%s", path), in, out)
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

// branch makes the branch.
func (c *Client) branch(ctx context.Context, _ Order, at *conversation.Pushed) error {
	err := c.once(ctx, "/git/refs", map[string]string{"ref": "refs/heads/" + at.Branch, "sha": at.Commit}, new(ref), at,
		c.branched)
	at.There = err == nil
	return err
}

// pull opens the pull request.
func (c *Client) pull(ctx context.Context, o Order, at *conversation.Pushed) error {
	var p struct {
		Number int `json:"number"`
	}
	err := c.once(ctx, "/pulls", map[string]any{"title": o.Title, "body": o.Body, "head": at.Branch, "base": o.Into,
		"draft": true, "maintainer_can_modify": false}, &p, at, c.pulled)
	if at.Number = max(at.Number, p.Number); err == nil && at.Number == 0 {
		err = &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemBadAnswer,
			Args: []any{explain.GitHub}, Err: errors.New("a pull request without a number")}
	}
	return err
}

// once makes what is to be there once. Where GitHub has no answer, or refuses it, it may be there all the same, made by
// an earlier try: look reports that.
func (c *Client) once(ctx context.Context, path string, in, out any, at *conversation.Pushed,
	look func(context.Context, *conversation.Pushed) (bool, error)) error {
	err := c.make(ctx, path, in, out)
	e, called := errors.AsType[*explain.CallError](err)
	if !called || e.Outcome != explain.CallUnknown && e.Problem != explain.ProblemRejected {
		return err
	}
	there, unseen := look(ctx, at)
	if there {
		return nil
	}
	if e, called := errors.AsType[*explain.CallError](unseen); called { // nobody knows
		e.Outcome = explain.CallUnknown
	}
	return cmp.Or(unseen, err)
}

// pulled finds the pull request, open or closed, of the branch at the commit.
func (c *Client) pulled(ctx context.Context, at *conversation.Pushed) (there bool, err error) {
	owner, _, _ := strings.Cut(c.name, "/")
	var list []struct {
		Number int    `json:"number"`
		Head   object `json:"head"`
	}
	query := url.Values{"state": {"all"}, "head": {owner + ":" + at.Branch}}
	err = c.wire.Read(ctx, c.path("/pulls?%s", query.Encode()), &list)
	for _, p := range list {
		if p.Head.SHA == at.Commit && p.Number > 0 {
			at.Number = p.Number
			return true, nil
		}
	}
	return false, err
}

// branched reports whether the branch leads to the commit. One that leads elsewhere is somebody else's.
func (c *Client) branched(ctx context.Context, at *conversation.Pushed) (there bool, err error) {
	var is ref
	err = c.wire.Read(ctx, c.path("/git/ref/heads/%s", at.Branch), &is)
	if e, ok := errors.AsType[*explain.CallError](err); ok && e.Problem == explain.ProblemNotFound {
		return false, nil
	}
	if err == nil && is.Object.SHA != at.Commit {
		err = Final(conversation.ReasonBranchTaken)
	}
	return err == nil, err
}
