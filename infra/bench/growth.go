package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/capacity"
	"ringi/infra/bench/recorder"
	"ringi/infra/local/moto"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/domain/websession"
	"ringi/shared/store"
	"ringi/shared/store/tasks"
)

// pageSize is how many rows a person sees at once, consoleSize how many the console shows of what is short.
const pageSize, consoleSize = 25, 50

// cookie is that of a session, which every page of the console reads first.
const cookie = "bench"

// Growth is what a page costs in a table with ever more rows of its kind.
type Growth struct {
	PageSize int
	Pages    []Page
}

// Page is one list at one size: the read units of its first page, and of the one
// that begins half-way.
type Page struct {
	List          string
	Rows          int
	First, Middle float64
}

// pager reads one page of a list: how many rows it has, and the next page's cursor.
type pager func(s *tasks.Store, tenant, cursor string) (items int, next string, err error)

// counted is what a pager says of a page.
func counted[T any](p store.Page[T], err error) (int, string, error) {
	return len(p.Items), p.Next, err
}

// list is one way of paging. index is the prefix of its index's keys, empty without one.
type list struct {
	name, index string
	size        int
	page        pager
}

// filling is a table full of one kind of row, with another of each task where a list reads that too, and the lists.
type filling struct {
	table, row, beside string
	lists              []list
}

func fillings(ctx context.Context) []filling {
	all := func(f task.Filter) pager {
		return func(s *tasks.Store, tenant, cursor string) (int, string, error) {
			return counted(s.Tasks(ctx, tenant, f, cursor, pageSize))
		}
	}
	audit := func(f store.AuditFilter) pager {
		return func(s *tasks.Store, tenant, cursor string) (int, string, error) {
			return counted(s.Audit(ctx, tenant, f, cursor, pageSize))
		}
	}
	pending := func(s *tasks.Store, tenant, cursor string) (int, string, error) {
		return counted(s.Waiting(ctx, tenant, cursor, pageSize))
	}
	console := onPages(ctx)
	return []filling{
		{"tasks", "TASK", "", []list{
			{"tasks", "GSI1", pageSize, all(task.Filter{})},
			{"tasks of a status", "GSI2", pageSize, all(task.Filter{Status: task.TaskExtracted})},
			{"tasks of a person", "GSI3", pageSize, all(task.Filter{Requester: requester})},
			{"console: session and requests, a page of 50", "GSI1", consoleSize, console.tasks(task.Filter{})},
			{"console: session and requests of a status, a page of 50", "GSI2", consoleSize, console.tasks(task.Filter{Status: task.TaskExtracted})},
			{"console: session and requests of a person, a page of 50", "GSI3", consoleSize, console.tasks(task.Filter{Requester: requester})},
		}},
		{"pending", "PROMPT#0001", "TASK", []list{
			{"pending decisions", "GSI1", pageSize, pending},
			{"console: session, settings and approvals with their titles, a page of 25", "GSI1", pageSize, console.approvals},
		}},
		{"audit", "AUDIT", "", []list{
			{"console: session and audit log, a page of 50", "", consoleSize, console.audit},
			{"audit log", "", pageSize, audit(store.AuditFilter{})},
			{"audit log of an action", "GSI1", pageSize, audit(store.AuditFilter{Action: task.AuditTaskCreated})},
		}},
	}
}

// consolePages read lists as functions/serve-console does.
type consolePages struct {
	tasks            func(task.Filter) pager
	approvals, audit pager
}

func onPages(ctx context.Context) (p consolePages) {
	opened := func(s *tasks.Store) error {
		_, err := s.WebSession(ctx, cookie, time.Now())
		return err
	}
	p.tasks = func(f task.Filter) pager {
		return func(s *tasks.Store, tenant, cursor string) (int, string, error) {
			if err := opened(s); err != nil {
				return 0, "", err
			}
			return counted(s.Search(ctx, tenant, f, cursor, consoleSize, 0, nil))
		}
	}
	// The page of approvals has the settings, which say who decides, and the titles of what waits, beside its query.
	p.approvals = func(s *tasks.Store, tenant, cursor string) (int, string, error) {
		if err := opened(s); err != nil {
			return 0, "", err
		}
		if _, err := s.Settings(ctx, tenant); err != nil {
			return 0, "", err
		}
		page, err := s.Waiting(ctx, tenant, cursor, pageSize)
		if err != nil {
			return 0, "", err
		}
		var ids []string
		for _, x := range page.Items {
			ids = append(ids, x.Ref.ID)
		}
		titles, err := s.Titled(ctx, tenant, ids...)
		return len(titles), page.Next, err
	}
	p.audit = func(s *tasks.Store, tenant, cursor string) (int, string, error) {
		if err := opened(s); err != nil {
			return 0, "", err
		}
		return counted(s.Audit(ctx, tenant, store.AuditFilter{}, cursor, consoleSize))
	}
	return p
}

