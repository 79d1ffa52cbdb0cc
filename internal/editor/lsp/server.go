package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/serve/panics"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// debounce is how long a document must stay the same before it is checked.
const debounce = 200 * time.Millisecond

// Options are the options of Serve.
type Options struct {
	CRDs    []string // files and folders; empty: those near each document
	Version string   // of the program
	Load    ruleset.Loader
}

// ErrNoShutdown says that the client went away, or sent exit, without shutdown.
var ErrNoShutdown = errors.New("client ended without shutdown")

// Serve answers a client until it sends exit, its stream ends or ctx ends. The goroutine that reads
// from r ends when r does.
func Serve(ctx context.Context, r io.Reader, w io.Writer, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{
		ctx: ctx, out: w, opts: opts, encoding: utf16Units, documents: map[string]*document{}, done: make(chan outcome),
		timer: time.NewTimer(debounce),
	}
	defer func() {
		cancel()
		s.timer.Stop()
		if s.running {
			<-s.done
		}
	}()
	return s.loop(readAll(ctx, r))
}

// An incoming is a message, or the error at which the stream has ended.
type incoming struct {
	text []byte
	err  error
}

func readAll(ctx context.Context, r io.Reader) <-chan incoming {
	messages := make(chan incoming)
	go func() {
		in := bufio.NewReader(r)
		for {
			text, err := readMessage(in)
			select {
			case messages <- incoming{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return messages
}

// A document is open in the editor.
type document struct {
	uri, file, text string
	version         int
	changed         bool      // since the last analysis began
	meaning         *analysis // the last one, perhaps of an older text
}

// An outcome is the end of an analysis.
type outcome struct {
	uri     string
	version int
	text    string
	meaning *analysis
	err     error
}

// A server is owned by the goroutine of its loop. At most one analysis runs at a time.
type server struct {
	ctx                   context.Context //nolint:containedctx // that of Serve
	out                   io.Writer
	opts                  Options
	encoding              encoding
	initialized, shutdown bool
	documents             map[string]*document
	timer                 *time.Timer
	running               bool
	done                  chan outcome
	failed                error // of the last write
}

func (s *server) loop(messages <-chan incoming) error {
	for s.failed == nil {
		select {
		case <-s.ctx.Done():
			return nil
		case m := <-messages:
			if errors.Is(m.err, io.EOF) && s.shutdown {
				return nil
			}
			if m.err != nil {
				return fmt.Errorf("%w: %w", ErrNoShutdown, m.err)
			}
			if exit := s.handle(m.text); exit {
				if !s.shutdown {
					return ErrNoShutdown
				}
				return nil
			}
		case <-s.timer.C:
			s.check()
		case o := <-s.done:
			s.running = false
			s.conclude(o)
			s.check()
		}
	}
	return s.failed
}

func (s *server) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	s.failed = errors.Join(s.failed, writeMessage(s.out, m))
}

func (s *server) fail(id json.RawMessage, code int, text string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	s.send(map[string]any{"id": id, "error": rpcError{code, text}})
}

// handle handles a message, and reports whether it is exit. Requests are answered in their order
// and at once, so that there is nothing to cancel.
func (s *server) handle(text []byte) (exit bool) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		s.fail(nil, codeParse, "message is not JSON")
		return false
	}
	switch {
	case m.Method == "exit":
		return true
	case m.Method == "": // a response
	case m.ID == nil:
		if s.initialized && !s.shutdown {
			s.notified(m)
		}
	case s.shutdown:
		s.fail(m.ID, codeInvalidRequest, "request after shutdown")
	case !s.initialized && m.Method != "initialize":
		s.fail(m.ID, codeNotInitialized, "request before initialize")
	default:
		s.request(m)
	}
	return false
}

func (s *server) request(m message) {
	var result any
	switch m.Method {
	case "initialize":
		if s.initialized {
			s.fail(m.ID, codeInvalidRequest, "initialize appears twice")
			return
		}
		result = s.initialize(m.Params)
	case "shutdown":
		s.shutdown = true
	case "textDocument/completion", "textDocument/hover":
		var p struct {
			TextDocument struct {
				URI string `json:"uri"`
			} `json:"textDocument"`
			Position position `json:"position"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			s.fail(m.ID, codeInvalidParams, "parameters cannot be read")
			return
		}
		err := panics.Survive(func() { result = s.at(m.Method, s.documents[p.TextDocument.URI], p.Position) })
		if err != nil {
			result = nil
		}
	default:
		s.fail(m.ID, codeNoMethod, "unknown method: "+m.Method)
		return
	}
	s.send(map[string]any{"id": m.ID, "result": result})
}

func (s *server) at(method string, d *document, p position) any {
	if d == nil || d.meaning == nil {
		if method == "textDocument/completion" {
			return completionList{IsIncomplete: true, Items: []completionItem{}}
		}
		return nil
	}
	text, at := lines(d.text), 0
	if p.Line >= 0 && p.Line < len(text) {
		at = s.encoding.offset(text[p.Line], p.Character)
	}
	if method == "textDocument/completion" {
		return d.meaning.complete(text, p.Line, at, s.encoding)
	}
	if h := d.meaning.hover(text, p.Line, at, s.encoding); h != nil {
		return h
	}
	return nil
}

func (s *server) initialize(params json.RawMessage) any {
	var p struct {
		Capabilities struct {
			General struct {
				PositionEncodings []encoding `json:"positionEncodings"`
			} `json:"general"`
		} `json:"capabilities"`
		InitializationOptions struct {
			CRDs []string `json:"crds"`
		} `json:"initializationOptions"`
	}
	_ = json.Unmarshal(params, &p) // what is not as expected is not used
	s.initialized = true
	if len(p.InitializationOptions.CRDs) > 0 {
		s.opts.CRDs = p.InitializationOptions.CRDs
	}
	if slices.Contains(p.Capabilities.General.PositionEncodings, utf8Units) {
		s.encoding = utf8Units
	}
	return map[string]any{
		"serverInfo": map[string]any{"name": "webhookd", "version": s.opts.Version},
		"capabilities": map[string]any{
			"positionEncoding":   s.encoding,
			"textDocumentSync":   map[string]any{"openClose": true, "change": 1, "save": true},
			"hoverProvider":      true,
			"completionProvider": map[string]any{"triggerCharacters": []string{".", "[", "{"}},
		},
	}
}

func (s *server) notified(m message) {
	var p struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Text    string `json:"text"`
			Version int    `json:"version"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	uri := p.TextDocument.URI
	d := s.documents[uri]
	switch {
	case m.Method == "textDocument/didOpen":
		s.documents[uri] = &document{uri: uri, file: fileOf(uri), text: p.TextDocument.Text, version: p.TextDocument.Version, changed: true}
	case d == nil:
		return
	case m.Method == "textDocument/didChange":
		if n := len(p.ContentChanges); n > 0 { // each is the whole text
			d.text, d.version, d.changed = p.ContentChanges[n-1].Text, p.TextDocument.Version, true
		}
	case m.Method == "textDocument/didSave":
		for _, other := range s.documents { // it may be a CRD of theirs
			other.changed = true
		}
	case m.Method == "textDocument/didClose":
		delete(s.documents, uri)
		s.publish(uri, nil, []diagnostic{})
	default:
		return
	}
	s.timer.Reset(debounce)
}

// fileOf returns the path of a URI, or the URI if it is not one of a file.
func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // C:
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// check begins the analysis of a document that has changed, if none is running.
func (s *server) check() {
	if s.running || s.shutdown {
		return
	}
	open := map[string]string{}
	var next *document
	for _, d := range s.documents {
		open[d.file] = d.text
		if d.changed && (next == nil || d.uri < next.uri) {
			next = d
		}
	}
	if next == nil {
		return
	}
	next.changed, s.running = false, true
	o := outcome{uri: next.uri, version: next.version, text: next.text}
	file, paths := next.file, s.opts.CRDs
	go func() {
		if panicked := panics.Survive(func() { o.meaning, o.err = s.analyze(file, o.text, paths, open) }); panicked != nil {
			o.err = errors.New("internal error, please report it: the checker failed")
		}
		s.done <- o
	}()
}

func (s *server) analyze(file, text string, paths []string, open map[string]string) (*analysis, error) {
	if !mayBeRules(text) {
		return &analysis{file: file}, nil
	}
	files, crds, unread := gather(s.ctx, file, text, paths, open)
	a, err := analyze(s.ctx, s.opts.Load, files, crds)
	return a, errors.Join(err, unread)
}

// mayBeRules reports whether a text is about conversions: editors also send CRDs and other YAML.
func mayBeRules(text string) bool {
	return strings.Contains(text, "conversion.webhookd.io/") || bytes.Contains([]byte(text), []byte("kind: Conversion"))
}

// conclude keeps and publishes what an analysis found, unless the document has changed since.
func (s *server) conclude(o outcome) {
	d := s.documents[o.uri]
	if d == nil || s.ctx.Err() != nil {
		return
	}
	found := []diagnostic{}
	if o.meaning != nil {
		// A broken text has no directions; those of the text before it are better than none.
		if d.meaning != nil {
			for crd, directions := range d.meaning.directions {
				if len(o.meaning.directions[crd]) == 0 && o.meaning.directions != nil {
					o.meaning.directions[crd] = directions
				}
			}
			if len(o.meaning.ruleSets) == 0 {
				o.meaning.ruleSets = d.meaning.ruleSets
			}
			for name, scopes := range d.meaning.sets {
				if len(o.meaning.sets[name]) == 0 && o.meaning.sets != nil {
					o.meaning.sets[name] = scopes
				}
			}
		}
		d.meaning = o.meaning
		found = o.meaning.diagnostics(o.text, s.encoding)
	}
	if o.err != nil {
		found = append(found, diagnostic{Severity: 1, Source: "webhookd", Message: o.err.Error()})
	}
	if !d.changed {
		s.publish(o.uri, &o.version, found)
	}
}

func (s *server) publish(uri string, version *int, found []diagnostic) {
	params := map[string]any{"uri": uri, "diagnostics": found}
	if version != nil {
		params["version"] = *version
	}
	s.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": params})
}
