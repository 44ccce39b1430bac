package infra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// code is, per package of this module, its Go files and all that it imports.
type code struct {
	files   map[string][]string
	imports map[string][]string
}

func readCode(t *testing.T) code {
	t.Helper()
	c := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}}|{{.Dir}}|{{range .GoFiles}}{{.}} {{end}}|{{range .Deps}}{{.}} {{end}}", "./functions/...", "./shared/...")
	c.Dir, c.Stderr = repository, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := code{map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		for _, name := range strings.Fields(f[2]) {
			all.files[f[0]] = append(all.files[f[0]], filepath.Join(f[1], name))
		}
		all.imports[f[0]] = strings.Fields(f[3])
	}
	return all
}

var variable = regexp.MustCompile(`(?:Getenv|LookupEnv)\("([A-Z0-9_]+)"\)`)

// variables are the environment variables that a package and what it imports read.
func (c code) variables(t *testing.T, pkg string) []string {
	t.Helper()
	var names []string
	for _, p := range append([]string{pkg}, c.imports[pkg]...) {
		for _, file := range c.files[p] {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range variable.FindAllStringSubmatch(string(b), -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A variable that nobody sets is empty in AWS and nowhere else; one that nobody
// reads is a permission that nobody needs.
func TestFunctionsReadWhatTheTemplateSets(t *testing.T) {
	s, err := read(t.TempDir(), files(t))
	if err != nil {
		t.Fatal(err)
	}
	all := readCode(t)
	for _, f := range s.inOrder() {
		t.Run(f.Folder, func(t *testing.T) {
			reads := all.variables(t, "ringi/functions/"+f.Folder)
			for name := range f.Environment {
				if !slices.Contains(reads, name) {
					t.Errorf("the template sets %s, the function never reads it", name)
				}
			}
			for _, name := range reads {
				if _, set := f.Environment[name]; !set && !strings.HasPrefix(name, "AWS_") && name != "SLACK_API_URL" { // which the local stack sets
					t.Errorf("the function reads %s, the template does not set it", name)
				}
			}
		})
	}
}
