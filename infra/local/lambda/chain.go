package lambda

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
)

// mostInChain is how often Lambda invokes functions in one chain of requests:
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
const mostInChain = 16

// ErrLoop means that an event came of too long a chain of invocations.
var ErrLoop = errors.New("RecursiveInvocationException: the function is invoked in a loop")

type traceKey struct{}

// Traced returns a context for Invoke with the trace header that came with the event: that of the call which sent the
// message or invoked the function. A function's SDK sends its own invocation's header with each of its calls.
func Traced(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, traceKey{}, header)
}

// chain returns the trace header of a new invocation, and how many invocations led to it, itself included. AWS counts
// them in the header's field Lineage, as <count>:<hash of the function>:<count>.
func chain(ctx context.Context, function string) (header string, length int) {
	came, _ := ctx.Value(traceKey{}).(string)
	if plain, err := url.PathUnescape(came); err == nil { // as SDKs write it
		came = plain
	}
	trace, lineage, counted := strings.Cut(came, ";Lineage=")
	if !strings.HasPrefix(trace, "Root=") {
		trace = traceID()
	}
	if counted {
		before, _, _ := strings.Cut(lineage, ":")
		length, _ = strconv.Atoi(before)
	}
	length++
	h := fnv.New32a()
	h.Write([]byte(function))
	return fmt.Sprintf("%s;Lineage=%d:%08x:%d", trace, length, h.Sum32(), length), length
}

// follow is chain for a function that is about to run. It returns ErrLoop for one that Lambda would not run.
func (s *Service) follow(ctx context.Context, f Function) (header string, err error) {
	header, length := chain(ctx, f.Name)
	if length > mostInChain {
		return "", fmt.Errorf("%w: %s", ErrLoop, f.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest[f.Name] = max(s.longest[f.Name], length)
	return header, nil
}

// LongestChain returns the length of the longest chain of invocations that one of this function's was the end of.
func (s *Service) LongestChain(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.longest[plainName(name)]
}