// measureGrowth fills a table for each list and size and reads pages of it.
func measureGrowth(ctx context.Context, rows []int, log io.Writer) (*Growth, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	described, err := template.Read(filepath.Join(root, "template.yaml"), template.Names{}, map[string]string{"Stage": "dev"})
	if err != nil {
		return nil, err
	}
	g := &Growth{PageSize: pageSize}
	for _, f := range fillings(ctx) {
		for _, n := range rows {
			began := time.Now()
			pages, err := f.measure(ctx, described.Tables[0], n)
			if err != nil {
				return nil, fmt.Errorf("%s at %d rows: %w", f.table, n, err)
			}
			g.Pages = append(g.Pages, pages...)
			fmt.Fprintf(log, "%s at %d rows: %s\n", f.table, n, time.Since(began).Round(time.Second))
		}
	}
	return g, nil
}

// measure uses a server of its own: it keeps every row in memory.
func (f filling) measure(ctx context.Context, described template.Table, n int) ([]Page, error) {
	server, err := moto.Start(ctx, moto.Options{})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	x, err := newExample(ctx, server.URL, described)
	if err != nil {
		return nil, err
	}
	if err := x.fill(ctx, f.table, f.row, n); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, x, n); err != nil {
		return nil, err
	}
	session := websession.New(x.ref.Tenant, "T0BENCH", requester, "Bench", true, time.Now())
	if err := tasks.New(x.db, f.table).BeginWebSession(ctx, cookie, session); err != nil {
		return nil, err
	}
	rec := recorder.New(0)
	rec.Attach(&recorder.Meter{Endpoint: server.URL})
	metered := httptest.NewServer(rec)
	defer metered.Close()
	rows := tasks.New(dynamodb.NewFromConfig(local(metered.URL)), f.table)
	var out []Page
	for _, l := range f.lists {
		next, first, err := l.least(rows, rec, x.ref.Tenant, "")
		if err != nil {
			return nil, err
		}
		if next, err = l.jump(next, x.clone(f.row, (n-l.size)/2)); err != nil {
			return nil, fmt.Errorf("%s: make a cursor: %w", l.name, err)
		}
		_, middle, err := l.least(rows, rec, x.ref.Tenant, next)
		if err != nil {
			return nil, err
		}
		out = append(out, Page{l.name, n, first, middle})
	}
	return out, nil
}

// least is what a page costs in the cheapest of some reads: in one of a busy machine a call may have been made again.
func (l list) least(rows *tasks.Store, rec *recorder.Recorder, tenant, cursor string) (next string, units float64, err error) {
	units = math.Inf(1)
	for range 3 {
		var items int
		items, next, err = l.page(rows, tenant, cursor)
		calls, broken := rec.Take()
		if err = errors.Join(err, broken); err != nil || items != l.size || next == "" {
			return "", 0, fmt.Errorf("%s: a page has %d items and the next cursor %q: %v", l.name, items, next, err)
		}
		read := 0.0
		for _, c := range calls {
			read += c.Units.Read
		}
		units = min(units, read)
	}
	return next, units, nil
}

// prepare adds what lists read beside their rows.
func (f filling) prepare(ctx context.Context, x *example, n int) error {
	if f.beside != "" {
		if err := x.add(ctx, f.table, f.beside, n); err != nil {
			return err
		}
	}
	own := tenancy.Tenant{ID: x.ref.Tenant, Name: "Bench", Slug: "bench", TeamID: "T0BENCH", Admins: []string{requester}}
	_, err := tasks.New(x.db, f.table).Bootstrap(ctx, own, time.Now())
	return err
}

// jump makes a cursor of the list lead behind a row.
func (l list) jump(cursor, row string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", err
	}
	var position map[string]string
	var it capacity.Item
	if err := errors.Join(json.Unmarshal(b, &position), json.Unmarshal([]byte(row), &it)); err != nil {
		return "", err
	}
	names := map[string]string{"p": "PK", "s": "SK"}
	if l.index != "" {
		names["g"], names["h"] = l.index+"PK", l.index+"SK"
	}
	for short, name := range names {
		var value string
		if err := json.Unmarshal(it[name]["S"], &value); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		position[short] = value
	}
	b, err = json.Marshal(position)
	return base64.RawURLEncoding.EncodeToString(b), err
}
