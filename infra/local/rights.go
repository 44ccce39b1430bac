package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ringi/infra/local/process"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
)

// unused has a reason for each right that no test uses.
//
//go:embed unused-rights.txt
var unused string

// rights compares the rights that roles of template.yaml grant with the rights that tests used.
func rights(_ context.Context, args []string, s streams) error {
	folder, err := onlyArgument(flags("usage: go run ./infra/local rights <the folder that "+template.NotesVariable+" named in the tests>\n", s), args)
	if err != nil {
		return err
	}
	root, err := process.ModuleRoot()
	if err != nil {
		return err
	}
	roles, err := allRoles(root)
	if err != nil {
		return err
	}
	packages, err := tested(root)
	if err != nil {
		return err
	}
	wrong, err := template.Unused(roles, folder, packages, unused)
	if err != nil {
		return err
	}
	for _, line := range wrong {
		fmt.Fprintln(s.out, line)
	}
	if len(wrong) > 0 {
		return errors.New("what functions may do and what tests saw them do differ; infra/local/unused-rights.txt is for rights that no test can use")
	}
	fmt.Fprintf(s.out, "each right of %d roles was used, or has a reason\n", len(roles))
	return nil
}

// allRoles returns the template's roles, with parameters by which they grant all that they may.
func allRoles(root string) (map[string]template.Role, error) {
	everything := map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"}
	return template.Roles(filepath.Join(root, "template.yaml"),
		template.Names{Stack: stack.Name, Region: stack.Region, Account: stack.Account}, everything)
}

// tested returns the module's folders with tests, and its root, where some tests start a stack.
func tested(root string) (folders []string, err error) {
	folders = []string{root}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			folders = append(folders, filepath.Dir(path))
		}
		return nil
	})
	return slices.Compact(folders), err
}
