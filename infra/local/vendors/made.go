package vendors

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (s *GitHubServer) makeTree(c *call) {
	var in struct {
		BaseTree string   `json:"base_tree"`
		Tree     []change `json:"tree"`
	}
	if !c.read(&in) {
		return
	}
	sha, err := c.repo.changed(in.BaseTree, in.Tree)
	for _, x := range in.Tree {
		if strings.HasPrefix(x.Path, ".github/workflows/") { // the App has no permission for workflows
			c.fail(http.StatusForbidden, "Resource not accessible by integration")
			return
		}
	}
	switch {
	case errors.Is(err, errMissing):
		c.fail(http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
	case err != nil:
		c.fail(http.StatusUnprocessableEntity, err.Error())
	default:
		c.answer(http.StatusCreated, s.treeOf(c, sha, false))
	}
}

// signature is an author or committer in a call.
type signature struct{ Name, Email, Date string }

func (x signature) text(now time.Time) string {
	at := now
	if set, err := time.Parse(time.RFC3339, x.Date); err == nil {
		at = set
	}
	return fmt.Sprintf("%s <%s> %d +0000", cmp.Or(x.Name, "ringi[bot]"), cmp.Or(x.Email, "ringi@users.noreply.github.com"), at.Unix())
}

func (s *GitHubServer) makeCommit(c *call) {
	var in struct {
		Message   string     `json:"message"`
		Tree      string     `json:"tree"`
		Parents   []string   `json:"parents"`
		Author    signature  `json:"author"`
		Committer *signature `json:"committer"`
	}
	if !c.read(&in) {
		return
	}
	if c.repo.objects.kind(in.Tree) != "tree" {
		c.fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
		return
	}
	for _, p := range in.Parents {
		if _, ok := c.repo.objects.commit(p); !ok {
			c.fail(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
			return
		}
	}
	by := in.Author
	if in.Committer != nil {
		by = *in.Committer
	}
	sha := c.repo.objects.putCommit(commit{tree: in.Tree, parents: in.Parents, message: in.Message,
		author: in.Author.text(s.Now()), committer: by.text(s.Now())})
	c.answer(http.StatusCreated, s.commitOf(c, sha))
}

func (s *GitHubServer) makeRef(c *call) {
	var in struct{ Ref, SHA string }
	if !c.read(&in) {
		return
	}
	name, ok := strings.CutPrefix(in.Ref, "refs/")
	switch {
	case !ok || !strings.Contains(name, "/"):
		c.fail(http.StatusUnprocessableEntity, "Reference name must start with 'refs/'.")
	case c.repo.at(name) != "":
		c.fail(http.StatusUnprocessableEntity, "Reference already exists")
	case c.repo.objects.kind(in.SHA) != "commit":
		c.fail(http.StatusUnprocessableEntity, "Object does not exist")
	default:
		if err := c.repo.point(name, in.SHA); err != nil {
			c.fail(http.StatusUnprocessableEntity, err.Error())
			return
		}
		c.answer(http.StatusCreated, s.refOf(c, name, in.SHA))
	}
}

func (s *GitHubServer) openPull(c *call) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if !c.read(&in) {
		return
	}
	head, base := c.repo.at("heads/"+in.Head), c.repo.at("heads/"+in.Base)
	switch {
	case head == "":
		c.invalid("PullRequest", "head", "invalid", "")
		return
	case base == "":
		c.invalid("PullRequest", "base", "invalid", "")
		return
	case in.Title == "":
		c.invalid("PullRequest", "title", "missing_field", "")
		return
	case head == base:
		c.invalid("PullRequest", "", "custom", "No commits between "+in.Base+" and "+in.Head)
		return
	}
	for _, p := range c.repo.pulls {
		if p.head == in.Head && p.base == in.Base && p.state == "open" {
			c.invalid("PullRequest", "", "custom", "A pull request already exists for "+c.repo.Owner+":"+in.Head+".")
			return
		}
	}
	p := &pull{number: len(c.repo.pulls) + 1, title: in.Title, body: in.Body, head: in.Head, base: in.Base, state: "open",
		headSHA: head, baseSHA: base, draft: in.Draft, at: s.Now()}
	c.repo.pulls = append(c.repo.pulls, p)
	c.answer(http.StatusCreated, s.pullOf(c, p, "pull-request"))
}

func (s *GitHubServer) pulls(c *call) {
	q, list := c.r.URL.Query(), []any{}
	for _, p := range c.repo.pulls {
		head, state := q.Get("head"), cmp.Or(q.Get("state"), "open")
		if (head == "" || head == c.repo.Owner+":"+p.head) && (state == "all" || state == p.state) {
			list = append(list, s.pullOf(c, p, "pull-request-simple"))
		}
	}
	c.answer(http.StatusOK, list)
}

func (s *GitHubServer) pull(c *call) {
	n, _ := strconv.Atoi(c.r.PathValue("number"))
	if n < 1 || n > len(c.repo.pulls) {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.answer(http.StatusOK, s.pullOf(c, c.repo.pulls[n-1], "pull-request"))
}

// pullOf returns a pull request, all that isn't told of it as published.
func (s *GitHubServer) pullOf(c *call, p *pull, schema string) map[string]any {
	at := p.at.UTC().Format(time.RFC3339)
	out := s.api.Example(schema, map[string]any{
		"number": p.number, "title": p.title, "body": p.body, "state": p.state, "draft": p.draft, "created_at": at,
		"updated_at": at, "closed_at": nil, "merged_at": nil, "maintainer_can_modify": false, "merged": false,
		"html_url": fmt.Sprintf("https://github.com/%s/pull/%d", c.repo.full(), p.number),
		"url":      s.address(c, "/pulls/%d", p.number), "author_association": "NONE", "auto_merge": nil,
	})
	maps.DeleteFunc(out, func(name string, _ any) bool {
		_, published := s.api.Schemas[schema].Properties[name]
		return !published
	})
	for side, at := range map[string][2]string{"head": {p.head, p.headSHA}, "base": {p.base, p.baseSHA}} {
		one, _ := out[side].(map[string]any)
		one["ref"], one["sha"], one["label"] = at[0], at[1], c.repo.Owner+":"+at[0]
		one["repo"] = s.about(c, "repository")
	}
	return out
}

// Pull is a pull request that was opened.
type Pull struct {
	Number           int
	Title, Body      string
	Head, Base       string // branches
	HeadSHA, BaseSHA string
	Draft            bool
}

// Pulls returns the pull requests of a repository, oldest first.
func (r *Repository) Pulls() (list []Pull) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pulls {
		list = append(list, Pull{Number: p.number, Title: p.title, Body: p.body, Head: p.head, Base: p.base, HeadSHA: p.headSHA,
			BaseSHA: p.baseSHA, Draft: p.draft})
	}
	return list
}
