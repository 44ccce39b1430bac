// Command contest lets teams of agents compete on this machine, without a deployment:
//
//	go run ./infra/contest init                          writes a sample workspace
//	go run ./infra/contest check FILE…                   says what is wrong with files of teams, contests and evaluators
//	go run ./infra/contest config show -c FILE           says what holds, and which file says it
//	go run ./infra/contest exec -c FILE "what to write"  runs a contest
//	go run ./infra/contest evaluate "request" "text"     scores a text by an evaluator's file
//	go run ./infra/contest archive -table … -bucket … -team …
//	go run ./infra/contest archive -import mixseek.db
//
// exports a deployment's contests as Parquet files, and adds those of a mixseek database to this machine's. MIXSEEK_WORKSPACE says where the workspace is. See the README here.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"ringi/shared/words/legible"
)

// The command's exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitMisused = 2
)

// program has a command's environment and outputs.
type program struct {
	env          func(string) string
	out, problem io.Writer
}

var commands = map[string]func(program, context.Context, []string) int{
	"check": program.check, "init": program.init, "config": program.config, "exec": program.exec,
	"evaluate": program.evaluate, "archive": program.archive,
}

const usage = `usage: contest init [FOLDER]
       contest check [--json] FILE…
       contest config show [-c FILE] [--json] [FIELD]
       contest exec [-c FILE] [-servers FILE] [-model NAME] [--json] [--trace FILE] [--dry-run] [--no-save] [--timeout SECONDS] "prompt"
       contest evaluate [-c FILE] [-model NAME] [-submission FILE] [-locale LOCALE] [--json] "prompt" ["submission"]
       contest archive -table NAME -bucket NAME -team T…
       contest archive -import FILE
MIXSEEK_WORKSPACE is the folder of the files.
`

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // events are printed as lines instead
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := program{os.Getenv, os.Stdout, os.Stderr}.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func (p program) run(ctx context.Context, args []string) int {
	if len(args) > 0 {
		if command, ok := commands[args[0]]; ok {
			return command(p, ctx, args[1:])
		}
		if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
			fmt.Fprint(p.out, usage)
			return exitDone
		}
		fmt.Fprintf(p.problem, "%q is none of init, check, config, exec, evaluate and archive\n", args[0])
	}
	fmt.Fprint(p.problem, usage)
	return exitMisused
}

// misused reports an error in the command line.
func (p program) misused(format string, a ...any) int {
	fmt.Fprintln(p.problem, legible.Visible(fmt.Sprintf(format, a...)))
	return exitMisused
}
