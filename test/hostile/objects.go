package hostile

import (
	"fmt"
	"strings"
)

// An objectCase is a review with a list of objects.
type objectCase struct {
	name    string
	objects []string
	want    Answer
	own     bool
	// unsettled are objects that kube-apiserver would not send: at the desired version already,
	// with repeated names, with metadata that its own types do not take.
	unsettled bool
}

func (o objectCase) open() objectCase {
	o.unsettled = true
	return o
}

func objectCases() []Case {
	var cases []Case
	for _, list := range [][]objectCase{
		versionsOfObjects(), kindsOfObjects(), metadataOfObjects(), otherMetadata(), fragments(), keptValues(), repeatedMembers(), lists(),
	} {
		for _, o := range list {
			cases = append(cases, Case{
				Set: Objects, Name: o.name, Request: Request{Body: fixed(review(o.objects...))}, Want: o.want,
				Own: o.own, Unsettled: o.unsettled,
			})
		}
	}
	return cases
}

// one is an object that fails.
func one(name, object string, p pair, message string) objectCase {
	return objectCase{name: name, objects: []string{object}, want: failed(p, message)}
}

// becomes is an object that is converted.
func becomes(name, in, out string) objectCase {
	return objectCase{name: name, objects: []string{in}, want: converted(upgrade(), 1, fixed(success(out)))}
}

// stays is an object that is at the desired version.
func stays(name, object string) objectCase {
	return objectCase{name: name, objects: []string{object}, want: converted(none(), 1, fixed(success(object)))}.open()
}

func typed(apiVersion, kind string) string {
	return `{"apiVersion":` + apiVersion + `,"kind":` + kind + `,` + metadata + `,"spec":{"secret":"` + Canary + `"}}`
}

const (
	withoutVersion = "object without a version, set it to GROUP/VERSION: .apiVersion"
	otherGroup     = "group is not that of desiredAPIVersion, send objects of one group: .apiVersion"
	noKind         = "object without a kind, set it: .kind"
	unknownKind    = ".example.com, add rules for it or compile one in: .kind"
	badMetadata    = "is not an object, fix the stored object: .metadata"
)

func versionsOfObjects() []objectCase {
	return []objectCase{
		one("version absent", `{"kind":"CronTab",`+metadata+`}`, unknown(), "objects[0] CronTab default/a: "+withoutVersion),
		one("version null", typed(`null`, `"CronTab"`), unknown(), withoutVersion),
		one("version a number", typed(`1`, `"CronTab"`), unknown(), withoutVersion),
		one("version empty", typed(`""`, `"CronTab"`), unknown(), withoutVersion),
		one("version without a group", typed(`"v1beta1"`, `"CronTab"`), unknown(), "objects[0] CronTab default/a v1beta1 -> v1: "+otherGroup),
		one("version with two slashes", typed(`"example.com/v1/beta1"`, `"CronTab"`), unknown(), otherGroup),
		one("version of another group", typed(`"other.com/v1beta1"`, `"CronTab"`), unknown(), otherGroup),
		one("version unknown", typed(`"example.com/v9"`, `"CronTab"`), pair{"CronTab.example.com", "unknown", "v1"},
			"objects[0] CronTab default/a v9 -> v1: "+noConversion+"v9, use one of v1beta1, v1: .apiVersion"),
		one("version a slash alone", typed(`"/"`, `"CronTab"`), unknown(), otherGroup),
		one("version of a group in capitals", typed(`"Example.com/v1beta1"`, `"CronTab"`), unknown(), otherGroup),
		one("version with a terminal escape", typed(`"example.com/v1\u001b[31m\n"`, `"CronTab"`), pair{"CronTab.example.com", "unknown", "v1"}, noConversion+"v1?[31m?, use"),
		one("version with white space", typed(`"example.com/v1 "`, `"CronTab"`), pair{"CronTab.example.com", "unknown", "v1"}, noConversion+"v1 , use"),
		one("version in another case", typed(`"example.com/V1beta1"`, `"CronTab"`), pair{"CronTab.example.com", "unknown", "v1"}, noConversion+"V1beta1"),
		becomes("version in escapes", typed(`"example.com\/v1\u0062eta1"`, `"CronTab"`), typed(`"`+to+`"`, `"CronTab"`)),
	}
}

