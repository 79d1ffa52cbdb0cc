package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// The canaries in the values of FuzzLog's objects: a string and a number.
const (
	canaryText   = "canary7d1f"
	canaryNumber = "80861808618086"
)

// FuzzLog answers any body with each kind of converter and each way to fail. The log gets one line
// of JSON for it, with known fields, and one for each panic. Lines have at most longestLine bytes
// without the stack. No value of an object appears in the log, in a metric or in a message
// (invariant I11).
func FuzzLog(f *testing.F) {
	files, err := filepath.Glob("../../testdata/conversionreviews/*.request.json")
	if err != nil || len(files) < 40 {
		f.Fatal(len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, uint16(0))
	}
	for _, spec := range []string{
		`"panic"`, `"fail"`, `{"metadata":null}`, `{"metadata.name":"b"}`, `{"metadata.labels":{"a":"b c"}}`, `{"metadata.labels.a":1}`, `{"metadata.labels":[""]}`,
		`{"metadata.annotations.a b":"c"}`, `{"metadata.annotations":{"a":["b"]}}`, `{"kind":"x"}`, `{".":"x"}`, `{".":{"a":"x"}}`, `{"spec.x.y":1}`, `{"l.x":1}`,
	} {
		body := reviewOf("example.com/v1", `{"apiVersion":"example.com/v1beta1","kind":"Chaos","metadata":{"name":"a","labels":{"l":"v"},"finalizers":["f"]},`+
			`"l":["x",1.5],"spec":`+spec+`}`)
		f.Add(body, uint16(len(body)/2))
	}
	f.Add(reviewOf("data.example.com/v1", `{"apiVersion":"data.example.com/v1alpha1","kind":"Cache","metadata":{"name":"a"},"spec":{"ttl":"90s","memory":"1Gi",`+
		`"port":"x","loadFactor":"0.75","persistent":"maybe","disabled":1,"evictAt":85,"cpu":"500m","replicas":{"min":2,"max":"5"}}}`), uint16(300))
	f.Add(bytes.Repeat([]byte("\x00\xff\u2028\"é"), 500), uint16(7))
	many := strings.Repeat(`{"apiVersion":"example.com/v1beta1","kind":"Nothing","metadata":{"name":"`+strings.Repeat("n", 253)+`"}},`, 8)
	f.Add(reviewOf("example.com/v1", strings.TrimSuffix(many, ",")), uint16(900))
	w := newWitness(f)
	f.Fuzz(func(t *testing.T, body []byte, at uint16) {
		if len(body) > 1<<12 {
			return
		}
		if marked, ok := mark(body); ok {
			w.check(t, marked)
		}
		i := int(at) % (len(body) + 1)
		if broken := slices.Concat(body[:i], []byte(canaryText), body[i:]); !jsontext.Value(broken).IsValid(jsontext.AllowDuplicateNames(true)) {
			w.check(t, broken)
		}
	})
}

func reviewOf(desired string, objects ...string) []byte {
	return []byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"1\\n","desiredAPIVersion":"` + desired +
		`","objects":[` + strings.Join(objects, ",") + `]}}`)
}

// longestLine is how many bytes a line of a review has at most: the message of a failure has 1 KiB.
const longestLine = 2 << 10

// A witness is a handler wired as in serve, with its log and metrics.
type witness struct {
	handler http.Handler
	metrics http.Handler
	log     *bytes.Buffer
	logger  *zap.Logger
	reviews int
}

func newWitness(tb testing.TB) *witness {
	tb.Helper()
	kinds := append(exampletest.Kinds(), converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Chaos"},
		Hub:       "v1", Versions: []string{"v1", "v1beta1"}, Converter: convertertest.Mischief(fails),
	})
	var texts [2][]byte
	for i, name := range []string{"rules.yaml", "crd.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "units", name))
		if err != nil {
			tb.Fatal(err)
		}
		texts[i] = text
	}
	crds, err := apiserver.Parse("crd.yaml", texts[1])
	if err != nil {
		tb.Fatal(err)
	}
	set, findings := rules.Load(tb.Context(), []rules.Source{{Name: "rules.yaml", Text: texts[0]}}, crds, rules.Options{})
	if len(findings) > 0 {
		tb.Fatal(findings)
	}
	registry, err := converters.NewRegistry(append(kinds, set.Kinds()...)...)
	if err != nil {
		tb.Fatal(err)
	}
	w := &witness{log: &bytes.Buffer{}}
	m := metrics.New(metrics.Build{})
	w.logger = newLogger(zapcore.AddSync(w.log), zapcore.DebugLevel, Console{})
	hooks := reviewHooks(m, newReviewLog(w.logger, config.LogAllReviews))
	w.handler, w.metrics = review.NewHandler(review.NewReviewer(func() *converters.Registry { return registry }, hooks)), m.Handler()
	return w
}

