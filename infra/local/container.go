package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"ringi/infra/local/process"
	"ringi/infra/local/stack"
)

// signedEvent prints a sample event with a fresh time and a signature, as Slack would send it to the running stack now.
// Both are valid for five minutes.
func signedEvent(ctx context.Context, args []string, s streams) error {
	f, addr := commandFlags("event <file>", s)
	file, err := onlyArgument(f, args)
	if err != nil {
		return err
	}
	event, err := readEvent(file, s.in)
	if err != nil {
		return err
	}
	if event, err = stack.SignEvent(ctx, *addr, event); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\n", event)
	return err
}

// containerTemplate prints a template for `sam local invoke -t`, which runs a function in a container.
func containerTemplate(ctx context.Context, args []string, s streams) error {
	f, addr := commandFlags("container", s)
	artifacts := f.String("artifacts", "", "the `folder` that sam build made; the default is the module's .aws-sam/build")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *artifacts == "" {
		root, err := process.ModuleRoot()
		if err != nil {
			return err
		}
		*artifacts = filepath.Join(root, ".aws-sam", "build")
	}
	architecture := "x86_64"
	if a := os.Getenv("GOARCH"); a == "arm64" || a == "" && runtime.GOARCH == "arm64" {
		architecture = "arm64"
	}
	text, err := stack.ContainerTemplate(ctx, *addr, *artifacts, architecture)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\n", text)
	return err
}

func commandFlags(usage string, s streams) (f *flag.FlagSet, addr *string) {
	f = flags("usage: go run ./infra/local "+usage+" [flags]\n", s)
	return f, f.String("aws-addr", "127.0.0.1:4566", "`address` of the running stack's AWS endpoint")
}

// bridge returns the address at which containers reach this machine. On Linux it is the address of Docker's bridge.
// Docker Desktop's virtual machine reaches loopback itself.
func bridge() string {
	if i, err := net.InterfaceByName("docker0"); err == nil {
		addresses, err := i.Addrs()
		if err == nil && len(addresses) > 0 {
			address, _, _ := strings.Cut(addresses[0].String(), "/")
			return net.JoinHostPort(address, "0")
		}
	}
	return "127.0.0.1:0"
}
