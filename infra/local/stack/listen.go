package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"ringi/infra/local/process"
	"syscall"
	"time"
)

var ErrInUse = errors.New("the port is in use")

// listen opens a listener. If the port is in use, the error names the flag that changes it.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %s; stop what uses it or choose another with %s (%s takes a free one)", ErrInUse, addr, flag, anyPort)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s (%s): %w", addr, flag, err)
	}
	return l, nil
}

// address returns a listener's URL without a trailing slash.
func address(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || addr.IP.IsUnspecified() {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return "http://127.0.0.1:" + port
	}
	return "http://" + l.Addr().String()
}

func port(l net.Listener) int {
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		return addr.Port
	}
	return 0
}

// serve answers programs and its own pages on a listener until stop is called. Requests must name this machine or one
// of hosts.
func serve(l net.Listener, h http.Handler, hosts ...string) (stop func()) {
	s := &http.Server{Handler: process.Handler(h, hosts...), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ErrServerClosed, since only stop ends it
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			s.Close() // streams to browsers never end by themselves
		}
		<-done
	}
}
