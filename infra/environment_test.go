package infra_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// setting is a field of a function's environment, or of a struct embedded in it.
type setting struct {
	doc      string
	optional bool
}

// structs returns the structs of a folder's files, by name.
func structs(t *testing.T, folder string) map[string]*ast.StructType {
	t.Helper()
	all := map[string]*ast.StructType{}
	files, err := filepath.Glob(filepath.Join(repository, folder, "*.go"))
	expect.Must(t, err == nil && len(files) != 0, "%s: %v", folder, err)
	for _, name := range files {
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return all
}

// settings returns the fields of a function's environment struct, by variable. groups are the structs of
// shared/runtime/boot, which it may embed.
func settings(t *testing.T, s *ast.StructType, groups map[string]*ast.StructType) map[string]setting {
	t.Helper()
	all := map[string]setting{}
	expect.Must(t, s != nil, "there is no such struct")
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			group, ok := field.Type.(*ast.SelectorExpr)
			expect.Must(t, ok, "%T is embedded, which is no group of shared/runtime/boot", field.Type)
			maps.Copy(all, settings(t, groups[group.Sel.Name], groups))
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		name, option, _ := strings.Cut(tag.Get("env"), ",")
		expect.That(t, name != "" && tag.Get("doc") != "",
			"%s does not say which variable it is, or what that says", field.Names[0])
		all[name] = setting{tag.Get("doc"), option == "optional"}
	}
	return all
}

// onlyLocal are variables that the local stack sets beside the template's.
var onlyLocal = []string{"SLACK_API_URL"}

// A variable that the template doesn't set would be empty in AWS only. One that nobody reads often comes with a right
// that nobody needs.
func TestFunctionsReadWhatTheTemplateSets(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	groups := structs(t, "shared/runtime/boot")
	for _, f := range s.inOrder() {
		t.Run(f.Folder, func(t *testing.T) {
			reads := settings(t, structs(t, "functions/"+f.Folder)["environment"], groups)
			for name := range f.Environment {
				_, read := reads[name]
				unset := f.Environment[name] == "" // a variable of all functions that this one doesn't get
				expect.That(t, read || unset, "the template sets %s, the function never reads it", name)
			}
			for name := range reads {
				_, set := f.Environment[name]
				expect.That(t, set || slices.Contains(onlyLocal, name), "the function reads %s, the template does not set it", name)
				expect.That(t, reads[name].optional == (f.Environment[name] == "" || slices.Contains(mayBeEmpty, name)),
					"%s is optional: %t; the template sets %q", name, reads[name].optional, f.Environment[name])
			}
		})
	}
}

// mayBeEmpty are parameters with a default that a deployment may set to nothing.
var mayBeEmpty = []string{"MODEL"}

// lambdasOwn matches reads of the function's name and version, which Lambda sets.
var lambdasOwn = regexp.MustCompile(`os\.Getenv\("AWS_LAMBDA_FUNCTION_(NAME|VERSION)"\)`)

var environmentRead = regexp.MustCompile(`\bos\.(?:Getenv|LookupEnv|Environ|ExpandEnv)\b`)

// A function's struct has its whole configuration only if nothing else reads the environment.
func TestNothingElseReadsTheEnvironment(t *testing.T) {
	for path, text := range codeBelow(t, "../functions", "../shared") {
		text = lambdasOwn.ReplaceAllString(text, "")
		ofTests := path == "../shared/runtime/expect/expect.go"
		expect.That(t, path == "../shared/runtime/boot/config.go" || ofTests || !environmentRead.MatchString(text),
			"%s reads the environment beside shared/runtime/boot", path)
	}
}

// The table of variables is written from the structs: go test ./infra -run TestTheTableOfVariables -update
func TestTheTableOfVariables(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	groups, docs, readers := structs(t, "shared/runtime/boot"), map[string]setting{}, map[string][]string{}
	var all []string
	for _, f := range s.inOrder() {
		all = append(all, f.Folder)
		for name, v := range settings(t, structs(t, "functions/"+f.Folder)["environment"], groups) {
			other, ok := docs[name]
			expect.That(t, !ok || other == v, "%s is described in two ways", name)
			docs[name] = v
			readers[name] = append(readers[name], f.Folder)
		}
	}
	table := "| variable | what it says | read by |\n|---|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		by := strings.Join(slices.Sorted(slices.Values(readers[name])), ", ")
		if len(readers[name]) > len(s.functions)/2 {
			by = "all but " + strings.Join(slices.DeleteFunc(slices.Clone(all), func(f string) bool {
				return slices.Contains(readers[name], f)
			}), ", ")
		}
		doc := docs[name].doc
		if docs[name].optional {
			doc += "; may be empty"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", name, doc, by)
	}
	path := filepath.Join(repository, "functions", "README.md")
	page := textOf(t, path)
	before, _, found := strings.Cut(page, "| variable |")
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(before+table), 0o644))
	} else if !found || before+table != page {
		t.Error("functions/README.md is not of these functions; write it with -update")
	}
}
