package author

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/editor/playground"
	"github.com/crdconvert/webhookd/internal/editor/playground/web"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewPlayground returns the command playground.
func NewPlayground(p *voice.Program) *cobra.Command {
	var o playgroundOptions
	cmd := &cobra.Command{
		Use:   "playground [--crd FILE] [--rules FILE] [-f FILE] [--listen 127.0.0.1:PORT] [--open]",
		Short: "Try rules on a page in a browser",
		Long: `Serve a page on which to write rules and to see at once what they do: the findings of check, an object at any version
and what it becomes at each other one and on the way back, a draft of rules, and the laws of conversion on random objects. It
begins with the files that are given, or with an example. It prints the URL, and ends when interrupted.

The page is served on this machine only: --listen takes loopback addresses. Its URL has a token; without it nothing is
answered. What is typed goes to this process and nowhere else, and is not stored.`,
		Example: `  webhookd playground
  webhookd playground --crd crd.yaml --rules rules.yaml -f object.yaml --open
  webhookd playground --listen 127.0.0.1:8080`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runPlayground(cmd.Context(), p, &o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.crd, "crd", "", "`path` of the file with the CRD to begin with, - for stdin")
	flags.StringVar(&o.rules, "rules", "", "`path` of the file with the rules to begin with, - for stdin")
	flags.StringVarP(&o.object, "filename", "f", "", "`path` of the file with the object to begin with, - for stdin")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 is a free one")
	flags.BoolVar(&o.open, "open", false, "also open the page in a browser")
	return cmd
}

// playgroundOptions are the flags of playground.
type playgroundOptions struct {
	crd, rules, object, listen string
	open                       bool
}

// checkLoopback fails unless an address is one of this machine only.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %q: not an address: write HOST:PORT", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %q: not a loopback address, the page is for this machine only: use 127.0.0.1 or [::1]", address)
	}
	return nil
}

func runPlayground(ctx context.Context, p *voice.Program, o *playgroundOptions) error {
	start, err := playgroundStart(p, o)
	if err := errors.Join(err, checkLoopback(o.listen)); err != nil {
		return voice.Usage(err, "")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		if failed, ok := errors.AsType[*net.OpError](err); ok {
			err = failed.Err // without the address
		}
		return fmt.Errorf("%s: %w: choose another address with --listen", o.listen, err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	token := rand.Text()
	url := "http://" + listener.Addr().String() + "/" + token + "/"
	if _, err := fmt.Fprintln(p.Stdout, url); err != nil {
		return err
	}
	p.Note("serving the page on this machine only, until interrupted")
	if o.open {
		openBrowser(ctx, p, url)
	}
	return web.Serve(ctx, listener, web.Options{
		Token: token, Hosts: []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}, Start: start,
		Evaluator: playground.NewEvaluator(p.Compiled),
	})
}

// playgroundStart reads the files to begin with. It returns nil if there are none.
func playgroundStart(p *voice.Program, o *playgroundOptions) (*playground.Input, error) {
	if o.crd == "" && o.rules == "" && o.object == "" {
		return nil, nil
	}
	if err := new(offline.Flags).CheckStdin(o.crd, o.rules, o.object); err != nil {
		return nil, err
	}
	read := func(name, what, flag string) (string, error) {
		if name == "" {
			return "", nil
		}
		text, err := offline.ReadFile(p, ruleset.Origin{What: what, Remedy: "give the file with " + flag}, name)
		return string(text), err
	}
	var in playground.Input
	var crdErr, rulesErr, objectErr error
	in.CRD, crdErr = read(o.crd, "CRD", "--crd")
	in.Rules, rulesErr = read(o.rules, "rules", "--rules")
	in.Object, objectErr = read(o.object, "object", "--filename")
	return &in, errors.Join(crdErr, rulesErr, objectErr)
}

// openBrowser opens a URL, or says that it cannot.
func openBrowser(ctx context.Context, p *voice.Program, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...) //nolint:gosec // a fixed program and our own URL
	if err := cmd.Start(); err != nil {
		p.Note("no browser could be opened, open the URL in one: %v", err)
		return
	}
	go func() { _ = cmd.Wait() }()
}