func kindsOfObjects() []objectCase {
	return []objectCase{
		one("kind absent", `{"apiVersion":"`+from+`",`+metadata+`}`, unknown(), "objects[0] default/a v1beta1 -> v1: "+noKind),
		one("kind null", typed(`"`+from+`"`, `null`), unknown(), noKind),
		one("kind a list", typed(`"`+from+`"`, `["CronTab"]`), unknown(), noKind),
		one("kind unknown", typed(`"`+from+`"`, `"Widget"`), unknown(), "objects[0] Widget default/a v1beta1 -> v1: no converter for Widget"+unknownKind),
		one("kind absent, at the desired version", `{"apiVersion":"`+to+`",`+metadata+`}`, unknown(), noKind).open(),
		one("kind in another case", typed(`"`+from+`"`, `"crontab"`), unknown(), "no converter for crontab"+unknownKind),
		one("kind of 10 KiB", typed(`"`+from+`"`, `"`+strings.Repeat("K", 10<<10)+`"`), unknown(),
			"objects[0] default/a v1beta1 -> v1: longer than 1024 bytes, set it to the kind: .kind"),
		becomes("kind in escapes", typed(`"`+from+`"`, `"\u0043ronTab"`), typed(`"`+to+`"`, `"\u0043ronTab"`)),
	}
}

func withMetadata(apiVersion, metadata string) string {
	return `{"apiVersion":"` + apiVersion + `","kind":"CronTab","metadata":` + metadata + `,"spec":{"secret":"` + Canary + `"}}`
}

func kept(name, metadata string) objectCase {
	return becomes(name, withMetadata(from, metadata), withMetadata(to, metadata))
}

func metadataOfObjects() []objectCase {
	return []objectCase{
		becomes("metadata absent", `{"apiVersion":"`+from+`","kind":"CronTab","spec":{}}`, `{"apiVersion":"`+to+`","kind":"CronTab","spec":{},"metadata":{}}`),
		becomes("metadata null", withMetadata(from, `null`), withMetadata(to, `{}`)),
		kept("metadata empty", `{}`),
		one("metadata a string", withMetadata(from, `"`+Canary+`"`), upgrade(), badMetadata).open(),
		one("metadata a list", withMetadata(from, `[{"name":"a"}]`), upgrade(), badMetadata).open(),
		one("metadata a number", withMetadata(from, `0`), upgrade(), badMetadata).open(),
		stays("metadata a string, at the desired version", withMetadata(to, `"`+Canary+`"`)),
	}
}

// otherMetadata is metadata that the API server would not take, and that is nothing to webhookd.
func otherMetadata() []objectCase {
	field := `{"f:spec":{".":{},"f:secret":{}}}`
	entry := `{"manager":"m","operation":"Update","apiVersion":"example.com/v1beta1","time":"2026-03-02T09:41:05Z","fieldsType":"FieldsV1","fieldsV1":` + field + `}`
	return []objectCase{
		kept("labels that are no strings", `{"name":"a","labels":{"a":1,"b":null,"c":["`+Canary+`"]}}`).open(),
		kept("labels a list", `{"name":"a","labels":["`+Canary+`"]}`).open(),
		kept("annotations a string", `{"name":"a","annotations":"`+Canary+`"}`).open(),
		kept("a name that is a number", `{"name":1,"namespace":{}}`).open(),
		kept("an owner that is none", `{"ownerReferences":{"uid":["`+Canary+`"]},"finalizers":7}`).open(),
		kept("a time that is none", `{"creationTimestamp":"yesterday","deletionTimestamp":-1,"generation":1e3}`).open(),
		kept("managedFields of 1 MiB", `{"name":"a","managedFields":[`+strings.TrimSuffix(strings.Repeat(entry+",", 1<<20/len(entry)), ",")+`]}`),
	}
}

