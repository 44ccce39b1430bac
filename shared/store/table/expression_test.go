package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/runtime/expect"
)

// TestInputsAreFilledInOnePlace checks that nothing but Filled sets names and values: a literal may read them before
// its other fields have added theirs.
func TestInputsAreFilledInOnePlace(t *testing.T) {
	own, below := expect.Value(filepath.Glob("../*.go"))(t), expect.Value(filepath.Glob("../*/*.go"))(t)
	for _, path := range append(own, below...) {
		if path == "../table/expression.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for n, line := range strings.Split(string(expect.Value(os.ReadFile(path))(t)), "\n") {
			if strings.Contains(line, "ExpressionAttribute") {
				t.Errorf("%s:%d fills an input by itself, not by Filled", path, n+1)
			}
		}
	}
}

func TestAFilledInputHasWhatItsOwnLiteralAdds(t *testing.T) {
	e := NewExpression()
	in := Filled(e, &dynamodb.UpdateItemInput{UpdateExpression: e.Update(), ConditionExpression: All(e.Is("rev", "=", 7), e.Lacks("run"))})
	expect.Same(t, map[string]string{"#rev": "rev", "#run": "run"}, in.ExpressionAttributeNames)
	expect.That(t, len(in.ExpressionAttributeValues) == 1, "values %v", in.ExpressionAttributeValues)
}
