package main

import (
	"ringi/infra/local/admin"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
)

// options are those of the stack that a person starts.
func options() stack.Options {
	o := stack.Options{Sandbox: sandbox.Options{
		Banner:   "デモモデルで動いています。外部のサービスには接続しません。",
		BannerEN: "This runs on a demo model and talks to no outside service.",
	}}
	admin.Configure(&o)
	o.PrepareTeam = admin.Readable
	return o
}