// fails returns an error with an object as its text, or panics with it.
func fails(text string) error {
	if strings.HasSuffix(text, "panic") {
		panic(text)
	}
	return &jsondoc.PathError{Problem: "is a text, which this kind has no use for", Path: ".spec"}
}

// check posts a body with canaries, and looks for them in the answer, the log and the metrics.
func (w *witness) check(t *testing.T, body []byte) {
	t.Helper()
	w.log.Reset()
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/crdconvert", bytes.NewReader(body)))
	reviews, panics := 0, 0
	for line := range strings.Lines(w.log.String()) {
		fields := fieldsOf(t, line)
		if strings.ContainsFunc(line[:len(line)-1], unicode.IsControl) {
			t.Fatalf("a control character in a line: %q", line)
		}
		for name, value := range fields {
			if !slices.Contains(logFields(), name) || name != "uid" && hasCanary(fmt.Sprint(value)) {
				t.Fatalf("field %s of %s\nfor %s", name, line, body)
			}
		}
		switch fields["msg"] {
		case "review done", "review failed", "body rejected":
			reviews++
		case "converter panicked":
			panics++
		}
	}
	if lines := strings.Count(w.log.String(), "\n"); reviews != 1 || lines != reviews+panics {
		t.Fatalf("%d lines, %d of them about the review: %s", lines, reviews, w.log)
	}
	if text := rec.Body.String(); !strings.HasSuffix(text, `"result":{"status":"Success"}}}`+"\n") && hasCanary(text) {
		t.Fatalf("a value is in the answer: %s\n%s", text, body)
	}
	if w.reviews++; w.reviews%64 == 0 { // gathering takes longer than everything else
		rec := httptest.NewRecorder()
		w.metrics.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		if hasCanary(rec.Body.String()) {
			t.Fatalf("a value is in the metrics: %s", rec.Body)
		}
	}
}

// fieldsOf reads a log line, which must be a short JSON object.
func fieldsOf(t *testing.T, line string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	strict, err := kjson.UnmarshalStrict([]byte(line), &fields)
	if err != nil || len(strict) > 0 || !strings.HasSuffix(line, "}\n") || strings.ContainsFunc(line[:len(line)-1], isLowControl) || !utf8.ValidString(line) {
		t.Fatalf("not a line of JSON: %v %v %q", err, strict, line)
	}
	if fields["stack"] == nil && len(line) > longestLine {
		t.Fatalf("%d bytes: %s", len(line), line)
	}
	return fields
}

// isLowControl reports whether JSON strings must escape a character.
func isLowControl(r rune) bool { return r < ' ' }

// logFields are the fields of reviews in docs/reference/logs.md.
func logFields() []string {
	return []string{
		"ts", "level", "msg", "uid", "kind", "from", "to", "objects", "failed", "bytesIn", "bytesOut", "durationMicros", "error", "panic", "stack",
	}
}

func hasCanary(text string) bool {
	return strings.Contains(text, canaryText) || strings.Contains(text, canaryNumber)
}

// mark puts a canary into every string and every number of a body, except the names of the object,
// its kind and its versions, which may be logged. It returns false if the body is not JSON.
func mark(body []byte) ([]byte, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	marked, err := appendMarked(nil, d, "")
	if err != nil {
		return nil, false
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return marked, true
}

// appendMarked reads one value. In its path, every element of a list is *.
func appendMarked(to []byte, d *jsontext.Decoder, path string) ([]byte, error) {
	if kind := d.PeekKind(); kind == '{' || kind == '[' {
		return appendMarkedMembers(to, d, path)
	}
	value, err := d.ReadValue()
	switch kind := value.Kind(); {
	case err != nil:
		return nil, err
	case isTold(path) || kind != '"' && kind != '0':
		return append(to, value...), nil
	case kind == '"':
		return append(append(to, `"`+canaryText...), value[1:]...), nil
	case string(value) == "0" || string(value) == "-0":
		return append(to, canaryNumber...), nil
	default:
		return append(append(to, value...), canaryNumber...), nil
	}
}

func appendMarkedMembers(to []byte, d *jsontext.Decoder, path string) ([]byte, error) {
	opening, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	to = append(to, opening.String()...)
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		if i > 0 {
			to = append(to, ',')
		}
		below := path + ".*"
		if opening.Kind() == '{' {
			name, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			to = append(append(to, name...), ':')
			below = path + "." + jsondoc.Unquote(name)
		}
		if to, err = appendMarked(to, d, below); err != nil {
			return nil, err
		}
	}
	closing, err := d.ReadToken()
	return append(to, closing.String()...), err
}

func isTold(path string) bool {
	switch path {
	case ".kind", ".apiVersion", ".request.uid", ".request.desiredAPIVersion", ".request.objects.*.kind", ".request.objects.*.apiVersion",
		".request.objects.*.metadata.name", ".request.objects.*.metadata.namespace":
		return true
	}
	return false
}
