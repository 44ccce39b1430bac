// Package faults breaks the running system at every place where it can break, and compares the result with an
// undisturbed run.
package faults

import (
	"context"
	"flag"
	"log"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/shared/runtime/expect"
)

// only chooses points: go test ./infra/faults -run ACrashAnywhere -only UpdateCard.
var only = flag.String("only", "", "try only points whose name contains this")

// seed is of all that is drawn at random.
var seed = expect.Seed()

// beside is how many scenarios run side by side.
const beside = 4

// running is the only stack of this package's tests, and places bounds how many trials run on it at once.
var (
	running *harness
	places  chan struct{}
)

func TestMain(m *testing.M) {
	flag.Parse()
	places = make(chan struct{}, beside)
	// Parallel tests, which mostly wait and don't affect others' scenarios, run after the rest.
	if err := flag.Set("test.parallel", strconv.Itoa(beside)); err != nil {
		log.Fatal(err)
	}
	os.Exit(func() int {
		if driver.LeftOut() {
			return 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		defer cancel()
		b, err := open(ctx, "", os.Getenv("RINGI_ARTIFACTS"))
		if err != nil {
			log.Println("start the stack:", err)
			return 1
		}
		defer b.Close()
		running = b
		return m.Run()
	}())
}

// open starts a stack whose calls the injector sees and whose sweeper runs only when told. template "" is this
// module's; artifacts is a folder with compiled functions, or "" to compile them.
func open(ctx context.Context, template, artifacts string) (*harness, error) {
	w := newInjector()
	p := &delivery{lost: func(record []byte) bool {
		t := w.whose(lambda.Call{Event: record})
		return t != nil && t.sweeperOnly
	}}
	o := driver.Options()
	o.Faults, o.Between, o.Template, o.Artifacts = w, p.wrap, template, artifacts
	o.Sandbox = sandbox.Options{Shortcuts: []sandbox.Shortcut{{CallbackID: "cancel_task"}}, AnswerTime: 10 * time.Second}
	s, err := driver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return &harness{Stack: s, injector: w, db: dynamodb.NewFromConfig(s.AWS), delivery: p}, nil
}
