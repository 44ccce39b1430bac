package infra_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// repository is the root of the module, seen from this package's folder.
const repository = ".."

// anyAccount resolves the template for tests that don't depend on an account.
var anyAccount = template.Names{
	Stack: "ringi", Region: "us-east-1", Account: "123456789012", Endpoint: "http://127.0.0.1:4566",
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	return string(expect.Value(os.ReadFile(path))(t))
}

// says checks that a page has some texts.
func says(t *testing.T, path string, parts ...string) {
	t.Helper()
	page := textOf(t, path)
	for _, part := range parts {
		expect.That(t, strings.Contains(page, part), "%s does not say %q", path, part)
	}
}

// textsBelow returns the texts below some folders by path, of files with one of these extensions. Hidden folders are
// left out.
func textsBelow(t *testing.T, extensions []string, roots ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, root := range roots {
		expect.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != repository:
				return filepath.SkipDir
			case !d.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
				texts[path] = textOf(t, path)
			}
			return nil
		}))
	}
	return texts
}

// codeBelow returns the Go files below some folders by path, without tests.
func codeBelow(t *testing.T, roots ...string) map[string]string {
	t.Helper()
	code := textsBelow(t, []string{".go"}, roots...)
	maps.DeleteFunc(code, func(path, _ string) bool { return strings.HasSuffix(path, "_test.go") })
	return code
}

// listed is a package of this module as go list prints it; Deps includes indirect imports.
type listed struct {
	ImportPath, Dir                                   string
	GoFiles, Imports, Deps, TestImports, XTestImports []string
}

// packages returns all packages of this module.
var packages = sync.OnceValues(func() (all []listed, err error) {
	c := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,Deps,TestImports,XTestImports", "./...")
	c.Dir, c.Stderr = repository, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})
