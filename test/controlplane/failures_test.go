package controlplane_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/helpers/process"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A failure is a way in which a conversion fails.
type failure struct {
	// name is that of its transcript in testdata/failures, and of its section in the how-to.
	name string
	// crd is the CRD whose objects are concerned.
	crd func(t *testing.T) *apiextensionsv1.CustomResourceDefinition
	// fields of the object that is stored, in the version that is stored.
	stored string
	// fields of the object, as kubectl creates and applies it in the other version.
	other string
	// breaks starts what fails and returns where the CRD finds it.
	breaks func(t *testing.T, s site) scenario.Target
	// change is made to the CRD then, if there is one.
	change func(crd *apiextensionsv1.CustomResourceDefinition)
	// or is a pattern of what the API server may say in place of certain words, and instead are
	// they.
	or, instead string
	// metric of webhookd that counts it, if that is asked: a name and labels.
	metric []string
	// honest tells that webhookd answered, and that it cannot convert.
	honest bool
}

// failures holds for each failure what a user of kubectl sees to what is written down in its
// transcript. With UPDATE_TRANSCRIPTS=1 in the environment it writes them down again. Most of the
// time is waiting, so the lanes run at once (-parallel).
func failures(t *testing.T, p *plane.Plane) {
	t.Helper()
	for _, l := range lanes() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range l.classes {
				t.Run(f.name, func(t *testing.T) {
					f.check(t, p)
				})
			}
		})
	}
}

func (f *failure) check(t *testing.T, p *plane.Plane) {
	t.Helper()
	s := newSite(p, f.name)
	w := f.breaks(t, s)
	r := s.install(t, f.crd(t), w)
	if f.change != nil {
		s.UpdateCRD(t, r.Name, f.change)
	}
	if later, ok := w.(interface{ begin(t *testing.T) }); ok {
		later.begin(t)
	}
	before := p.Metrics(t)
	r.Create(t, r.Storage, "nightly-report", f.stored) // at the version that is stored no conversion is needed
	seen := normal(f.transcript(t, p, r))
	if f.or != "" {
		seen = regexp.MustCompile(f.or).ReplaceAllString(seen, f.instead)
	}
	compare(t, filepath.Join("testdata", "failures", f.name+".txt"), seen)
	f.counted(t, w)
	f.countedByAPIServer(t, p, r, before)
}

// counted holds that webhookd, where it is asked, counts the failure.
func (f *failure) counted(t *testing.T, w scenario.Target) {
	t.Helper()
	if len(f.metric) == 0 {
		return
	}
	asked, ok := w.(scenario.Scraped)
	if !ok || asked.Metrics(t).Sum(f.metric[0], f.metric[1:]...) == 0 {
		t.Errorf("webhookd has not counted the failure: %s", f.metric)
	}
}

// The types of failure that apiserver_conversion_webhook_request_total has for what webhookd can
// cause. An honest answer that is no success is a malformed one to it.
const (
	callFailure      = "conversion_webhook_call_failure"
	malformedFailure = "conversion_webhook_malformed_response_failure"
)

// countedByAPIServer checks that the API server has counted the failure since before, with its
// type.
func (f *failure) countedByAPIServer(t *testing.T, p *plane.Plane, r *scenario.Resource, before process.Metrics) {
	t.Helper()
	failureType := callFailure
	if f.honest {
		failureType = malformedFailure
	}
	after := p.Metrics(t)
	for _, metric := range [][]string{
		{"apiserver_conversion_webhook_request_total", "result", "failure", "failure_type", failureType},
		{"apiserver_crd_conversion_webhook_duration_seconds_count", "crd_name", r.Name, "succeeded", "false"},
	} {
		if after.Sum(metric[0], metric[1:]...) <= before.Sum(metric[0], metric[1:]...) {
			t.Errorf("the API server has not counted the failure: %s", metric)
		}
	}
}

// transcript is what a user sees who tries everything in the version that needs a conversion, all
// at once, and then in the version that is stored.
func (f *failure) transcript(t *testing.T, p *plane.Plane, r *scenario.Resource) string {
	t.Helper()
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	other := r.Plural + "." + otherVersion(r) + "." + r.Group
	for _, name := range []string{"nightly-report", "weekly-report"} {
		kubectl.Write(t, name+".yaml", manifest(t, r, name, f.other))
	}
	stored := r.Plural + "." + r.Storage + "." + r.Group
	commands := []string{
		"get " + other + " nightly-report",
		"get " + other,
		"create -f weekly-report.yaml",
		"apply -f nightly-report.yaml",
		"delete " + other + " nightly-report",
		"get " + stored + " nightly-report -o name",
		"delete " + stored + " nightly-report",
	}
	atOnce := len(commands) - 2
	outputs := make([]string, len(commands))
	run := func(i int) { outputs[i], _ = kubectl.Try(t, strings.Fields(commands[i])...) }
	var wg sync.WaitGroup
	for i := range atOnce {
		wg.Go(func() { run(i) })
	}
	wg.Wait()
	for i := atOnce; i < len(commands); i++ {
		run(i)
	}
	var text strings.Builder
	for i, command := range commands {
		if i > 0 {
			text.WriteString("\n")
		}
		text.WriteString(prompt + command + "\n" + withNewline(outputs[i]))
	}
	return text.String()
}

// otherVersion is one that is served but not stored.
func otherVersion(r *scenario.Resource) string {
	for _, version := range r.Served {
		if version != r.Storage {
			return version
		}
	}
	return ""
}

// manifest is an object in the version that is not stored, as a user has it in a file.
func manifest(t *testing.T, r *scenario.Resource, name, fields string) string {
	t.Helper()
	text, err := yaml.Marshal(r.Object(t, otherVersion(r), name, fields))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
