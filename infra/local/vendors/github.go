package vendors

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The App that is installed, by its numbers.
const (
	AppID        = "1110001"
	Installation = "44440001"
)

// GitHubServer has the repositories in which the App is installed.
type GitHubServer struct {
	Now   func() time.Time
	Fault func(route string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) // nil: none
	// Key is the App's private key, as GitHub's page downloads it.
	Key string

	api PublishedAPI
	key *rsa.PrivateKey

	mu     sync.Mutex
	dir    string // of the repositories; empty until one is needed
	repos  []*Repository
	tokens map[string]gitHubGrant
}

// gitHubGrant is what a token allows.
type gitHubGrant struct {
	repositories []int64
	permissions  map[string]string
	until        time.Time
}

// generated makes the App's key, once in a process because that takes long.
var generated = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

var published = sync.OnceValues(func() (PublishedAPI, error) { return Published("github") })

// NewGitHub makes a server without repositories. Git keeps them below a folder, which must exist; the server makes one
// when it is needed if dir is empty, and Close removes it.
func NewGitHub(dir string) (*GitHubServer, error) {
	api, err := published()
	if err != nil {
		return nil, err
	}
	key, err := generated()
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &GitHubServer{Now: time.Now, dir: dir, api: api, key: key, Key: string(text),
		tokens: map[string]gitHubGrant{}}, nil
}

// Tokens returns all tokens that the App was given.
func (s *GitHubServer) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.tokens))
}

// Add makes a repository with these files in which the App is installed. Of two with the same name the newer has it.
func (s *GitHubServer) Add(owner, name string, files map[string]File) *Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Repository{Owner: owner, Name: name, ID: int64(7_000_001 + len(s.repos))}
	r.begin = s.opened(r, files)
	s.repos = append(s.repos, r)
	return r
}

// Names returns the repositories, as owner/name.
func (s *GitHubServer) Names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.repos {
		names = append(names, r.full())
	}
	return names
}

// Find returns the repository of a name.
func (s *GitHubServer) Find(owner, name string) *Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.repos) {
		if strings.EqualFold(r.Owner, owner) && strings.EqualFold(r.Name, name) {
			return r
		}
	}
	return nil
}

// Handler serves the API below the path at which it is mounted.
func (s *GitHubServer) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /app/installations/{id}/access_tokens", s.fault("token", s.mint))
	const repo = " /repos/{owner}/{name}"
	for route, do := range map[string]struct {
		permission, needs string
		answer            func(s *GitHubServer, c *call)
	}{
		"GET" + repo:                         {"metadata", "read", (*GitHubServer).repository},
		"GET" + repo + "/git/ref/{ref...}":   {"contents", "read", (*GitHubServer).ref},
		"GET" + repo + "/git/tags/{sha}":     {"contents", "read", (*GitHubServer).tag},
		"GET" + repo + "/git/commits/{sha}":  {"contents", "read", (*GitHubServer).commit},
		"GET" + repo + "/git/trees/{sha}":    {"contents", "read", (*GitHubServer).tree},
		"GET" + repo + "/git/blobs/{sha}":    {"contents", "read", (*GitHubServer).blob},
		"GET" + repo + "/tarball/{sha}":      {"contents", "read", (*GitHubServer).tarball},
		"POST" + repo + "/git/trees":         {"contents", "write", (*GitHubServer).makeTree},
		"POST" + repo + "/git/commits":       {"contents", "write", (*GitHubServer).makeCommit},
		"POST" + repo + "/git/refs":          {"contents", "write", (*GitHubServer).makeRef},
		"GET" + repo + "/pulls":              {"pull_requests", "read", (*GitHubServer).pulls},
		"POST" + repo + "/pulls":             {"pull_requests", "write", (*GitHubServer).openPull},
		"GET /codeload/{owner}/{name}/{sha}": {"", "", (*GitHubServer).download},
	} {
		m.HandleFunc(route, s.fault(strings.Replace(route, repo, "", 1), func(w http.ResponseWriter, r *http.Request) {
			c := &call{w: w, r: r, repo: s.Find(r.PathValue("owner"), r.PathValue("name"))}
			if do.permission != "" && !s.allowed(c, do.permission, do.needs) {
				return
			}
			if c.repo == nil {
				c.fail(http.StatusNotFound, "Not Found")
				return
			}
			c.repo.mu.Lock()
			defer c.repo.mu.Unlock()
			do.answer(s, c)
		}))
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&call{w: w, r: r}).fail(http.StatusNotFound, "Not Found")
	})
	return m
}

