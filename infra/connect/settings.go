package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/sleep"
	"ringi/shared/store/tasks"
)

const settingsUsage = `settings takes one of
  get                      show all settings, each as set takes it
  set <name>=<value> …     change these and no other; if one is wrong, none. Lists have commas between`

// settings does what an administrator asks about a workspace's settings.
func settings(ctx context.Context, rows *tasks.Store, o order, args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "get":
		x, err := rows.Settings(ctx, o.tenant)
		if err != nil {
			return err
		}
		list(out, tenancy.Members(&x), nil)
		return known(ctx, rows, o, out)
	case len(args) > 1 && args[0] == "set":
		x, err := saveSettings(ctx, rows, o, func(x *tenancy.Settings) error { return assign(tenancy.Members(x), args[1:], noSetting) })
		if err != nil {
			return err
		}
		list(out, tenancy.Members(&x), args[1:])
		return known(ctx, rows, o, out)
	}
	return errors.New(settingsUsage)
}

func noSetting(name string) error {
	return aggregate.ErrField{Field: name, Limit: "is no setting: `settings get` shows all that there are"}
}

// saveSettings changes settings as they are now: again when somebody saves in between.
func saveSettings(ctx context.Context, rows *tasks.Store, o order, change func(*tenancy.Settings) error) (x tenancy.Settings, err error) {
	err = again(ctx, func() (err error) {
		if x, err = rows.Settings(ctx, o.tenant); err != nil {
			return err
		}
		if err = change(&x); err != nil {
			return err
		}
		x, err = rows.SaveSettings(ctx, o.tenant, x, o.by, time.Now())
		return err
	})
	return x, err
}

// again reads, changes and saves anew while others save in between, ten times at most.
func again(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if n == 10 || !errors.Is(err, aggregate.ErrConflict) || sleep.For(ctx, rand.N(time.Duration(n)*50*time.Millisecond)) != nil {
			return err
		}
	}
}

// list prints fields, or those that args set.
func list(out io.Writer, fields []tenancy.Member, args []string) {
	for _, f := range fields {
		if args == nil || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, f.Name+"=") }) {
			fmt.Fprintf(out, "%s=%s\n", f.Name, visible(shown(f)))
		}
	}
}

// known warns if a workspace has no tenant yet, because its id may be mistyped.
func known(ctx context.Context, rows *tasks.Store, o order, out io.Writer) error {
	_, err := rows.Tenant(ctx, o.tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		fmt.Fprintf(out, "%s has not asked for anything yet: is this its id?\n", o.team)
		return nil
	}
	return err
}
