// Command receive-interaction turns people's clicks, shortcuts and forms in Slack into decisions.
package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"

	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Results
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	all := store.OpenAll(cfg, env.Table)
	rows := store.TasksOf(all)
	slack := vault.OpenBot(cfg, keys, env.Credentials, rows, slackTimeout)
	return &Handler{
		Rows: all, Store: rows, Results: large.Open(cfg, env.Results),
		Slack: slack, People: &people.People{Slack: slack, Now: time.Now},
		Edge: slackapi.Edge{Keys: keys, Now: time.Now}, Now: time.Now,
	}, nil
}

const (
	// homeWithin bounds the call that asks Slack which workspace the token belongs to. It is made once for each token.
	homeWithin = 700 * time.Millisecond
	// slackTimeout bounds any other call to Slack, so that time is left for the answer.
	slackTimeout = 2 * time.Second
)

type Rows interface {
	decide.Store
	decide.InboxRows
	Redraw(ctx context.Context, ref aggregate.Ref) error
}

// Store reads and writes a tenant's rows that are not subject to decisions.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	decide.AskStore
}

type Slack interface {
	Ephemeral(ctx context.Context, channel, thread, user, text string, blocks ...slack.Block) error
	OpenView(ctx context.Context, trigger string, view slack.ModalViewRequest) error
	people.Directory
	decide.AskSlack
	Team(ctx context.Context) (string, error)
	Direct(ctx context.Context, user, text string) error
	Label(ctx context.Context, m *slackapi.Message)
}

// Results reads and copies values that are too large for a row.
type Results interface {
	card.Large
	large.Copier
}

type Handler struct {
	Rows    Rows
	Store   Store
	Slack   Slack
	People  *people.People
	Results Results
	Edge    slackapi.Edge
	Now     func() time.Time
}

// click is one act of one person: what they clicked, and where.
type click struct {
	decide.Click
	team     string // workspace of the click
	channel  string // where the person clicked, empty in a dialog
	thread   string
	console  string // its address
	trigger  string // allows Ringi to open one dialog
	reasoned bool   // the person gave a reason for a rejection
	words    string // for that, from a message of theirs
}

// Handle answers Slack after the decision was committed, or after the person was told why it was not. update-card later
// draws the card with the decision.
func (h *Handler) Handle(ctx context.Context, r slackapi.Request) (slackapi.Response, error) {
	return h.Edge.Serve(ctx, r, func(ctx context.Context, body []byte) (slackapi.Response, error) {
		return h.receive(ctx, boot.Address(r.RequestContext.DomainName)+"/console", body)
	}), nil
}

// receive answers 200 to every signed request: for any other answer Slack shows the person a warning that doesn't help
// them. It counts payloads that can't be read.
func (h *Handler) receive(ctx context.Context, console string, body []byte) (slackapi.Response, error) {
	out, err := h.act(ctx, console, body)
	if refusal, is := errors.AsType[slackapi.Refusal](err); is && refusal.Status == http.StatusBadRequest {
		slog.WarnContext(ctx, "could not be read", "err", err)
		return slackapi.OK(), nil
	}
	return out, err
}

func (h *Handler) act(ctx context.Context, console string, body []byte) (slackapi.Response, error) {
	p, ok, err := read(body)
	if err != nil || !ok {
		return slackapi.OK(), err
	}
	p.console = console
	if err := h.Edge.FromOurs(p.AppID); err != nil {
		return slackapi.Response{}, err
	}
	if p.OrgInstall { // tokens, settings and rows belong to a workspace
		return ignore(ctx, "organization_install")
	}
	if p.Team != nil {
		ctx = slackapi.For(ctx, aggregate.TenantID(p.Team.ID))
	}
	if p.Type == kindSubmission &&
		(p.View.CallbackID == card.RequestCallback || p.View.CallbackID == card.MatterCallback) {
		within, cancel := context.WithTimeout(ctx, decide.AnsweredWithin)
		defer cancel()
		ctx = within
	}
	if p.Team != nil && h.foreign(ctx, p.Team.ID) {
		return ignore(ctx, "unknown_workspace")
	}
	switch p.Type {
	case kindActions:
		return h.button(ctx, p)
	case kindShortcut:
		return h.shortcut(ctx, p)
	case kindGlobal:
		return h.open(ctx, p)
	case kindCommand:
		return h.command(ctx, p)
	case kindSubmission:
		return h.submit(ctx, p)
	}
	return ignore(ctx, p.Type)
}

