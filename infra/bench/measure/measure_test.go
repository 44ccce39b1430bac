package measure

import (
	"os"
	"path/filepath"
	"testing"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

func TestEveryFunctionHasABareHandler(t *testing.T) {
	root := expect.Value(process.ModuleRoot())(t)
	described := expect.Value(template.Read(filepath.Join(root, "template.yaml"), template.Names{Region: "us-east-1",
		Account: "123456789012", Stack: "bench"}, map[string]string{"Stage": "dev"}))(t)
	for _, f := range described.Functions {
		if f.Managed {
			continue
		}
		bare := filepath.Join(root, "infra", "bench", "bare", bareOf[f.Folder])
		_, err := os.Stat(bare)
		expect.That(t, bareOf[f.Folder] != "" && err == nil, "%s has the bare handler %q: %v", f.Folder, bareOf[f.Folder], err)
	}
}
