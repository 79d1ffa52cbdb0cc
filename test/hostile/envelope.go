package hostile

import (
	"net/http"
	"strings"
)

// An envelopeCase is a body around the one object that is right.
type envelopeCase struct {
	name, body string
	want       Answer
}

func envelopeCases() []Case {
	var cases []Case
	for _, list := range [][]envelopeCase{
		reviewVersions(), reviewKinds(), requests(), uids(), desiredVersions(), objectLists(), unknownMembers(), otherSpellings(), mediaTypes(),
	} {
		for _, e := range list {
			cases = append(cases, Case{Set: Envelope, Name: e.name, Request: Request{Body: fixed(e.body)}, Want: e.want})
		}
	}
	for i := range cases {
		c := &cases[i]
		if header, ok := strings.CutPrefix(c.Name, "media type "); ok {
			c.Request.Header = mediaHeader(header)
		}
		// Repeated names are open in RFC 8259. kube-apiserver always sends a uid, no
		// parameters of its one media type, and a response of its own type.
		c.Unsettled = c.Want.Message == duplicate || c.Want.Message == noUID || c.Want.Message == longUID || c.Want.Message == notJSON+longName ||
			c.Request.Header != nil ||
			c.Name == "a response that is none"
	}
	return cases
}

// object is the object of these cases, and result what becomes of it.
func object() string { return holding(from, "1") }
func result() string { return holding(to, "1") }

// enveloped returns a review with the object and members in place of those of kube-apiserver.
func enveloped(apiVersion, kind, request string) string {
	return "{" + strings.Join([]string{kind, apiVersion, request, `"secret":"` + Canary + `"`}, ",") + "}"
}

const (
	rightVersion = `"apiVersion":"` + reviewV1 + `"`
	rightKind    = `"kind":"ConversionReview"`
	rightUID     = `"uid":"` + UID + `"`
	rightDesired = `"desiredAPIVersion":"` + to + `"`
)

func rightObjects() string { return `"objects":[` + object() + `]` }

func request(members ...string) string { return `"request":{` + strings.Join(members, ",") + `}` }

func rightRequest() string { return request(rightUID, rightDesired, rightObjects()) }

// asked returns a review with another request.
func asked(members ...string) string { return enveloped(rightVersion, rightKind, request(members...)) }

func done() Answer { return converted(upgrade(), 1, fixed(success(result()))) }

const (
	badVersion   = "unknown review version, set conversionReviewVersions of the CRD to [v1] or [v1beta1]: .apiVersion"
	badKind      = "not a ConversionReview, send one: .kind"
	noRequest    = "review without a request, send a ConversionRequest: .request"
	noUID        = "request without a uid, the answer could not be matched: .request.uid"
	longUID      = "longer than 1024 bytes, send the uid of the API server: .request.uid"
	noDesired    = "no version to convert to, set it to GROUP/VERSION: .request.desiredAPIVersion"
	duplicate    = "duplicate name: byte "
	noConversion = "no converter for version "
)

func reviewVersions() []envelopeCase {
	with := func(apiVersion string) string { return enveloped(apiVersion, rightKind, rightRequest()) }
	return []envelopeCase{
		{"review version v1", with(rightVersion), done()},
		{"review version v1beta1", with(`"apiVersion":"` + reviewV1beta1 + `"`), converted(upgrade(), 1,
			fixed(successTo(reviewV1beta1, `"`+UID+`"`, result())))},
		{"review version v1 in escapes", with(`"apiVersion":"apiextensions.k8s.io\/\u00761"`), done()},
		{"review version v2", with(`"apiVersion":"apiextensions.k8s.io/v2"`), refused(badVersion)},
		{"review version V1", with(`"apiVersion":"apiextensions.k8s.io/V1"`), refused(badVersion)},
		{"review version of another group", with(`"apiVersion":"admission.k8s.io/v1"`), refused(badVersion)},
		{"review version without a group", with(`"apiVersion":"v1"`), refused(badVersion)},
		{"review version empty", with(`"apiVersion":""`), refused(badVersion)},
		{"review version null", with(`"apiVersion":null`), refused(badVersion)},
		{"review version a number", with(`"apiVersion":1`), refused(badVersion)},
		{"review version in a list", with(`"apiVersion":["apiextensions.k8s.io/v1"]`), refused(badVersion)},
		{"review version with a NUL", with(`"apiVersion":"apiextensions.k8s.io/v1\u0000"`), refused(badVersion)},
		{"review version absent", with(`"x":0`), refused(badVersion)},
		{"review version of 1 MiB", with(`"apiVersion":"` + strings.Repeat("x", 1<<20) + `"`), refused(badVersion)},
		{"review version twice", with(rightVersion + "," + rightVersion), refused(duplicate)},
	}
}