// foreign reports whether an interaction comes from a workspace that this deployment doesn't serve; such an interaction
// is not answered. If Slack can't be asked it returns false: the decision still needs a task of that workspace.
func (h *Handler) foreign(ctx context.Context, team string) bool {
	ctx, cancel := context.WithTimeout(ctx, homeWithin)
	defer cancel()
	ours, err := slackapi.HomeWorkspace{Slack: h.Slack, Rows: h.Store}.Serves(ctx, aggregate.TenantID(team))
	if err != nil {
		slog.WarnContext(ctx, "whose the app is", "err", err)
	}
	return err == nil && !ours
}

// click describes the payload's click on a part of a subject.
func (p payload) click(subject, id string) click {
	return click{team: p.Team.ID, channel: p.channel(), thread: p.thread(), console: p.console, trigger: p.TriggerID,
		Click: decide.Click{Ref: store.RefOf(aggregate.TenantID(p.Team.ID), subject), ID: id,
			Want: people.Want{User: p.User.ID}}}
}

// pressed describes the payload's click on a gate's button. hash is that of the content which the button names; words
// of the person may follow it.
func (p payload) pressed(a action) (c click, hash string, err error) {
	id, rest, _ := strings.Cut(a.Value, "/")
	hash, words, _ := strings.Cut(rest, "/")
	subject, stage, shown, ok := card.Subject(a.BlockID)
	if !ok {
		return c, "", slackapi.Bad("payload.actions.0.block_id must end with the number of a stage, if with any")
	}
	c = p.click(subject, id)
	c.Stage, c.words = stage, words
	return c, cmp.Or(hash, shown), nil
}

func (h *Handler) button(ctx context.Context, p payload) (slackapi.Response, error) {
	if len(p.Actions) == 0 {
		return slackapi.Response{}, slackapi.Bad("payload.actions must not be empty")
	}
	a := p.Actions[0] // Slack sends one for each click
	if a.ActionID == card.NewRequest {
		return h.open(ctx, p)
	}
	if a.ActionID == card.NewMatter {
		return h.openMatter(ctx, p)
	}
	c, hash, err := p.pressed(a)
	if err != nil {
		return slackapi.Response{}, err
	}
	if err := slackapi.CheckID("payload.channel.id", p.channel()); err != nil && p.View.CallbackID != card.HomeCallback {
		return slackapi.Response{}, err
	}
	if verb, kind, _ := strings.Cut(a.ActionID, "_"); store.Asks(aggregate.CardType(kind)) &&
		h.press(ctx, c, verb, aggregate.CardType(kind), hash) {
		return slackapi.OK(), nil
	}
	b, ok := decide.Buttons()[a.ActionID]
	switch {
	case a.ActionID == card.Withdraw:
		c.Withdraws = true
		h.askEnding(ctx, c, h.check(ctx, c, decide.End().Act))
	case !ok:
		return ignore(ctx, "action")
	default:
		c.Withdraws, c.Retries = b.Withdraws, b.Retries
		h.tell(ctx, c, h.decide(ctx, c, b.Act))
	}
	return slackapi.OK(), nil
}

// press handles a button of a gate's card. kind is the card's type, hash that of the content that the card shows. It
// returns false for a button that no such card has.
func (h *Handler) press(ctx context.Context, c click, verb string, kind aggregate.CardType, hash string) bool {
	switch verb {
	case "approve":
		h.tell(ctx, c, h.decide(ctx, c, decide.Shown(kind, hash, decide.Approve)))
	case "reject":
		h.asks(ctx, c, kind, hash)
	case "review":
		h.review(ctx, c, kind)
	case "refill":
		h.openRefill(ctx, c, kind, hash)
	case "more":
		h.more(ctx, c, kind, hash)
	default:
		return false
	}
	return true
}

