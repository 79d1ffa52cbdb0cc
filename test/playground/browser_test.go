package playground

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience only ends a test that hangs.
const patience = 2 * time.Minute

// build builds webhookd, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "webhookd")
	run(t, "go", "build", "-o", program, "./cmd/webhookd")
	return program
}

// run runs a program in the root of the repository.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // named by the tests
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// serve starts `webhookd playground`, and returns the URL that it prints.
func serve(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"playground"}, args...)...) //nolint:gosec // just built
	cmd.Dir = filepath.Join("..", "..")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("webhookd playground does not end well: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// serveStatic builds the static page, and serves its files as any web server does.
func serveStatic(t *testing.T) string {
	t.Helper()
	run(t, "make", "playground")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "..", "dist", "playground"))))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// A chromium is a browser.
type chromium struct {
	ctx context.Context //nolint:containedctx // of its tabs
}

// newBrowser starts Chromium.
func newBrowser(t *testing.T) *chromium {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Fatal("no Chromium: apt-get install chromium")
	}
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()),
		chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))
	browser, endBrowser := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(browser); endBrowser(); end() })
	if err := chromedp.Run(browser); err != nil {
		t.Fatal(err)
	}
	return &chromium{browser}
}

// A page is a tab with the playground.
type page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // of the tab

	lock     sync.Mutex
	errors   []string // of the console
	requests []string
}

// open opens a URL, and waits for the first result.
func open(t *testing.T, browser *chromium, address string, width, height int64) *page {
	t.Helper()
	tab, end := chromedp.NewContext(browser.ctx)
	p := &page{t: t, ctx: tab}
	t.Cleanup(func() {
		end()
		p.lock.Lock()
		defer p.lock.Unlock()
		for _, text := range p.errors {
			t.Errorf("console: %s", text)
		}
		p.checkRequests(address)
	})
	chromedp.ListenTarget(tab, p.listen)
	if err := chromedp.Run(tab); err != nil { // with a time limit, its end would close the tab
		t.Fatal(err)
	}
	p.run(network.Enable(), log.Enable(), chromedp.EmulateViewport(width, height), chromedp.Navigate(address))
	p.settled("true")
	return p
}

func (p *page) listen(event any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			p.errors = append(p.errors, fmt.Sprint(e.Type, " ", e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			p.errors = append(p.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// checkRequests checks that the page called its own address only.
func (p *page) checkRequests(address string) {
	own, err := url.Parse(address)
	if err != nil {
		p.t.Error(err)
		return
	}
	if len(p.requests) == 0 {
		p.t.Error("no requests were seen")
	}
	for _, request := range p.requests {
		u, err := url.Parse(request)
		if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Host != own.Host {
			p.t.Errorf("the page calls another address: %s", request)
		}
	}
}

func (p *page) run(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%v\nthe page says: %s", err, p.said())
	}
}

func (p *page) said() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	var text string
	_ = chromedp.Run(ctx, chromedp.Evaluate(`document.body.innerText`, &text))
	return text
}

// until waits until an expression is true.
func (p *page) until(expression string) {
	p.t.Helper()
	wait := `new Promise((done) => { const look = () => (` + expression + `) ? done(true) : setTimeout(look, 15); look(); })`
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	await := func(params *runtime.EvaluateParams) *runtime.EvaluateParams { return params.WithAwaitPromise(true) }
	if err := chromedp.Run(ctx, chromedp.Evaluate(wait, nil, await)); err != nil {
		p.t.Fatalf("waiting for %s: %v\nthe page says: %s", expression, err, p.said())
	}
}

// settled waits until an evaluation has ended and an expression is true.
func (p *page) settled(expression string) {
	p.t.Helper()
	p.until(`document.body.dataset.evaluated > 0 && !document.body.classList.contains("busy") && (` + expression + `)`)
}

// get returns the value of an expression.
func get[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &value))
	return value
}

// text returns the text of an element, and value that of an editor or a choice.
func (p *page) text(selector string) string {
	p.t.Helper()
	return get[string](p, `document.querySelector(`+quoted(selector)+`).innerText`)
}

func (p *page) value(id string) string {
	p.t.Helper()
	return get[string](p, `document.getElementById(`+quoted(id)+`).value`)
}

// click clicks an element, and waits for the evaluation that follows.
func (p *page) click(selector string) {
	p.t.Helper()
	p.after(func() { p.run(chromedp.Evaluate(`document.querySelector(`+quoted(selector)+`).click()`, nil)) })
}

// press clicks an element that starts no evaluation.
func (p *page) press(selector string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(`document.querySelector(`+quoted(selector)+`).click()`, nil))
}

// write replaces the text of an editor, as a person who pastes does, and waits for the evaluation.
func (p *page) write(id, text string) {
	p.t.Helper()
	p.after(func() {
		p.run(chromedp.Evaluate(`{ const e = document.getElementById(`+quoted(id)+`); e.focus(); e.value = `+quoted(text)+
			`; e.dispatchEvent(new Event("input", { bubbles: true })); }`, nil))
	})
}

// replace replaces a part of the text of an editor.
func (p *page) replace(id, old, with string) {
	p.t.Helper()
	was := p.value(id)
	if !strings.Contains(was, old) {
		p.t.Fatalf("%s has no %q:\n%s", id, old, was)
	}
	p.write(id, strings.Replace(was, old, with, 1))
}

// choose chooses an option by the beginning of its text.
func (p *page) choose(id, option string) {
	p.t.Helper()
	p.after(func() {
		p.run(chromedp.Evaluate(`{ const e = document.getElementById(`+quoted(id)+`); `+
			`e.selectedIndex = [...e.options].findIndex((o) => o.text === `+quoted(option)+` || o.text.startsWith(`+quoted(option+":")+`)); e.dispatchEvent(new Event("change")); }`, nil))
	})
}

// after waits for the end of an evaluation that act starts.
func (p *page) after(act func()) {
	p.t.Helper()
	was := get[string](p, `document.body.dataset.evaluated ?? "0"`)
	act()
	p.settled(`document.body.dataset.evaluated > ` + was)
}

// has checks that an element's text contains another.
func (p *page) has(selector string, wants ...string) {
	p.t.Helper()
	text := p.text(selector)
	for _, want := range wants {
		if !strings.Contains(text, want) {
			p.t.Errorf("%s lacks %q: %s", selector, want, text)
		}
	}
}

// classes returns how often each class is in the table.
func (p *page) classes() map[string]int {
	p.t.Helper()
	all := map[string]int{}
	for _, class := range get[[]string](p, `[...document.querySelectorAll("#fields tbody tr")].map((r) => r.className.split(" ")[0])`) {
		all[class]++
	}
	return all
}

func (p *page) requested() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.requests)
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}