func reviewKinds() []envelopeCase {
	with := func(kind string) string { return enveloped(rightVersion, kind, rightRequest()) }
	return []envelopeCase{
		{"kind absent", with(`"x":0`), refused(badKind)},
		{"kind of another review", with(`"kind":"AdmissionReview"`), refused(badKind)},
		{"kind in another case", with(`"kind":"conversionreview"`), refused(badKind)},
		{"kind null", with(`"kind":null`), refused(badKind)},
		{"kind with a space", with(`"kind":"ConversionReview "`), refused(badKind)},
		{"kind of 1 MiB", with(`"kind":"` + strings.Repeat("x", 1<<20) + `"`), refused(badKind)},
		{"kind an object", with(`"kind":{"kind":"ConversionReview"}`), refused(badKind)},
		{"kind twice", with(rightKind + `,"kind":"AdmissionReview"`), refused(duplicate)},
		{"kind twice, once in escapes", with(rightKind + `,"\u006bind":"ConversionReview"`), refused(duplicate)},
	}
}

func requests() []envelopeCase {
	with := func(request string) string { return enveloped(rightVersion, rightKind, request) }
	return []envelopeCase{
		{"request absent", with(`"x":0`), refused(noRequest)},
		{"request null", with(`"request":null`), refused(noRequest)},
		{"request a string", with(`"request":"` + Canary + `"`), refused(noRequest)},
		{"request in a list", with(`"request":[{` + rightUID + `}]`), refused(noRequest)},
		{"request in place of which there is a response", with(`"response":{` + rightUID + `}`), refused(noRequest)},
		{"request with a name of more than 1 KiB", with(request(rightUID, `"`+strings.Repeat(`\u0078`, 1<<10+1)+`":1`)), refused(notJSON + longName)},
		{"request empty", with(`"request":{}`), refused(noUID)},
		{"request twice", with(rightRequest() + "," + rightRequest()), refused(duplicate)},
	}
}

func uids() []envelopeCase {
	with := func(uid string) string { return asked(uid, rightDesired, rightObjects()) }
	echoed := func(uid, logged string) Answer {
		return converted(upgrade(), 1, fixed(successTo(reviewV1, uid, result()))).uid(logged)
	}
	longest, long := strings.Repeat("u", 1<<10), strings.Repeat("u", 100<<10)
	return []envelopeCase{
		{"uid absent", with(`"x":0`), refused(noUID)},
		{"uid empty", with(`"uid":""`), refused(noUID)},
		{"uid null", with(`"uid":null`), refused(noUID)},
		{"uid a number", with(`"uid":12`), refused(noUID)},
		{"uid an object", with(`"uid":{"a":"` + Canary + `"}`), refused(noUID)},
		{"uid in a list", with(`"uid":["u"]`), refused(noUID)},
		{"uid outside of the request", enveloped(rightVersion, rightKind, rightUID+`,"request":{}`), refused(noUID)},
		{"uid twice, once in escapes", with(rightUID + `,"\u0075id":"other"`), refused(duplicate)},
		{"uid twice", with(rightUID + "," + rightUID), refused(duplicate)},
		{"uid of one letter", with(`"uid":"u"`), echoed(`"u"`, "u")},
		{"uid with line breaks and a forged log line", with(`"uid":"a\n{\"level\":\"error\"}"`), echoed(`"a\n{\"level\":\"error\"}"`, hashed(`a\n{\"level\":\"error\"}`))},
		{"uid with an escape sequence of terminals", with(`"uid":"\u001b[2J"`), echoed(`"\u001b[2J"`, hashed(`\u001b[2J`))},
		{"uid in needless escapes", with(`"uid":"\u0061\u0062"`), echoed(`"\u0061\u0062"`, "ab")},
		{"uid of 1 KiB", with(`"uid":"` + longest + `"`), echoed(`"`+longest+`"`, hashed(longest))},
		{"uid of 100 KiB", with(`"uid":"` + long + `"`), refused(longUID).uid(hashed(long))},
		{"uid with a secret", with(`"uid":"` + Canary + `!"`), echoed(`"`+Canary+`!"`, hashed(Canary+"!"))},
	}
}

