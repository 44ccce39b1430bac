package process

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Compile runs a `go build` command and calls told, if it isn't nil, with the number of packages that were compiled so
// far. It returns the compiler's message if something doesn't compile.
func Compile(cmd *exec.Cmd, told func(packages int)) error {
	cmd.Args = slices.Insert(cmd.Args, 2, "-v")
	out, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err = cmp.Or(err, cmd.Start()); err != nil {
		return err
	}
	n, problems := 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.ContainsAny(line, " \t:") {
			problems += line + "\n"
		} else if n++; told != nil { // the path of a package
			told(n)
		}
	}
	if err = cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, problems)
	}
	return nil
}

// Progress says what a program does and since when: a terminal has one line for it, which changes every second,
// anything else a line for each step, and one every few seconds of a long step. A step is named by what stands before
// a colon. stop ends that.
func Progress(out io.Writer, terminal bool) (say func(what string), stop func()) {
	begun, said, ended := time.Now(), make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		line, pause := "%s … %d s\n", 4*time.Second
		if terminal {
			line, pause = "\r\x1b[K%s … %d s", time.Second
		}
		every := time.NewTicker(pause)
		defer every.Stop()
		for text, told := "", ""; ; {
			select {
			case next, more := <-said:
				if !more {
					return
				}
				step, _, _ := strings.Cut(next, ":")
				if text = next; !terminal && strings.HasPrefix(told, step+":") {
					continue // until the pause is over
				}
			case <-every.C:
			}
			if told = text; text != "" {
				fmt.Fprintf(out, line, text, int(time.Since(begun).Seconds()))
			}
		}
	}()
	return func(what string) { said <- what }, func() {
		close(said)
		if <-ended; terminal {
			fmt.Fprint(out, "\r\x1b[K")
		}
	}
}

func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
