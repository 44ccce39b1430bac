package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"ringi/infra/local/lambda"
	"ringi/infra/local/mapping"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
)

// What is the same in every local stack.
const (
	Region  = "us-east-1"
	Account = "123456789012"
	Name    = "ringi"
	anyPort = "127.0.0.1:0"
)

// Options say what a stack is made of. The zero value is a stack on free
// ports with the Slack sandbox and secrets of its own.
type Options struct {
	Addr    string // of Slack's side and the sandbox; "" takes a free port
	AWSAddr string // of the AWS endpoint; "" takes a free port

	// Hosts are names, beside this machine's own, under which everything that listens is asked.
	Hosts []string

	// ContainerHost is the name that containers know this machine by; "" serves none. One
	// listener at ContainerAddr answers them, under that name alone; "" takes a free port.
	ContainerHost, ContainerAddr string

	Template   string            // "" is template.yaml of this module
	Parameters map[string]string // of the template, over what the stack sets itself
	Variables  map[string]string // replace environment variables, in functions whose template has them
	Allow      []string          // endpoints, as host:port, that may stand outside of the public internet
	Artifacts  string            // a folder of `sam build`; "" compiles the functions

	SlackAPIURL   string         // another Slack instead of the sandbox
	SigningSecret string         // "" is random
	BotToken      string         // "" is random
	Model         string         // "" leaves the template's
	ModelKeys     map[string]any // what the model secret holds; nil is none
	TenantAdmin   string         // Slack user id; "" leaves the template's

	// Sandbox are the sandbox's options; addresses, secrets, logger and run
	// panel come from the stack.
	Sandbox sandbox.Options
	// Panels are the sandbox's hooks that need the running stack; may be nil.
	Panels func(*Stack) sandbox.Panels
	// Seed runs when all services answer and before anything else is invoked.
	Seed func(context.Context, *Stack) error

	// PrepareTeam prepares a workspace before its first call reaches a function, the sandbox's at
	// the start; may be nil.
	PrepareTeam func(ctx context.Context, s *Stack, team string) error

	// ByHand keeps schedules from ticking: only Fire invokes them.
	ByHand bool

	// Faults decides which processes are killed and when; nil kills none. With it, the messages
	// of a failed batch are visible in their queue again at once.
	Faults lambda.Faults
	// Between stands between the event sources and the functions, to repeat, delay or
	// reorder what is delivered; nil delivers as AWS does.
	Between func(mapping.Invoker) mapping.Invoker

	// DynamoDBLocal has tables and their streams in Amazon's DynamoDB Local instead of moto.
	DynamoDBLocal bool

	// IAMOff lets functions do what their roles don't allow.
	IAMOff bool

	// Running is for InvokeOnce: a stack must answer at AWSAddr, none is started for the one function.
	Running bool

	quiet       bool // no event source invokes anything
	ownTemplate bool // Template was ""

	Logger      *slog.Logger // of the stack itself; nil discards
	FunctionLog io.Writer    // what functions print; nil discards
}

// complete fills in what was left empty.
func (o Options) complete() (Options, error) {
	if o.Template == "" {
		root, err := process.ModuleRoot()
		if err != nil {
			return o, err
		}
		o.Template, o.ownTemplate = filepath.Join(root, "template.yaml"), true
	}
	o.Addr = cmp.Or(o.Addr, anyPort)
	o.AWSAddr = cmp.Or(o.AWSAddr, anyPort)
	o.ContainerAddr = cmp.Or(o.ContainerAddr, anyPort)
	o.SigningSecret = cmp.Or(o.SigningSecret, strings.ToLower(rand.Text()+rand.Text()[:6]))
	o.BotToken = cmp.Or(o.BotToken, "xoxb-local-"+rand.Text())
	if o.SlackAPIURL != "" && !strings.HasSuffix(o.SlackAPIURL, "/") {
		o.SlackAPIURL += "/"
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o, nil
}

// parameters are the template's: where the vendors are, and what the options say.
func (o Options) parameters(vendorsURL string) map[string]string {
	p := map[string]string{
		"FreeeApiUrl": vendorsURL + "/freee/hr", "SheetsApiUrl": vendorsURL + "/sheets",
		"FreeeTokenUrl": vendorsURL + "/freee/token", "GoogleTokenUrl": vendorsURL + "/google/token",
		"Stage": "dev", "Sandbox": "on",
	}
	if o.Model != "" {
		p["Model"] = o.Model
	}
	if o.TenantAdmin != "" {
		p["TenantAdmin"] = o.TenantAdmin
	}
	maps.Copy(p, o.Parameters)
	return p
}

// fastPace is how many times Slack's pace cards are drawn here: practically without limit,
// unless the sandbox enforces Slack's limits from the start.
const fastPace = "100"

// slackPace is the pace of the sandbox, or of the other Slack that stands in for it.
func (o Options) slackPace() string {
	rates := o.Sandbox.Rates
	switch {
	case o.SlackAPIURL != "":
		return "1"
	case !rates.Enforce:
		return fastPace
	case rates.Scale > 0:
		return strconv.FormatFloat(rates.Scale, 'f', -1, 64)
	}
	return "1"
}