// asks opens the form for the reason of a rejection if the person may reject now.
func (h *Handler) asks(ctx context.Context, c click, kind aggregate.CardType, hash string) {
	v := h.check(ctx, c, decide.Shown(kind, hash, decide.MayReject))
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		of := card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Hash: hash, Stage: c.Stage, Words: c.words}
		return card.DialogsOf(v.Subject).Rejection(of, v.Settings.Locale), nil
	})
}

// more opens the dialog with what else the person may do with what waits.
func (h *Handler) more(ctx context.Context, c click, kind aggregate.CardType, hash string) {
	no := h.check(ctx, c, decide.Shown(kind, hash, decide.MayReject))
	end := h.check(ctx, c.withdrawing(kind), decide.Withdraws(kind))
	deny, cancel := no.Err == nil && !no.Empty, end.Err == nil && !end.Empty
	if cancel {
		no = end
	}
	h.show(ctx, c, no, false, func() (slack.ModalViewRequest, error) {
		of := card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Hash: hash, Stage: c.Stage}
		return card.DialogsOf(no.Subject).More(of, deny, cancel, no.Settings.Locale), nil
	})
}

// withdrawing is a click that cancels what a gate of this type is about.
func (c click) withdrawing(kind aggregate.CardType) click {
	c.Withdraws, c.reasoned = true, false
	if kind != conversation.CardAction {
		c.ID, c.Stage = c.Ref.ID, 0
	}
	return c
}

// submit handles a form: a Review, a rejection, or the end of a task or conversation. If the reason is
// invalid or nothing was saved, the form stays open and says so; otherwise it closes.
func (h *Handler) submit(ctx context.Context, p payload) (slackapi.Response, error) {
	switch p.View.CallbackID {
	case card.RejectionCallback:
		return h.reject(ctx, p)
	case card.CancelCallback:
		return h.cancel(ctx, p)
	case card.RequestCallback:
		return h.filled(ctx, p)
	case card.MatterCallback:
		return h.filledMatter(ctx, p)
	case card.ReviewCallback:
		return h.approveRead(ctx, p)
	case card.ProposalCallback:
		return h.propose(ctx, p)
	case card.RefillCallback:
		return h.refilled(ctx, p)
	}
	return ignore(ctx, "view")
}

// reject handles the dialogs of ❌ and ⋯.
func (h *Handler) reject(ctx context.Context, p payload) (slackapi.Response, error) {
	r, ok := card.ReadRejection(p.View.PrivateMetadata, func(block, input string) string {
		field := p.View.State.Values[block][input]
		return cmp.Or(field.Value, field.Selected.Value)
	})
	if !ok {
		return h.malformed(ctx, p, card.ReasonBlock)
	}
	c := p.click(r.TaskID, r.ID)
	c.reasoned, c.Stage = true, r.Stage
	if r.Then == card.Cancels {
		c = c.withdrawing(r.Type)
	}
	v := h.decide(ctx, c, decide.Rejects(r))
	if text, ok := v.inForm(); ok {
		return atField(card.ReasonBlock, text), nil
	}
	h.tell(ctx, c, v)
	return slackapi.OK(), nil
}

// malformed answers a form whose private_metadata can't be read, at one of its fields.
func (h *Handler) malformed(ctx context.Context, p payload, block string) (slackapi.Response, error) {
	slog.WarnContext(ctx, "the form's private_metadata could not be read")
	return atField(block, card.Note(h.language(ctx, p.Team.ID, p.User.ID), explain.ErrMalformedForm)), nil
}

// ignore accepts an interaction that Ringi doesn't handle.
func ignore(ctx context.Context, why string) (slackapi.Response, error) {
	if len(why) > 64 {
		why = "kind"
	}
	slog.InfoContext(ctx, "ignored", "why", why)
	return slackapi.OK(), nil
}
