package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
)

const anyPort = "127.0.0.1:0"

// Options configure a stack. The zero value makes a stack on free ports with the Slack sandbox and random secrets.
type Options struct {
	Addr    string // address of the sandbox and the template's routes; "" means a free port
	AWSAddr string // address of the AWS endpoint; "" means a free port

	Template   string            // "" means template.yaml of this module
	Parameters map[string]string // override the parameters that the stack sets
	Allow      []string          // host:port of endpoints that need not be on the public internet
	Artifacts  string            // a folder of `sam build`; "" compiles the functions

	SigningSecret string         // "" means random
	BotToken      string         // "" means random
	Model         string         // "" means the template's default
	ModelKeys     map[string]any // content of the model secret; may be nil

	// Sandbox has the sandbox's options. The stack sets its addresses, secrets and logger.
	Sandbox sandbox.Options
	// PrepareTeam is called for the sandbox's workspace when all services answer and before functions are invoked by
	// events; may be nil.
	PrepareTeam func(ctx context.Context, s *Stack, team string) error

	// ByHand turns off schedules: only Fire invokes scheduled functions.
	ByHand bool

	// Faults kills processes in tests; may be nil. If it is set, the messages of a failed batch become visible at once.
	Faults lambda.Faults
	// Between wraps the invoker of the event sources, to repeat, delay or reorder deliveries; may be nil.
	Between func(lambda.Invoker) lambda.Invoker

	// Progress is called when the n-th of all steps of a start begins, with what it does; may be nil.
	Progress func(n, of int, what string)

	Logger      *slog.Logger // of the stack itself; may be nil
	FunctionLog io.Writer    // receives the functions' output; may be nil
}

// complete sets the defaults of empty options.
func (o Options) complete() (Options, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return o, err
	}
	o.Template = cmp.Or(o.Template, filepath.Join(root, "template.yaml"))
	o.Addr = cmp.Or(o.Addr, anyPort)
	o.AWSAddr = cmp.Or(o.AWSAddr, anyPort)
	o.SigningSecret = cmp.Or(o.SigningSecret, strings.ToLower(rand.Text()+rand.Text()[:6]))
	o.BotToken = cmp.Or(o.BotToken, "xoxb-local-"+rand.Text())
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	if o.Sandbox.Shortcuts == nil {
		o.Sandbox.Shortcuts, o.Sandbox.Globals, err = sandbox.ReadMenus(filepath.Join(root, "infra", "slack-manifest.yaml"))
	}
	return o, err
}

// parameters returns the template's parameters by the options.
func (o Options) parameters() map[string]string {
	p := map[string]string{"Stage": "dev", "Sandbox": "on"}
	if o.Model != "" {
		p["Model"] = o.Model
	}
	maps.Copy(p, o.Parameters)
	return p
}