func fragments() []objectCase {
	bare := func(apiVersion, members string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"CronTab",` + members + `}`
	}
	return []objectCase{
		becomes("no spec", bare(from, `"metadata":{}`), bare(to, `"metadata":{}`)),
		becomes("spec null", bare(from, `"metadata":{},"spec":null`), bare(to, `"metadata":{},"spec":null`)),
		becomes("spec a string", bare(from, `"metadata":{},"spec":"`+Canary+`"`), bare(to, `"metadata":{},"spec":"`+Canary+`"`)),
		becomes("items at the top", bare(from, `"metadata":{},"items":[{"a":1}]`), bare(to, `"metadata":{},"items":[{"a":1}]`)),
		becomes("names that mean something elsewhere", bare(from, `"metadata":{},"__proto__":{"a":1},"constructor":null,"$ref":"#/x","":0`),
			bare(to, `"metadata":{},"__proto__":{"a":1},"constructor":null,"$ref":"#/x","":0`)),
		becomes("everything null", bare(from, `"metadata":{"name":null,"labels":null},"spec":null,"status":null`), bare(to, `"metadata":{"name":null,"labels":null},"spec":null,"status":null`)),
		becomes("metadata with white space", bare(from, `"metadata": { }`), bare(to, `"metadata": { }`)),
		becomes("metadata in another case", bare(from, `"Metadata":{"name":"a"}`), bare(to, `"Metadata":{"name":"a"},"metadata":{}`)),
		becomes("a field that is null", bare(from, `"metadata":{},"hostPort":null`), bare(to, `"metadata":{},"host":null`)),
	}
}

// keptValues are annotations that another client wrote where webhookd keeps what a version cannot
// say.
func keptValues() []objectCase {
	forged := func(name, value, left string) objectCase {
		c := becomes("a forged kept value "+name,
			`{"apiVersion":"`+from+`","kind":"CronTab","metadata":{"annotations":{"conversion.webhookd.io/v1.host":"`+value+`"}},"hostPort":"a:1"}`,
			`{"apiVersion":"`+to+`","kind":"CronTab","metadata":`+left+`,"host":"a","port":"1"}`)
		c.own = true
		return c
	}
	passes := func(name, value string) objectCase {
		return forged(name, value, `{"annotations":{"conversion.webhookd.io/v1.host":"`+value+`"}}`)
	}
	return []objectCase{
		passes("that is no JSON", "{"),
		passes("that is a list", "[1]"),
		forged("of another host", `{\"value\":\"evil\"}`, "{}"),
		passes("of 100000 brackets", strings.Repeat("[", 100_000)),
	}
}

func repeatedMembers() []objectCase {
	return []objectCase{
		one("a name twice", cronTab(from, `"spec":{},"spec":{}`), unknown(), "objects[0]: "+duplicate).open(),
		one("a name twice, once in escapes", cronTab(from, `"spec":{},"\u0073pec":{}`), unknown(), "objects[0]: "+duplicate).open(),
		one("a name twice, at the desired version", cronTab(to, `"spec":{},"spec":{}`), unknown(), "objects[0]: "+duplicate).open(),
		one("a name twice in metadata", withMetadata(from, `{"name":"a","name":"b"}`), unknown(), "objects[0]: "+duplicate).open(),
		kept("a name twice in labels that no rule touches", `{"labels":{"a":"1","a":"2"}}`).open(),
	}
}

func lists() []objectCase {
	good, made, there := object(), result(), holding(to, `"there"`)
	many := func(object string) []string {
		objects := make([]string, 500)
		for i := range objects {
			objects[i] = strings.Replace(object, `"name":"a"`, fmt.Sprintf(`"name":"a-%d"`, i), 1)
		}
		return objects
	}
	mixed := failed(upgrade(), "1 of 3 objects cannot be converted: objects[1] Widget default/a v1beta1 -> v1: no converter for Widget"+unknownKind).objects(3, 1)
	mixed = mixed.counter(upgrade().objects("failed"), 0).counter(upgrade().objects("converted"), 2).counter(unknown().objects("failed"), 1)
	none := failed(unknown(), "3 of 3 objects cannot be converted: objects[0]: is null, not an object: .request.objects[0]; "+
		"objects[1]: is an array, not an object: .request.objects[1]; objects[2]: object without a version").objects(3, 3)
	return []objectCase{
		{name: "500 objects", objects: many(good), want: converted(upgrade(), 500, fixed(success(many(made)...)))},
		{name: "one of three that fails", objects: []string{good, typed(`"`+from+`"`, `"Widget"`), good}, want: mixed},
		{name: "objects that are none", objects: []string{"null", "[[]]", "{}"}, want: none.counter(unknown().objects("failed"), 3)},
		{
			name: "one of two that is at the desired version", objects: []string{there, good},
			want: converted(upgrade(), 1, fixed(success(there, made))).objects(2, 0), unsettled: true,
		},
	}
}
