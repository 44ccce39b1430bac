package vendors

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"ringi/infra/local/vendors/github"
)

// GitHubPages is where GitHub's pages are, which people read. There are those of pull requests.
const GitHubPages = "/github.com/"

//go:embed pull.html
var pullText string

// mostDiff is how much of a difference a page shows, in bytes.
const mostDiff = 1 << 20

// pullPage shows a pull request and how to fetch its branch.
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
	p, show := all[n-1], map[string]any{"Repository": repo.Owner + "/" + repo.Name}
	diff, err := repo.Diff(p.BaseSHA, p.HeadSHA)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	show["Pull"], show["Diff"], show["Cut"] = p, string(diff[:min(len(diff), mostDiff)]), len(diff) > mostDiff
	if c := repo.Clone(); c != nil {
		show["Fetch"] = FetchCommand(c, p.Head+":"+p.Head)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = pullPages.Execute(w, show) // a failure means that the client has disconnected
}

var pullPages = template.Must(template.New("pull").Parse(pullText))

// FetchCommand is the command by which a person fetches branches from the clone into the repository.
func FetchCommand(c *github.Clone, what string) string {
	return "git -C " + quoted(c.Path) + " fetch " + quoted(c.Dir) + " " + quoted(what)
}

// quoted returns a text as one word of a shell's.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._:+-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
