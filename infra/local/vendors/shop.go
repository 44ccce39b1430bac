package vendors

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"ringi/shared/domain/tenancy"
)

// GitHub is the name by which Fail and the other faults know all calls of GitHub's API.
const GitHub = "github"

// GitHubPath is where GitHub's API is.
const GitHubPath = "/github"

// The demo repository.
const ShopOwner, ShopName = "ringi-demo", "shop"

// newGitHub makes GitHub with a small repository, whose only test fails.
func newGitHub(v *Vendors) *GitHubServer {
	s, err := NewGitHub("")
	if err != nil {
		panic(err) // the published excerpt is part of the binary, and the key needs nothing but randomness
	}
	s.Fault = func(_ string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		v.faults.apply(GitHub, w, r, do, func(w http.ResponseWriter, status int) {
			answer(w, status, map[string]any{"message": "Server Error"})
		})
	}
	s.Add(ShopOwner, ShopName, map[string]File{
		"README.md":            {Content: "# Shop\n\n`python3 -m unittest` runs the tests.\n"},
		"shop/__init__.py":     {},
		"shop/price.py":        {Content: shopPrice},
		"shop/cart.py":         {Content: shopCart},
		"tests/__init__.py":    {},
		"tests/test_price.py":  {Content: shopTest},
		"tools/count_lines.sh": {Content: "#!/bin/sh\nwc -l shop/*.py\n", Mode: "100755"},
	})
	return s
}

const shopPrice = `"""Prices, in yen."""

TAX_PERCENT = 10


def with_tax(price):
    """Return the price with tax, rounded down to a whole yen."""
    return price + price * TAX_PERCENT / 100
`

const shopCart = `"""A cart of goods."""

from shop.price import with_tax


def total(prices):
    return sum(with_tax(price) for price in prices)
`

const shopTest = `import unittest

from shop.price import with_tax


class PriceTest(unittest.TestCase):
    def test_whole_yen(self):
        self.assertEqual(with_tax(99), 108)


if __name__ == "__main__":
    unittest.main()
`

// Shop is the source of the demo repository, for all people and for the agents that work on files.
func (v *Vendors) Shop() tenancy.Source {
	return tenancy.Source{Name: ShopName, Repository: ShopOwner + "/" + ShopName, Ref: "heads/" + mainBranch,
		RepositoryID: int(v.GitHub.Find(ShopOwner, ShopName).ID), People: []string{tenancy.Everybody},
		Agents: []string{tenancy.Codex, "claude"}, CI: tenancy.CISkip}
}

// GitHubPages is where GitHub's pages are, which people read: those of pull requests, branches and commits.
const GitHubPages = "/github.com/"

//go:embed github.html
var githubText string

// mostDiff is how much of a difference a page shows, in bytes.
const mostDiff = 1 << 20

// pullPage shows a pull request.
func (v *Vendors) pullPage(w http.ResponseWriter, r *http.Request) {
	repo := v.GitHub.Find(r.PathValue("owner"), r.PathValue("name"))
	n, err := strconv.Atoi(r.PathValue("number"))
	if repo == nil || err != nil {
		http.NotFound(w, r)
		return
	}
	all := repo.Pulls()
	if n < 1 || n > len(all) {
		http.NotFound(w, r)
		return
	}
	p := all[n-1]
	diff, err := repo.Diff(p.BaseSHA, p.HeadSHA)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writePage(w, map[string]any{"Repository": repo.full(), "Pull": p, "Diff": diff[:min(len(diff), mostDiff)],
		"Cut": len(diff) > mostDiff})
}

// treePage lists the files of a branch, or of a commit with or without a folder.
func (v *Vendors) treePage(w http.ResponseWriter, r *http.Request) {
	repo, what := v.GitHub.Find(r.PathValue("owner"), r.PathValue("name")), r.PathValue("tree")
	if repo == nil {
		http.NotFound(w, r)
		return
	}
	commit, folder := repo.Ref("heads/"+what), ""
	if commit == "" {
		commit, folder, _ = strings.Cut(what, "/")
	}
	paths := repo.Paths(commit, folder)
	if len(paths) == 0 {
		http.NotFound(w, r)
		return
	}
	writePage(w, map[string]any{"Repository": repo.full(), "Tree": what, "Commit": commit,
		"Paths": strings.Join(paths, "\n")})
}

func writePage(w http.ResponseWriter, show map[string]any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = githubPages.Execute(w, show) // a failure means that the client has disconnected
}

var githubPages = template.Must(template.New("github").Parse(githubText))
