package playground

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

func evaluate(t *testing.T, in Input) Output {
	t.Helper()
	return NewEvaluator(ruleset.Compiled{}).Eval(t.Context(), in)
}

// example returns an example with one of its objects.
func example(t *testing.T, name, object string) Input {
	t.Helper()
	all, err := Gallery()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for _, o := range e.Objects {
			if e.Name == name && o.Name == object {
				return Input{CRD: e.CRD, Rules: e.Rules, Object: o.Text}
			}
		}
	}
	t.Fatalf("no such example: %s %s", name, object)
	return Input{}
}

// at returns what an object becomes at a version.
func (o *Output) at(t *testing.T, version string) *Conversion {
	t.Helper()
	i := slices.IndexFunc(o.Conversions, func(c Conversion) bool { return c.Version == version })
	if i < 0 {
		t.Fatalf("no conversion to %s: %+v", version, o)
	}
	return &o.Conversions[i]
}

func TestEveryValueHasADisposition(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		example, object, to string
		want                []string
	}{
		{"widget", "archive.v1", "v1alpha1", []string{
			"copied .metadata.name:4 -> .metadata.name:4 ",
			"copied .spec.size:6 -> .spec.size:8 ",
			"moved .spec.source.archive.url:9 -> .spec.source:9 rule 5",
			`kept .spec.source.archive.checksum:10 -> .metadata.annotations["conversion.webhookd.io/v1.spec.source.archive.checksum"]:6 rule 7`,
		}},
		{"widget", "archive.v1alpha1", "v1", []string{
			"copied .metadata.name:4 -> .metadata.name:4 ",
			"copied .spec.size:8 -> .spec.size:6 ",
			"moved .spec.source:9 -> .spec.source.archive.url:9 rule 4, rule 5",
			`restored .metadata.annotations["conversion.webhookd.io/v1.spec.source.archive.checksum"]:6 -> .spec.source.archive.checksum:10 `,
		}},
		{"widget", "plain.v1alpha1", "v1beta1", []string{
			"copied .metadata.name:5 -> .metadata.name:4 ",
			"copied .spec.size:7 -> .spec.size:6 ",
			"moved .spec.colour:8 -> .spec.color:8 rule 1",
			"copied .spec.host:9 -> .spec.host:12 rule 2, then rule 1",
			"moved .spec.source:10 -> .spec.source.url:10 rule 4, rule 5, then rule 4",
			"copied .spec.features:11 -> .spec.features:7 ",
			"added :0 -> .spec.source.type:11 rule 5",
		}},
		{"crontab-rules", "basic.v1beta1", "v1", []string{
			"copied .metadata.name:4 -> .metadata.name:4 ",
			"copied .spec.cronSpec:6 -> .spec.cronSpec:6 ",
			"copied .spec.image:7 -> .spec.image:7 ",
			"copied .spec.replicas:8 -> .spec.replicas:8 ",
			"computed .hostPort:9 -> .host:9 rule 1",
			"computed .hostPort:9 -> .port:10 rule 1",
		}},
		{"map-list", "described.v1", "v1alpha1", []string{
			"copied .metadata.name:5 -> .metadata.name:4 ",
			"moved .spec.params[0].name:8 -> .spec.params.os (key):9 rule 1",
			"moved .spec.params[0].value:8 -> .spec.params.os:9 rule 1",
			"moved .spec.params[1].name:9 -> .spec.params.version (key):10 rule 1",
			"moved .spec.params[1].value:9 -> .spec.params.version:10 rule 1",
			`kept .spec.params[1].description:9 -> .metadata.annotations["conversion.webhookd.io/v1.spec.params.description--318le793ixybb"]:6 rule 2`,
		}},
		{"labels", "dropped.v1alpha1", "v1", []string{
			"copied .metadata.name:5 -> .metadata.name:4 ",
			"copied .metadata.namespace:6 -> .metadata.namespace:5 ",
			"copied .spec.title:8 -> .spec.title:7 ",
			"dropped .spec.wikiPage:9 -> :0 rule 7",
			"added :0 -> .spec.path:8 rule 6",
		}},
	} {
		t.Run(test.example+" "+test.object+" to "+test.to, func(t *testing.T) {
			t.Parallel()
			out := evaluate(t, example(t, test.example, test.object))
			fields := out.at(t, test.to).Fields
			got := make([]string, 0, len(fields))
			for _, f := range fields {
				got = append(got, strings.Join([]string{f.Class, at(f.From, f.FromLine), "->", at(f.To, f.ToLine), f.Rule}, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func at(path string, line int) string { return path + ":" + strconv.Itoa(line) }

// Every value of every example is accounted for: none is said to be lost but what a rule drops.
func TestEveryExampleConvertsAndComesBack(t *testing.T) {
	t.Parallel()
	all, err := Gallery()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d examples", len(all))
	}
	for _, e := range all {
		if e.Title == "" || strings.ContainsAny(e.Title, "`\n") {
			t.Errorf("%s has the title %q", e.Name, e.Title)
		}
		for _, o := range e.Objects {
			out := evaluate(t, Input{CRD: e.CRD, Rules: e.Rules, Object: o.Text})
			if len(out.Conversions) == 0 {
				t.Errorf("%s %s: no conversions: %+v", e.Name, o.Name, out.Findings)
			}
			for _, c := range out.Conversions {
				checkConversion(t, e.Name+" "+o.Name+" -> "+c.Version, &c)
			}
		}
	}
}

func checkConversion(t *testing.T, name string, c *Conversion) {
	t.Helper()
	if c.Problem != "" {
		t.Errorf("%s: %s", name, c.Problem)
	}
	for _, d := range c.Differences {
		if !d.Dropped {
			t.Errorf("%s: the way back changes %s", name, d.Path)
		}
	}
	for _, f := range c.Fields {
		if f.Class == dropped && f.Rule == "" && !strings.HasPrefix(f.Reason, "out of date") {
			t.Errorf("%s: %s is said to be lost: %s", name, f.From, f.Reason)
		}
		if (f.From == "") != (f.FromLine == 0) || (f.To == "") != (f.ToLine == 0) {
			t.Errorf("%s: a place without a line: %+v", name, f)
		}
	}
}

func TestAnObjectWithoutMetadataComesBack(t *testing.T) {
	t.Parallel()
	in := example(t, "widget", "git.v1")
	in.Object = "apiVersion: shop.example.com/v1beta1\nkind: Widget\nspec: {}\n"
	out := evaluate(t, in)
	if c := out.at(t, "v1"); len(c.Differences) > 0 {
		t.Errorf("the way back: %+v", c.Differences)
	}
}

func TestBadInputIsAFinding(t *testing.T) {
	t.Parallel()
	good := example(t, "widget", "git.v1")
	for _, test := range []struct {
		name   string
		change func(*Input)
		want   string // IN:LINE CODE: and a part of the message
	}{
		{"nothing at all", func(in *Input) { *in = Input{} }, "crd:0 no-crd: no CustomResourceDefinition"},
		{"broken YAML in the CRD", func(in *Input) { in.CRD = "a: [\n" }, "crd:"},
		{"broken YAML in the rules", func(in *Input) { in.Rules = "a: {\nb" }, "rules:"},
		{"broken YAML in the object", func(in *Input) { in.Object = "apiVersion: a\nkind: [\n" }, "object:"},
		{"two objects", func(in *Input) { in.Object += "---\n" + in.Object }, "object:0 object: 2 objects"},
		{"another kind", func(in *Input) { in.Object = "apiVersion: v1\nkind: Pod\n" }, "object:0 object: no rules for Pod"},
		{"another version", func(in *Input) { in.Object = strings.Replace(in.Object, "/v1", "/v7", 1) }, "object:0 object: no such version"},
		{"no versions", func(in *Input) { in.CRD, _, _ = strings.Cut(in.CRD, "  versions:") }, "crd:"},
		{"no rules", func(in *Input) { in.Rules = "" }, "rules:0 no-rules"},
		{"a text that is too large", func(in *Input) { in.Object = strings.Repeat("#", MaxObject+1) }, "object:0 too-large"},
		{"an object that the schema refuses", func(in *Input) { in.Object = strings.Replace(in.Object, "size: 3", "size: many", 1) }, "object:0 invalid: the API server would refuse it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := good
			test.change(&in)
			out := evaluate(t, in)
			all := make([]string, 0, len(out.Findings))
			for _, f := range out.Findings {
				all = append(all, at(f.In, f.Line)+" "+f.Code+": "+f.Message)
			}
			if !slices.ContainsFunc(all, func(f string) bool { return strings.HasPrefix(f, test.want) }) {
				t.Errorf("want %q, got %q", test.want, all)
			}
		})
	}
}

func TestSuggestDraftsRulesThatCheck(t *testing.T) {
	t.Parallel()
	in := example(t, "widget", "git.v1")
	in.Rules, in.Suggest = "", true
	out := evaluate(t, in)
	in.Rules, in.Suggest = out.Suggested, false
	if again := evaluate(t, in); len(again.Conversions) != 2 {
		t.Errorf("the draft does not convert: %s\n%+v", out.Suggested, again.Findings)
	}
}

func TestLawsHoldOnRandomObjects(t *testing.T) {
	t.Parallel()
	in := example(t, "widget", "git.v1")
	in.Laws = 100
	laws := evaluate(t, in).Laws
	if laws == nil || laws.Objects < 100 || laws.Violation != nil || laws.Problem != "" {
		t.Errorf("laws: %+v", laws)
	}
}

func TestALawThatDoesNotHold(t *testing.T) {
	t.Parallel()
	got := violationOf(&hold.ViolationError{
		Law: "L1 round trip", From: "v1beta1", To: "v1", At: "v1beta1", Path: ".spec.mode", Is: `"open"`, Object: []byte(`{"kind":"Box"}`),
	})
	got.Steps = ""
	want := &Violation{
		Law: "L1 round trip", From: "v1beta1", To: "v1", At: "v1beta1", Path: ".spec.mode", Was: "absent", Is: `"open"`, Object: "kind: Box\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRandomObjectsConvert(t *testing.T) {
	t.Parallel()
	in := example(t, "widget", "git.v1")
	in.Random = &Random{Version: "v1beta1", Seed: 7}
	out := evaluate(t, in)
	in.Object, in.Random = out.Random, nil
	if again := evaluate(t, in); again.Version != "v1beta1" || len(again.Conversions) != 2 {
		t.Errorf("random object: %s\n%+v", out.Random, again)
	}
}

func TestAnEvaluationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := example(t, "platform", "typical.v1")
	in.Laws = MaxLaws
	out := NewEvaluator(ruleset.Compiled{}).Eval(ctx, in)
	if out.Laws != nil && out.Laws.Objects > 0 || !slices.ContainsFunc(out.Findings, func(f Finding) bool { return f.Code == "time-limit" }) {
		t.Errorf("%+v, %+v", out.Laws, out.Findings)
	}
}