func desiredVersions() []envelopeCase {
	with := func(desired string) string { return asked(rightUID, desired, rightObjects()) }
	nowhere := failed(none(), noDesired).objects(1, 1)
	return []envelopeCase{
		{"desired version absent", with(`"x":0`), nowhere},
		{"desired version null", with(`"desiredAPIVersion":null`), nowhere},
		{"desired version a number", with(`"desiredAPIVersion":1`), nowhere},
		{"desired version empty", with(`"desiredAPIVersion":""`), nowhere},
		{"desired version without a group", with(`"desiredAPIVersion":"v1"`), nowhere},
		{"desired version of an empty group", with(`"desiredAPIVersion":"/v1"`), nowhere},
		{"desired version in another case", with(`"DesiredAPIVersion":"` + to + `"`), nowhere},
		{
			"desired version of more than 1 KiB", with(`"desiredAPIVersion":"example.com/` + strings.Repeat("v", 1<<10) + `"`),
			failed(none(), "longer than 1024 bytes, set it to GROUP/VERSION: .request.desiredAPIVersion"),
		},
		{"desired version without a version", with(`"desiredAPIVersion":"example.com/"`), nowhere},
		{"desired version with two slashes", with(`"desiredAPIVersion":"example.com/v1/x"`), nowhere},
		{"desired version of another group", with(`"desiredAPIVersion":"other.com/v1"`), failed(unknown(), "group is not that of desiredAPIVersion")},
		{
			"desired version unknown", with(`"desiredAPIVersion":"example.com/v9"`),
			failed(pair{"CronTab.example.com", "v1beta1", "unknown"}, noConversion+"v9, use one of v1beta1, v1: .request.desiredAPIVersion"),
		},
		{
			"desired version with a line break", with(`"desiredAPIVersion":"example.com/v1\nv2"`),
			failed(pair{"CronTab.example.com", "v1beta1", "unknown"}, noConversion+"v1?v2, use one of"),
		},
		{
			"desired version in escapes", with(`"desiredAPIVersion":"example.com/\u00761"`),
			converted(upgrade(), 1, fixed(success(strings.Replace(result(), `"example.com/v1"`, `"example.com/\u00761"`, 1)))),
		},
		{"desired version twice", with(rightDesired + "," + rightDesired), refused(duplicate)},
	}
}

func objectLists() []envelopeCase {
	with := func(objects string) string { return asked(rightUID, rightDesired, objects) }
	empty := converted(none(), 0, fixed(success()))
	list := func(what string) Answer {
		return failed(none(), "is "+what+", not an array, send a list of objects: .request.objects").objects(0, 0)
	}
	return []envelopeCase{
		{"objects absent", with(`"x":0`), empty},
		{"objects null", with(`"objects":null`), empty},
		{"objects empty", with(`"objects":[]`), empty},
		{"objects one object", with(`"objects":` + object()), list("an object")},
		{"objects a string", with(`"objects":"` + Canary + `"`), list("a string")},
		{"objects a number", with(`"objects":0`), list("a number")},
		{"objects false", with(`"objects":false`), list("a boolean")},
		{"objects twice", with(rightObjects() + "," + rightObjects()), refused(duplicate)},
	}
}

func unknownMembers() []envelopeCase {
	return []envelopeCase{
		{"a response next to the request", enveloped(rightVersion, rightKind, rightRequest()+`,"response":{"uid":"x","convertedObjects":[{}],"result":{"status":"Failed"}}`), done()},
		{"a response with a name twice", enveloped(rightVersion, rightKind, rightRequest()+`,"response":{"uid":"x","uid":"y"}`), done()},
		{"a response that is none", enveloped(rightVersion, rightKind, rightRequest()+`,"response":[1]`), done()},
		{"unknown members everywhere", asked(rightUID, rightDesired, rightObjects(), `"a":{"b":["`+Canary+`"]}`, `"":null`), done()},
		{"an unknown member twice", enveloped(rightVersion, rightKind, rightRequest()+`,"a":1,"a":2`), refused(duplicate)},
	}
}

// otherSpellings are names that encoding/json would take for those of the envelope.
func otherSpellings() []envelopeCase {
	return []envelopeCase{
		{"names in another case", `{"Kind":"ConversionReview","APIVersion":"` + reviewV1 + `","Request":{"UID":"u"}}`, refused(badKind)},
		{"names next to those in another case", enveloped(rightVersion, rightKind, rightRequest()+`,"Request":{"uid":"x"},"KIND":"x"`), done()},
		{"names of the request next to those in another case", asked(rightUID, `"Uid":1,"Objects":[1]`, rightDesired, rightObjects()), done()},
		{
			"names in escapes", enveloped(strings.Replace(rightVersion, "api", `ap\u0069`, 1), strings.Replace(rightKind, "kind", `k\u0069nd`, 1),
				strings.Replace(rightRequest(), "request", `\u0072equest`, 1)), done(),
		},
		{"a name with a letter that folds", enveloped(rightVersion, "\"\u212aind\":\"ConversionReview\"", rightRequest()), refused(badKind)},
	}
}

func mediaTypes() []envelopeCase {
	body := review(object())
	refuse := turnedAway(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "unsupported media type: send a ConversionReview as JSON")
	return []envelopeCase{
		{"media type application/json; charset=utf-8", body, done()},
		{"media type APPLICATION/JSON ;q", body, done()},
		{"media type text/plain", body, refuse},
		{"media type none at all", body, refuse},
		{"media type application/vnd.kubernetes.protobuf", body, refuse},
		{"media type application/json, text/plain", body, refuse},
	}
}

func mediaHeader(mediaType string) []string {
	if mediaType == "none at all" {
		return []string{"X-Secret: " + Canary}
	}
	return []string{"Content-Type: " + mediaType, "X-Secret: " + Canary}
}
