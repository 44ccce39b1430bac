package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
)

const editUsage = `%s takes one of
  get                      show all that there are, each as set takes it
  set <name>=<value> …     change these and no other; if one is wrong, none. Lists have commas between`

// row is a row whose fields an administrator can change.
type row struct {
	fields  []tenancy.Member
	unknown string // the error for an unknown field
	about   string // lines that `get` prints before the fields
	save    func() error
}

// edit makes the command that shows or changes the fields of a row.
func edit(name string, read func(context.Context, *store.TaskStore, order) (row, error)) func(context.Context,
	*store.TaskStore, order, []string, io.Writer) error {
	return func(ctx context.Context, rows *store.TaskStore, o order, args []string, out io.Writer) error {
		get, set := len(args) == 1 && args[0] == "get", len(args) > 1 && args[0] == "set"
		if !get && !set {
			return fmt.Errorf(editUsage, name)
		}
		var x row
		err := again(ctx, func() (err error) {
			if x, err = read(ctx, rows, o); err != nil || get {
				return err
			}
			unknown := func(name string) error { return aggregate.ErrField{Field: name, Limit: x.unknown} }
			if err := assign(x.fields, args[1:], unknown); err != nil {
				return err
			}
			return x.save()
		})
		if err != nil {
			return err
		}
		if get {
			fmt.Fprint(out, x.about)
		}
		list(out, x.fields, args[1:])
		return known(ctx, rows, o, out)
	}
}

func settings(ctx context.Context, rows *store.TaskStore, o order) (row, error) {
	x, err := rows.Settings(ctx, o.tenant)
	return row{fields: tenancy.Members(&x), unknown: "is no setting: `settings get` shows all that there are", save: func() (err error) {
		x, err = rows.SaveSettings(ctx, o.tenant, x, o.by, time.Now())
		return err
	}}, err
}

// tenant reads the workspace's row: its name and administrators. This command can set them even if no administrator can
// sign in to the console any more.
func tenant(ctx context.Context, rows *store.TaskStore, o order) (row, error) {
	x, err := rows.Tenant(ctx, o.tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		err = fmt.Errorf("%s has not asked for anything yet: its first message makes the tenant", o.team)
	}
	own := slices.DeleteFunc(tenancy.Members(&x),
		func(f tenancy.Member) bool { return f.Name != "name" && f.Name != "admins" })
	return row{
		fields: own, unknown: "is not set here: name and admins are", about: fmt.Sprintf("id=%s\nteam_id=%s\nslug=%s\n", x.ID, x.TeamID, x.Slug),
		save: func() error { return rows.SaveTenant(ctx, x, o.by, time.Now()) },
	}, err
}

// again retries a change up to ten times if others save in between.
func again(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if n == 10 || !errors.Is(err, aggregate.ErrConflict) ||
			clock.Sleep(ctx, rand.N(time.Duration(n)*50*time.Millisecond)) != nil {
			return err
		}
	}
}

// list prints the fields that args set, or all if they set none.
func list(out io.Writer, fields []tenancy.Member, args []string) {
	for _, f := range fields {
		if len(args) == 0 || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, f.Name+"=") }) {
			fmt.Fprintf(out, "%s=%s\n", f.Name, visible(shown(f)))
		}
	}
}

// known warns if a workspace is not a tenant yet, because its id may be mistyped.
func known(ctx context.Context, rows *store.TaskStore, o order, out io.Writer) error {
	_, err := rows.Tenant(ctx, o.tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		fmt.Fprintf(out, "%s has not asked for anything yet: is this its id?\n", o.team)
		return nil
	}
	return err
}

// shown formats a value as set accepts it.
func shown(f tenancy.Member) string {
	if f.Value.Kind() == reflect.String {
		return f.Value.String()
	}
	if list, ok := f.Value.Interface().([]string); ok && !strings.Contains(strings.Join(list, ""), ",") {
		return strings.Join(list, ",")
	}
	b, err := json.Marshal(f.Value.Interface())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// set parses a field's value. It returns aggregate.ErrField for a value of another kind.
func set(f tenancy.Member, text string) error {
	list, ok := f.Value.Addr().Interface().(*[]string)
	switch {
	case f.Value.Kind() == reflect.String:
		f.Value.SetString(text)
		return nil
	case ok && !strings.HasPrefix(text, "["):
		*list = []string{}
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				*list = append(*list, one)
			}
		}
		return nil
	}
	f.Value.SetZero() // else fields that the JSON lacks would keep their values
	if text == "null" || json.Unmarshal([]byte(text), f.Value.Addr().Interface()) != nil {
		return tenancy.Unread(f.Name, f.Value).Err()
	}
	return nil
}

// assign sets fields from arguments of the form name=value. For an unknown name it returns unknown's error.
func assign(fields []tenancy.Member, args []string, unknown func(name string) error) error {
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return aggregate.ErrField{Field: visible(name), Limit: "needs a value: " + visible(name) + "=…"}
		}
		found := false
		for _, f := range fields {
			if f.Name == name {
				found = true
				if err := set(f, text); err != nil {
					return err
				}
			}
		}
		if !found {
			return unknown(visible(name))
		}
	}
	return nil
}