// fault applies the faults of a route.
func (s *GitHubServer) fault(route string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.Fault == nil {
			do(w, r)
			return
		}
		s.Fault(strings.TrimSpace(route), w, r, do)
	}
}

// call is one call of the API.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	repo *Repository
}

func (c *call) answer(status int, v any) { answer(c.w, status, v) }

// fail answers with the form of basic-error.
func (c *call) fail(status int, message string) {
	c.answer(status, map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest",
		"status": strconv.Itoa(status)})
}

// invalid answers with the form of validation-error.
func (c *call) invalid(field, code, message string) {
	c.answer(http.StatusUnprocessableEntity, map[string]any{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
		"errors": []any{map[string]any{"resource": "PullRequest", "field": field, "code": code, "message": message}},
	})
}

// read decodes the body of a call.
func (c *call) read(into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(c.w, c.r.Body, 40<<20)).Decode(into); err != nil {
		c.fail(http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}

// allowed checks the token of a call. Somebody else's repository is answered as if it were not there.
func (s *GitHubServer) allowed(c *call, permission, needs string) bool {
	token, _ := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	g, known := s.tokens[token]
	s.mu.Unlock()
	switch {
	case !known || s.Now().After(g.until):
		c.fail(http.StatusUnauthorized, "Bad credentials")
		return false
	case c.repo == nil || !slices.Contains(g.repositories, c.repo.ID):
		c.fail(http.StatusNotFound, "Not Found")
		return false
	case permission == "metadata", g.permissions[permission] == "write", g.permissions[permission] == needs:
		return true
	}
	c.fail(http.StatusForbidden, "Resource not accessible by integration")
	return false
}

// mint makes a token for some of the App's repositories, for an hour.
func (s *GitHubServer) mint(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r}
	var in struct {
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	switch err := s.isApp(r); {
	case err != nil:
		c.fail(http.StatusUnauthorized, err.Error())
		return
	case r.PathValue("id") != Installation:
		c.fail(http.StatusNotFound, "Not Found")
		return
	case !c.read(&in):
		return
	}
	g := gitHubGrant{permissions: in.Permissions, until: s.Now().Add(time.Hour)}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, repo := range s.repos {
		if slices.Contains(in.RepositoryIDs, repo.ID) || slices.Contains(in.Repositories, repo.Name) {
			g.repositories = append(g.repositories, repo.ID)
		}
	}
	for name := range in.Permissions {
		if name != "contents" && name != "pull_requests" { // what the App was installed with
			c.fail(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
			return
		}
	}
	if len(g.repositories) < len(in.Repositories)+len(in.RepositoryIDs) {
		c.fail(http.StatusUnprocessableEntity,
			"There is at least one repository that does not exist or is not accessible to the parent installation.")
		return
	}
	token := "ghs_" + rand.Text()
	s.tokens[token] = g
	permissions := maps.Clone(in.Permissions)
	permissions["metadata"] = "read"
	c.answer(http.StatusCreated, map[string]any{"token": token, "expires_at": g.until.UTC().Format(time.RFC3339),
		"permissions": permissions, "repository_selection": "selected"})
}

// isApp checks a token that the App signed.
func (s *GitHubServer) isApp(r *http.Request) error {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("A JSON web token could not be decoded")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return errors.New("A JSON web token could not be decoded")
	}
	var claims struct {
		IAT, EXP int64
		ISS      string
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	now := s.Now().Unix()
	switch {
	case err != nil || json.Unmarshal(body, &claims) != nil || claims.ISS != AppID:
		return errors.New("Integration not found")
	case claims.EXP-claims.IAT > 600 || claims.EXP > now+600:
		return errors.New("'Expiration time' claim ('exp') is too far in the future")
	case claims.EXP < now || claims.IAT > now+5:
		return errors.New("'Expiration time' claim ('exp') must be a numeric value representing the future time")
	}
	return nil
}
