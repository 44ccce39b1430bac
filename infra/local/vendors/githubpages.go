package vendors

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// GitHubPages is where GitHub's pages are, which people read: those of pull requests, branches and commits.
const GitHubPages = "/github.com/"

//go:embed github.html
var githubText string

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
	p, show := all[n-1], shown(repo, all[n-1].Head)
	diff, err := repo.Diff(p.BaseSHA, p.HeadSHA)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	show["Pull"], show["Diff"], show["Cut"] = p, string(diff[:min(len(diff), mostDiff)]), len(diff) > mostDiff
	writePage(w, show)
}

// treePage lists the files of a branch, or of a commit with or without a folder.
func (v *Vendors) treePage(w http.ResponseWriter, r *http.Request) {
	repo, what := v.GitHub.Find(r.PathValue("owner"), r.PathValue("name")), r.PathValue("tree")
	if repo == nil {
		http.NotFound(w, r)
		return
	}
	branch, commit, folder := what, repo.Ref("heads/"+what), ""
	if commit == "" {
		commit, folder, _ = strings.Cut(what, "/")
		branch = ""
	}
	paths := repo.Paths(commit, folder)
	if len(paths) == 0 {
		http.NotFound(w, r)
		return
	}
	show := shown(repo, branch)
	show["Tree"], show["Commit"], show["Paths"] = what, commit, strings.Join(paths, "\n")
	writePage(w, show)
}

// shown is what a page says of a repository, and how a branch is fetched.
func shown(repo *Repository, branch string) map[string]any {
	show := map[string]any{"Repository": repo.Owner + "/" + repo.Name, "Branch": branch}
	if c := repo.Clone(); c != nil && branch != "" {
		show["Fetch"] = FetchCommand(c, branch+":"+branch)
	}
	return show
}

func writePage(w http.ResponseWriter, show map[string]any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = githubPages.Execute(w, show) // a failure means that the client has disconnected
}

var githubPages = template.Must(template.New("github").Parse(githubText))

// FetchCommand is the command by which a person fetches branches from the clone into the repository.
func FetchCommand(c *Clone, what string) string {
	return "git -C " + quoted(c.Path) + " fetch -- " + quoted(c.Dir) + " " + quoted(what)
}

// quoted returns a text as one word of a shell's.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._:+-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
