package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ringi/shared/runtime/expect"
)

// Type replaces a field's text, as an input method does.
func (p *Tab) Type(selector, text string) {
	p.t.Helper()
	p.Press(selector)
	p.Eval(fmt.Sprintf("document.querySelector(%q).select()", selector))
	if text == "" {
		p.Keys("\b")
		return
	}
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// Choose selects a local file in a file field.
func (p *Tab) Choose(selector, path string) {
	p.t.Helper()
	p.Do(chromedp.SetUploadFiles(chromedp.CSS(selector), []string{path}))
}

// Agree presses a button, confirms the page's question and returns that question.
func (p *Tab) Agree(selector string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	asked := make(chan string, 1)
	questions := chromedp.Events(ctx, page.JavascriptDialogOpening)
	go func() {
		defer close(asked)
		for question, err := range questions {
			if err != nil {
				return
			}
			if _, err := chromedp.Call(ctx, page.HandleJavaScriptDialog,
				page.HandleJavaScriptDialogParams{Accept: true}); err == nil {
				asked <- question.Message
			}
			return
		}
	}()
	p.Press(selector)
	question, ok := <-asked
	expect.Must(p.t, ok, "nothing was asked before %s", selector)
	return question
}

// Download clicks a link to a file. It returns the file's name and content.
func (p *Tab) Download(folder, selector string) (name string, content []byte) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	begun, going := chromedp.Events(ctx, browser.DownloadWillBegin), chromedp.Events(ctx, browser.DownloadProgress)
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		own, events := chromedp.FromContext(ctx).BrowserContextID, true
		_, err := cdp.Call(ctx, target, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, BrowserContextID: own, DownloadPath: folder,
			EventsEnabled: &events,
		})
		return err
	}))
	p.Press(selector)
	for x, err := range begun {
		if err != nil {
			p.t.Fatalf("%s: no file comes: %v; %s", selector, err, Read[string](p, `document.body.innerText.slice(0, 200)`))
		}
		name = x.SuggestedFilename
		break
	}
	for x, err := range going {
		switch {
		case err != nil:
			p.t.Fatalf("%s: the file does not end: %v", selector, err)
		case x.State == browser.DownloadProgressStateInProgress:
			continue
		}
		if content, err = os.ReadFile(filepath.Join(folder, x.GUID)); err != nil {
			p.t.Fatalf("%s: the file is %s: %v", selector, x.State, err)
		}
		break
	}
	return name, content
}
